"""What ``review`` asks about a task: every item of its checklist, each answer kept at once.

Every answer has a flag: ``review --answers FILE``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lmr_author.review.checklist import Question

    Answers = dict[str, dict[str, str]]

DONE = "done: store it like this"
WIDTH = 70
"""Columns of an answer in the list of all, so that it fits a terminal of 80."""


def answers(
    questions: Sequence[Question], before: Mapping[str, dict[str, str]], keep: Callable[[Answers], None]
) -> Answers:
    """Ask every item that has no answer yet; then every answer can be changed.

    Args:
        before: what an interrupted review has left, by item.
        keep: is given all answers so far after each one, also those to items of another checklist.
    """
    from lmr_author.cli import ask, render_review
    from lmr_author.review.checklist import ANSWERS

    known = {one.id for one in questions}
    given = {item: said for item, said in before.items() if item in known and said.get("answer") in ANSWERS}
    if given:
        render_review.resumed(len(given), len(questions))
    for one in questions:
        if one.id not in given:
            given[one.id] = _answer(one)
            keep({**before, **given})
    while True:
        lines = {f"{one.id}: {given[one.id]['answer']} {given[one.id]['comment']}"[:WIDTH]: one
                 for one in questions}  # fmt: skip
        chosen = ask.choice("Change an answer?", [DONE, *lines])
        if chosen == DONE:
            return given
        given[lines[chosen].id] = _answer(lines[chosen])
        keep({**before, **given})


def _answer(item: Question) -> dict[str, str]:
    """One item; an answer that is no pass needs a reason."""
    from lmr_author.cli import ask, render_review
    from lmr_author.review.checklist import ANSWERS

    render_review.look_at(item)
    answer = ask.choice(item.question, list(ANSWERS))
    comment = ""
    while answer != "pass" and not comment:
        comment = ask.text("Why?")
    return {"answer": answer, "comment": comment}
