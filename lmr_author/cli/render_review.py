"""How the reviews of several people look on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from lmr_author.cli.render import console
from lmr_author.cli.render_text import escape

if TYPE_CHECKING:
    from pathlib import Path

    from lmr_author.review.agreement import Agreement
    from lmr_author.review.checklist import Question
    from lmr_author.review.review import ReviewResult
    from lmr_author.task import Task

_STYLES = {"accepted": "green", "disputed": "yellow", "rejected": "bold red", "waiting": "dim"}


def look_at(item: Question) -> None:
    """Where the evidence of an item is, above its question."""
    if item.look_at:
        console().print(f"\nlook at {item.look_at}", style="cyan", markup=False)


def resumed(given: int, total: int) -> None:
    """An interrupted review goes on."""
    console().print(f"\n{given} of {total} answers are there already; you can change them at the end")


def outdated(path: Path) -> None:
    """Answers that an interrupted review has left are about a task that has changed."""
    console().print(
        f"\nthe task has changed since your answers were given: all is asked again, and they are kept in {path}",
        markup=False,
        soft_wrap=True,
    )


def queue(waiting: Sequence[Task], reviewer: str) -> None:
    """What waits for a person."""
    screen = console()
    screen.print(
        f"{len(waiting)} task{'s' if len(waiting) != 1 else ''} to review by {reviewer}", markup=False
    )
    for task in waiting:
        screen.print(f"  lmr-author review {task.root} --reviewer {reviewer}", markup=False, soft_wrap=True)


def turn(task: Task, number: int, total: int) -> None:
    """Which task of the queue comes now."""
    console().print(f"\n{number} of {total}: {task.name}", markup=False)


def results(found: Sequence[ReviewResult], total: Agreement) -> None:
    """Where each task's review stands, what is disputed, and the agreement."""

    screen = console()
    for one in found:
        now = one.standing
        who = ", ".join(now.reviewers) or "nobody yet"
        screen.print(f"[bold]{escape(one.task)}[/]  [{_STYLES[now.state]}]{now.state}[/]  {escape(who)}")
        if now.missing:
            screen.print(f"  {now.missing} more needed; answers stay hidden until then")
        for name in now.damaged:
            screen.print(f"  [bold red]damaged[/] authoring/reviews/{escape(name)}: it counts for nothing")
        for item in now.failed:
            screen.print(f"  [bold red]fails[/] {escape(item)}")
        for dispute in now.disputes:
            screen.print(f"  [yellow]disputed[/] {escape(dispute.item)}: {escape(dispute.question)}")
            for name, answer in dispute.answers.items():
                why = f": {dispute.comments[name]}" if dispute.comments.get(name) else ""
                screen.print(f"    {escape(name)} {answer}{escape(why)}")
        for decision in now.decisions:
            said = f"{decision.item} {decision.answer}, {decision.by}: {decision.reason}"
            screen.print(f"  decided  {escape(said)}")
    screen.print(agreement_line(total), markup=False)


def agreement_line(total: Agreement) -> str:
    """The measures on one line; those that say nothing are left out."""
    if not total.judged:
        return "agreement: nothing has been judged by two people yet"
    shown = [f"{total.percent:.0%} of pairs"] if total.percent is not None else []
    for name, value in (
        ("Cohen's kappa", total.cohen),
        ("Fleiss' kappa", total.fleiss),
        ("Krippendorff's alpha", total.krippendorff),
    ):
        shown += [f"{name} {value:.2f}"] if value is not None else []
    same = (
        ""
        if total.krippendorff is not None
        else " (everybody always said the same: kappa and alpha say nothing)"
    )
    return f"agreement of {total.people} people over {total.judged} items: {', '.join(shown)}{same}"


def as_json(one: ReviewResult) -> dict[str, Any]:
    """A task's review as a JSON object."""
    return {
        "task": one.task,
        **asdict(one.standing),
        "agreement": one.agreement.to_json() if one.agreement else None,
    }
