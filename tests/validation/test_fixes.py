"""What `validate --fix` repairs, in info.json above all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from lmr_author.core.task import Severity, Task
from lmr_author.proof.checks.registry import ALL_CHECKS
from lmr_author.proof.validation.repair import FIXES, Change, change_info
from lmr_author.proof.validation.run import validate
from lmr_author.proof.view import TaskView
from tests import example as example_task
from tests import example as example_texts
from tests.checks.cases import CASES, Case
from tests.cli.program import snapshot
from tests.example import REPOSITORY, Example
from tests.validation.repairing import repaired

FIXABLE = [case for case in CASES if case.code in FIXES and case.code in case.data["expect"]]


@pytest.mark.parametrize("case", FIXABLE, ids=lambda case: case.name)
def test_what_is_said_to_be_fixable_is_gone_and_nothing_new_is_there(case: Case, tmp_path: Path) -> None:
    task = case.write(tmp_path)[-1]
    before = validate([task]).findings
    files = snapshot(task.root)

    after = repaired(task).findings

    assert {one.code for one in before if one.fixable} <= set(FIXES)
    assert not [one for one in after if one.fixable]
    left = {(one.code, one.message) for one in after if one.severity is not Severity.NOTE}
    assert left <= {(one.code, one.message) for one in before if not one.fixable}
    if not any(one.fixable for one in before):
        assert snapshot(task.root) == files


def test_every_fix_has_a_case() -> None:
    assert set(FIXES) <= {check.code for check in ALL_CHECKS}
    # See `WRONG` below for these.
    assert {case.code for case in FIXABLE} >= set(FIXES) - {"LMR301"}


def _implementation(**changes: object) -> Callable[[Task], None]:
    return lambda task: example_task.apply(task, Example("", implementation=changes))


WRONG: dict[str, tuple[Callable[[Task], None], Callable[[dict[str, object]], object], object]] = {
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

    assert repaired(task).findings == ()
    assert read(task.load_raw()["implementations"][0]) == expected


UNCLEAR = {
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

    report = repaired(task)

    assert report.findings and not any(one.fixable for one in report.findings)
    assert snapshot(task.root) == before


@pytest.mark.parametrize(
    "text",
    [
        '{\n\t"a": "é",\n\t"b": [\n\t\t1,\n\t\t2\n\t]\n}\n',
        '{\r\n    "a": "é",\r\n    "b": [\r\n        1,\r\n        2\r\n    ]\r\n}',
        '{"a": "\\u00e9", "b": [1, 2]}\n',
    ],
)
def test_a_document_keeps_its_manner(text: str, tmp_path: Path) -> None:
    change = changed(tmp_path, text, {"new": "é", "b": [1, 2]})

    assert change is not None and change.after is not None
    assert change.after.decode() == text.replace('"a"', '"new"')


@pytest.mark.parametrize("text", ['{"a": 1, "a": 2}', '{"a": NaN}', '{"a"', "\xff"])
def test_a_document_that_would_lose_something_is_left_alone(text: str, tmp_path: Path) -> None:
    assert changed(tmp_path, text, {"a": 3}) is None


def test_a_link_is_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "real.json").write_text('{"a": 1}')
    (tmp_path / "info.json").symlink_to("real.json")

    assert change_info(TaskView(Task(tmp_path)), {"a": 3}) is None


def changed(folder: Path, text: str, new: dict[str, object]) -> Change | None:
    task = Task(folder)
    task.info_path.write_bytes(text.encode("latin-1" if "\xff" in text else "utf-8"))
    return change_info(TaskView(task), new)
