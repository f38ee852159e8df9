"""mask and unmask: files, words, targets, options."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from lmr_author.authoring.masking import MaskOptions, mask, unmask
from lmr_author.authoring.masking.body import MaskNotes
from lmr_author.core.errors import LmrError, TargetError
from lmr_author.core.task import Task
from tests.masking.masks import HINGE, goal, tree
from tests.support import LOSSES


def test_mask_writes_golden_goal_and_info(task: Task) -> None:
    notes = MaskNotes("the hinge\nof a margin")
    options = MaskOptions((HINGE,), "Write it.", "Evaluation Metrics", ("run.py",), notes)
    result = mask(task, options, task.root)
    assert (task.root / "golden_files" / "losses_golden.py").read_bytes() == LOSSES
    masked = goal(task).read_text()
    assert "gap = margin" not in masked and "return gap" not in masked
    assert masked.index('"""Hinge loss') < masked.index("# the hinge\n") < masked.index("# of a margin\n")
    entry = json.loads(task.info_path.read_text())["implementations"]
    assert entry == [result.implementations[0].to_json()]
    assert entry[0] == {
        "instruction": "Write it.",
        "index": 1,
        "category": "Evaluation Metrics",
        "goal_file": "pkg/losses.py",
        "goal_function": "hinge",
        "class_name": "",
        "golden_file": "golden_files/losses_golden.py",
        "retrieval_context": ["run.py"],
        "unit_test_file": "unit_test/unit_test_1.py",
    }


def test_unmask_restores_every_byte_of_the_repository(task: Task) -> None:
    before = tree(task.root / "small-repo")
    methods = [f"pkg/losses.py::Meter.{name}" for name in ("add", "later", "each")]
    mask(task, MaskOptions((HINGE, *methods)), task.root)
    assert [item.qualname for item in task.load().implementations] == [
        "hinge", "Meter.add", "Meter.later", "Meter.each",
    ]  # fmt: skip
    assert {item.golden_file for item in task.load().implementations} == {"golden_files/losses_golden.py"}
    unmask(task, "pkg/losses.py::Meter.add", task.root)
    assert b"math.fsum" in goal(task).read_bytes() and b"return gap" not in goal(task).read_bytes()
    unmask(task, None, task.root)
    assert tree(task.root / "small-repo") == before
    assert task.load().implementations == ()
    assert list(task.golden_folder.iterdir()) == []


def test_mask_again_takes_the_words_of_the_first_time(task: Task) -> None:
    mask(task, MaskOptions((HINGE,), "My words.", "Evaluation Metrics", ("run.py",)), task.root)
    unmask(task, HINGE, task.root)
    again = mask(task, MaskOptions((HINGE,)), task.root).implementations[0]
    assert (again.instruction, again.category, again.retrieval_context) == (
        "My words.", "Evaluation Metrics", ("run.py",),
    )  # fmt: skip


@pytest.mark.parametrize("typed", ["small-repo/" + HINGE, "./pkg/losses.py::hinge", "losses.py::hinge"])
def test_a_target_may_be_named_from_task_repository_or_folder(task: Task, typed: str) -> None:
    result = mask(task, MaskOptions((typed,)), goal(task).parent if typed.startswith("losses") else task.root)
    assert result.implementations[0].goal_file == "pkg/losses.py"


@pytest.mark.parametrize(
    ("target", "message", "hint"),
    [
        ("pkg/losses.py::hinges", "no function 'hinges'", "did you mean pkg/losses.py::hinge"),
        ("pkg/losses.py::Meter.ad", "no function 'Meter.ad'", "did you mean pkg/losses.py::Meter.add"),
        ("pkg/loses.py::hinge", "no file 'pkg/loses.py'", "did you mean pkg/losses.py::hinge"),
        ("nowhere.py::nothing", "no file", "paths are relative"),
        ("README.md::f", "not a Python file", ".py file"),
    ],
)
def test_wrong_targets(task: Task, target: str, message: str, hint: str) -> None:
    before = tree(task.root)
    with pytest.raises(LmrError) as error:
        mask(task, MaskOptions((target,)), task.root)
    assert message in error.value.message
    assert hint in error.value.hint
    assert tree(task.root) == before


def test_a_file_outside_the_repository_is_refused(task: Task, tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text("def f(): return 1\n")
    for name in ("../../other.py", str(tmp_path / "other.py")):
        with pytest.raises(TargetError, match="outside the repository"):
            mask(task, MaskOptions((f"{name}::f",)), task.root / "small-repo")
    os.symlink(tmp_path / "other.py", task.root / "small-repo" / "link.py")
    with pytest.raises(TargetError):
        mask(task, MaskOptions(("link.py::f",)), task.root)
    assert (tmp_path / "other.py").read_text() == "def f(): return 1\n"


def test_where_the_answer_can_still_be_read_is_said(task: Task) -> None:
    """A second copy of the masked function, under another name, and one that is another function."""
    copy = LOSSES.replace(b"def hinge", b"def old_hinge").replace(b"gap", b"distance")
    (task.root / "small-repo" / "legacy.py").write_bytes(copy)

    result = mask(task, MaskOptions(("pkg/losses.py::Meter.add",)), task.root)

    findings = [item.finding for item in result.leaks]
    assert [(item.code, item.path) for item in findings] == [("LMR403", "small-repo/legacy.py")]
    assert "Meter.add" in findings[0].message
    assert "lmr-author mask --also legacy.py::Meter.add)" in findings[0].hint


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("Meter.ad", "did you mean pkg/losses.py::Meter.add?"),
        ("pkg/losses.py:hinge", "did you mean pkg/losses.py::hinge?"),
        ("pkg/losses.py:3", "name it as FILE::FUNCTION"),
    ],
)
def test_a_name_a_file_or_a_line_alone_is_answered_with_the_function_it_may_mean(
    task: Task, text: str, hint: str
) -> None:
    with pytest.raises(TargetError, match="not a target") as caught:
        mask(task, MaskOptions((text,)), task.root)
    assert caught.value.hint.startswith(hint)


def test_a_killed_unmask_is_completed_and_keeps_the_words(
    task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed between the goal file and info.json: the second run does not take the golden for an edited mask."""
    mask(task, MaskOptions((HINGE,), notes=MaskNotes("weigh the gap")), task.root)
    with monkeypatch.context() as patch:
        patch.setattr(Task, "save", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
        with pytest.raises(KeyboardInterrupt):
            unmask(task, None, task.root)
    kept = sorted(path.name for path in task.removed_folder.rglob("*"))
    assert goal(task).read_bytes() == LOSSES
    assert unmask(task, None, task.root).moved == ()
    assert sorted(path.name for path in task.removed_folder.rglob("*")) == kept
    mask(task, MaskOptions((HINGE,)), task.root)
    assert b"weigh the gap" in goal(task).read_bytes()


def test_what_a_killed_command_took_out_comes_back(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed where info.json is written: the same mask takes files out, the same unmask puts them back."""
    notes = goal(task).parent.parent / "build" / "lib.pyc"
    notes.parent.mkdir()
    notes.write_bytes(b"x")
    for verb in (lambda: mask(task, MaskOptions((HINGE,)), task.root), lambda: unmask(task, None, task.root)):
        with monkeypatch.context() as patch:
            patch.setattr(Task, "save", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
            with pytest.raises(KeyboardInterrupt):
                verb()
        assert notes.exists() == (not task.load().implementations)
        verb()
        assert notes.exists() == (not task.load().implementations)
    mask(task, MaskOptions((HINGE,)), task.root)
    with monkeypatch.context() as patch:
        patch.setattr(
            "lmr_author.authoring.masking.leftovers.put_back",
            lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()),
        )
        with pytest.raises(KeyboardInterrupt):
            unmask(task, None, task.root)
    assert unmask(task, None, task.root).put_back != ()
    assert notes.read_bytes() == b"x"


def test_an_edited_goal_file_is_not_overwritten_without_force(task: Task) -> None:
    mask(task, MaskOptions((HINGE,)), task.root)
    edited = goal(task).read_bytes() + b"\nMINE = 1\n"
    goal(task).write_bytes(edited)
    with pytest.raises(TargetError, match="edited outside"):
        unmask(task, None, task.root)
    assert goal(task).read_bytes() == edited
    unmask(task, None, task.root, force=True)
    assert goal(task).read_bytes() == LOSSES
    assert (task.authoring / "removed" / "small-repo" / "pkg" / "losses.py").read_bytes() == edited


def test_a_golden_that_is_not_ours_is_never_overwritten(task: Task) -> None:
    path = task.root / "golden_files" / "losses_golden.py"
    path.write_bytes(b"def hinge(x, margin=1.0):\n    return x\n")
    with pytest.raises(LmrError, match="is not the original"):
        mask(task, MaskOptions((HINGE,)), task.root)
    assert path.read_bytes() == b"def hinge(x, margin=1.0):\n    return x\n"
    assert goal(task).read_bytes() == LOSSES
