"""`mask` and `unmask` on a task folder: what is written, in which order, and what is never lost."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from lmr_author import files
from lmr_author.errors import LmrError, TargetError, UsageError
from lmr_author.masking.cleaning import Cleaned
from lmr_author.masking.notes import MaskNotes
from lmr_author.taskdir import TaskDir
from lmr_author.workflow.mask import MaskOptions, mask
from lmr_author.workflow.unmask import unmask
from tests.cli.program import validate_with
from tests.support import LOSSES, make_task

HINGE = "pkg/losses.py::hinge"


@pytest.fixture
def task(tmp_path: Path) -> TaskDir:
    return make_task(tmp_path)


def goal(task: TaskDir) -> Path:
    return task.root / "small-repo" / "pkg" / "losses.py"


def tree(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files.walk(folder)}


def test_mask_writes_golden_goal_and_info(task: TaskDir) -> None:
    notes = MaskNotes(
        objective="the hinge",
        inputs=("x: a number",),
        outputs=("the loss",),
        steps=("take the gap", "cut it at 0"),
    )
    options = MaskOptions((HINGE,), "Write it.", "Evaluation Metrics", ("run.py",), notes)
    result = mask(task, options, task.root)
    assert (task.root / "golden_files" / "losses_golden.py").read_bytes() == LOSSES
    masked = goal(task).read_text()
    assert "gap = margin" not in masked and "return gap" not in masked
    assert (
        masked.index('"""Hinge loss')
        < masked.index("# Objective: the hinge")
        < masked.index("#   2. cut it at 0")
    )
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


def test_unmask_restores_every_byte_of_the_repository(task: TaskDir) -> None:
    before = tree(task.root / "small-repo")
    mask(task, MaskOptions((HINGE, "pkg/losses.py::Meter")), task.root)
    assert [item.qualname for item in task.load().implementations] == [
        "hinge", "Meter.__init__", "Meter.add", "Meter.later", "Meter.each",
    ]  # fmt: skip
    assert {item.golden_file for item in task.load().implementations} == {"golden_files/losses_golden.py"}
    unmask(task, "pkg/losses.py::Meter.add", task.root)
    assert b"math.fsum" in goal(task).read_bytes() and b"return gap" not in goal(task).read_bytes()
    unmask(task, None, task.root)
    assert tree(task.root / "small-repo") == before
    assert task.load().implementations == ()
    assert list(task.golden_folder.iterdir()) == []


def test_mask_again_takes_the_words_of_the_first_time(task: TaskDir) -> None:
    mask(task, MaskOptions((HINGE,), "My words.", "Evaluation Metrics", ("run.py",)), task.root)
    unmask(task, HINGE, task.root)
    again = mask(task, MaskOptions((HINGE,)), task.root).implementations[0]
    assert (again.instruction, again.category, again.retrieval_context) == (
        "My words.", "Evaluation Metrics", ("run.py",),
    )  # fmt: skip


@pytest.mark.parametrize("typed", [HINGE, "small-repo/" + HINGE, "./pkg/losses.py::hinge"])
def test_a_target_may_be_named_from_task_or_repository(task: TaskDir, typed: str) -> None:
    assert mask(task, MaskOptions((typed,)), task.root).implementations[0].goal_file == "pkg/losses.py"


def test_a_target_may_be_named_from_the_folder_one_is_in(task: TaskDir) -> None:
    result = mask(task, MaskOptions(("losses.py::hinge",)), task.root / "small-repo" / "pkg")
    assert result.implementations[0].goal_file == "pkg/losses.py"


@pytest.mark.parametrize(
    ("target", "message", "hint"),
    [
        ("pkg/losses.py::hinges", "no function 'hinges'", "did you mean pkg/losses.py::hinge"),
        ("pkg/loses.py::hinge", "no file 'pkg/loses.py'", "did you mean pkg/losses.py::hinge"),
        ("run.py::add", "no function 'add'", "did you mean pkg/losses.py::Meter.add"),
        ("nowhere.py::nothing", "no file", "paths are relative"),
        ("README.md::f", "not a Python file", ".py file"),
    ],
)
def test_wrong_targets(task: TaskDir, target: str, message: str, hint: str) -> None:
    before = tree(task.root)
    with pytest.raises(LmrError) as error:
        mask(task, MaskOptions((target,)), task.root)
    assert message in error.value.message
    assert hint in error.value.hint
    assert tree(task.root) == before


def test_already_masked_says_how_to_undo(task: TaskDir) -> None:
    mask(task, MaskOptions((HINGE,)), task.root)
    before = tree(task.root)
    with pytest.raises(TargetError, match="already masked, as implementation 1") as error:
        mask(task, MaskOptions((HINGE,)), task.root)
    assert "lmr-author unmask" in error.value.hint
    assert tree(task.root) == before


def test_a_file_outside_the_repository_is_refused(task: TaskDir, tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text("def f(): return 1\n")
    for name in ("../../other.py", str(tmp_path / "other.py")):
        with pytest.raises(TargetError, match="outside the repository"):
            mask(task, MaskOptions((f"{name}::f",)), task.root / "small-repo")
    os.symlink(tmp_path / "other.py", task.root / "small-repo" / "link.py")
    with pytest.raises(TargetError):
        mask(task, MaskOptions(("link.py::f",)), task.root)
    assert (tmp_path / "other.py").read_text() == "def f(): return 1\n"


def test_unknown_category_and_retrieval_path(task: TaskDir) -> None:
    with pytest.raises(UsageError, match="unknown category"):
        mask(task, MaskOptions((HINGE,), category="losses"), task.root)
    with pytest.raises(UsageError, match="no such file"):
        mask(task, MaskOptions((HINGE,), retrieval=("none.py",)), task.root)


def test_a_killed_mask_is_completed_by_running_it_again(
    task: TaskDir, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed between the goal file and info.json: the second run completes the entry."""
    with monkeypatch.context() as patch:
        patch.setattr(TaskDir, "save", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
        with pytest.raises(KeyboardInterrupt):
            mask(task, MaskOptions((HINGE,)), task.root)
    assert b"NotImplementedError" in goal(task).read_bytes()
    assert task.load().implementations == ()
    mask(task, MaskOptions((HINGE,)), task.root)
    assert task.load().implementations[0].qualname == "hinge"
    assert (task.root / "golden_files" / "losses_golden.py").read_bytes() == LOSSES
    unmask(task, None, task.root)
    assert goal(task).read_bytes() == LOSSES


def test_an_edited_goal_file_is_not_overwritten_without_force(task: TaskDir) -> None:
    mask(task, MaskOptions((HINGE,)), task.root)
    edited = goal(task).read_bytes() + b"\nMINE = 1\n"
    goal(task).write_bytes(edited)
    with pytest.raises(TargetError, match="edited outside"):
        unmask(task, None, task.root)
    assert goal(task).read_bytes() == edited
    unmask(task, None, task.root, force=True)
    assert goal(task).read_bytes() == LOSSES
    assert (task.authoring / "removed" / "small-repo" / "pkg" / "losses.py").read_bytes() == edited


def test_a_golden_that_is_not_ours_is_never_overwritten(task: TaskDir) -> None:
    path = task.root / "golden_files" / "losses_golden.py"
    path.write_bytes(b"def hinge(x, margin=1.0):\n    return x\n")
    with pytest.raises(LmrError, match="is not the original"):
        mask(task, MaskOptions((HINGE,)), task.root)
    assert path.read_bytes() == b"def hinge(x, margin=1.0):\n    return x\n"
    assert goal(task).read_bytes() == LOSSES


def test_what_gives_the_answer_away_is_taken_out(task: TaskDir) -> None:
    root = task.root / "small-repo"
    for name in ("pkg/__pycache__/losses.cpython-311.pyc", ".git/HEAD", "build/lib/pkg/losses.py",
                 "small.egg-info/PKG-INFO", ".ipynb_checkpoints/a.ipynb", "pkg/losses.py.bak",
                 "old.pyc"):  # fmt: skip
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(b"x")
    (root / "build.py").write_bytes(b"")
    result = mask(task, MaskOptions((HINGE,)), task.root)
    assert result.cleaned.deleted == ()
    assert result.cleaned.moved == (
        ".git",
        ".ipynb_checkpoints",
        "build",
        "old.pyc",
        "pkg/__pycache__",
        "pkg/losses.py.bak",
        "small.egg-info",
    )
    assert set(tree(root)) == {"README.md", "build.py", "paper.json", "paper.pdf", "pkg/__init__.py",
                               "pkg/losses.py", "run.py"}  # fmt: skip
    assert (task.authoring / "removed" / "build" / "lib" / "pkg" / "losses.py").read_bytes() == b"x"


COMMITTED = (
    "pkg/__pycache__/losses.cpython-37.pyc",
    "pkg/__pycache__/notes.txt",
    "pkg/old.pyc",
    ".DS_Store",
    "data/.DS_Store",
    "notebooks/.ipynb_checkpoints/run-checkpoint.ipynb",
    "pkg/losses.py.orig",
    "build/lib/pkg/losses.py",
    "small.egg-info/SOURCES.txt",
)
"""Files of the kinds that masking takes out, as public repositories have them under version control."""


def commit(task: TaskDir) -> None:
    for name in COMMITTED:
        path = task.root / "small-repo" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(f"committed {name}".encode())


def test_committed_caches_and_backups_come_back_with_the_last_target(task: TaskDir) -> None:
    commit(task)
    root = task.root / "small-repo"
    before = tree(root)
    mask(task, MaskOptions((HINGE, "pkg/losses.py::Meter.add")), task.root)
    assert not set(COMMITTED) & set(tree(root))
    assert unmask(task, HINGE, task.root).put_back == ()
    done = unmask(task, None, task.root)
    assert set(done.put_back) == {
        "pkg/__pycache__", "pkg/old.pyc", ".DS_Store", "data/.DS_Store", "notebooks/.ipynb_checkpoints",
        "pkg/losses.py.orig", "build", "small.egg-info",
    }  # fmt: skip
    assert tree(root) == before
    assert not (task.authoring / "removed" / "from-repository.json").exists()


def test_what_a_run_makes_again_is_deleted_and_never_takes_the_place_of_the_repository_s_own(
    task: TaskDir,
) -> None:
    commit(task)
    root = task.root / "small-repo"
    before = tree(root)
    mask(task, MaskOptions((HINGE,)), task.root)
    for name in ("pkg/__pycache__/losses.cpython-311.pyc", "pkg/old.pyc"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_bytes(b"of a run")
    again = mask(task, MaskOptions(("pkg/losses.py::Meter.add",)), task.root)
    assert again.cleaned.deleted == ("pkg/__pycache__", "pkg/old.pyc")
    (root / ".DS_Store").write_bytes(b"of a file manager")
    unmask(task, None, task.root)
    assert tree(root) == before


def test_a_second_backup_is_moved_too_and_the_first_one_comes_back(task: TaskDir) -> None:
    commit(task)
    root = task.root / "small-repo"
    before = tree(root)
    mask(task, MaskOptions((HINGE,)), task.root)
    (root / "pkg" / "losses.py.orig").write_bytes(b"of a merge")
    again = mask(task, MaskOptions(("pkg/losses.py::Meter.add",)), task.root)
    assert again.cleaned == Cleaned(moved=("pkg/losses.py.orig",))
    assert (task.authoring / "removed" / "pkg" / "losses.py.orig.2").read_bytes() == b"of a merge"
    unmask(task, None, task.root)
    assert tree(root) == before


def test_a_cache_is_moved_when_the_one_that_was_kept_is_gone(task: TaskDir) -> None:
    commit(task)
    mask(task, MaskOptions((HINGE,)), task.root)
    (task.authoring / "removed" / "pkg" / "old.pyc").unlink()
    (task.root / "small-repo" / "pkg" / "old.pyc").write_bytes(b"put there again")
    again = mask(task, MaskOptions(("pkg/losses.py::Meter.add",)), task.root)
    assert again.cleaned == Cleaned(moved=("pkg/old.pyc",))
    unmask(task, None, task.root)
    assert (task.root / "small-repo" / "pkg" / "old.pyc").read_bytes() == b"put there again"


@pytest.mark.parametrize("damaged", ["{", "[]", '{"pkg/old.pyc": 3}'])
def test_a_damaged_record_of_what_was_taken_out_stops_it_before_anything_is_written(
    task: TaskDir, damaged: str
) -> None:
    commit(task)
    mask(task, MaskOptions((HINGE,)), task.root)
    files.write_text(task.removed_folder / "from-repository.json", damaged)
    before = tree(task.root)
    for change in (
        lambda: unmask(task, None, task.root),
        lambda: mask(task, MaskOptions(("pkg/losses.py::Meter.add",)), task.root),
    ):
        with pytest.raises(LmrError, match=r"from-repository\.json"):
            change()
    assert tree(task.root) == before


def test_what_has_something_new_in_its_place_and_a_history_are_said_to_stay_away(task: TaskDir) -> None:
    commit(task)
    root = task.root / "small-repo"
    (root / ".git").mkdir()
    mask(task, MaskOptions((HINGE,)), task.root)
    (root / "build").write_bytes(b"a script")
    done = unmask(task, None, task.root)
    assert set(done.left_out) == {"build", ".git"}
    left = json.loads((task.authoring / "removed" / "from-repository.json").read_bytes())
    validate_with("from-repository", left)
    assert left == {"build": "build", ".git": ".git"}
    assert (root / "build").read_bytes() == b"a script"
    assert (task.authoring / "removed" / "build" / "lib" / "pkg" / "losses.py").is_file()
    (root / "build").unlink()
    mask(task, MaskOptions((HINGE,)), task.root)
    assert "build" in unmask(task, None, task.root).put_back
    assert (root / "build" / "lib" / "pkg" / "losses.py").is_file()


def test_two_goal_files_of_one_name_have_two_goldens(task: TaskDir) -> None:
    other = task.root / "small-repo" / "losses.py"
    other.write_bytes(b"def f(x):\n    return x\n")
    mask(task, MaskOptions((HINGE, "losses.py::f")), task.root)
    goldens = {item.goal_file: item.golden_file for item in task.load().implementations}
    assert len(set(goldens.values())) == 2
    assert (task.root / goldens["losses.py"]).read_bytes() == b"def f(x):\n    return x\n"
    unmask(task, None, task.root)
    assert other.read_bytes() == b"def f(x):\n    return x\n"
    assert goal(task).read_bytes() == LOSSES


def test_where_the_answer_can_still_be_read_is_said(task: TaskDir) -> None:
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
        ("hinge", "did you mean pkg/losses.py::hinge?"),
        ("Meter.ad", "did you mean pkg/losses.py::Meter.add?"),
        ("pkg/losses.py", "did you mean pkg/losses.py::hinge or "),
        ("pkg/losses.py:1", "pkg/losses.py has no function there"),
        ("pkg/losses.py:{line}", "did you mean pkg/losses.py::Meter.add:{line}?"),
        ("small-repo/pkg/losses.py:{line}", "did you mean pkg/losses.py::Meter.add:{line}?"),
        ("../other/x.py:3", "name it as FILE::FUNCTION"),
    ],
)
def test_a_name_a_file_or_a_line_alone_is_answered_with_the_function_it_may_mean(
    task: TaskDir, text: str, hint: str
) -> None:
    line = next(n for n, row in enumerate(LOSSES.decode().splitlines(), 1) if "def add(" in row)
    with pytest.raises(TargetError, match="not a target") as caught:
        mask(task, MaskOptions((text.format(line=line),)), task.root)
    assert caught.value.hint.startswith(hint.format(line=line))
