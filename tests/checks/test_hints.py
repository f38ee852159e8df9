"""What findings advise: a hint names what is to be done in this very task."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from lmr_author.checks import example_task
from lmr_author.checks.base import Content, Example
from lmr_author.checks.example_texts import GOAL, GOLDEN, MASKED, REPOSITORY
from lmr_author.checks.lookup import did_you_mean
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
        ("LMR002", "the year is text", "write 2024, without quotes"),
        (
            "LMR301",
            "the function stands in a method",
            'write class_name "Slopes" and goal_function "__init__.inner"',
        ),
        (
            "LMR505",
            "it puts the repository behind the published package, which the image installs",
            "write sys.path.insert(0, …) in place of sys.path.append(…)",
        ),
        (
            "LMR509",
            "skipped without a GPU",
            "let it run on the CPU, with small stored inputs, in place of skipping it",
        ),
        (
            "LMR502",
            "its tests return the comparison",
            "assert the comparison instead of returning it, and end with sys.exit(pytest.main([__file__]))",
        ),
        (
            "LMR007",
            "class_name is misspelt, and another class has this method, too",
            "did you mean ListLoss?",
        ),
        ("LMR502", "it only logs", "assert the comparison instead of logging it"),
        ("LMR509", "a GPU in a variable", 'use small stored inputs, and the CPU: device = "cpu"'),
        ("LMR509", "a request", "store small inputs, and what it would fetch, in unit_test/"),
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


def test_a_missing_file_is_told_under_the_key_that_is_written(tmp_path: Path) -> None:
    changed = {"retrieval_context": None, "retrieval_content": ["ranking/trian.py"]}
    [finding] = found(tmp_path, "LMR605", Example("", implementation=changed))
    assert finding.pointer == "/implementations/0/retrieval_content/0"
    assert finding.message == "retrieval_content 'ranking/trian.py' does not exist"


def test_several_missing_files_of_the_prompt_are_counted(tmp_path: Path) -> None:
    task = example_task.write(tmp_path)
    shutil.rmtree(task.root / REPOSITORY)
    (task.root / REPOSITORY).mkdir()
    example_task.apply(
        task,
        Example(
            "", implementation={"retrieval_context": None, "retrieval_content": ["a.py", "b.py", "c.py"]}
        ),
    )
    [finding] = [one for one in validate([task]).findings if one.code == "LMR605"]
    assert finding.pointer == "/implementations/0/retrieval_content"
    assert finding.message == "retrieval_content 'a.py' and 2 more do not exist: nothing is in the repository"


def test_a_number_that_should_be_a_text(tmp_path: Path) -> None:
    [finding] = found(tmp_path, "LMR002", Example("", info={"paper_name": 42}))
    assert finding.hint == 'write "42", in quotes'


def test_a_name_written_as_it_is_advised_is_found(tmp_path: Path) -> None:
    example = of("LMR301", "the function stands in a method")
    written = {"goal_function": "__init__.inner", "class_name": "Slopes"}
    advised = Example("", files=example.files, implementation=written)
    assert not found(tmp_path, "LMR301", advised)


def test_a_name_is_suggested_once() -> None:
    assert did_you_mean("pair_loss", ["pairs_loss", "pairs_loss"]) == "did you mean pairs_loss?"
