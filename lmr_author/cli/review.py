"""``lmr-author review``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from lmr_author.cli import ui
from lmr_author.cli.options import (
    ChecklistOption,
    Format,
    FormatOption,
    PlaceOption,
    ReasonOption,
    ReviewerOption,
    TaskArgument,
    default_tasks,
    named_once,
)
from lmr_author.cli.review_screens import show_agreement, show_disputes
from lmr_author.core.errors import EXIT_CLEAN, EXIT_FINDINGS, NotATaskError
from lmr_author.core.texts import counted

if TYPE_CHECKING:
    from lmr_author.core.task import Task
    from lmr_author.core.task.reviews import Review, ReviewItem
    from lmr_author.release.review.checklist import ChecklistQuestion, QuestionEvidence
    from lmr_author.release.review.evidence_of_questions import Weakness

Answers = dict[str, dict[str, str]]
_ANSWERS = {"pass": "green", "fail": "bold red"}


def _complete() -> list[str]:
    from lmr_author.release.review.checklist import HUMAN

    return [f"{question.id}={answer}" for question in HUMAN for answer in ("pass", "fail")]


def review(
    word: TaskArgument = None,
    reviewer: ReviewerOption = None,
    answers: Annotated[Path | None, Option(help="YAML or JSON file with the answers.")] = None,
    template: Annotated[bool, Option("--template", help="Only print an answers file to fill in.")] = False,
    checklist: ChecklistOption = None,
    queue: Annotated[bool, Option("--queue", help="Review every task that awaits you.")] = False,
    agreement: Annotated[
        bool, Option("--agreement", help="Show agreement of finished reviews; exit code 1 if disputed.")
    ] = False,
    decide: Annotated[
        str | None, Option(metavar="ITEM=pass|fail", autocompletion=_complete, help="Decide a disputed item.")
    ] = None,
    reason: ReasonOption = "",
    output: FormatOption = Format.text,
    task: PlaceOption = None,
) -> int:
    """Go through the checklist and sign off; a sign-off holds until the task changes."""
    from lmr_author.core.task import Task

    asking, task = ui.can_ask(), named_once(word, task)
    if agreement:
        return show_agreement(Task.find_all(task or default_tasks()), checklist, output)
    if decide is not None:
        folder = Task.find(task or Path.cwd())
        return _decide(folder, decide, reason, ask_reviewer(reviewer, asking), checklist, output)
    if template:
        ui.print_json(_template(task, checklist))
        return EXIT_CLEAN
    if queue:
        tasks = Task.find_all(task or default_tasks())
        return _queue(tasks, ask_reviewer(reviewer, asking), checklist, asking, output)
    folder = Task.find(task or Path.cwd())
    name = ask_reviewer(reviewer, asking)
    hint = "add --answers FILE (see --template), or run it in a terminal"
    ui.require_person(asking or bool(answers), "no answers given", hint)
    return _one(folder, name, checklist, answers, output)


def _decide(
    task: Task, decision: str, reason: str, reviewer: str, checklist: Path | None, output: Format
) -> int:
    from lmr_author.cli.review_screens import show_evidence
    from lmr_author.proof.validation.run import checked
    from lmr_author.release.review import review as reviewing
    from lmr_author.release.review.evidence_of_questions import evidence_of
    from lmr_author.release.review.review_status import review_status

    item, _, answer = decision.partition("=")
    if ui.can_ask():
        evidence = {} if answer else evidence_of(task, checked([task]).findings)
        if item in evidence:
            show_evidence(evidence[item])
        show_disputes([dispute for dispute in review_status(task).disputes if dispute.item == item])
        given = ui.ask(
            answer=lambda _: (
                None if answer else ui.letter(f"Decision about {item}:", {"p": "pass", "f": "fail"})
            ),
            reason=lambda _: reason or ui.needed("Reason for the decision:"),
        )
        answer, reason = answer or given["answer"], given["reason"]
    reviewing.adjudicate(task, item, answer, reason, reviewer, checklist)
    return show_agreement([task], checklist, output)


def ask_reviewer(reviewer: str | None, asking: bool) -> str:
    """Return the reviewer's name; at a terminal ask for it, proposing git's user name."""
    from lmr_author.core.repo.git import user_name
    from lmr_author.core.task.reviews import path_of_reviewer

    if reviewer:
        return reviewer
    ui.require_person(asking, "no reviewer named", "add --reviewer NAME")

    def check(name: str) -> str:
        return ui.problem(lambda: path_of_reviewer(Path(), name))

    proposed = user_name()
    return ui.needed("Reviewer name:", "" if check(proposed) else proposed, check)


def _template(task: Path | None, checklist: Path | None) -> dict[str, Any]:
    from lmr_author.core.task import Task
    from lmr_author.proof.validation.run import checked
    from lmr_author.release.review.checklist import template
    from lmr_author.release.review.evidence_of_questions import evidence_of
    from lmr_author.release.review.review_status import checklist_for, read_checklist

    try:
        folder = Task.find(task or Path.cwd())
    except NotATaskError:
        if task is not None:
            raise
        return template(read_checklist(checklist).questions) if checklist else template()
    questions = checklist_for(folder, checklist).questions
    return template(questions, evidence_of(folder, checked([folder]).findings))


def _one(task: Task, reviewer: str, checklist: Path | None, answers: Path | None, output: Format) -> int:
    from lmr_author.core.files import read_answers
    from lmr_author.core.task.reviews import path_of_reviewer
    from lmr_author.proof.validation.run import checked
    from lmr_author.release.review import review as reviewing
    from lmr_author.release.review.checklist import automatic_items
    from lmr_author.release.review.evidence_of_questions import evidence_for, weaknesses
    from lmr_author.release.review.review_status import checklist_for
    from lmr_author.release.review.under_test import read_task

    asked = checklist_for(task, checklist)
    if answers:
        stated = read_answers(answers, "--answers", "write one with `lmr-author review --template`")
    else:
        findings = checked([task]).findings
        _show_items(automatic_items(task, findings))
        _show_earlier(reviewing.earlier_review(task, reviewer), task)
        draft = reviewing.DraftReview(task, reviewer)
        if draft.outdated is not None:
            ui.note(f"the task has changed since your answers, which are kept in {draft.outdated}")
        reviewed = read_task(task)
        evidence = evidence_for(reviewed, findings)
        _show_weaknesses(weaknesses(reviewed, evidence))
        stated = ask_answers(asked.questions, draft.answers, draft.keep, evidence, _TaskPage(task))
    result = reviewing.save_review(task, reviewer, stated, asked)
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
    evidence: Mapping[str, QuestionEvidence] | None = None,
    address: Callable[[str], str] | None = None,
) -> Answers:
    """Ask every item without an answer, keeping all answers after each one; then every answer can be changed."""
    items, shown = {question.id: question for question in questions}, evidence or {}
    names = list(items)
    answers = _resumed(before, items, shown)
    answered = set(answers)

    def ask(name: str) -> None:
        ui.say("")
        ui.say(f"{names.index(name) + 1} of {len(names)}: {name}", tone="bold")
        answers[name] = _ask(items[name], shown.get(name), address, answers.get(name))
        keep({**before, **answers})

    ui.steps(*(partial(ask, name) for name in names if name not in answered))
    ui.revise(lambda: {name: _line(name, answers[name]) for name in names}, ask)
    return {name: answers[name] for name in names}


def _line(name: str, answer: Mapping[str, str]) -> str:
    return f"{name}: {answer['answer']} {answer['comment']}".rstrip()


def _resumed(
    before: Mapping[str, dict[str, str]],
    items: Mapping[str, ChecklistQuestion],
    evidence: Mapping[str, QuestionEvidence],
) -> Answers:
    """Return the earlier answers that still meet the rules for their evidence."""
    from lmr_author.release.review.checklist import human_items

    answers: Answers = {}
    for name, answer in before.items():
        if name in items and not ui.problem(partial(human_items, {name: answer}, [items[name]], evidence)):
            answers[name] = answer
    if answers:
        ui.say(f"{len(answers)} of {len(items)} questions already answered; you can change them at the end")
    return answers


def _ask(
    question: ChecklistQuestion,
    evidence: QuestionEvidence | None,
    address: Callable[[str], str] | None,
    before: Mapping[str, str] | None,
) -> dict[str, str]:
    """Ask one question. A pass needs a reason if the evidence is weak, any other answer always."""
    from lmr_author.cli.review_screens import show_evidence
    from lmr_author.release.review.checklist import lacks_sentence

    if evidence is not None:
        show_evidence(evidence)
    if question.look_at:
        ui.say(f"see {question.look_at}", indent=2, tone="cyan")
    letters = {"p": "pass", "f": "fail", "u": "unsure"}
    if address:
        letters["o"] = "open page"
    written = before["comment"] if before else ""
    if before:
        ui.say(_line("so far", before), indent=2, tone="dim")

    def ask(_: object) -> str:
        while (answer := ui.letter(question.question, letters)) == "open page" and address:
            ui.say(address(question.id), "page:", "cyan", whole=True)
        return answer

    def ask_why(given: dict[str, Any]) -> str | None:
        if given["answer"] in ("fail", "unsure"):
            return ui.needed("Why?", written)
        if evidence is not None and evidence.weak:
            return ui.needed("The evidence is weak. Why does it pass?", written, lacks_sentence)
        return None

    given = ui.ask(answer=ask, comment=ask_why)
    return {"answer": given["answer"], "comment": given["comment"] or ""}


class _TaskPage:
    """The task's page, written on first use into the cache: it shows the solution."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._path: Path | None = None

    def __call__(self, item: str) -> str:
        from lmr_author.core.files import user_cache
        from lmr_author.release.reporting.report import report

        if self._path is None:
            path = user_cache() / "pages" / f"{self._task.name}.html"
            with ui.progress("writing the task's page") as progress:
                self._path = report(self._task.root, path, progress).path
        return f"{self._path.absolute().as_uri()}#review-{item}"


def _show_earlier(earlier: Review | None, task: Task) -> None:
    from lmr_author.core.task.folder import reviewed_digest

    if earlier is None:
        return
    outcome = "signed off" if earlier.signed_off else "not signed off"
    state = "" if earlier.content_digest == reviewed_digest(task) else ", before the task changed"
    ui.note(
        f"your second review: the first one is of {earlier.created[:10]}, {outcome}{state}; this one replaces it"
    )


def _show_weaknesses(found: Sequence[Weakness]) -> None:
    if found:
        ui.say("")
        ui.say("Read this first", tone="bold")
    for weakness in found:
        ui.say(weakness.text, f"{weakness.question}:", "yellow", indent=2)


def _show_items(items: Iterable[ReviewItem]) -> None:
    for item in items:
        text = f"{item.question} {item.comment or item.evidence}".rstrip()
        ui.say(text, f"{item.answer:<6}", _ANSWERS.get(item.answer, "yellow"), indent=2, hang=9)


def _queue(tasks: Sequence[Task], reviewer: str, checklist: Path | None, asking: bool, output: Format) -> int:
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
            _one(task, reviewer, checklist, None, output)
        else:
            ui.then("review", task.root, "--reviewer", reviewer, indent=2)
    return EXIT_CLEAN
