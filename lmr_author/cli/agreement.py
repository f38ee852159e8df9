"""How the reviews of tasks agree."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmr_author.cli import ui
from lmr_author.cli.options import Format
from lmr_author.core.errors import EXIT_CLEAN, EXIT_FINDINGS

if TYPE_CHECKING:
    from lmr_author.core.task import Task
    from lmr_author.release.review.agreement import Agreement
    from lmr_author.release.review.review import ReviewResult
    from lmr_author.release.review.review_status import Dispute

_STATES = {"accepted": "green", "disputed": "yellow", "rejected": "bold red", "waiting": "dim"}


def show_agreement(tasks: Sequence[Task], checklist: Path | None, output: Format) -> int:
    from lmr_author.release.review import review as reviewing
    from lmr_author.release.review.review_status import DISPUTED, REJECTED

    results = [reviewing.result_of(task, checklist) for task in tasks]
    total = reviewing.overall_agreement(results)
    if output is Format.json:
        ui.print_json({"tasks": list(map(_document, results)), "overall": total.to_json()})
    else:
        for result in results:
            _show_result(result)
        ui.say(agreement_line(total))
        _then(tasks, results)
    bad = any(result.status.state in (DISPUTED, REJECTED) for result in results)
    return EXIT_FINDINGS if bad else EXIT_CLEAN


def _document(result: ReviewResult) -> dict[str, Any]:
    measured = result.agreement.to_json() if result.agreement else None
    return {"task": result.task, **asdict(result.status), "agreement": measured}


def _then(tasks: Sequence[Task], results: Sequence[ReviewResult]) -> None:
    from lmr_author.release.review.review_status import DISPUTED

    for task, result in zip(tasks, results, strict=True):
        if result.status.state == DISPUTED:
            ui.then("review", task.root, "--decide", result.status.disputes[0].item)
            return
    ui.then("status", *(task.root for task in tasks[:1]))


def _show_result(result: ReviewResult) -> None:
    status = result.status
    reviewers = ", ".join(status.reviewers) or "nobody yet"
    ui.say(f"{result.task}: {reviewers}", status.state, _STATES[status.state])
    if status.missing == 1:
        ui.say("1 more review is needed; answers stay hidden until then", indent=2)
    elif status.missing:
        ui.say(f"{status.missing} more reviews are needed; answers stay hidden until then", indent=2)
    for name in status.damaged:
        ui.say(f"authoring/reviews/{name}: it counts for nothing", "damaged", "bold red", indent=2)
    for item in status.failed:
        ui.say(item, "fails", "bold red", indent=2)
    show_disputes(status.disputes)
    for decision in status.decisions:
        ui.say(f"decided  {decision.item} {decision.answer}, {decision.by}: {decision.reason}", indent=2)


def show_disputes(disputes: Iterable[Dispute]) -> None:
    for dispute in disputes:
        ui.say(f"{dispute.item}: {dispute.question}", "disputed", "yellow", indent=2)
        for name, answer in dispute.answers.items():
            why = ui.framed(": ", dispute.comments.get(name))
            ui.say(f"{name} {answer}{why}", indent=4)


def agreement_line(total: Agreement) -> str:
    """Return the measures of agreement on one line, without those that are undefined."""
    if not total.judged:
        return "agreement: nothing has been judged by two people yet"
    measures = [f"{name} {value}" for name, value in total.coefficients]
    if total.percent is not None:
        measures.insert(0, f"{total.percent:.0%} of pairs")
    line = f"agreement of {total.people} people over {total.judged} items: {', '.join(measures)}"
    if total.krippendorff is None:
        line += " (all answers are the same: kappa and alpha are undefined)"
    return line
