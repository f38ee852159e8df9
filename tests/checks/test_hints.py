"""What findings advise: a hint names what is to be done in this very task."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lmr_author.core.task import Finding
from lmr_author.proof.validation.run import validate
from tests import example
from tests.example import GOAL, INSTRUCTION, MASKED, REPOSITORY, Example


def found(folder: Path, change: Example) -> Finding:
    """The only finding in the good task after a change."""
    task = example.write(folder)
    example.apply(task, change)
    return next(one for one in validate([task]).findings if one.code in change.also)


def test_a_missing_file_is_named_under_the_key_that_is_written(tmp_path: Path) -> None:
    changed = {"retrieval_context": None, "retrieval_content": ["ranking/trian.py"]}
    finding = found(tmp_path, Example("", implementation=changed, also=("LMR605",)))
    assert finding.pointer == "/implementations/0/retrieval_content/0"
    assert finding.message == "retrieval_content 'ranking/trian.py' does not exist"


def test_the_goal_file_is_meant_before_a_copy_that_a_build_made(tmp_path: Path) -> None:
    instruction = INSTRUCTION.replace("`ranking/losses.py`", "`model/losses.py`")
    copy = {f"{REPOSITORY}/build/lib/ranking/losses.py": MASKED}
    finding = found(
        tmp_path, Example("", copy, implementation={"instruction": instruction}, also=("LMR602",))
    )

    assert finding.hint.startswith("did you mean ranking/losses.py")


def test_a_wrong_goal_file_is_not_taken_for_a_copy_that_a_build_made(tmp_path: Path) -> None:
    copy = {f"{REPOSITORY}/build/lib/ranking/losses.py": MASKED}
    finding = found(tmp_path, Example("", copy, implementation={"goal_file": "losses.py"}, also=("LMR301",)))

    assert finding.hint.startswith("did you mean ranking/losses.py")


DEEP = {
    "attributes": "x" + ".a" * 1000,
    "sums": "x" + " + x" * 1000,
    "conditions": "0\n    if x == 0:\n        y = 0\n" + "    elif x == 1:\n        y = 1\n" * 1000,
}


@pytest.mark.parametrize("kind", DEEP)
@pytest.mark.parametrize(
    ("paths", "code"),
    [
        ((GOAL, "golden_files/losses_golden.py"), "LMR312"),
        ((f"{REPOSITORY}/unit_test/unit_test_1.py",), "LMR501"),
    ],
)
def test_code_that_is_too_deeply_nested_is_one_finding(
    kind: str, paths: tuple[str, ...], code: str, tmp_path: Path
) -> None:
    task = example.write(tmp_path)
    for path in paths:
        text = (task.root / path).read_text()
        (task.root / path).write_text(f"{text}\n\ndef deep(x):\n    y = {DEEP[kind]}\n")

    findings = validate([task]).findings

    assert [(one.code, one.message) for one in findings] == [
        (code, "not checked: the code is nested too deeply")
    ]


def test_words_for_what_is_no_python(tmp_path: Path) -> None:
    task = example.write(tmp_path)
    goal = task.root / GOAL
    goal.write_bytes(b"# coding: utf-99\n")
    encoding = next(one for one in validate([task]).findings if one.code == "LMR312")
    goal.unlink()
    os.mkfifo(goal)
    task.info_path.write_text("null")
    null = next(one for one in validate([task]).findings if one.code == "LMR001")

    assert "SourceError" not in encoding.message and "utf-99" in encoding.message
    assert null.message == "contains a JSON null, not an object"
