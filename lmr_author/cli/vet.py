"""``lmr-author vet``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lmr_author.cli.common import Format, FormatOption, NoInputOption, TaskOption, can_ask, print_json
from lmr_author.texts import shortened

if TYPE_CHECKING:
    from lmr_author.vetting.questions import Answer
    from lmr_author.vetting.vet import VetOptions, Vetting

DONE = "done: store it like this"
BECAUSE = "yes, and say why"
WIDTH = 76
"""Columns of a line to choose, so that it fits a terminal of 80."""


def vet(
    paper: Annotated[
        str | None,
        typer.Argument(metavar="PAPER", help="A PDF file, URL or arXiv id; by default the task's own."),
    ] = None,
    repo: Annotated[
        str | None,
        typer.Option("--repo", metavar="URL", help="The repository: an address, or a local clone."),
    ] = None,
    repo_url: Annotated[
        str | None, typer.Option("--repo-url", help="Its public address, when --repo is a local clone.")
    ] = None,
    task: TaskOption = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Where to store it; by default vetting.json here, or the task's authoring/vetting.json.",
        ),
    ] = None,
    answer: Annotated[
        list[str] | None,
        typer.Option("--answer", metavar="NAME=yes|no|unsure[: WHY]", help="One answer; repeatable."),
    ] = None,
    answers: Annotated[
        Path | None, typer.Option("--answers", metavar="FILE", help="YAML or JSON file with the answers.")
    ] = None,
    override_licence: Annotated[
        str, typer.Option("--override-licence", metavar="REASON", help="Why a forbidding licence is no stop.")
    ] = "",
    offline: Annotated[
        bool, typer.Option("--offline", help="Ask no service; the questions come with what there is.")
    ] = False,
    arxiv_api: Annotated[str | None, typer.Option("--arxiv-api", help="Address of arXiv's API.")] = None,
    anthology: Annotated[
        str | None, typer.Option("--anthology", help="Address of the ACL Anthology.")
    ] = None,
    github_api: Annotated[str | None, typer.Option("--github-api", help="Address of GitHub's API.")] = None,
    output: FormatOption = Format.text,
    no_input: NoInputOption = False,
) -> int:
    """Vet a paper and its repository by the benchmark's criteria, with the evidence beside each question."""
    from lmr_author.cli import render, render_vet
    from lmr_author.errors import EXIT_CLEAN, EXIT_FINDINGS
    from lmr_author.vetting import vet as vetting_
    from lmr_author.vetting.questions import ACCEPTED
    from lmr_author.vetting.sources import Services

    usual = Services()
    services = Services(arxiv_api or usual.arxiv, anthology or usual.anthology, github_api or usual.github)
    given = {**(vetting_.read_answers(answers) if answers else {}), **_given(answer or [])}
    vetting_.require_local(paper, repo)
    options, place = _what(paper, repo, repo_url, task, out, offline, services)
    known, override = vetting_.stored_answers(place)
    with render.progress("gathering evidence") as say:
        vetting = vetting_.gather(options, say)
    if paper is not None and (known or override):
        vetting_.require_same_paper(place, vetting)
    vetting = vetting_.with_answers(vetting, {**known, **given}, override_licence or override)
    if output is Format.text:
        render_vet.sources(vetting)
    vetting.to_record().write(place)
    if can_ask(no_input) and output is Format.text:
        vetting = _ask(vetting, lambda now: now.to_record().write(place))
    elif output is Format.text:
        render_vet.questions(vetting)
    if output is Format.json:
        print_json(vetting.to_record().to_json())
    else:
        render_vet.verdict(vetting, place, of_task=paper is None or task is not None)
    return EXIT_CLEAN if vetting.verdict.status == ACCEPTED else EXIT_FINDINGS


def _what(
    paper: str | None,
    repo: str | None,
    repo_url: str | None,
    task: Path | None,
    out: Path | None,
    offline: bool,
    services: object,
) -> tuple[VetOptions, Path]:
    """What to vet, and where the answers are kept."""
    from dataclasses import replace

    from lmr_author.cli.common import current_task
    from lmr_author.errors import NotATaskError, UsageError
    from lmr_author.vetting import vet as vetting_

    options, place = None, Path("vetting.json")
    if task is not None or paper is None:
        try:
            folder = current_task(task)
        except NotATaskError as error:
            if task is not None:
                raise
            raise UsageError("no PAPER given, and no task here", "lmr-author vet PAPER --repo URL") from error
        options, place = vetting_.options_of_task(folder), folder.vetting_path
    base = options or vetting_.VetOptions(paper or "")
    changes = {"paper": paper, "repo": repo, "repo_url": repo_url or ("" if repo else None)}
    kept = {name: value for name, value in changes.items() if value is not None}
    return replace(base, offline=offline, services=services, **kept), out or place  # type: ignore[arg-type]


def _given(texts: list[str]) -> dict[str, Answer]:
    """``NAME=yes|no|unsure[: WHY]`` as answers."""
    from lmr_author.errors import UsageError
    from lmr_author.vetting.questions import read_answer

    found = {}
    for text in texts:
        name, equals, rest = text.partition("=")
        word, _, why = rest.partition(":")
        if not equals:
            raise UsageError(
                f"--answer {text!r} is no answer", "as in --answer 'venue=no: a workshop of ACL'"
            )
        found[name.strip()] = read_answer(name.strip(), word.strip(), why)
    return found


def _ask(vetting: Vetting, save: Callable[[Vetting], None]) -> Vetting:
    """Ask what the evidence leaves open, each answer stored at once; then let every answer be changed."""
    from lmr_author.cli import ask, render_vet
    from lmr_author.vetting.questions import QUESTIONS
    from lmr_author.vetting.vet import with_answers

    for name in QUESTIONS:
        if name not in vetting.answers and name not in vetting.settled:
            vetting = with_answers(vetting, {name: _one(vetting, name)})
            save(vetting)
    settled = {name: answer for name, answer in vetting.settled.items() if name not in vetting.answers}
    for name in settled:
        render_vet.evidence(vetting, name)
    vetting = with_answers(vetting, settled)
    while True:
        lines = {_line(vetting, name): name for name in QUESTIONS}
        chosen = ask.choice("These are the answers. Change one?", [DONE, *lines])
        save(vetting)
        if chosen == DONE:
            break
        vetting = with_answers(vetting, {lines[chosen]: _one(vetting, lines[chosen])})
    failing = vetting.stop or vetting.answers["license"].answer == "no"
    if failing and not vetting.override:
        reason = ask.text("The licence is a stop. A reason to go on all the same (empty for none)?")
        vetting = with_answers(vetting, {}, reason)
        save(vetting)
    return vetting


def _line(vetting: Vetting, name: str) -> str:
    answer = vetting.answers[name]
    text = f"{name}: {answer.answer}" + (f", {answer.justification}" if answer.justification else "")
    return shortened(text, WIDTH)


def _one(vetting: Vetting, name: str) -> Answer:
    """Ask one question, its evidence above it. Only a plain yes needs no reason."""
    from lmr_author.cli import ask, render_vet
    from lmr_author.vetting.questions import ANSWERS, QUESTIONS, Answer

    render_vet.evidence(vetting, name)
    before = vetting.answers.get(name, Answer())
    answer = ask.choice(QUESTIONS[name], [*ANSWERS, BECAUSE], before.answer or None)
    why = before.justification
    while answer != "yes" and not (why := ask.text("Why?", why)):
        pass
    return Answer("yes", why) if answer == BECAUSE else Answer(answer, "" if answer == "yes" else why)  # type: ignore[arg-type]
