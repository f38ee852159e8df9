"""The forms in which misreadings and rewrites are read; nothing is run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lmr_author.authoring.masking import MaskOptions, mask
from lmr_author.core.errors import LmrError
from lmr_author.core.task import Task
from lmr_author.core.task.challenge import AnswerKind, Challenger
from lmr_author.release.challenge.answers import read
from lmr_author.release.challenge.challenge import merged
from tests.challenge import made
from tests.pipeline import ADD, HINGE, only_hinge
from tests.support import make_task, write_files

ROOT = Path(__file__).parents[2]
STARTER = ROOT / "templates" / "starter"


def test_a_recipe_has_misreadings_and_rewrites() -> None:
    """An answer without a kind is one by its outcome."""
    found = {
        one.name: one for one in read(STARTER / "1-rating-margin", Task(ROOT / "tasks" / "1-rating-margin"))
    }
    assert found["rewritten"].kind is AnswerKind.REWRITE
    assert found["misread"].kind is found["subtle"].kind is AnswerKind.MISREADING
    assert found["misread"].source == "1-rating-margin"


def test_the_recipe_of_another_task_is_refused() -> None:
    with pytest.raises(LmrError, match="target 1 is") as raised:
        read(STARTER / "2-drifting-prototypes", Task(ROOT / "tasks" / "1-rating-margin"))
    assert "this task was made from" in raised.value.hint


def test_folders_name_the_kind(tmp_path: Path) -> None:
    task = only_hinge(tmp_path)
    folder = write_files(
        tmp_path / "answers",
        {
            "misreadings/a.py": "# The gap is\n# not cut.\ndef hinge(x): ...\n",
            "rewrites/b.py": "def hinge(x): ...\n",
        },
    )
    found = [(one.index, one.name, one.kind, one.about) for one in read(folder, task)]
    assert found == [(1, "a", AnswerKind.MISREADING, "The gap is not cut."), (1, "b", AnswerKind.REWRITE, "")]


def test_of_several_functions_a_folder_says_which(tmp_path: Path) -> None:
    task = make_task(tmp_path)
    mask(task, MaskOptions((HINGE,)), task.root)
    mask(task, MaskOptions((ADD,)), task.root)
    folder = write_files(tmp_path / "answers", {"rewrites/2/b.py": "def add(self, value): ...\n"})
    assert [(one.index, one.name) for one in read(folder, task)] == [(2, "b")]
    write_files(folder, {"rewrites/a.py": "def hinge(x): ...\n"})
    with pytest.raises(LmrError, match="which of 2 functions"):
        read(folder, task)
    assert [(each.index, each.name) for each in read(folder, task, 1)] == [(1, "a"), (2, "b")]


def lines(path: Path, *rows: dict[str, object]) -> Path:
    """Write answers to hinge as JSON lines."""
    whole = [
        {"task": "1-Small", "index": 1, "model": "m", "code": "def hinge(x): ...", **row} for row in rows
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in whole))
    return path


def test_lines_of_json_name_the_kind(tmp_path: Path) -> None:
    task = only_hinge(tmp_path)
    path = lines(
        tmp_path / "answers.jsonl",
        {"kind": "misreading", "about": "it is clipped"},
        {"kind": "rewrite"},
        {"model": "other", "kind": "rewrite"},
    )
    found = [(one.name, one.kind, one.about) for one in read(path, task)]
    assert found == [
        ("m 1", AnswerKind.MISREADING, "it is clipped"),
        ("m 2", AnswerKind.REWRITE, ""),
        ("other", AnswerKind.REWRITE, ""),
    ]


def test_where_test_and_grade_disagree_the_grade_names_the_kind(tmp_path: Path) -> None:
    """People's grades count before a model's; an answer about which both agree challenges nothing."""
    task = only_hinge(tmp_path)
    path = lines(
        tmp_path / "graded.jsonl",
        {"model": "passes, wrong", "outcome": "passed", "judge": "LI"},
        {"model": "fails, right", "outcome": "failed", "judge": "CC"},
        {"model": "fails, wrong", "outcome": "failed", "judge": "LC"},
        {"model": "passes, right", "outcome": "passed", "judge": "CC"},
        {"model": "people say wrong", "outcome": "passed", "judge": "CC", "grades": {"ada": "LI"}},
        {"model": "disputed", "outcome": "passed", "grades": {"ada": "LI", "bob": "CC"}},
    )
    found = {one.name: one.kind for one in read(path, task)}
    assert found == {
        "passes, wrong": AnswerKind.MISREADING,
        "fails, right": AnswerKind.REWRITE,
        "people say wrong": AnswerKind.MISREADING,
    }


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "there is no"),
        ({"answers/nothing/": ""}, "holds no answers"),
        ({"answers/misreadings/": ""}, "holds no misreadings or rewrites"),
        ({"answers/notes.txt": "none"}, "holds no answers"),
    ],
)
def test_nothing_to_read(files: dict[str, str], message: str, tmp_path: Path) -> None:
    task = only_hinge(tmp_path)
    for name, text in files.items():
        if name.endswith("/"):
            folder = tmp_path / name
            (folder.parent if "nothing" in name else folder).mkdir(parents=True, exist_ok=True)
        else:
            write_files(tmp_path, {name: text})
    with pytest.raises(LmrError, match=message) as raised:
        read(tmp_path / "answers", task)
    assert "misreadings/" in raised.value.hint and "docs/challenge.md" in raised.value.hint


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"kind": "mistake"}, "kind 'mistake' is unknown"),
        ({}, "the answer has no kind"),
        ({"task": "9-Other", "kind": "rewrite"}, "only for other tasks: 9-Other"),
    ],
)
def test_lines_that_say_too_little(row: dict[str, object], message: str, tmp_path: Path) -> None:
    with pytest.raises(LmrError, match=message):
        read(lines(tmp_path / "answers.jsonl", row), only_hinge(tmp_path))


def test_two_answers_of_one_name_are_refused(tmp_path: Path) -> None:
    task = only_hinge(tmp_path)
    folder = made.answers(tmp_path / "answers", {"same": "return 0"}, {"same": "return 0"})
    with pytest.raises(LmrError, match="two answers with the name 'same'"):
        read(folder, task)


def test_answers_to_one_function_leave_those_to_another() -> None:
    before = [
        Challenger(index=1, name="a", kind=AnswerKind.REWRITE, source="answers", code="def hinge(x): ...\n")
    ]
    new = [
        Challenger(
            index=2, name="b", kind=AnswerKind.REWRITE, source="answers", code="def add(self, value): ...\n"
        )
    ]
    assert [answer.index for answer in merged(before, new, 2)] == [1, 2]
    assert [answer.index for answer in merged(before, new, None)] == [2], "gone from its source"
