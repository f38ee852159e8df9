"""``lmr-author challenge``: misreadings must fail, rewrites must pass."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from lmr_author.cli import ui
from lmr_author.cli.options import (
    CaseTimeOption,
    Format,
    FormatOption,
    ImplementationOption,
    MemoryOption,
    ReasonOption,
    TaskArgument,
    TaskOption,
    current_task,
    named_once,
)
from lmr_author.cli.status import show_next
from lmr_author.core.errors import EXIT_CLEAN, EXIT_FINDINGS, UsageError
from lmr_author.core.texts import counted, listed, shortened

if TYPE_CHECKING:
    from lmr_author.core.task import Task
    from lmr_author.core.task.challenge import ChallengedTarget, Challenger, DriverAdvice
    from lmr_author.release.challenge.calls import NoDriverError
    from lmr_author.release.challenge.challenge import ChallengeOptions, ChallengeRun
    from lmr_author.runtime.environment.where import Where

ADVICE = {
    "misreading": "record again with a driver that reveals it; or, if it is no mistake",
    "rewrite": "record again with a tolerance (--check), or without inputs that allow two results, as ties do; "
    "or, if it is no rewrite",
}
"""Kind of an open answer → what a person can do, before the command that accepts it."""
LEFT_OUT = {
    "golden": "the golden does not reproduce it",
    "rewrite": "the rewrite {answer} would fail",
    "room": "there is no room for it",
}
DETAILS = 6
NUMBERS = 8

_say = partial(ui.say, stderr=False)


def challenge(
    word: TaskArgument = None,
    answers: Annotated[Path | None, Option(help="Misreadings and rewrites, else the last run's.")] = None,
    driver: Annotated[Path | None, Option(metavar="DIR", help="Folder of the recording's script.")] = None,
    model: Annotated[
        str | None, Option(metavar="PROVIDER/MODEL", help="Ask a model for them once, by Inspect AI.")
    ] = None,
    strengthen: Annotated[bool, Option("--strengthen", help="Add cases that reveal misreadings.")] = False,
    accept: Annotated[
        str | None, Option(metavar="NAME", help="Accept an open misreading or rewrite.")
    ] = None,
    reason: ReasonOption = "",
    implementation: ImplementationOption = None,
    *,
    where: Where,
    timeout: CaseTimeOption = 60.0,
    memory: MemoryOption = 8192,
    output: FormatOption = Format.text,
    task: TaskOption = None,
) -> int:
    """Challenge the unit tests: plausible misreadings must fail, rewrites that keep the behaviour must pass."""
    from lmr_author.release.challenge.calls import NoDriverError
    from lmr_author.release.challenge.challenge import ChallengeOptions, require_drivers
    from lmr_author.release.challenge.challenge import challenge as run_challenge

    task = named_once(word, task)
    folder = current_task(task)
    if accept is not None:
        if answers is not None or model:
            raise UsageError(
                "--accept excludes --answers and --model", "challenge first, then accept the open answers"
            )
        return _accept(folder, accept, reason, implementation, output)
    options = ChallengeOptions(
        answers=answers,
        driver=driver,
        implementation=implementation,
        where=where,
        strengthen=strengthen,
        seconds=timeout,
        memory_mb=memory,
    )
    try:
        if model:
            require_drivers(folder, options, Path.cwd())
            written = _ask(folder, model, implementation)
            if written is None:
                return EXIT_CLEAN
            options = replace(options, written=written)
        with ui.progress(f"challenging {folder.name}") as progress:
            run = run_challenge(folder, options, Path.cwd(), progress)
    except NoDriverError as error:
        raise UsageError(error.message, _with_driver(folder, options, model, error)) from error
    record = run.record
    if run.failure is not None and not any(answer.ending.value != "waiting" for answer in record.answers):
        raise run.failure
    if output is Format.json:
        ui.print_json(
            {"task": folder.name, **record.to_json(), "resumed": run.resumed, "open": len(record.open)}
        )
    else:
        for target in record.targets:
            _show_target(folder, target, record.of(target.index))
        if run.failure is None:
            _end(folder, run, options, [str(task)] if task else [])
    if run.failure is not None:
        raise run.failure
    invalid = any(answer.ending.value == "invalid" for answer in record.answers)
    return EXIT_FINDINGS if record.open or invalid else EXIT_CLEAN


def _with_driver(folder: Task, options: ChallengeOptions, model: str | None, error: NoDriverError) -> str:
    words = ["lmr-author", "challenge", str(folder.root)]
    for option, value in (
        ("--answers", options.answers),
        ("--model", model),
        ("--implementation", options.implementation),
    ):
        words += [option, str(value)] if value is not None else []
    words += [*(["--strengthen"] if options.strengthen else []), *options.where.options]
    command = f"{shlex.join(words)} --driver"
    if error.remembered is not None:
        return f"it was recorded in another folder: {command} {shlex.quote(str(error.remembered))}"
    return f"name the folder DIR that has {error.script}: {command} DIR"


def _ask(folder: Task, model: str, implementation: int | None) -> tuple[Challenger, ...] | None:
    """Ask a model for misreadings and rewrites that it has not given yet; None if the user declines."""
    from lmr_author.release.challenge import ask

    planned = ask.requests(folder, model, implementation)
    waiting = [request for request in planned if request.reply is None]
    if waiting:
        tokens = sum(request.tokens for request in waiting)
        most = len(waiting) * ask.OUTPUT_TOKENS
        ui.say(
            f"{counted(len(waiting), 'request')} to {model}: about {tokens:,} tokens to read, at most {most:,} to write"
        )
        if ui.can_ask() and not ui.confirm("Ask it?"):
            return None
    with ui.progress(f"asking {model}") as progress:
        return tuple(ask.ask(folder, model, planned, progress))


def _accept(folder: Task, name: str, reason: str, implementation: int | None, output: Format) -> int:
    from lmr_author.release.challenge.challenge import accept

    answer = accept(folder, name, reason, implementation)
    if output is Format.json:
        ui.print_json(answer.to_json())
    else:
        _say(f"{answer.kind} {name} {answer.in_words}", "accepted", "green")
        show_next(folder, stderr=False)
    return EXIT_CLEAN


def _show_target(folder: Task, target: ChallengedTarget, answers: Sequence[Challenger]) -> None:
    _say(f"{folder.name}  {target.target}", tone="bold")
    for answer in answers:
        _show_answer(answer, target.versions)
    for case in target.added:
        text = f"{case.case}, {case.origin}, tells apart {listed(list(case.tells), 4)}"
        _say(text, "added:", "green", indent=2)
    for call in target.left_out[:NUMBERS]:
        why = LEFT_OUT[call.why].format(answer=call.answer)
        text = f"call {call.call}, as {why}: {shortened(call.message, 160)}"
        _say(text, "no case:", "yellow", indent=2)


def _show_answer(answer: Challenger, versions: Mapping[str, str]) -> None:
    from lmr_author.runtime.environment.where import in_words

    text = f"{answer.kind:<10}  {answer.name}: {answer.in_words}"
    if answer.settled:
        if answer.difference is not None:
            text += ui.framed(" on ", answer.difference.case)
        _say(text, "ok  ", "green", indent=2, hang=DETAILS)
        return
    invalid = answer.ending.value == "invalid"
    mark, style = ("?   ", "yellow") if invalid else ("open", "bold red")
    _say(text, mark, style, indent=2, hang=DETAILS)
    for line in filter(None, details(answer)):
        _say(line, indent=DETAILS, hang=DETAILS + 2)
    if answer.lacks_api:  # which no tolerance helps
        ran = in_words(versions) or "other versions"
        _say(
            f"it may need an API that is not in {ran}: write it for these versions",
            indent=DETAILS,
            hang=DETAILS + 2,
        )
    if answer.missing is not None:
        ui.diff(answer.missing.diff.splitlines(), indent=DETAILS + 2, stderr=False)


def details(answer: Challenger) -> list[str]:
    """Return the facts about an open answer, in lines that may be empty."""
    lines = [answer.about, answer.reason]
    difference = answer.difference
    if difference is not None:
        lines.append(f"{difference.where}: {shortened(difference.message, 300)}")
    if len(answer.tells) > 1:
        lines.append(f"calls on which it fails: {_numbers(answer.tells)}")
    if answer.missing is not None:
        lines += missing_in_words(answer.missing)
    return lines


def missing_in_words(missing: DriverAdvice) -> list[str]:
    lines = []
    if missing.unreached:
        where = _lines(missing.unreached)
        lines.append(f"no recorded call reaches {where} of the golden: have the driver reach it")
    elif missing.lines:
        lines.append(f"it differs on {_lines(missing.lines)} of the golden, which recorded calls reach")
    if missing.constant:
        alike = [f"{name} ({text})" for name, text in missing.constant.items()]
        lines.append(f"alike in every recorded call: {listed(alike, NUMBERS)}; have the driver vary it")
    lines += [_not_compared(kind, names) for kind, names in missing.not_compared.items()]
    if missing.not_given:
        lines.append(f"given by no recorded call: {listed(list(missing.not_given), NUMBERS)}")
    return lines


def _numbers(numbers: Sequence[int]) -> str:
    return listed(list(map(str, numbers)), NUMBERS)


def _lines(numbers: Sequence[int]) -> str:
    noun = "lines" if len(numbers) > 1 else "line"
    return f"{noun} {_numbers(numbers)}"


def _not_compared(kind: str, names: tuple[str, ...]) -> str:
    from lmr_author.authoring.recording.record import EffectKind, UncomparedEffect

    if kind == "gradients":
        return f"not compared: gradients with respect to {listed(list(names), 3)}; --compare gradients compares them"
    effect = UncomparedEffect(EffectKind(kind), names)
    return f"not compared: {effect.text}; {effect.advice}"


def _end(folder: Task, run: ChallengeRun, options: ChallengeOptions, named: list[str]) -> None:
    record = run.record
    resumed = ui.framed(", ", run.resumed, " by an earlier run")
    facts = f"({counted(len(record.answers), 'answer')}{resumed}; {folder.challenge_path.relative_to(folder.root)})"
    _say(f"{record.summary} {facts}", "challenged:", "bold red" if record.open else "green", indent=2)
    if not options.strengthen and any(answer.ending.value == "told-apart" for answer in record.open):
        answers = ["--answers", str(options.answers)] if options.answers is not None else []
        ui.then("challenge", *named, *answers, *options.where.options, "--strengthen", stderr=False)
    elif run.strengthened:
        ui.then("evaluate", *named, *options.where.options, stderr=False)
    elif not record.open:
        show_next(folder, stderr=False)
    else:
        for kind, advice in ADVICE.items():
            of_kind = (answer for answer in record.open if answer.kind.value == kind)
            names = [answer.name for answer in of_kind if not answer.lacks_api]
            if names:
                words = ["lmr-author", "challenge", *named, "--accept", names[0], "--reason", "TEXT"]
                ui.hint(f"{advice}: {shlex.join(words)}", indent=2, stderr=False)
