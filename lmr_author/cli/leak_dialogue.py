"""Ask about each place where the answer, or something like it, can still be read after ``mask``.

Every answer has a flag: ``mask --also`` and ``validate --accept CODE:PATH --reason TEXT``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lmr_author.cli import ask, render, render_mask
from lmr_author.masking import MaskOptions, mask
from lmr_author.masking import leftovers as leak_answers
from lmr_author.masking.leftovers import Answer, OpenLeak
from lmr_author.task import Task, accepted

SHOW, MASK, ACCEPT, LEAVE = "Show what is the same", "Mask it too", "Accept it, with a reason", "Leave it"
ONE_BY_ONE, LEAVE_ALL = "Go through them", "Leave them all"

Answers = dict[tuple[Any, ...], Answer]
FEW = 3
"""Up to so many leaks are asked about one by one without asking whether to."""


def settle(task: Task, leaks: Sequence[OpenLeak], here: Path) -> None:
    """Ask about each leak, then do what was answered: first mask, then store what is accepted.

    In this order, because an acceptance holds for a file as it is. Each answer is kept as soon as it is given;
    what a run that was interrupted had asked is not asked again.
    """
    answers = leak_answers.load_answers(task)
    answers = {
        leak_answers.answer_key(leak.finding): answers[leak_answers.answer_key(leak.finding)]
        for leak in leaks
        if leak_answers.answer_key(leak.finding) in answers
    }
    if answers:
        line = f"{len(answers)} of {len(leaks)} leaks were answered before, and are not asked about again"
        render.console().print(line, markup=False)
    elif len(leaks) > FEW:
        answer = ask.choice(f"The answer may be read in {len(leaks)} more places.", [ONE_BY_ONE, LEAVE_ALL])
        if answer == LEAVE_ALL:
            return
    try:
        _ask(task, leaks, answers)
    except KeyboardInterrupt:
        if answers:
            line = (
                f"{len(answers)} of {len(leaks)} answers are kept: lmr-author mask --leaks goes on from there"
            )
            render.console().print(line, markup=False)
        raise
    _carry_out(task, leaks, answers, here)
    leak_answers.clear_answers(task)


def _ask(task: Task, leaks: Sequence[OpenLeak], answers: Answers) -> None:
    """Add what is answered, and keep it; what an answer given already empties along is not asked about."""
    also: set[str] = set()
    for leak in leaks:
        about = leak_answers.answer_key(leak.finding)
        if about not in answers:
            if also.intersection(leak.also):
                continue
            answers[about] = _answer(leak)
            leak_answers.store_answers(task, answers)
        if answers[about].answer == leak_answers.MASK:
            also.update(leak.also)


def _answer(leak: OpenLeak) -> Answer:
    said = _about(leak)
    if said == ACCEPT:
        return Answer(leak_answers.ACCEPT, _reason())
    return Answer(leak_answers.MASK if said == MASK else leak_answers.LEAVE)


def _carry_out(task: Task, leaks: Sequence[OpenLeak], answers: Answers, here: Path) -> None:
    given = [
        (leak, answers.get(leak_answers.answer_key(leak.finding), Answer(leak_answers.LEAVE)))
        for leak in leaks
    ]
    also = dict.fromkeys(
        name for leak, answer in given if answer.answer == leak_answers.MASK for name in leak.also
    )
    left = list(leaks)
    if also:
        with render.progress("masking"):
            result = mask(task, MaskOptions(also=tuple(also)), here)
        render.mask_result(result)
        left = list(result.leaks)
    for leak, answer in given:
        for now in left if answer.answer == leak_answers.ACCEPT else ():
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
