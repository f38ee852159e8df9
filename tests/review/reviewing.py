"""Reviews as tests store and command them."""

from __future__ import annotations

import pytest

from lmr_author.cli.app import main
from lmr_author.core.task import Task
from lmr_author.release.review import review as reviewing
from lmr_author.release.review.checklist import HUMAN
from tests.pipeline import few_generated_calls

PASS = {item.id: {"answer": "pass", "comment": "I have read it"} for item in HUMAN}
"""With a sentence, as the evidence of a task that was never evaluated is weak."""


PEOPLE = ("ada", "bo", "cy")


def said(task: Task, name: str, **changed: str) -> None:
    """A review in which everything passes but what is changed."""
    given = {key.replace("_", "-"): {"answer": value, "comment": "because"} for key, value in changed.items()}
    reviewing.save_review(task, name, {**PASS, **given})


def all_said(task: Task, *answers: dict[str, str], **changed: str) -> None:
    """Reviews of three people: each of his own, or all the same."""
    for name, given in zip(PEOPLE, answers or [changed] * 3, strict=False):
        said(task, name, **given)


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    """The program in this process: its exit code and what it wrote."""
    with few_generated_calls(some=False):
        code = main([str(argument) for argument in arguments])
    out = capsys.readouterr()
    return code, out.out + out.err
