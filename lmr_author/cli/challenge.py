"""``lmr-author challenge``: misreadings must fail, rewrites must pass."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from lmr_author.cli import ui
from lmr_author.cli.options import (
    BaseImageOption,
    Format,
    FormatOption,
    GpusOption,
    ImplementationOption,
    PythonOption,
    ReasonOption,
    SandboxKind,
    SandboxOption,
    where_of,
)
from lmr_author.core.errors import EXIT_CLEAN, EXIT_FINDINGS, UsageError
from lmr_author.core.texts import counted, listed, shortened

if TYPE_CHECKING:
    from lmr_author.core.task import Task
    from lmr_author.core.task.challenge import (
        CallDifference,
        ChallengedTarget,
        Challenger,
        Missing,
    )
    from lmr_author.release.challenge.challenge import ChallengeOptions, ChallengeRun
    from lmr_author.release.challenge.variants import Variant

ADVICE = {
    "misreading": "record again with a driver that tells it apart; or, where it is no mistake",
    "rewrite": "record again without inputs at which both are right, as ties are; or, where it is no rewrite",
}
"""Kind of an answer that leaves something to do → what a person can do, before the command that accepts it."""
DETAILS = 6
"""Column of what belongs to an answer."""
NUMBERS = 8
"""Calls, lines or names that are shown."""

_say = partial(ui.say, stderr=False)


def challenge(
    task: Annotated[
        Path | None, Argument(metavar="TASK", help="The task, by default the current one.")
    ] = None,
    answers: Annotated[
        Path | None, Option(help="Misreadings and rewrites; by default those of the last run.")
    ] = None,
    model: Annotated[
        str | None,
        Option(metavar="PROVIDER/MODEL", help="Ask a model for them, by Inspect AI; it is asked once."),
    ] = None,
    strengthen: Annotated[
        bool, Option("--strengthen", help="Make recorded calls cases that tell misreadings apart.")
    ] = False,
    accept: Annotated[
        str | None, Option(metavar="NAME", help="Accept a misreading as equivalent, a rewrite as none.")
    ] = None,
    reason: ReasonOption = "",
    implementation: ImplementationOption = None,
    driver: Annotated[
        Path | None, Option(metavar="FOLDER", help="Where the script lies that made the recording.")
    ] = None,
    sandbox: SandboxOption = SandboxKind.local,
    python: PythonOption = None,
    base_image: BaseImageOption = None,
    gpus: GpusOption = "",
    timeout: Annotated[float, Option(min=1, help="Time limit of one call, in seconds.")] = 60.0,
    memory: Annotated[int, Option(min=64, help="Memory limit of an answer, in MB.")] = 8192,
    output: FormatOption = Format.text,
) -> int:
    """Challenge the unit tests: plausible misreadings must fail, rewrites that keep the behaviour must pass."""
    from lmr_author.core.task import Task
    from lmr_author.release.challenge.challenge import ChallengeOptions

    folder = Task.find(task or Path.cwd())
    if accept is not None:
        return _accept(folder, accept, reason, implementation, answers or model, output)
    if driver is not None and not driver.is_dir():
        raise UsageError(f"--driver {driver}: there is no such folder", "name the folder of the script")
    asked = _asked(folder, model, implementation) if model else ()
    if asked is None:
        return EXIT_CLEAN
    options = ChallengeOptions(
        answers=answers,
        asked=asked,
        implementation=implementation,
        where=where_of(sandbox, python, base_image, gpus),
        driver=driver,
        strengthen=strengthen,
        seconds=timeout,
        memory_mb=memory,
    )
    return _challenge(folder, options, [str(task)] if task else [], output)


def _asked(folder: Task, model: str, implementation: int | None) -> tuple[Variant, ...] | None:
    """Ask a model for misreadings and rewrites, after saying what that takes; None where nobody wants it.

    What was answered before is not asked again.
    """
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


def _accept(
    folder: Task, name: str, reason: str, implementation: int | None, given: Path | str | None, output: Format
) -> int:
    from lmr_author.release.challenge.challenge import accept

    if given is not None:
        raise UsageError(
            "--accept and --answers or --model are two steps", "challenge first, then accept what is open"
        )
    answer = accept(folder, name, reason, implementation)
    if output is Format.json:
        ui.print_json(answer.to_json())
    else:
        _say(f"{answer.kind} {name} {answer.in_words}", "accepted", "green")
        ui.then("next", "--task", folder.root, stderr=False)
    return EXIT_CLEAN


def _challenge(folder: Task, options: ChallengeOptions, named: list[str], output: Format) -> int:
    from lmr_author.core.task.challenge import Ending
    from lmr_author.release.challenge.challenge import challenge as run_challenge

    table = Table(folder)
    on_answer = table.show if output is Format.text else lambda _: None
    with ui.progress(f"challenging {folder.name}") as progress:
        run = run_challenge(folder, options, Path.cwd(), progress, on_answer)
    record = run.record
    if output is Format.json:
        ui.print_json(
            {"task": folder.name, **record.to_json(), "resumed": run.resumed, "open": len(record.open)}
        )
    else:
        _end(folder, run, options, named)
    invalid = any(one.ending is Ending.INVALID for one in record.answers)
    return EXIT_FINDINGS if record.open or invalid else EXIT_CLEAN


class Table:
    """The answers to a task on stdout: each as soon as its ending is known."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._index = 0

    def show(self, answer: Challenger) -> None:
        """Print an answer: a line, and what is left to do about it."""
        if answer.index != self._index:
            self._index = answer.index
            target = self._task.load().implementation(answer.index).target
            _say(f"{self._task.name}  {target}", tone="bold")
        mark, style = ("ok  ", "green") if answer.settled else ("open", "bold red")
        if answer.ending.value == "invalid":
            mark, style = "?   ", "yellow"
        where = f" on {answer.difference.case}" if answer.difference and answer.difference.case else ""
        text = f"{answer.kind:<10}  {answer.name}: {answer.in_words}{where}"
        if answer.settled:
            screen = ui.console(stderr=False)
            text = shortened(text, screen.width - 8) if screen.is_terminal else text
        _say(text, mark, style, indent=2, hang=DETAILS)
        if not answer.settled:
            for line in details(answer):
                _say(line, indent=DETAILS, hang=DETAILS + 2)
            if answer.missing and answer.missing.diff:
                ui.diff(answer.missing.diff.splitlines(), indent=DETAILS + 2, stderr=False)


def details(answer: Challenger) -> list[str]:
    """Return what is known about an answer that leaves something to do, in lines."""
    lines = [answer.about] if answer.about else []
    if answer.reason:
        lines.append(answer.reason)
    if answer.difference is not None:
        lines.append(difference_in_words(answer.difference))
    if answer.kind.value == "rewrite" and len(answer.tells) > 1:
        lines.append(f"it fails on {len(answer.tells)} cases")
    if answer.ending.value == "told-apart":
        calls = listed(list(map(str, answer.tells)), NUMBERS)
        lines.append(
            f"{'calls that tell' if len(answer.tells) > 1 else 'the call that tells'} it apart: {calls}"
        )
    if answer.missing is not None and answer.suggestion is None:
        lines += missing_in_words(answer.missing)
    if answer.suggestion is not None:
        rewrite, found = answer.kind.value == "rewrite", answer.suggestion
        others = "misreadings still fail" if rewrite else "rewrites still pass"
        lines.append(
            f"{'passes' if rewrite else 'fails'} when recorded with `{shlex.join(found.options)}`: "
            f"{found.still} of {found.others} {others}"
        )
    elif answer.kind.value == "rewrite" and answer.ending.value == "fails":
        lines.append("no option of `record` was found with which it passes and every misreading still fails")
    return lines


def difference_in_words(found: CallDifference) -> str:
    """Return where an outcome differs, and by how much."""
    place = found.case or f"call {found.call}"
    return f"{place}: {shortened(found.message, 300)}"


def missing_in_words(missing: Missing) -> list[str]:
    """Return what a driver would have to do."""
    lines = []
    if missing.unreached:
        numbers = listed(list(map(str, missing.unreached)), NUMBERS)
        lines.append(f"no recorded call reaches line {numbers} of the golden: have the driver reach it")
    elif missing.lines:
        numbers = listed(list(map(str, missing.lines)), NUMBERS)
        lines.append(f"it differs on line {numbers} of the golden, which recorded calls reach")
    if missing.constant:
        alike = [f"{name} ({text})" for name, text in missing.constant.items()]
        lines.append(f"alike in every recorded call: {listed(alike, NUMBERS)}; have the driver vary it")
    for kind, names in missing.not_compared.items():
        lines.append(_not_compared(kind, names))
    if missing.not_given:
        lines.append(f"given by no recorded call: {listed(list(missing.not_given), NUMBERS)}")
    return lines


def _not_compared(kind: str, names: tuple[str, ...]) -> str:
    from lmr_author.authoring.recording.remarks import Kind, Uncompared

    if kind == "gradients":
        return f"not compared: gradients with respect to {listed(list(names), 3)}; --gradients compares them"
    effect = Uncompared(Kind(kind), names)
    return f"not compared: {effect.text}; {effect.advice}"


def _end(folder: Task, run: ChallengeRun, options: ChallengeOptions, named: list[str]) -> None:
    """Print what became of the tests, the result, and the next command."""
    record = run.record
    for target in record.targets:
        _show_target(target, options, target.index in run.strengthened)
    resumed = f", {run.resumed} by an earlier run" if run.resumed else ""
    facts = f"({counted(len(record.answers), 'answer')}{resumed}; {folder.challenge_path.relative_to(folder.root)})"
    _say(f"{record.summary} {facts}", "challenged:", "bold red" if record.open else "green", indent=2)
    place = options.where.options
    driver = ["--driver", str(options.driver)] if options.driver else []
    by_ending = {one.ending.value: one.name for one in reversed(record.open)}
    if "told-apart" in by_ending and not options.strengthen:
        answers = [] if driver or options.answers is None else ["--answers", str(options.answers)]
        ui.then("challenge", *named, *answers, *driver, *place, "--strengthen", stderr=False)
    elif run.strengthened:
        ui.then("evaluate", *named, *place, stderr=False)
    elif record.open:
        _hint(folder, record.open, named)
    else:
        ui.then("next", *(word for name in named for word in ("--task", name)), stderr=False)


def _hint(folder: Task, answers: Sequence[Challenger], named: list[str]) -> None:
    """Say what a person can do about answers that leave something to do."""
    from lmr_author.core.task.recording import load
    from lmr_author.release.challenge.again import options_of, typed

    suggested = next((one for one in answers if one.suggestion), None)
    for kind, advice in ADVICE.items():
        plain = next((one for one in answers if one.kind.value == kind and not one.suggestion), None)
        if plain is not None:
            words = ["lmr-author", "challenge", *named, "--accept", plain.name, "--reason", "TEXT"]
            ui.hint(f"{advice}: {shlex.join(words)}", indent=2, stderr=False)
    if suggested is None or suggested.suggestion is None:
        return
    info = folder.load()
    recording = load(folder.recording(info, suggested.index))
    if recording is not None:
        options = options_of(info.implementation(suggested.index), recording)
        again = typed(options, suggested.suggestion.options)
        place = again.index("--") if "--" in again else len(again)
        again[place:place] = [word for name in named for word in ("--task", name)]
        ui.then("record", *again, stderr=False)


def _show_target(target: ChallengedTarget, options: ChallengeOptions, strengthened: bool) -> None:
    """Print what ``--strengthen`` did about a target."""
    if strengthened:
        for case in target.added:
            verb = "fails" if len(case.tells) == 1 else "fail"
            text = f"{case.case}, call {case.call} of {target.target}: {listed(list(case.tells), 4)} {verb} there"
            _say(text, "new case", "green", indent=2)
    if options.strengthen:
        for call in target.left_out[:NUMBERS]:
            why = {
                "golden": "the golden does not reproduce it",
                "rewrite": f"the rewrite {call.answer} would fail",
                "room": "it has no room",
            }[call.why]
            _say(
                f"call {call.call}, as {why}: {shortened(call.message, 160)}", "no case:", "yellow", indent=2
            )
