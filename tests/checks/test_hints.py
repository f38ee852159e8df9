"""What findings advise: a hint names what is to be done in this very task."""

from __future__ import annotations

from pathlib import Path

from lmr_author.task import Finding
from lmr_author.validation.run import validate
from tests import example
from tests.example import Example


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


def test_a_number_that_should_be_a_text(tmp_path: Path) -> None:
    finding = found(tmp_path, Example("", info={"paper_name": 42}, also=("LMR002",)))
    assert finding.hint == 'write "42", in quotes'
