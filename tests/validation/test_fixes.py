"""Repairs: each does what it says, keeps what was there, and touches nothing else."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from lmr_author import accepted
from lmr_author.checks import example_task, example_texts
from lmr_author.checks.base import Check, Example
from lmr_author.checks.example_texts import REPOSITORY
from lmr_author.checks.registry import ALL_CHECKS, by_code
from lmr_author.checks.view import TaskView
from lmr_author.cli.app import main
from lmr_author.errors import UnsafePathError
from lmr_author.model import Severity
from lmr_author.taskdir import TaskDir
from lmr_author.validation import edits
from lmr_author.validation.edits import PutAside, RenameKey, ReplaceText, SetValue, changes
from lmr_author.validation.fixes import FIXES
from lmr_author.validation.fixing import plan, repair
from lmr_author.validation.report import Report
from lmr_author.validation.run import select_checks, validate
from tests.cli.program import snapshot

EXAMPLES = [
    pytest.param(check, example, id=f"{check.code}-{example.title}")
    for check in ALL_CHECKS
    for example in check.failing
    if check.code in FIXES
]


def _repair(task: TaskDir) -> Report:
    report, _ = repair(validate([task]), lambda: validate([task]))
    return report


@pytest.mark.parametrize(("check", "example"), EXAMPLES)
def test_what_is_said_to_be_fixable_is_gone_and_nothing_new_is_there(
    check: Check, example: Example, tmp_path: Path
) -> None:
    task = example_task.write(tmp_path)
    example_task.apply(task, example)
    before = validate([task]).findings
    files = snapshot(task.root)

    after = _repair(task).findings

    assert {one.code for one in before if one.fixable} <= set(FIXES)
    assert not [one for one in after if one.fixable]
    left = {(one.code, one.message) for one in after if one.severity is not Severity.NOTE}
    assert left <= {(one.code, one.message) for one in before if not one.fixable}
    if not any(one.fixable for one in before):
        assert snapshot(task.root) == files


@pytest.mark.parametrize("code", sorted(FIXES))
def test_each_fix_repairs_an_example_of_its_check(code: str, tmp_path: Path) -> None:
    assert by_code()[code].fixable
    repaired = []
    for number, example in enumerate(by_code()[code].failing):
        task = example_task.write(tmp_path / str(number))
        example_task.apply(task, example)
        if any(one.fixable for one in validate([task], [by_code()[code]]).findings):
            repaired.append(example.title)
    if code not in ("LMR301", "LMR605"):  # see `WRONG` below for these
        assert repaired


def test_only_checks_with_a_fix_say_that_they_have_one() -> None:
    assert {check.code for check in ALL_CHECKS if check.fixable} == set(FIXES)


def _implementation(**changes: object) -> Callable[[TaskDir], None]:
    return lambda task: example_task.apply(task, Example("", implementation=changes))


WRONG: dict[str, tuple[Callable[[TaskDir], None], Callable[[dict[str, object]], object], object]] = {
    "a file that lies elsewhere": (
        _implementation(retrieval_context=["src/train.py"]),
        lambda entry: entry["retrieval_context"],
        ["ranking/train.py"],
    ),
    "the repository's name in front": (
        _implementation(goal_file=f"{REPOSITORY}/ranking/losses.py"),
        lambda entry: entry["goal_file"],
        "ranking/losses.py",
    ),
    "a golden by another name": (
        _implementation(golden_file="golden_files/loss_golden.py"),
        lambda entry: entry["golden_file"],
        "golden_files/losses_golden.py",
    ),
    "a test by another name": (
        _implementation(unit_test_file="unit_test/test_1.py"),
        lambda entry: entry["unit_test_file"],
        "unit_test/unit_test_1.py",
    ),
    "a function as it is called": (
        _implementation(goal_function="pairwise_loss(scores, labels)", class_name="Losses"),
        lambda entry: (entry["goal_function"], entry["class_name"]),
        ("pairwise_loss", ""),
    ),
    "both spellings": (
        _implementation(retrieval_content=["x.py"]),
        lambda entry: (entry["retrieval_context"], "retrieval_content" in entry),
        (["ranking/train.py"], False),
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_obviously_meant_is_written(name: str, tmp_path: Path) -> None:
    spoil, read, expected = WRONG[name]
    task = example_task.write(tmp_path)
    example_task.apply(task, Example("", implementation={"retrieval_context": ["ranking/train.py"]}))
    spoil(task)

    assert _repair(task).findings == ()
    assert read(task.load_raw()["implementations"][0]) == expected


UNCLEAR = {
    "two files of that name": Example(
        "",
        files={f"{REPOSITORY}/a/x.py": "", f"{REPOSITORY}/b/x.py": ""},
        implementation={"retrieval_context": ["c/x.py"]},
    ),
    "another number": Example("", info={"instance_id": 7}),
    "free text": Example("", implementation={"category": "loss function"}),
    "a redirection with blanks": Example(
        "", files={"Dockerfile": example_texts.DOCKERFILE + "RUN pip install numpy==1.26.4 torch >= 2.5\n"}
    ),
}


@pytest.mark.parametrize("name", UNCLEAR)
def test_what_is_not_plain_is_left_alone(name: str, tmp_path: Path) -> None:
    task = example_task.write(tmp_path)
    example_task.apply(task, UNCLEAR[name])
    before = snapshot(task.root)

    report = _repair(task)

    assert report.findings and not any(one.fixable for one in report.findings)
    assert snapshot(task.root) == before


@pytest.mark.parametrize(
    "text",
    [
        '{\n\t"a": "é",\n\t"b": [1, 2]\n}\n',
        '{\r\n    "a": "é",\r\n    "b": [\r\n        1,\r\n        2\r\n    ]\r\n}',
        '{"a": "\\u00e9", "b": [1, 2]}\n',
    ],
)
def test_a_document_keeps_its_manner(text: str, tmp_path: Path) -> None:
    task = TaskDir(tmp_path)
    task.info_path.write_bytes(text.encode())

    (change,) = changes(TaskView(task), [RenameKey((), "a", "new")])

    assert change.after is not None
    if "[1, 2]" in text and "\n\t" in text:
        assert change.after.decode() == text.replace('"a"', '"new"').replace(
            "[1, 2]", "[\n\t\t1,\n\t\t2\n\t]"
        )
    else:
        assert change.after.decode() == text.replace('"a"', '"new"')


@pytest.mark.parametrize("text", ['{"a": 1, "a": 2}', '{"a": NaN}', '{"a"', "[1]", "\xff"])
def test_a_document_that_would_lose_something_is_left_alone(text: str, tmp_path: Path) -> None:
    task = TaskDir(tmp_path)
    task.info_path.write_bytes(text.encode("latin-1"))

    assert changes(TaskView(task), [SetValue(("a",), 3)]) == ()


def test_a_link_is_not_written_through(tmp_path: Path) -> None:
    task = TaskDir(tmp_path)
    (tmp_path / "real.json").write_text('{"a": 1}')
    task.info_path.symlink_to("real.json")
    (tmp_path / "real").write_text("FROM a\n")
    task.dockerfile.symlink_to("real")

    assert changes(TaskView(task), [SetValue(("a",), 3), ReplaceText(1, "a", "b")]) == ()


def test_every_changed_file_is_kept_as_it_was(tmp_path: Path) -> None:
    task = example_task.write(tmp_path)
    for code in ("LMR003", "LMR203", "LMR402", "LMR701"):
        example_task.apply(task, by_code()[code].failing[0])
    before = {path: digest for path, digest in snapshot(task.root).items() if digest != "folder"}

    assert _repair(task).clean

    after = snapshot(task.root)
    for path, digest in before.items():
        assert digest in (after.get(path), after.get(f"authoring/removed/{path}")), path
    assert {path for path in before if after.get(path) != before[path]} == {
        "info.json",
        "Dockerfile",
        f"{REPOSITORY}/.DS_Store",
        f"{REPOSITORY}/.git/HEAD",
    }


def test_a_second_repair_does_not_overwrite_the_first_copy(tmp_path: Path) -> None:
    task = example_task.write(tmp_path)
    for year in ("2023", "2024"):
        example_task.apply(task, Example("", info={"year": year}))
        assert _repair(task).findings == ()

    kept = sorted((task.authoring / "removed").glob("info.json*"))
    assert [json.loads(path.read_text())["year"] for path in kept] == ["2023", "2024"]


def test_names_that_are_no_utf8_are_moved(tmp_path: Path) -> None:
    task = example_task.write(tmp_path)
    name = os.fsencode(task.root / REPOSITORY) + b"/\xff\xfe.swp"
    with open(name, "wb") as file:
        file.write(b"x")
    (task.root / REPOSITORY / "two\nlines~").write_text("")

    _repair(task)

    assert not os.path.exists(name)
    assert os.path.exists(os.fsencode(task.authoring / "removed" / REPOSITORY) + b"/\xff\xfe.swp")
    assert (task.authoring / "removed" / REPOSITORY / "two\nlines~").exists()


def test_nothing_is_written_outside_of_the_task(tmp_path: Path) -> None:
    task = example_task.write(tmp_path)
    shutil.rmtree(task.authoring)
    (tmp_path / "outside").mkdir()
    task.authoring.symlink_to(tmp_path / "outside")
    (task.root / REPOSITORY / ".DS_Store").write_text("")

    with pytest.raises(UnsafePathError):
        _repair(task)
    assert list((tmp_path / "outside").iterdir()) == []


def test_what_is_accepted_is_not_repaired(tmp_path: Path) -> None:
    task = example_task.write(tmp_path)
    example_task.apply(task, by_code()["LMR701"].failing[0])
    accepted.add(task, validate([task]).findings[0], "the task is about such files")

    assert plan(validate([task])) == ()


def test_many_at_once_are_all_moved(tmp_path: Path) -> None:
    task = example_task.write(tmp_path)
    for number in range(12):
        folder = task.root / REPOSITORY / f"part{number}"
        folder.mkdir()
        (folder / ".DS_Store").write_text("")
    (finding,) = validate([task]).findings
    assert finding.message.startswith("12 ")

    assert _repair(task).findings == ()
    assert len(list((task.authoring / "removed").rglob(".DS_Store"))) == 12


def test_a_folder_and_what_lies_in_it_are_moved_once(tmp_path: Path) -> None:
    task = example_task.write(tmp_path)

    found = changes(TaskView(task), [PutAside("a/b"), PutAside("a"), PutAside("ab"), PutAside("a")])

    assert found == (edits.Change("a"), edits.Change("ab"))


def test_the_command_shows_first_and_changes_then(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    task = example_task.write(tmp_path)
    example_task.apply(task, by_code()["LMR003"].failing[0])
    (task.root / REPOSITORY / "\x1b[31m~").write_text("")
    before = snapshot(tmp_path)

    assert main(["validate", str(task.root), "--diff"]) == 1
    captured = capsys.readouterr()
    assert '-      "retrieval_content": [' in captured.out.splitlines()
    assert '+      "retrieval_context": [' in captured.out.splitlines()
    assert f"moved {task.name}/{REPOSITORY}/\\x1b[31m~ to authoring/removed/" in captured.out
    assert "--fix` makes 2 changes to 1 task" in captured.err
    assert snapshot(tmp_path) == before

    (task.root / REPOSITORY / "\x1b[31m~").unlink()
    assert main(["validate", str(task.root), "--fix", "--format", "json"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["summary"]["clean"] == 1
    assert captured.err.splitlines()[0] == f"changed {task.name}/info.json"
    assert main(["validate", str(task.root), "--diff"]) == 0
    assert "nothing can be repaired" in capsys.readouterr().err
    assert main(["validate", str(task.root), "--diff", "--format", "json"]) == 2


def test_only_chosen_checks_are_repaired(tmp_path: Path) -> None:
    task = example_task.write(tmp_path)
    for code in ("LMR003", "LMR701"):
        example_task.apply(task, by_code()[code].failing[0])
    some = select_checks(["LMR7"])

    repair(validate([task], some), lambda: validate([task], some))

    assert [one.code for one in validate([task]).findings] == ["LMR003"]
