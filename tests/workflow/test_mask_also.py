"""`mask --also`: look-alikes emptied along with a target, kept apart from it, and restored byte for byte."""

from __future__ import annotations

import ast
import json
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest

from lmr_author import also_masked, files, staging
from lmr_author.errors import LmrError, TargetError, UsageError
from lmr_author.taskdir import TaskDir
from lmr_author.validation.run import select_checks, validate_task
from lmr_author.workflow.mask import MaskOptions, MaskResult, mask
from lmr_author.workflow.unmask import unmask
from tests.cli.program import validate_with
from tests.leaks.places import in_wheel
from tests.support import LOSSES, make_task

ADD = "pkg/losses.py::Meter.add"
EACH = "pkg/losses.py::Meter.each"
HINGE = "pkg/losses.py::hinge"

LEGACY = b'''\
"""Older code, \xe4 in latin-1."""
# -*- coding: latin-1 -*-
import math


class OldMeter:
    def add(self, value):
        self.values.append(value)
        self.values = self.values[-self.size :]
        return math.fsum(self.values) / len(self.values)

    def each(self):
        for value in self.values:
            yield value * self.size


def unrelated(names):
    return sorted(names, key=str.lower)
'''.replace(b'"""Older code', b'# -*- coding: latin-1 -*-\n"""Older code').replace(b"\n", b"\r\n")


@pytest.fixture
def task(tmp_path: Path) -> TaskDir:
    task = make_task(tmp_path)
    (repository(task) / "legacy.py").write_bytes(LEGACY)
    return task


def repository(task: TaskDir) -> Path:
    return task.root / "small-repo"


def content(task: TaskDir) -> dict[str, bytes]:
    root = repository(task)
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in files.walk(root)}


def run(task: TaskDir, *targets: str, also: tuple[str, ...] = ()) -> MaskResult:
    return mask(task, MaskOptions(targets, also=also), task.root)


def recorded(task: TaskDir) -> list[tuple[str, str, str]]:
    if task.also_masked_path.is_file():
        validate_with("also-masked", json.loads(task.also_masked_path.read_bytes()))
    return [(item.node_id, item.target, item.original) for item in also_masked.load(task)]


def codes(task: TaskDir) -> set[str]:
    return {item.code for item in validate_task(task, select_checks(["LMR3", "LMR4"])).findings}


@pytest.mark.parametrize("damaged", ["{", "[]", '{"also": [{"path": "legacy.py"}]}'])
def test_a_damaged_record_of_look_alikes_is_not_written_over(task: TaskDir, damaged: str) -> None:
    run(task, ADD, also=("legacy.py::OldMeter.add",))
    files.write_text(task.also_masked_path, damaged)
    before = content(task)
    with pytest.raises(LmrError, match=r"also-masked\.json"):
        run(task, HINGE, also=("legacy.py::OldMeter.add",))
    with pytest.raises(LmrError, match=r"also-masked\.json"):
        unmask(task, None, task.root)
    assert content(task) == before
    assert task.also_masked_path.read_text() == damaged


def test_a_look_alike_is_emptied_with_the_target_and_restored_with_it(task: TaskDir) -> None:
    before = content(task)

    result = run(task, ADD, also=("legacy.py::OldMeter.add",))

    assert [item.node_id for item in result.also] == ["legacy.py::OldMeter.add"]
    assert result.leaks == ()
    assert recorded(task) == [("legacy.py::OldMeter.add", ADD, "authoring/originals/legacy.py")]
    assert [str(item.target) for item in task.load().implementations] == [ADD]
    masked = (repository(task) / "legacy.py").read_bytes()
    assert b"fsum" not in masked and masked.count(b"raise NotImplementedError") == 1
    assert b"yield value * self.size" in masked and masked.count(b"\r\n") == masked.count(b"\n")
    assert "LMR403" not in codes(task)

    done = unmask(task, None, task.root)

    assert done.also == ("legacy.py::OldMeter.add",)
    assert content(task) == before
    assert not task.also_masked_path.exists()
    assert not list(files.walk(task.originals))


def test_it_can_follow_in_a_later_command_and_finds_its_target(task: TaskDir) -> None:
    before = content(task)
    first = run(task, HINGE, ADD)
    assert [leak.also for leak in first.leaks] == [("legacy.py::OldMeter.add",)]

    assert run(task, also=first.leaks[0].also).leaks == ()

    assert recorded(task) == [("legacy.py::OldMeter.add", ADD, "authoring/originals/legacy.py")]
    unmask(task, HINGE, task.root)
    assert len(recorded(task)) == 1
    unmask(task, ADD, task.root)
    assert content(task) == before


def test_kinds_are_kept_and_a_class_stands_for_its_methods(task: TaskDir) -> None:
    run(task, ADD, also=("legacy.py::OldMeter",))
    tree = ast.parse((repository(task) / "legacy.py").read_bytes())
    [each] = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == "each"]
    assert any(isinstance(node, ast.Yield) for node in ast.walk(each))
    assert [name for name, _, _ in recorded(task)] == ["legacy.py::OldMeter.add", "legacy.py::OldMeter.each"]
    unmask(task, None, task.root)
    assert (repository(task) / "legacy.py").read_bytes() == LEGACY


def test_a_look_alike_in_the_goal_file_has_its_original_in_the_golden(task: TaskDir) -> None:
    run(task, HINGE, also=(ADD,))

    assert recorded(task) == [(ADD, HINGE, "")]
    assert (task.root / "golden_files" / "losses_golden.py").read_bytes() == LOSSES
    assert "LMR304" not in codes(task)
    golden = staging.golden_overlay(task, task.load())["pkg/losses.py"]
    assert b"return gap" in golden and b"fsum" not in golden
    unmask(task, HINGE, task.root)
    assert content(task)["pkg/losses.py"] == LOSSES


def test_a_file_with_a_look_alike_can_become_a_goal_file(task: TaskDir) -> None:
    """The golden is the file as it was before the look-alike was emptied."""
    before = content(task)
    run(task, ADD, also=("legacy.py::OldMeter.add",))

    run(task, "legacy.py::unrelated")

    assert (task.root / "golden_files" / "legacy_golden.py").read_bytes() == LEGACY
    assert recorded(task) == [("legacy.py::OldMeter.add", ADD, "")]
    assert not list(files.walk(task.originals))
    unmask(task, "legacy.py::unrelated", task.root)
    assert recorded(task) == [("legacy.py::OldMeter.add", ADD, "authoring/originals/legacy.py")]
    assert b"sorted(names" in content(task)["legacy.py"] and b"fsum" not in content(task)["legacy.py"]
    unmask(task, ADD, task.root)
    assert content(task) == before


def test_two_look_alikes_of_two_targets_in_one_file(task: TaskDir) -> None:
    run(task, ADD, also=("legacy.py::OldMeter.add",))
    run(task, EACH, also=("legacy.py::OldMeter.each",))
    assert [target for _, target, _ in recorded(task)] == [ADD, EACH]
    unmask(task, ADD, task.root)
    assert b"fsum" in content(task)["legacy.py"] and b"value * self.size" not in content(task)["legacy.py"]
    unmask(task, EACH, task.root)
    assert content(task)["legacy.py"] == LEGACY


@pytest.mark.parametrize(
    ("also", "message", "hint"),
    [
        (ADD, "is a target", "elsewhere"),
        ("legacy.py::OldMeter.ad", "no function", "did you mean legacy.py::OldMeter.add"),
        ("legaci.py::OldMeter.add", "no file", "did you mean legacy.py::OldMeter.add"),
        ("pkg/losses.py::Meter", "is a target", "elsewhere"),
    ],
)
def test_what_is_refused(task: TaskDir, also: str, message: str, hint: str) -> None:
    before = content(task)
    with pytest.raises(TargetError) as error:
        run(task, ADD, also=(also,))
    assert message in error.value.message and hint in error.value.hint
    assert content(task) == before
    assert not task.also_masked_path.exists() and not list(files.walk(task.golden_folder))


def test_a_target_of_an_earlier_command_is_no_look_alike(task: TaskDir) -> None:
    run(task, ADD)
    with pytest.raises(TargetError, match=r"Meter\.add is a target"):
        run(task, HINGE, also=(ADD,))


def test_without_anything_masked_there_is_nothing_to_look_like(task: TaskDir) -> None:
    with pytest.raises(UsageError, match="nothing is masked"):
        run(task, also=("legacy.py::OldMeter.add",))


def test_a_look_alike_given_twice_masked_already_or_around_another(task: TaskDir) -> None:
    with pytest.raises(TargetError, match="given twice"):
        run(task, ADD, also=("legacy.py::OldMeter.add", "legacy.py::OldMeter"))
    (repository(task) / "nested.py").write_bytes(
        b"def f(x):\n    def g(y):\n        return y\n    return g(x)\n"
    )
    with pytest.raises(TargetError, match="one inside the other"):
        run(task, "nested.py::f.g", also=("nested.py::f",))
    run(task, ADD, also=("legacy.py::OldMeter.add",))
    with pytest.raises(TargetError, match=r"already masked, along with pkg/losses\.py::Meter\.add"):
        run(task, HINGE, also=("legacy.py::OldMeter.add",))


def test_what_is_nothing_like_a_target_is_masked_with_a_remark(task: TaskDir) -> None:
    alike = run(task, ADD, also=("legacy.py::OldMeter.add",))
    unlike = run(task, also=("legacy.py::unrelated",))
    assert not any("is it the one you mean" in text for text in alike.remarks)
    assert any(text.startswith(f"legacy.py::unrelated has little of {ADD} (") for text in unlike.remarks)


def test_a_killed_command_is_completed_by_running_it_again(
    task: TaskDir, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = content(task)
    for killed_after in range(1, 6):
        done = []

        def write(path: Path, data: bytes, after: int = killed_after, done: list[Path] = done) -> None:
            if len(done) == after:
                raise KeyboardInterrupt
            done.append(path)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)

        with monkeypatch.context() as patch:
            patch.setattr(files, "write_bytes", write)
            try:
                run(task, ADD, also=("legacy.py::OldMeter.add",))
            except KeyboardInterrupt:
                run_again = True
            else:
                run_again = False
        if run_again:
            run(task, ADD, also=("legacy.py::OldMeter.add",))
        assert len(recorded(task)) == 1 and b"fsum" not in b"".join(content(task).values())
        unmask(task, None, task.root)
        assert content(task) == before


def test_an_edited_look_alike_is_not_lost(task: TaskDir) -> None:
    run(task, ADD, also=("legacy.py::OldMeter.add",))
    place = repository(task) / "legacy.py"
    place.write_bytes(b"MINE = 1\n")
    with pytest.raises(TargetError, match="was edited where a look-alike was masked"):
        unmask(task, None, task.root)
    assert place.read_bytes() == b"MINE = 1\n"
    unmask(task, None, task.root, force=True)
    assert place.read_bytes() == LEGACY
    assert (task.authoring / "removed" / "small-repo" / "legacy.py").read_bytes() == b"MINE = 1\n"


def test_surely_leaking_generated_files_and_archives_are_taken_out_and_put_back(task: TaskDir) -> None:
    wheel = in_wheel(LOSSES.decode())[1]
    for name, data in {
        "data/code.zip": wheel,
        "site-packages/pkg/losses.py": LOSSES,
        "dist/__init__.py": b"",
        "dist/losses.py": LOSSES,
        "data/other.zip": in_wheel("def f(x):\n    return x\n")[1],
    }.items():
        (repository(task) / name).parent.mkdir(parents=True, exist_ok=True)
        (repository(task) / name).write_bytes(data)
    before = content(task)

    result = run(task, ADD)

    assert result.cleaned.moved == ("data/code.zip", "site-packages/pkg/losses.py")
    assert any(text.startswith("data/code.zip held the solution, in ") for text in result.remarks)
    assert (task.authoring / "removed" / "data" / "code.zip").read_bytes() == wheel
    assert [leak.finding.path for leak in result.leaks] == [
        "small-repo/dist/losses.py",
        "small-repo/legacy.py",
    ]
    done = unmask(task, None, task.root)
    assert set(done.put_back) == {"data/code.zip", "site-packages/pkg/losses.py"}
    assert content(task) == before


def test_what_was_taken_out_comes_back_with_the_last_target_and_a_history_never(task: TaskDir) -> None:
    wheel = in_wheel(LOSSES.decode())[1]
    for name, data in {"code.zip": wheel, ".git/HEAD": b"ref: refs/heads/main\n"}.items():
        (repository(task) / name).parent.mkdir(exist_ok=True)
        (repository(task) / name).write_bytes(data)
    assert set(run(task, ADD, HINGE).cleaned.moved) == {".git", "code.zip"}

    assert unmask(task, HINGE, task.root).put_back == ()
    assert not (repository(task) / "code.zip").exists()
    done = unmask(task, ADD, task.root)
    assert (done.put_back, done.left_out) == (("code.zip",), (".git",))
    assert (repository(task) / "code.zip").read_bytes() == wheel
    assert not (repository(task) / ".git").exists()


def test_a_look_alike_of_a_target_that_was_never_entered_is_restored_with_any(task: TaskDir) -> None:
    """A command was killed after the look-alike, and another target was masked instead."""
    run(task, ADD, also=("legacy.py::OldMeter.add",))
    [entry] = also_masked.load(task)
    also_masked.save(task, [replace(entry, target="gone.py::f")])
    assert unmask(task, ADD, task.root).also == ("legacy.py::OldMeter.add",)
    assert content(task)["legacy.py"] == LEGACY


TWO = b"""\
def hinge_loss(scores, labels, margin):
    gaps = margin - labels * scores
    gaps = gaps.clip(min=0.0)
    weights = labels.abs() / labels.abs().sum()
    return (gaps * weights).sum()


def squared_hinge_loss(scores, labels, margin):
    gaps = margin - labels * scores
    gaps = gaps.clip(min=0.0) ** 2
    weights = labels.abs() / labels.abs().sum()
    return (gaps * weights).sum()


def size(path):
    return len(open(path).read())
"""
HINGE_LOSS, SQUARED = "two.py::hinge_loss", "two.py::squared_hinge_loss"


@pytest.mark.parametrize("first", [HINGE_LOSS, SQUARED])
def test_a_look_alike_of_two_targets_stays_masked_until_both_are_restored(task: TaskDir, first: str) -> None:
    """It is recorded with the one that it is most like, and gives the other's answer away as well."""
    (repository(task) / "two.py").write_bytes(TWO)
    (repository(task) / "old.py").write_bytes(TWO.replace(b"hinge", b"margin"))
    before = content(task)
    other = next(name for name in (HINGE_LOSS, SQUARED) if name != first)
    run(task, HINGE_LOSS, SQUARED, also=("old.py::margin_loss", "old.py::squared_margin_loss"))

    done = unmask(task, first, task.root)

    copies = {("old.py::margin_loss", HINGE_LOSS), ("old.py::squared_margin_loss", SQUARED)}
    assert done.also == ()
    assert {name for name, _ in done.still_alike} == {name for name, target in copies if target == first}
    assert {target for _, target, _ in recorded(task)} == {other}
    found = validate_task(task, select_checks(["LMR4"])).findings
    assert not [item for item in found if item.path == "small-repo/old.py"]
    assert content(task)["old.py"] != before["old.py"]
    assert set(unmask(task, other, task.root).also) == {name for name, _ in copies}
    assert content(task) == before


def test_a_look_alike_that_holds_a_copy_in_a_nested_function_stays_masked_too(task: TaskDir) -> None:
    copy = textwrap.indent(TWO.decode().partition("\n\n\n")[0], "    ").replace("hinge_loss", "loss")
    (repository(task) / "two.py").write_bytes(TWO)
    (repository(task) / "old.py").write_text(f"def make():\n{copy}\n\n    return loss\n")
    before = content(task)
    run(task, HINGE_LOSS, SQUARED, also=("old.py::make",))
    [(_, first, _)] = recorded(task)
    other = SQUARED if first == HINGE_LOSS else HINGE_LOSS
    assert unmask(task, first, task.root).still_alike == (("old.py::make", other),)
    assert unmask(task, other, task.root).also == ("old.py::make",)
    assert content(task) == before


LITTLE = """
def part(names, x, margin):
    gap = margin - x
    chosen = sorted(names, key=str.lower)
    return [name.strip() for name in chosen if gap]


def clipped(x, margin=1.0):
    gap = margin - x
    if gap > 0:
        return gap
    return 0.0
"""


@pytest.mark.parametrize(("name", "target"), [("part", ADD), ("clipped", HINGE)])
def test_what_is_like_no_target_belongs_to_that_of_its_command(task: TaskDir, name: str, target: str) -> None:
    """``part`` has a little more of a target that was masked before; ``clipped`` is that target."""
    (repository(task) / "old.py").write_text(LITTLE)
    run(task, HINGE)
    result = run(task, ADD, also=(f"old.py::{name}",))
    assert [item.target for item in result.also] == [target]
    other = HINGE if target == ADD else ADD
    assert unmask(task, other, task.root).also == ()
    assert unmask(task, target, task.root).also == (f"old.py::{name}",)
