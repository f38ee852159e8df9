"""``lmr-author review``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lmr_author.cli import ui
from lmr_author.cli.options import Format, FormatOption, NoInputOption, default_tasks
from lmr_author.errors import EXIT_CLEAN, EXIT_FINDINGS, NotATaskError, UsageError
from lmr_author.texts import counted

if TYPE_CHECKING:
    from lmr_author.review.agreement import Agreement
    from lmr_author.review.checklist import Checklist, ChecklistQuestion
    from lmr_author.review.review import ReviewResult
    from lmr_author.task import Task
    from lmr_author.task.reviews import ReviewItem

Answers = dict[str, dict[str, str]]
DONE = "done"
_STATES = {"accepted": "green", "disputed": "yellow", "rejected": "bold red", "waiting": "dim"}
_ANSWERS = {"pass": "green", "fail": "bold red"}


def review(
    task: Annotated[
        Path | None,
        typer.Argument(
            metavar="TASK",
            help="The task (with --queue and --results also a folder of tasks); by default the current one.",
        ),
    ] = None,
    reviewer: Annotated[str | None, typer.Option(help="Your name, as the sign-off is stored.")] = None,
    answers: Annotated[
        Path | None, typer.Option(help="YAML or JSON file with the answers, instead of questions.")
    ] = None,
    template: Annotated[
        bool, typer.Option("--template", help="Only print an answers file to fill in.")
    ] = False,
    checklist: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Your lab's own list, YAML or JSON; by default checklist.yaml beside the tasks, else ours.",
        ),
    ] = None,
    queue: Annotated[
        bool, typer.Option("--queue", help="Review every task that waits for you, one after the other.")
    ] = False,
    results: Annotated[
        bool, typer.Option("--results", help="Show agreement and disagreements of finished reviews.")
    ] = False,
    adjudicate: Annotated[
        str | None, typer.Option(metavar="ITEM=pass|fail", help="Decide an item that is disputed.")
    ] = None,
    reason: Annotated[str, typer.Option(help="The reason; with --adjudicate.")] = "",
    output: FormatOption = Format.text,
    no_input: NoInputOption = False,
) -> int:
    """Go through the checklist and sign off; the sign-off falls when the task changes."""
    from lmr_author.review import review as reviewing
    from lmr_author.task import Task

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
        for dispute in reviewing.standing_of(folder).disputes if asking else ():
            if dispute.item == item:
                ui.say(dispute.question, tone="bold")
                for person, said in dispute.answers.items():
                    ui.say(f"{said} {dispute.comments[person]}".rstrip(), f"{person}:", indent=2)
        if asking and not answer:
            answer = ui.letter(f"Decision about {item}:", {"p": "pass", "f": "fail"})
        if asking and not reason:
            reason = ui.needed("Reason for the decision:")
        reviewing.adjudicate(folder, item, answer, reason, name, checklist)
        return _results([folder], checklist, output)
    asked = reviewing.checklist_for(folder, checklist)
    if not answers and not asking:
        raise UsageError("no answers given", "add --answers FILE (see --template), or run it in a terminal")
    return _one(folder, name, asked, answers, output)


def ask_reviewer(reviewer: str | None, asking: bool) -> str:
    """Return the reviewer's name; ask for it at a terminal."""
    from lmr_author.errors import LmrError
    from lmr_author.task.reviews import path_of_reviewer

    def problem(name: str) -> str:
        try:
            path_of_reviewer(Path(), name)
        except LmrError as error:
            return error.message
        return ""

    if not reviewer and asking:
        return ui.needed("Reviewer name:", check=problem)
    if not reviewer:
        raise UsageError("no reviewer named", "add --reviewer NAME")
    return reviewer


def _template(task: Path | None, checklist: Path | None) -> dict[str, Any]:
    """Return an answers file to fill in: for the given list, else the task's, else our own."""
    from lmr_author.review import review as reviewing
    from lmr_author.review.checklist import template
    from lmr_author.task import Task

    if checklist is not None:
        return template(reviewing.read_checklist(checklist).questions)
    try:
        folder = Task.find(task or Path.cwd())
    except NotATaskError:
        if task is not None:
            raise
        return template()
    return template(reviewing.checklist_for(folder).questions)


def _one(task: Task, reviewer: str, asked: Checklist, answers: Path | None, output: Format) -> int:
    """Review one task, with the answers of a file or of the terminal."""
    from lmr_author.files import read_answers
    from lmr_author.review import review as reviewing
    from lmr_author.task.reviews import path_of_reviewer
    from lmr_author.validation.run import checked

    if answers:
        given = read_answers(answers, "--answers", "write one with `lmr-author review --template`")
    else:
        findings = checked([task]).findings
        _show_items(reviewing.answer_automatic(task, findings))
        draft = reviewing.DraftReview(task, reviewer)
        if draft.outdated is not None:
            ui.note(f"the task has changed since your answers, which are kept in {draft.outdated}")
        given = ask_answers(asked.questions, draft.answers, draft.keep, reviewing.evidence_of(task, findings))
    result = reviewing.save_review(task, reviewer, given, asked)
    if output is Format.json:
        ui.print_json(
            {
                "task": task.name,
                "reviewer": reviewer,
                "signed_off": result.signed_off,
                "items": [item.to_json() for item in result.items],
            }
        )
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
    from lmr_author.review.checklist import ANSWERS

    items = {one.id: one for one in questions}
    names = list(items)
    given = {name: one for name, one in before.items() if name in items and one.get("answer") in ANSWERS}
    if given:
        ui.say(f"{len(given)} of {len(items)} questions already answered; you can change them at the end")

    def ask(name: str) -> bool:
        """Ask one item and store its answer; return false to go back."""
        answer = _ask(items[name], f"{names.index(name) + 1} of {len(names)}", (evidence or {}).get(name, ()))
        if answer is not None:
            given[name] = answer
            keep({**before, **given})
        return answer is not None

    place, asked = 0, [name for name in names if name not in given]
    while place < len(asked):
        place = place + 1 if ask(asked[place]) else max(0, place - 1)
    while True:
        lines = {name: f"{name}: {given[name]['answer']} {given[name]['comment']}".rstrip() for name in items}
        chosen = ui.choice("Change an answer?", {DONE: "No, store them", **lines})
        if chosen == DONE:
            return {name: given[name] for name in names}
        ask(chosen)


def _ask(item: ChecklistQuestion, number: str, evidence: Sequence[str]) -> dict[str, str] | None:
    """Ask one item, beside its evidence; an answer that is no pass needs a reason. Return None to go back."""
    ui.say("")
    ui.say(number, tone="bold")
    for line in evidence:
        ui.say(line, indent=2)
    if item.look_at:
        ui.say(f"see {item.look_at}", tone="cyan")
    answer = ui.letter(item.question, {"p": "pass", "f": "fail", "u": "unsure", "b": "back"})
    if answer == "back":
        return None
    return {"answer": answer, "comment": "" if answer == "pass" else ui.needed("Why?")}


def _show_items(items: Iterable[ReviewItem]) -> None:
    for item in items:
        text = f"{item.question} {item.evidence or item.comment}".rstrip()
        ui.say(text, f"{item.answer:<6}", _ANSWERS.get(item.answer, "yellow"), indent=2, hang=9)


def _queue(tasks: Sequence[Task], reviewer: str, checklist: Path | None, asking: bool, output: Format) -> int:
    """Review the tasks that wait for a person; without a terminal only list them."""
    from lmr_author.review import review as reviewing

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
    from lmr_author.review import review as reviewing
    from lmr_author.review.standing import DISPUTED, REJECTED

    found = [reviewing.result_of(task, checklist) for task in tasks]
    total = reviewing.overall_agreement(tasks, checklist)
    if output is Format.json:
        documents = [
            {
                "task": one.task,
                **asdict(one.standing),
                "agreement": one.agreement.to_json() if one.agreement else None,
            }
            for one in found
        ]
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
    who = ", ".join(now.reviewers) or "nobody yet"
    ui.say(f"{one.task}: {who}", now.state, _STATES[now.state])
    if now.missing:
        needed = "1 more review is needed" if now.missing == 1 else f"{now.missing} more reviews are needed"
        ui.say(f"{needed}; answers stay hidden until then", indent=2)
    for name in now.damaged:
        ui.say(f"authoring/reviews/{name}: it counts for nothing", "damaged", "bold red", indent=2)
    for item in now.failed:
        ui.say(item, "fails", "bold red", indent=2)
    for dispute in now.disputes:
        ui.say(f"{dispute.item}: {dispute.question}", "disputed", "yellow", indent=2)
        for name, answer in dispute.answers.items():
            why = f": {dispute.comments[name]}" if dispute.comments.get(name) else ""
            ui.say(f"{name} {answer}{why}", indent=4)
    for decision in now.decisions:
        ui.say(f"decided  {decision.item} {decision.answer}, {decision.by}: {decision.reason}", indent=2)


def agreement_line(total: Agreement) -> str:
    """Return the measures of agreement on one line, without those that are undefined."""
    if not total.judged:
        return "agreement: nothing has been judged by two people yet"
    shown = [f"{total.percent:.0%} of pairs"] if total.percent is not None else []
    for name, value in (
        ("Cohen's kappa", total.cohen),
        ("Fleiss' kappa", total.fleiss),
        ("Krippendorff's alpha", total.krippendorff),
    ):
        shown += [f"{name} {value:.2f}"] if value is not None else []
    same = " (all answers are the same: kappa and alpha are undefined)" if total.krippendorff is None else ""
    return f"agreement of {total.people} people over {total.judged} items: {', '.join(shown)}{same}"
