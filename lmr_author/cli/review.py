"""``lmr-author review``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from lmr_author.cli import ui
from lmr_author.cli.options import (
    Format,
    FormatOption,
    NoInputOption,
    ReasonOption,
    ReviewerOption,
    TaskArgument,
    default_tasks,
)
from lmr_author.core.errors import EXIT_CLEAN, EXIT_FINDINGS, NotATaskError, UsageError
from lmr_author.core.texts import counted

if TYPE_CHECKING:
    from lmr_author.core.task import Task
    from lmr_author.core.task.reviews import ReviewItem
    from lmr_author.release.review.agreement import Agreement
    from lmr_author.release.review.checklist import Checklist, ChecklistQuestion
    from lmr_author.release.review.review import ReviewResult
    from lmr_author.release.review.standing import Dispute

Answers = dict[str, dict[str, str]]
_STATES = {"accepted": "green", "disputed": "yellow", "rejected": "bold red", "waiting": "dim"}
_ANSWERS = {"pass": "green", "fail": "bold red"}


def review(
    task: TaskArgument = None,
    reviewer: ReviewerOption = None,
    answers: Annotated[Path | None, Option(help="YAML or JSON file with the answers.")] = None,
    template: Annotated[bool, Option("--template", help="Only print an answers file to fill in.")] = False,
    checklist: Annotated[
        Path | None,
        Option(help="Your lab's own list; by default checklist.yaml beside the tasks, else ours."),
    ] = None,
    queue: Annotated[bool, Option("--queue", help="Review every task that waits for you.")] = False,
    results: Annotated[bool, Option("--results", help="Show how finished reviews agree.")] = False,
    adjudicate: Annotated[
        str | None, Option(metavar="ITEM=pass|fail", help="Decide a disputed item.")
    ] = None,
    reason: ReasonOption = "",
    output: FormatOption = Format.text,
    no_input: NoInputOption = False,
) -> int:
    """Go through the checklist and sign off; the sign-off falls when the task changes."""
    from lmr_author.core.task import Task
    from lmr_author.release.review import review as reviewing

    asking = ui.can_ask(no_input)
    if template:
        ui.print_json(_template(task, checklist))
        return EXIT_CLEAN
    if results:
        return _results(Task.find_all(task or default_tasks()), checklist, output)
    if queue:
        tasks = Task.find_all(task or default_tasks())
        return _queue(tasks, ask_reviewer(reviewer, asking), checklist, asking, output)
    folder = Task.find(task or Path.cwd())
    name = ask_reviewer(reviewer, asking)
    if adjudicate is not None:
        item, _, answer = adjudicate.partition("=")
        if asking:
            _show_disputes([one for one in reviewing.standing_of(folder).disputes if one.item == item])
            answer = answer or ui.letter(f"Decision about {item}:", {"p": "pass", "f": "fail"})
            reason = reason or ui.needed("Reason for the decision:")
        reviewing.adjudicate(folder, item, answer, reason, name, checklist)
        return _results([folder], checklist, output)
    asked = reviewing.checklist_for(folder, checklist)
    if not answers and not asking:
        raise UsageError("no answers given", "add --answers FILE (see --template), or run it in a terminal")
    return _one(folder, name, asked, answers, output)


def ask_reviewer(reviewer: str | None, asking: bool) -> str:
    """Return the reviewer's name; ask for it at a terminal."""
    from lmr_author.core.task.reviews import path_of_reviewer

    if not reviewer and not asking:
        raise UsageError("no reviewer named", "add --reviewer NAME")
    return reviewer or ui.needed(
        "Reviewer name:", check=lambda name: ui.problem(lambda: path_of_reviewer(Path(), name))
    )


def _template(task: Path | None, checklist: Path | None) -> dict[str, Any]:
    """Return an answers file to fill in: for the given list, else the task's, else our own."""
    from lmr_author.core.task import Task
    from lmr_author.release.review import review as reviewing
    from lmr_author.release.review.checklist import template

    if checklist is not None:
        return template(reviewing.read_checklist(checklist).questions)
    try:
        return template(reviewing.checklist_for(Task.find(task or Path.cwd())).questions)
    except NotATaskError:
        if task is not None:
            raise
        return template()


def _one(task: Task, reviewer: str, asked: Checklist, answers: Path | None, output: Format) -> int:
    """Review one task, with the answers of a file or of the terminal."""
    from lmr_author.core.files import read_answers
    from lmr_author.core.task.reviews import path_of_reviewer
    from lmr_author.proof.validation.run import checked
    from lmr_author.release.review import review as reviewing
    from lmr_author.release.review.checklist import automatic_items

    if answers:
        given = read_answers(answers, "--answers", "write one with `lmr-author review --template`")
    else:
        findings = checked([task]).findings
        _show_items(automatic_items(task, findings))
        draft = reviewing.DraftReview(task, reviewer)
        if draft.outdated is not None:
            ui.note(f"the task has changed since your answers, which are kept in {draft.outdated}")
        given = ask_answers(asked.questions, draft.answers, draft.keep, reviewing.evidence_of(task, findings))
    result = reviewing.save_review(task, reviewer, given, asked)
    if output is Format.json:
        items = [item.to_json() for item in result.items]
        about = {"task": task.name, "reviewer": reviewer, "signed_off": result.signed_off}
        ui.print_json({**about, "items": items})
    else:
        _show_items(result.items)
        path = path_of_reviewer(task.reviews_folder, reviewer)
        if result.signed_off:
            ui.say(f"{path} (holds until the task changes)", "signed off:", "green")
        else:
            ui.say(f"stored in {path}", "not signed off:", "bold red")
    return EXIT_CLEAN if result.signed_off else EXIT_FINDINGS


def ask_answers(
    questions: Sequence[ChecklistQuestion],
    before: Mapping[str, dict[str, str]],
    keep: Callable[[Answers], None],
    evidence: Mapping[str, Sequence[str]] | None = None,
) -> Answers:
    """Ask every item that has no answer yet; then every answer can be changed.

    Args:
        before: the answers of an interrupted review, by item.
        keep: stores all answers after each one, also those to items of another checklist.
        evidence: lines to show beside each item.
    """
    from lmr_author.release.review.checklist import ANSWERS

    items = {one.id: one for one in questions}
    names = list(items)
    given = {name: one for name, one in before.items() if name in items and one.get("answer") in ANSWERS}
    if given:
        ui.say(f"{len(given)} of {len(items)} questions already answered; you can change them at the end")

    def ask(name: str) -> None:
        """Ask one item, beside its evidence, and store its answer; one that is no pass needs a reason."""
        ui.say("")
        ui.say(f"{names.index(name) + 1} of {len(names)}", tone="bold")
        for line in (evidence or {}).get(name, ()):
            ui.say(line, indent=2)
        if items[name].look_at:
            ui.say(f"see {items[name].look_at}", tone="cyan")
        answer = ui.letter(items[name].question, {"p": "pass", "f": "fail", "u": "unsure"})
        given[name] = {"answer": answer, "comment": "" if answer == "pass" else ui.needed("Why?")}
        keep({**before, **given})

    for name in names:
        if name not in given:
            ask(name)
    ui.revise(
        lambda: {
            name: f"{name}: {given[name]['answer']} {given[name]['comment']}".rstrip() for name in names
        },
        ask,
    )
    return {name: given[name] for name in names}


def _show_items(items: Iterable[ReviewItem]) -> None:
    for item in items:
        text = f"{item.question} {item.evidence or item.comment}".rstrip()
        ui.say(text, f"{item.answer:<6}", _ANSWERS.get(item.answer, "yellow"), indent=2, hang=9)


def _queue(tasks: Sequence[Task], reviewer: str, checklist: Path | None, asking: bool, output: Format) -> int:
    """Review the tasks that wait for a person; without a terminal only list them."""
    from lmr_author.release.review import review as reviewing

    waiting = reviewing.find_waiting(tasks, reviewer, checklist)
    if output is Format.json:
        ui.print_json({"reviewer": reviewer, "waiting": [str(task.root) for task in waiting]})
        return EXIT_CLEAN
    ui.say(f"{counted(len(waiting), 'task')} to review by {reviewer}")
    for number, task in enumerate(waiting, 1):
        if asking:
            ui.say("")
            ui.say(f"{number} of {len(waiting)}: {task.name}", tone="bold")
            _one(task, reviewer, reviewing.checklist_for(task, checklist), None, output)
        else:
            ui.then("review", task.root, "--reviewer", reviewer, indent=2)
    return EXIT_CLEAN


def _results(tasks: Sequence[Task], checklist: Path | None, output: Format) -> int:
    """Show agreement and disagreements; exit code 1 while something is disputed or rejected."""
    from lmr_author.release.review import review as reviewing
    from lmr_author.release.review.standing import DISPUTED, REJECTED

    found = [reviewing.result_of(task, checklist) for task in tasks]
    total = reviewing.overall_agreement(found)
    if output is Format.json:
        documents = []
        for one in found:
            measured = one.agreement.to_json() if one.agreement else None
            documents.append({"task": one.task, **asdict(one.standing), "agreement": measured})
        ui.print_json({"tasks": documents, "overall": total.to_json()})
    else:
        for one in found:
            _show_result(one)
        ui.say(agreement_line(total))
    bad = any(one.standing.state in (DISPUTED, REJECTED) for one in found)
    return EXIT_FINDINGS if bad else EXIT_CLEAN


def _show_result(one: ReviewResult) -> None:
    """Print the state of a task's review, and what is disputed."""
    now = one.standing
    ui.say(f"{one.task}: {', '.join(now.reviewers) or 'nobody yet'}", now.state, _STATES[now.state])
    if now.missing:
        needed = "1 more review is needed" if now.missing == 1 else f"{now.missing} more reviews are needed"
        ui.say(f"{needed}; answers stay hidden until then", indent=2)
    for name in now.damaged:
        ui.say(f"authoring/reviews/{name}: it counts for nothing", "damaged", "bold red", indent=2)
    for item in now.failed:
        ui.say(item, "fails", "bold red", indent=2)
    _show_disputes(now.disputes)
    for decision in now.decisions:
        ui.say(f"decided  {decision.item} {decision.answer}, {decision.by}: {decision.reason}", indent=2)


def _show_disputes(disputes: Iterable[Dispute]) -> None:
    for dispute in disputes:
        ui.say(f"{dispute.item}: {dispute.question}", "disputed", "yellow", indent=2)
        for name, answer in dispute.answers.items():
            why = f": {dispute.comments[name]}" if dispute.comments.get(name) else ""
            ui.say(f"{name} {answer}{why}", indent=4)


def agreement_line(total: Agreement) -> str:
    """Return the measures of agreement on one line, without those that are undefined."""
    if not total.judged:
        return "agreement: nothing has been judged by two people yet"
    shown = [f"{total.percent:.0%} of pairs"] if total.percent is not None else []
    shown += [f"{name} {value}" for name, value in total.coefficients]
    same = " (all answers are the same: kappa and alpha are undefined)" if total.krippendorff is None else ""
    return f"agreement of {total.people} people over {total.judged} items: {', '.join(shown)}{same}"
