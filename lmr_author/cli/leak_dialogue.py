"""Ask about each place where the answer, or something like it, can still be read after ``mask``.

Every answer has a flag: ``mask --also`` and ``validate --accept CODE:PATH --reason TEXT``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lmr_author.cli import ask, render, render_mask
from lmr_author.masking import MaskOptions, mask
from lmr_author.masking.leftovers import OpenLeak
from lmr_author.task import Task, accepted

SHOW, MASK, ACCEPT, LEAVE = "Show what is the same", "Mask it too", "Accept it, with a reason", "Leave it"
ONE_BY_ONE, LEAVE_ALL = "Go through them", "Leave them all"

FEW = 3
"""Up to so many leaks are asked about one by one without asking whether to."""


@dataclass(frozen=True)
class Answer:
    """The decision about a leak, with the reason for which it is accepted."""

    choice: str
    reason: str = ""


def settle(task: Task, leaks: Sequence[OpenLeak], here: Path) -> None:
    """Ask about each leak, then do what was answered: first mask, then store what is accepted.

    In this order, because an acceptance holds for a file as it is. An interruption loses no answer: what was given
    is done before the program ends.
    """
    if len(leaks) > FEW:
        answer = ask.choice(f"The answer may be read in {len(leaks)} more places.", [ONE_BY_ONE, LEAVE_ALL])
        if answer == LEAVE_ALL:
            return
    answers: list[tuple[OpenLeak, Answer]] = []
    try:
        _ask(leaks, answers)
    finally:
        _carry_out(task, answers, here)
        if len(answers) < len(leaks):
            line = "`lmr-author mask --leaks` asks about the places that are left"
            render.console().print(line, markup=False)


def _ask(leaks: Sequence[OpenLeak], answers: list[tuple[OpenLeak, Answer]]) -> None:
    """Add each answer as it is given; what an answer given already empties along is not asked about."""
    also: set[str] = set()
    for leak in leaks:
        if also.intersection(leak.also):
            answers.append((leak, Answer(LEAVE)))
            continue
        choice = _about(leak)
        answers.append((leak, Answer(choice, _reason() if choice == ACCEPT else "")))
        if choice == MASK:
            also.update(leak.also)


def _carry_out(task: Task, answers: Sequence[tuple[OpenLeak, Answer]], here: Path) -> None:
    also = dict.fromkeys(name for leak, answer in answers if answer.choice == MASK for name in leak.also)
    left = [leak for leak, _ in answers]
    if also:
        with render.progress("masking"):
            result = mask(task, MaskOptions(also=tuple(also)), here)
        render.mask_result(result)
        left = list(result.leaks)
    for leak, answer in answers:
        for now in left if answer.choice == ACCEPT else ():
            if _same_place(leak, now):
                accepted.add(task, now.finding, answer.reason)
                line = f"accepted {now.finding.code} in {now.finding.path}: {answer.reason}"
                render.console().print(line, markup=False)


def _about(leak: OpenLeak) -> str:
    """What shall be done about a leak; a diff is shown as often as it is asked for."""
    choices = [ACCEPT, LEAVE]
    if leak.also:
        choices.insert(0, MASK)
    if any(place.diff for place in leak.places):
        choices.insert(0, SHOW)
    render.mask_leak(leak)
    while (answer := ask.choice(f"{leak.finding.path}: what about it?", choices)) == SHOW:
        for place in leak.places:
            render_mask.likeness(place)
    return answer


def _reason() -> str:
    while not (reason := ask.text("Why is it no problem?")):
        pass
    return reason


def _same_place(one: OpenLeak, other: OpenLeak) -> bool:
    mine, theirs = one.finding, other.finding
    return (mine.code, mine.implementation, mine.path) == (theirs.code, theirs.implementation, theirs.path)
