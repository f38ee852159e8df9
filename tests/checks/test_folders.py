"""Folders in the wild: one mistake in the metadata hides no other, and nothing is invented because of it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from lmr_author.core.task import Task
from lmr_author.proof.validation.run import validate
from tests import example as example_task
from tests.example import BODY, GOLDEN, MASKED, REPOSITORY

BARE_RETURN = GOLDEN.replace(BODY, "    return mean_penalty, share\n")


def _info(task: Task, **changes: object) -> None:
    info = task.load_raw()
    info["implementations"][0] |= changes
    task.info_path.write_text(json.dumps(info, ensure_ascii=False), "utf-8")


def _text(task: Task, change: Callable[[str], str], encoding: str = "utf-8") -> None:
    task.info_path.write_bytes(change(task.info_path.read_text("utf-8")).encode(encoding))


def _mask(task: Task) -> Path:
    """Another defect: the body is a bare return."""
    goal = task.root / REPOSITORY / "ranking" / "losses.py"
    goal.write_text(BARE_RETURN)
    return goal


def _rename_repository(task: Task) -> None:
    (task.root / REPOSITORY).rename(task.root / "MarginRanking")


def _empty_repository(task: Task) -> None:
    shutil.rmtree(task.root / REPOSITORY)
    (task.root / REPOSITORY).mkdir()


def _submodule(task: Task) -> None:
    _empty_repository(task)
    (task.root / REPOSITORY / ".git").write_text("gitdir: ../../.git/modules/margin-ranking\n")


def _accented(text: str) -> str:
    return text.replace("Smooth Margins", "Smooth M\u00e4rgins")


Change = Callable[[Task], object]


def _replacing(old: str, new: str) -> Change:
    return lambda task: _text(task, lambda text: text.replace(old, new, 1))


def _encoded(encoding: str) -> Change:
    return lambda task: _text(task, _accented, encoding)


def _saying(**changes: object) -> Change:
    return lambda task: _info(task, **changes)


def _cut_off(task: Task) -> None:
    _text(task, lambda text: text[: len(text) // 2])


CASES: dict[str, tuple[Change, set[str]]] = {
    "a comma too many": (_replacing('.py"\n', '.py",\n'), {"LMR001"}),
    "a comment": (_replacing("{\n", "{\n  // the first task\n"), {"LMR001"}),
    "a line break in a text": (_replacing("Keep its", "Keep\nits"), {"LMR001"}),
    "a byte order mark": (_encoded("utf-8-sig"), {"LMR001", "LMR307"}),
    "UTF-16": (_encoded("utf-16"), {"LMR001", "LMR307"}),
    "Windows-1252": (_encoded("cp1252"), {"LMR001"}),
    "cut off in the middle": (_cut_off, {"LMR001"}),
    "the goal file misspelt": (_saying(goal_file="ranking/loses.py"), {"LMR301", "LMR307"}),
    "the goal file elsewhere": (_saying(goal_file="src/losses.py"), {"LMR301", "LMR307"}),
    "the goal file is the test": (_saying(goal_file="unit_test/unit_test_1.py"), {"LMR307", "LMR510"}),
    "the golden misspelt": (_saying(golden_file="golden_files/loses_golden.py"), {"LMR302", "LMR307"}),
    "the golden without its folder": (_saying(golden_file="losses_golden.py"), {"LMR302", "LMR307"}),
    "the test without its folder": (_saying(unit_test_file="unit_test_1.py"), {"LMR307", "LMR501"}),
    "the repository has another name": (_rename_repository, {"LMR103", "LMR307"}),
    "the repository is empty": (_empty_repository, {"LMR103"}),
    "the repository is a submodule": (_submodule, {"LMR103"}),
}


@pytest.mark.parametrize("name", CASES)
def test_one_mistake_hides_no_other(name: str, tmp_path: Path) -> None:
    change, expected = CASES[name]
    task = example_task.write(tmp_path)
    _mask(task)
    change(task)

    found = validate([task]).findings

    assert {one.code for one in found} == expected, [f"{one.code} {one.path} {one.message}" for one in found]


def test_two_files_of_the_goldens_name_leave_open_which_is_meant(tmp_path: Path) -> None:
    task = example_task.write(tmp_path)
    copy = task.root / REPOSITORY / "zoo" / "losses.py"
    copy.parent.mkdir()
    copy.write_text(MASKED)
    _info(task, goal_file="ranking/loses.py")
    _mask(task)

    codes = {one.code for one in validate([task]).findings}

    assert "LMR301" in codes and "LMR307" not in codes
