"""What ``mask`` asks about each place where the answer, or something like it, can still be read.

Every answer has a flag: ``mask --also`` and ``validate --accept CODE:PATH --reason TEXT``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lmr_author import accepted
from lmr_author.cli import ask, render, render_mask
from lmr_author.taskdir import TaskDir
from lmr_author.workflow.mask import MaskOptions, mask
from lmr_author.workflow.mask_leaks import OpenLeak

SHOW, MASK, ACCEPT, LEAVE = "Show what is the same", "Mask it too", "Accept it, with a reason", "Leave it"
ONE_BY_ONE, LEAVE_ALL = "Go through them", "Leave them all"

FEW = 3
"""Up to so many leaks are asked about one by one without asking whether to."""


def settle(task: TaskDir, leaks: Sequence[OpenLeak], here: Path) -> None:
    """Ask about each leak, then do what was answered: first mask, then store what is accepted.

    In this order, because an acceptance holds for a file as it is.
    """
    if len(leaks) > FEW:
        answer = ask.choice(f"The answer may be read in {len(leaks)} more places.", [ONE_BY_ONE, LEAVE_ALL])
        if answer == LEAVE_ALL:
            return
    also: dict[str, None] = {}
    reasons: dict[OpenLeak, str] = {}
    for leak in leaks:
        if set(leak.also) & also.keys():
            continue
        answer = _about(leak)
        if answer == MASK:
            also.update(dict.fromkeys(leak.also))
        elif answer == ACCEPT:
            reasons[leak] = _reason()
    left = list(leaks)
    if also:
        with render.progress("masking"):
            result = mask(task, MaskOptions(also=tuple(also)), here)
        render.mask_result(result)
        left = list(result.leaks)
    for leak, reason in reasons.items():
        for now in left:
            if _same_place(leak, now):
                accepted.add(task, now.finding, reason)
                line = f"accepted {now.finding.code} in {now.finding.path}: {reason}"
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
