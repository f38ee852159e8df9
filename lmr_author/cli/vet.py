"""``lmr-author vet``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from lmr_author.cli import ui
from lmr_author.cli.options import Format, FormatOption, OfflineOption, TaskOption, current_task
from lmr_author.cli.status import show_next
from lmr_author.core import locks
from lmr_author.core.errors import EXIT_CLEAN, EXIT_FINDINGS, NotATaskError, UsageError

if TYPE_CHECKING:
    from lmr_author.authoring.vetting.questions import VettingAnswer
    from lmr_author.authoring.vetting.vet import VetOptions
    from lmr_author.core.task import Task
    from lmr_author.core.task.reviews import VettingQuestion, VettingRecord

BECAUSE = "yes, and say why"
_STATES = {"accepted": "green", "rejected": "bold red", "open": "yellow"}


def _complete() -> list[str]:
    from lmr_author.authoring.vetting.questions import ANSWERS, QUESTIONS

    return [f"{name}={answer}" for name in QUESTIONS for answer in ANSWERS]


def vet(
    paper: Annotated[str | None, Argument(help="A PDF file, URL or arXiv id; by default the task's.")] = None,
    repo: Annotated[str | None, Option(help="The repository: its address, or a local clone.")] = None,
    repo_url: Annotated[str | None, Option(help="Its public address, when --repo is a local clone.")] = None,
    task: TaskOption = None,
    out: Annotated[
        Path | None,
        Option("--out", "-o", help="File to write; by default vetting.json of the task, or here."),
    ] = None,
    answer: Annotated[
        list[str] | None,
        Option(
            metavar="QUESTION=ANSWER",
            autocompletion=_complete,
            help="An answer (yes, no or unsure), as 'venue=no: a workshop'; the questions: methodological_focus, "
            "reproducibility, clarity_and_complexity, venue, year, license.",
        ),
    ] = None,
    answers: Annotated[Path | None, Option(help="YAML or JSON file with the answers.")] = None,
    override_licence: Annotated[str, Option(help="Why a licence that forbids use is no obstacle.")] = "",
    offline: OfflineOption = False,
    output: FormatOption = Format.text,
) -> int:
    """Vet a paper and its repository by the benchmark's criteria, with the evidence beside each question."""
    from lmr_author.authoring.vetting import vet as vetting_room
    from lmr_author.authoring.vetting.questions import ACCEPTED

    new_answers = vetting_room.read_answers(answers) if answers else {}
    new_answers.update(_read_answers(answer or []))
    asking = ui.can_ask() and output is Format.text
    vetting_room.require_local(paper, repo)
    options, path, folder = _options(paper, repo, repo_url, task, asking=asking)
    options, path = replace(options, offline=offline), out or path
    # From reading the answers to writing them: two at once would lose those of the first.
    with locks.held(path.parent.parent) if folder and out is None else nullcontext():
        stored, override = vetting_room.stored_answers(path)
        with ui.progress("gathering evidence") as progress:
            vetting, settled = vetting_room.gather(options, progress)
        if (paper is not None or not folder) and (stored or override):
            vetting_room.require_same_paper(path, vetting)
        vetting = vetting_room.with_answers(vetting, stored | new_answers, override_licence or override)
        if output is Format.text:
            _show_sources(vetting)
        vetting.write(path)
        if asking:
            vetting = ask_questions(vetting, settled, lambda now: now.write(path))
    if output is Format.json:
        ui.print_json(vetting.to_json())
    else:
        if not asking:
            _show_questions(vetting)
        _show_verdict(vetting, options, path, folder)
    return EXIT_CLEAN if vetting.status == ACCEPTED else EXIT_FINDINGS


def _options(
    paper: str | None, repo: str | None, repo_url: str | None, task: Path | None, *, asking: bool
) -> tuple[VetOptions, Path, Task | None]:
    """Return what to vet, the file of the answers, and its task, if any."""
    from lmr_author.authoring.vetting import vet as vetting_room

    options, path = vetting_room.VetOptions(paper or ""), Path("vetting.json")
    folder: Task | None = None
    if task is not None or paper is None:
        try:
            folder = current_task(task)
        except NotATaskError as error:
            if task is not None:
                raise
            if not asking:
                hint = "lmr-author vet PAPER --repo URL"
                raise UsageError("no PAPER given, and no task here", hint) from error
            from lmr_author.cli import new_task

            paper, repo = new_task.ask_origins(repo)
        else:
            options, path = vetting_room.options_of_task(folder), folder.vetting_path
    if repo is not None:
        options = replace(options, repo=repo, repo_url="")
    if repo_url:
        options = replace(options, repo_url=repo_url)
    return replace(options, paper=paper or options.paper), path, folder


def _read_answers(texts: list[str]) -> dict[str, VettingAnswer]:
    from lmr_author.authoring.vetting.questions import read_answer

    answers = {}
    for text in texts:
        name, equals, reply = text.partition("=")
        word, _, why = reply.partition(":")
        if not equals:
            raise UsageError(
                f"--answer {text!r} is no answer", "as in --answer 'venue=no: a workshop of ACL'"
            )
        answers[name.strip()] = read_answer(name.strip(), word.strip(), why)
    return answers


def ask_questions(
    vetting: VettingRecord, settled: Mapping[str, VettingAnswer], save: Callable[[VettingRecord], None]
) -> VettingRecord:
    """Ask the open questions, storing each answer at once; then let every answer be changed."""
    from lmr_author.authoring.vetting.questions import QUESTIONS
    from lmr_author.authoring.vetting.vet import with_answers

    def change(name: str) -> None:
        nonlocal vetting
        vetting = with_answers(vetting, {name: _ask(vetting, name)})
        save(vetting)

    open_questions = [
        name for name in QUESTIONS if not vetting.questions[name].answer and name not in settled
    ]
    ui.steps(*(partial(change, name) for name in open_questions))
    seen = {name: answer for name, answer in settled.items() if not vetting.questions[name].answer}
    for name in seen:
        _show_evidence(vetting, name)
    vetting = with_answers(vetting, seen)
    save(vetting)

    def last_look() -> None:
        ui.revise(lambda: {name: _line(name, vetting.questions[name]) for name in QUESTIONS}, change)

    def override() -> None:
        nonlocal vetting
        forbidden = vetting.licence_stop or vetting.questions["license"].answer == "no"
        if forbidden and not vetting.licence_override:
            reason = ui.text("The licence forbids it. Reason to continue anyway (empty: none):")
            vetting = with_answers(vetting, {}, reason)
            save(vetting)

    ui.steps(last_look, override)
    return vetting


def _ask(vetting: VettingRecord, name: str) -> VettingAnswer:
    """Ask one question below its evidence; Enter alone is no answer. Only a yes that has evidence needs no reason."""
    from lmr_author.authoring.vetting.questions import VettingAnswer

    _show_evidence(vetting, name)
    question = vetting.questions[name]
    letters = {"y": "yes", "n": "no", "u": "unsure"}
    why_question = "There is no evidence. Why?"
    proven = bool(question.evidence)
    if proven:
        letters["w"] = BECAUSE
        why_question = "Why?"
    given = ui.ask(
        answer=lambda _: ui.letter(question.question, letters),
        why=lambda given: None if given["answer"] == "yes" and proven else _ask_why(why_question, question),
    )
    return VettingAnswer("yes" if given["answer"] == BECAUSE else given["answer"], given["why"] or "")


def _ask_why(why: str, question: VettingQuestion) -> str:
    return ui.needed(why, question.justification)


def _line(name: str, answer: VettingQuestion) -> str:
    return f"{name.replace('_', ' ')}: {answer.answer}{ui.framed(', ', answer.justification)}"


def _show_sources(vetting: VettingRecord) -> None:
    ui.say(vetting.repository or "no repository", vetting.paper, "bold")
    for source in vetting.sources:
        if source.status != "answered":
            ui.note(f"{source.name}: {source.note} ({source.status})")
    if vetting.licence_stop:
        ui.say(vetting.licence_stop, "stop:", "bold red")


def _show_evidence(vetting: VettingRecord, name: str) -> None:
    ui.say("")
    ui.say(name.replace("_", " "), tone="bold")
    for line in vetting.questions[name].evidence or ["no evidence"]:
        ui.say(line, "-", "cyan", indent=2, hang=4)


def _show_questions(vetting: VettingRecord) -> None:
    for name, question in vetting.questions.items():
        _show_evidence(vetting, name)
        why = ui.framed(": ", question.justification)
        ui.say(f"{question.question} {question.answer or 'open'}{why}", indent=2)


def _show_verdict(vetting: VettingRecord, options: VetOptions, path: Path, task: Task | None) -> None:
    ui.say("")
    ui.say(f"(stored in {path})", vetting.status, _STATES[vetting.status])
    for reason in vetting.reasons:
        ui.say(reason, indent=2)
    named = []
    if task is None:
        named.append(options.paper)
        if options.repo:
            named += ["--repo", options.repo]
    if vetting.status == "accepted" and task is not None:
        show_next(task)
    elif vetting.status == "accepted":
        ui.then("new-task", *named, "--vetting", path)
    elif vetting.status == "open":
        ui.say("answer open questions at a terminal, or by --answer NAME=yes|no|unsure")
        ui.then("vet", *named)
