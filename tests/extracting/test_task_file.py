"""`extract` on a task folder: the order of writing, its record, and what it refuses."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from lmr_author.authoring.extracting.extract import As
from lmr_author.authoring.extracting.task_file import ExtractOptions, plan, write
from lmr_author.authoring.masking import MaskOptions, mask, unmask
from lmr_author.core import files, resources
from lmr_author.core.errors import LmrError, SourceError, TargetError, UnsafePathError, UsageError
from lmr_author.core.task import Task
from tests.example import PROVENANCE
from tests.support import LOSSES, make_task

PLACE = "pkg/losses.py:13-15"
GAP = "pkg/losses.py:12-15"
EXTRACTED = LOSSES.replace(
    b"def hinge",
    b"def cut(gap):\n    if gap > 0:\n        return gap\n    return 0.0\n\n\ndef hinge",
).replace(
    b"# how far\n    if gap > 0:\n        return gap\n    return 0.0\n", b"# how far\n    return cut(gap)\n"
)


@pytest.fixture
def task(tmp_path: Path) -> Task:
    """A task with nothing masked, and with a record of where it is from."""
    made = make_task(tmp_path)
    files.write_json(made.provenance_path, PROVENANCE)
    return made


def goal(task: Task) -> Path:
    return task.root / "small-repo" / "pkg" / "losses.py"


def extract(task: Task, place: str, name: str = "cut", kind: As | None = None) -> tuple[str, ...]:
    return write(task, plan(task, ExtractOptions(place, name, kind), task.root))


def recorded(task: Task) -> list[dict[str, Any]]:
    document = files.read_json(task.provenance_path)
    jsonschema.validate(document, resources.schema("provenance"))
    found: list[dict[str, Any]] = document.get("extractions", [])
    return found


def test_file_copy_and_record(task: Task) -> None:
    assert extract(task, PLACE) == ()
    assert goal(task).read_bytes() == EXTRACTED
    assert (task.authoring / "removed" / "small-repo" / "pkg" / "losses.py").read_bytes() == LOSSES
    assert recorded(task) == [
        {
            "file": "pkg/losses.py",
            "start": 13,
            "end": 15,
            "name": "cut",
            "inputs": ["gap"],
            "outputs": [],
            "sha256_before": files.sha256_bytes(LOSSES),
            "sha256_after": files.sha256_bytes(EXTRACTED),
        }
    ]


def test_planning_writes_nothing(task: Task) -> None:
    before = {path: path.read_bytes() for path in files.walk(task.root)}
    planned = plan(task, ExtractOptions(PLACE, "cut"), task.root)
    assert planned.extraction.data == EXTRACTED
    assert {path: path.read_bytes() for path in files.walk(task.root)} == before


def test_the_new_function_is_masked_with_the_extracted_file_as_its_golden(task: Task) -> None:
    extract(task, PLACE)
    mask(task, MaskOptions(("pkg/losses.py::cut",)), task.root)
    assert (task.root / "golden_files" / "losses_golden.py").read_bytes() == EXTRACTED
    assert b"return gap" not in goal(task).read_bytes()
    unmask(task, None, task.root)
    assert goal(task).read_bytes() == EXTRACTED


def test_a_second_extraction_is_added(task: Task) -> None:
    extract(task, PLACE)
    start = EXTRACTED.splitlines().index(b"        self.values.append(value)") + 1
    extract(task, f"pkg/losses.py:{start}-{start + 1}", "keep")
    assert [(item["name"], item["inputs"]) for item in recorded(task)] == [
        ("cut", ["gap"]), ("Meter.keep", ["self", "value"]),
    ]  # fmt: skip
    assert recorded(task)[0]["sha256_after"] == recorded(task)[1]["sha256_before"]
    copies = sorted((task.authoring / "removed" / "small-repo" / "pkg").iterdir())
    assert [path.read_bytes() for path in copies] == [LOSSES, EXTRACTED]


@pytest.mark.parametrize("step", [1, 2])
def test_a_killed_extraction_is_completed_by_running_it_again(
    task: Task, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    """Killed before the record or the file is in its place: the file is as it was, nothing is doubled."""
    replace, calls = os.replace, []

    def killed(*arguments: Any) -> None:
        calls.append(arguments)
        if len(calls) == step:
            raise KeyboardInterrupt
        replace(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", killed)
        with pytest.raises(KeyboardInterrupt):
            extract(task, PLACE)
    assert goal(task).read_bytes() == LOSSES
    extract(task, PLACE)
    assert goal(task).read_bytes() == EXTRACTED
    assert [item["name"] for item in recorded(task)] == ["cut"]
    assert len(list((task.authoring / "removed").rglob("losses.py*"))) == 1


def test_a_file_that_changed_since_it_was_shown_is_left_alone(task: Task) -> None:
    planned = plan(task, ExtractOptions(PLACE, "cut"), task.root)
    goal(task).write_bytes(LOSSES + b"MINE = 1\n")
    with pytest.raises(LmrError, match="changed in the meantime"):
        write(task, planned)
    assert goal(task).read_bytes() == LOSSES + b"MINE = 1\n"
    assert recorded(task) == []


def test_a_task_without_provenance_is_said_to_have_none(task: Task) -> None:
    task.provenance_path.unlink()
    (remark,) = extract(task, PLACE)
    assert "no authoring/provenance.json" in remark
    assert goal(task).read_bytes() == EXTRACTED
    assert not task.provenance_path.exists()


def test_a_file_with_a_masked_function_is_refused(task: Task) -> None:
    mask(task, MaskOptions(("pkg/losses.py::Meter.add",)), task.root)
    before = goal(task).read_bytes()
    with pytest.raises(TargetError, match=r"has masked functions \(Meter.add\)") as caught:
        extract(task, PLACE)
    assert caught.value.hint == "restore it first: lmr-author unmask pkg/losses.py::Meter.add"
    assert goal(task).read_bytes() == before


@pytest.mark.parametrize(
    ("user", "outputs"),
    [
        ("from settings import rate\n", ("rate",)),
        ("from .settings import size as n\n", ("size",)),
        ("import pkg.settings\nprint(pkg.settings.rate)\n", ("rate",)),
        ("from pkg import settings as s\nprint(s.rate, s.size)\n", ("rate", "size")),
        ("from settings import *\nprint(size)\n", ("size",)),
        ("import settings\n", ()),
        ("rate = 1\nprint(rate, 'settings')\n", ()),
        ("from settings import (\n", ()),
    ],
)
def test_variables_that_other_files_use_are_returned(task: Task, user: str, outputs: tuple[str, ...]) -> None:
    repository = task.root / "small-repo"
    (repository / "pkg" / "settings.py").write_text("base = 2\nrate = base * 2\nsize = rate\n")
    (repository / "user.py").write_text(user)
    done = plan(task, ExtractOptions("pkg/settings.py:2-3", "prepare"), task.root).extraction
    assert done.outputs == outputs


def test_a_method_that_another_file_could_override_is_refused(task: Task) -> None:
    (task.root / "small-repo" / "other.py").write_text(
        "from pkg.losses import Meter\nclass Fast(Meter):\n    def keep(self): pass\n"
    )
    with pytest.raises(TargetError, match=r"other\.py"):
        plan(task, ExtractOptions("pkg/losses.py:25-26", "keep"), task.root)
    assert (
        plan(task, ExtractOptions("pkg/losses.py:25-26", "keep", As.function), task.root).extraction.qualname
        == "keep"
    )
    assert (
        plan(task, ExtractOptions("pkg/losses.py:25-26", "keep_one"), task.root).extraction.qualname
        == "Meter.keep_one"
    )


@pytest.mark.parametrize(
    ("place", "name", "error", "message"),
    [
        ("pkg/losses.py", "cut", UsageError, "not a file with lines"),
        ("pkg/losses.py:a-b", "cut", UsageError, "not a file with lines"),
        ("pkg/losses.py:5-3", "cut", UsageError, "not a range"),
        ("pkg/losses.py:1-900", "cut", TargetError, "has 32 lines, not 900"),
        ("pkg/loses.py:3-4", "cut", TargetError, "no file 'pkg/loses.py'"),
        ("README.md:1-1", "cut", SourceError, "not a Python file"),
        ("../outside.py:1-1", "cut", TargetError, "outside the repository"),
        ("old.py:1-1", "cut", SourceError, "not valid Python 3"),
        (PLACE, "hinge", TargetError, "hinge is used already"),
        (PLACE, "2x", UsageError, "--name 2x|not a target"),
        (PLACE, "for", UsageError, "--name for"),
        (PLACE, "a.b", UsageError, "--name a.b"),
    ],
)
def test_wrong_input(task: Task, place: str, name: str, error: type[LmrError], message: str) -> None:
    (task.root / "outside.py").write_text("x = 1\n")
    (task.root / "small-repo" / "old.py").write_text("print 'x'\n")
    with pytest.raises(error, match=message) as caught:
        plan(task, ExtractOptions(place, name), task.root)
    assert caught.value.hint


def test_a_link_is_not_written_through(task: Task, tmp_path: Path) -> None:
    outside = tmp_path / "outside.py"
    outside.write_text("x = 1\ny = x\n")
    (task.root / "small-repo" / "link.py").symlink_to(outside)
    with pytest.raises((TargetError, UnsafePathError)):
        plan(task, ExtractOptions("link.py:2-2", "cut"), task.root)
