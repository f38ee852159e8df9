"""Ask about each place where the solution, or something like it, can still be read after ``mask``.

Every answer has a flag: ``mask --also`` and ``validate --accept CODE:PATH --reason TEXT``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lmr_author.cli import mask as mask_verb
from lmr_author.cli import ui
from lmr_author.masking import MaskOptions, leftovers, mask
from lmr_author.masking.leftovers import Answer, OpenLeak, answer_key
from lmr_author.task import Task, accepted

SHOW, MASK, ACCEPT, LEAVE = "Show what is the same", "Mask it too", "Accept it, with a reason", "Leave it"
ONE_BY_ONE, LEAVE_ALL = "Go through them", "Leave them all"
FEW = 3
"""Up to this number, leaks are asked about one by one without asking whether to."""

Answers = dict[tuple[Any, ...], Answer]


def settle(task: Task, leaks: Sequence[OpenLeak], here: Path) -> None:
    """Ask about each leak, then carry out the answers: first mask, then store what is accepted.

    In this order, because an acceptance holds for a file as it is. Each answer is kept as soon as it is given;
    an interrupted run's answers are not asked for again.
    """
    keys = {answer_key(leak.finding) for leak in leaks}
    answers = {key: answer for key, answer in leftovers.load_answers(task).items() if key in keys}
    if answers:
        ui.say(f"{len(answers)} of {len(leaks)} leaks already answered")
    elif len(leaks) > FEW:
        question = f"The solution may be readable in {len(leaks)} more places."
        if ui.choice(question, [ONE_BY_ONE, LEAVE_ALL]) == LEAVE_ALL:
            return
    try:
        _ask_each(task, leaks, answers)
    except KeyboardInterrupt:
        if answers:
            ui.say(f"{len(answers)} of {len(leaks)} answers are kept: lmr-author mask --leaks resumes")
        raise
    _carry_out(task, leaks, answers, here)
    leftovers.clear_answers(task)


def _ask_each(task: Task, leaks: Sequence[OpenLeak], answers: Answers) -> None:
    """Ask about leaks without an answer; skip those that an answer to another one masks along."""
    also: set[str] = set()
    for leak in leaks:
        key = answer_key(leak.finding)
        if key not in answers:
            if also.intersection(leak.also):
                continue
            answers[key] = _ask(leak)
            leftovers.store_answers(task, answers)
        if answers[key].answer == leftovers.MASK:
            also.update(leak.also)


def _ask(leak: OpenLeak) -> Answer:
    """Ask what to do about a leak; its diff is shown as often as wished."""
    choices = [MASK] if leak.also else []
    if any(place.diff for place in leak.places):
        choices.insert(0, SHOW)
    mask_verb.show_leak(leak)
    question = f"{leak.finding.path}: what should happen to it?"
    while (answer := ui.choice(question, [*choices, ACCEPT, LEAVE])) == SHOW:
        for place in leak.places:
            line = f", line {place.line}" if place.line and not place.member else ""
            same = f"{round(place.similarity * 100)} % the same"
            ui.say(f"{place.path}{line}, {place.place}: {same}", tone="bold")
            if place.diff:
                ui.source(place.diff, "diff")
            else:
                ui.say("identical", indent=2)
    if answer == ACCEPT:
        return Answer(leftovers.ACCEPT, ui.needed("Why is it no problem?"))
    return Answer(leftovers.MASK if answer == MASK else leftovers.LEAVE)


def _carry_out(task: Task, leaks: Sequence[OpenLeak], answers: Answers, here: Path) -> None:
    given = [(leak, answers[key]) for leak in leaks if (key := answer_key(leak.finding)) in answers]
    also = dict.fromkeys(
        name for leak, answer in given if answer.answer == leftovers.MASK for name in leak.also
    )
    left = list(leaks)
    if also:
        with ui.progress("masking"):
            result = mask(task, MaskOptions(also=tuple(also)), here)
        mask_verb.show(result)
        left = list(result.leaks)
    # The masking may have changed a finding's message, so that it is found again by its place.
    open_now = {(now.finding.code, now.finding.implementation, now.finding.path): now.finding for now in left}
    for leak, answer in given:
        found = leak.finding
        now = open_now.get((found.code, found.implementation, found.path))
        if answer.answer == leftovers.ACCEPT and now is not None:
            accepted.add(task, now, answer.reason)
            ui.say(f"accepted {now.code} in {now.path}: {answer.reason}")
