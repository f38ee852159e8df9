"""Ask about each place where the solution, or something like it, can still be read after ``mask``.

Every answer has a flag: ``mask --also`` and ``validate --accept CODE:PATH --reason TEXT``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lmr_author.cli import mask as mask_verb
from lmr_author.cli import ui
from lmr_author.masking import MaskOptions, mask
from lmr_author.masking.leftovers import OpenLeak
from lmr_author.task import Task, accepted

SHOW, MASK, ACCEPT, LEAVE = "Show what is the same", "Mask it too", "Accept it, with a reason", "Leave it"
ONE_BY_ONE, LEAVE_ALL = "Go through them", "Leave them all"
FEW = 3
"""Up to this number, leaks are asked about one by one without asking whether to."""


@dataclass(frozen=True)
class LeakAnswer:
    """The decision about a leak, with the reason for which it is accepted."""

    choice: str
    reason: str = ""


def settle(task: Task, leaks: Sequence[OpenLeak], here: Path) -> None:
    """Ask about each leak, then carry out the answers: first mask, then store what is accepted.

    In this order, because an acceptance holds for a file as it is. An interruption loses no answer: those given
    are carried out before the program ends.
    """
    if len(leaks) > FEW:
        question = f"The solution may be readable in {len(leaks)} more places."
        if ui.choice(question, [ONE_BY_ONE, LEAVE_ALL]) == LEAVE_ALL:
            return
    answers: list[tuple[OpenLeak, LeakAnswer]] = []
    try:
        _ask_each(leaks, answers)
    finally:
        _carry_out(task, answers, here)
        if len(answers) < len(leaks):
            ui.say("`lmr-author mask --leaks` asks about the other places")


def _ask_each(leaks: Sequence[OpenLeak], answers: list[tuple[OpenLeak, LeakAnswer]]) -> None:
    """Add each answer as it is given; skip leaks that an earlier answer masks along."""
    also: set[str] = set()
    for leak in leaks:
        answer = LeakAnswer(LEAVE) if also.intersection(leak.also) else _ask(leak)
        answers.append((leak, answer))
        if answer.choice == MASK:
            also.update(leak.also)


def _ask(leak: OpenLeak) -> LeakAnswer:
    """Ask what to do about a leak; its diff is shown as often as wished."""
    choices = [MASK] if leak.also else []
    if any(place.diff for place in leak.places):
        choices.insert(0, SHOW)
    mask_verb.show_leak(leak)
    question = f"{leak.finding.path}: what should happen to it?"
    while (choice := ui.choice(question, [*choices, ACCEPT, LEAVE])) == SHOW:
        for place in leak.places:
            line = f", line {place.line}" if place.line else ""
            same = f"{round(place.similarity * 100)} % the same"
            ui.say(f"{place.path}{line}, {place.place}: {same}", tone="bold")
            if place.diff:
                ui.source(place.diff, "diff")
            else:
                ui.say("identical", indent=2)
    return LeakAnswer(choice, ui.needed("Why is it no problem?") if choice == ACCEPT else "")


def _carry_out(task: Task, answers: Sequence[tuple[OpenLeak, LeakAnswer]], here: Path) -> None:
    also = dict.fromkeys(name for leak, answer in answers if answer.choice == MASK for name in leak.also)
    left = [leak for leak, _ in answers]
    if also:
        with ui.progress("masking"):
            result = mask(task, MaskOptions(also=tuple(also)), here)
        mask_verb.show(result)
        left = list(result.leaks)
    # The masking may have changed a finding's message, so that it is found again by its place.
    open_now = {(now.finding.code, now.finding.implementation, now.finding.path): now.finding for now in left}
    for leak, answer in answers:
        found = leak.finding
        now = open_now.get((found.code, found.implementation, found.path))
        if answer.choice == ACCEPT and now is not None:
            accepted.add(task, now, answer.reason)
            ui.say(f"accepted {now.code} in {now.path}: {answer.reason}")
