"""``lmr-author adjudicate``: decide an item on which reviewers disagree."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Option

from lmr_author.cli import ui
from lmr_author.cli.agreement import show_agreement, show_disputes
from lmr_author.cli.options import (
    ChecklistOption,
    Format,
    FormatOption,
    NoInputOption,
    ReasonOption,
    ReviewerOption,
    TaskArgument,
)
from lmr_author.cli.review import ask_reviewer


def adjudicate(
    task: TaskArgument = None,
    item: Annotated[
        str | None, Option(metavar="ITEM=pass|fail", help="The disputed item, and the decision.")
    ] = None,
    reason: ReasonOption = "",
    reviewer: ReviewerOption = None,
    checklist: ChecklistOption = None,
    output: FormatOption = Format.text,
    no_input: NoInputOption = False,
) -> int:
    """Decide an item on which reviewers disagree, for good reason; the first dispute where none is named."""
    from lmr_author.cli.exhibits import show_evidence
    from lmr_author.core.errors import UsageError
    from lmr_author.core.task import Task
    from lmr_author.proof.validation.run import checked
    from lmr_author.release.review import review as reviewing
    from lmr_author.release.review.evidence import evidence_of
    from lmr_author.release.review.standing import standing_of

    folder, asking = Task.find(task or Path.cwd()), ui.can_ask(no_input)
    disputes = standing_of(folder).disputes
    if item is None:
        if not disputes:
            raise UsageError(
                f"nothing is disputed in {folder.name}", "`lmr-author agreement` shows where reviews are"
            )
        item = disputes[0].item
        ui.require_person(asking, "no item named", f"add --item {item}=pass or --item {item}=fail")
    name = ask_reviewer(reviewer, asking)
    wanted, _, answer = item.partition("=")
    if asking:
        evidence = {} if answer else evidence_of(folder, checked([folder]).findings)
        if wanted in evidence:
            show_evidence(evidence[wanted])
        show_disputes([dispute for dispute in disputes if dispute.item == wanted])
        answer = answer or ui.letter(f"Decision about {wanted}:", {"p": "pass", "f": "fail"})
        reason = reason or ui.needed("Reason for the decision:")
    reviewing.adjudicate(folder, wanted, answer, reason, name, checklist)
    return show_agreement([folder], checklist, output)
