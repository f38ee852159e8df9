"""What findings advise: a hint names what is to be done in this very task."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author.checks import example_task
from lmr_author.checks.base import Content, Example
from lmr_author.checks.example_texts import GOAL, GOLDEN, MASKED, REPOSITORY
from lmr_author.checks.registry import ALL_CHECKS
from lmr_author.model import Finding
from lmr_author.validation.run import validate

_UNDEFINED = MASKED.replace(
    "    raise NotImplementedError\n", "    # your code here\n    return mean_penalty\n"
)
_MASK_IT = "mask it: `lmr-author mask ranking/losses.py::pairwise_loss`"

_MOVE_IT = (
    f"it is {REPOSITORY}/ranking/losses_masked.py that is masked: move it to {REPOSITORY}/ranking/losses.py"
)
_NAME_IT = f"it is {REPOSITORY}/old/losses.py that is masked: name that file in goal_file, or mask this one"


def found(folder: Path, code: str, example: Example) -> list[Finding]:
    """The findings of one check in the good task after a change."""
    task = example_task.write(folder)
    example_task.apply(task, example)
    return [one for one in validate([task]).findings if one.code == code]


def of(code: str, title: str) -> Example:
    """A failing example of a check."""
    check = next(check for check in ALL_CHECKS if check.code == code)
    return next(example for example in check.failing if example.title == title)


@pytest.mark.parametrize(
    ("code", "title", "hint"),
    [
        ("LMR101", "paper.pdf is missing", "download the paper and save it there"),
        ("LMR101", "paper.json is missing", "make it from paper.pdf"),
    ],
)
def test_the_hint_of_an_example(code: str, title: str, hint: str, tmp_path: Path) -> None:
    assert [one.hint for one in found(tmp_path, code, of(code, title))] == [hint]


def test_paper_json_without_a_pdf(tmp_path: Path) -> None:
    changes: dict[str, Content] = {f"{REPOSITORY}/paper.{ending}": None for ending in ("pdf", "json")}
    hints = {one.path[-4:]: one.hint for one in found(tmp_path, "LMR101", Example("neither", files=changes))}
    assert hints == {
        ".pdf": "download the paper and save it there",
        "json": "make it from the paper's PDF, which is not there either",
    }


@pytest.mark.parametrize(
    ("files", "hint"),
    [
        ({"ranking/losses_masked.py": MASKED}, _MOVE_IT),
        ({"ranking/losses_masked.py": _UNDEFINED}, _MOVE_IT),
        ({"old/losses.py": MASKED}, _NAME_IT),
        ({"ranking/losses_masked.py": GOLDEN}, _MASK_IT),
        ({"build/lib/ranking/losses.py": MASKED}, _MASK_IT),
    ],
    ids=["named so", "a bare return", "another folder", "a copy of the original", "a build"],
)
def test_which_file_is_masked(files: dict[str, Content], hint: str, tmp_path: Path) -> None:
    there = {f"{REPOSITORY}/{path}": content for path, content in files.items()}
    example = Example("the goal file is the golden", files={GOAL: GOLDEN, **there})
    assert [one.hint for one in found(tmp_path, "LMR303", example)] == [hint]


def test_an_original_that_raises_not_implemented_is_no_masked_copy(tmp_path: Path) -> None:
    raising = "    if margin < 0:\n        raise NotImplementedError\n    penalties = []\n"
    golden = GOLDEN.replace("    penalties = []\n", raising, 1)
    assert golden != GOLDEN
    files = {GOAL: golden, "golden_files/losses_golden.py": golden, f"{REPOSITORY}/old/losses.py": golden}
    assert [one.hint for one in found(tmp_path, "LMR303", Example("", files=files))] == [_MASK_IT]
