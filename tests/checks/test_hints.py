"""What findings advise: a hint names what is to be done in this very task."""

from __future__ import annotations

import shutil
from pathlib import Path

from lmr_author.checks.lookup import did_you_mean
from lmr_author.task import Finding
from lmr_author.validation.run import validate
from tests import example as example_task
from tests.example import REPOSITORY, Example


def found(folder: Path, code: str, example: Example) -> list[Finding]:
    """The findings of one check in the good task after a change."""
    task = example_task.write(folder)
    example_task.apply(task, example)
    return [one for one in validate([task]).findings if one.code == code]


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
    assert finding.message == "retrieval_content 'a.py' and 2 more do not exist: the repository is empty"


def test_a_number_that_should_be_a_text(tmp_path: Path) -> None:
    [finding] = found(tmp_path, "LMR002", Example("", info={"paper_name": 42}))
    assert finding.hint == 'write "42", in quotes'


def test_a_name_is_suggested_once() -> None:
    assert did_you_mean("pair_loss", ["pairs_loss", "pairs_loss"]) == "did you mean pairs_loss?"
