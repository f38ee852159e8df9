"""``lmr-author record``."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from lmr_author.cli import ui
from lmr_author.cli.options import (
    ForceOption,
    TaskOption,
    complete_masked,
    current_task,
    finite,
    task_words,
)
from lmr_author.core.errors import UsageError
from lmr_author.core.texts import counted, listed, shortened, size_text

if TYPE_CHECKING:
    from lmr_author.authoring.recording.record import RecordResult
    from lmr_author.core.errors import Hint
    from lmr_author.core.task import Task
    from lmr_author.core.task.recording import Case
    from lmr_author.runtime.environment.where import Where

MOST = 3
"""Notes of one kind that are shown."""
MOST_CASES = 12
"""Cases that are listed; the test page has all of them."""
WIDE = 200
"""Columns of a case's line without a terminal."""
SURVIVORS = 5
"""Surviving mutants that are shown."""
_CONTAINER = re.compile(r"(?!(?:True|False|None)$)[A-Za-z]\w*(?: of \d+)?$")
"""The description of an object or a container: its parts say more."""


class Compared(StrEnum):
    gradients = "gradients"
    arguments = "arguments"


def record(
    context: typer.Context,
    target: Annotated[
        str | None,
        Argument(autocompletion=complete_masked, help="The masked function, if there are several."),
    ] = None,
    from_tests: Annotated[
        bool, Option("--from-tests", help="Run the repository's tests; what follows -- goes to pytest.")
    ] = False,
    from_example: Annotated[list[str] | None, Option(help="A call to record, as f(torch.randn(4)).")] = None,
    draft_driver: Annotated[Path | None, Option(help="Only write a script with calls, to be edited.")] = None,
    check: Annotated[
        list[str] | None,
        Option(
            metavar="PATH=KIND",
            help="How a part is compared, as value[0]=set: exact, set, allclose:RTOL,ATOL or ignore.",
        ),
    ] = None,
    compare: Annotated[
        list[Compared] | None,
        Option(help="Also compare gradients, or arguments that the call changes."),
    ] = None,
    cuda_as_cpu: Annotated[
        bool, Option("--cuda-as-cpu", help="Run code for a GPU on the CPU, in the test, too.")
    ] = False,
    cases: Annotated[
        int | None,
        Option(
            min=1,
            max=50,
            help="Cases to keep, and more if each adds something; by default a few dozen if small and fast.",
        ),
    ] = None,
    *,
    where: Where,
    timeout: Annotated[
        float, Option(min=1, callback=finite, help="Time limit of the command, in seconds.")
    ] = 600.0,
    force: ForceOption = False,
    task: TaskOption = None,
) -> int:
    """Record real calls of the golden into cases and a unit test: record TARGET -- python driver.py …"""
    from lmr_author.authoring.recording.driver import RecordOptions

    command: tuple[str, ...] = tuple(context.args)
    words = context.meta["words"]
    after = words[words.index("--") + 1 :] if "--" in words else []
    if target is not None and [target, *command] == after:
        # `record -- python driver.py`: the parser cannot know that the first word is the command's.
        command, target = (target, *command), None
    compared = compare or ()
    options = RecordOptions(
        command=shlex.join(command),
        from_tests=from_tests,
        examples=tuple(from_example or ()),
        cases=cases,
        seconds=timeout,
        gradients=Compared.gradients in compared,
        in_place=True if Compared.arguments in compared else None,
        checks=tuple(check or ()),
        cuda_as_cpu=cuda_as_cpu,
    )
    folder, asking = current_task(task), ui.can_ask()
    if draft_driver is not None and options.drives:
        raise UsageError("--draft-driver records nothing", "draft first, then record: -- python FILE")
    if draft_driver is None and asking:
        from lmr_author.cli.record_dialogue import ask_driver, ask_target

        given = ui.ask(
            what=lambda _: ask_target(folder, target, force=force),
            how=lambda given: options if options.drives else ask_driver(folder, given["what"][0], options),
        )
        target, force = given["what"]
        if isinstance(given["how"], Path):
            draft_driver = given["how"]
        else:
            options = given["how"]
    if draft_driver is not None:
        return _draft(folder, target, draft_driver, task, force=force)

    from lmr_author.authoring.recording.record import record as record_calls

    with ui.progress("recording") as progress:
        result = record_calls(
            folder, target, options, Path.cwd(), progress, tell=_tell, where=where, force=force
        )
    show(result, where, task)
    return 0


def _tell(note: Hint) -> None:
    ui.say(str(note))


def _draft(folder: Task, target: str | None, path: Path, task: Path | None, *, force: bool) -> int:
    from lmr_author.authoring.recording.draft_driver import draft
    from lmr_author.core import files

    if path.exists() and not force:
        raise UsageError(f"--draft-driver {path}: the file exists", "name another, or add --force")
    named = task_words(task)
    drafted = draft(folder, target, Path.cwd(), path, named)
    files.write_text(path, drafted.text)
    ui.say(f"{path}, {counted(drafted.calls, 'call')} of {drafted.target}", "drafted", "green")
    for name in drafted.unknown[:MOST]:
        ui.note(f"TODO {name}: nothing in the repository shows its value", indent=2)
    ui.then("record", drafted.target, *named, "--", "python", str(path))
    return 0


def show(result: RecordResult, where: Where, task: Path | None) -> None:
    """Print what was recorded, what it covers, and the next command, which runs where the recording ran."""
    from lmr_author.authoring.recording.record import notes

    recording = result.recording
    generated = sum(bool(case.made_of) for case in recording.cases)
    calls = f"{len(recording.cases) - generated} of {recording.calls} calls"
    ui.say(f"{calls} of {result.implementation.target}{_made(generated)}", "recorded", "green")
    screen = ui.console()
    room = screen.width - 2 if screen.is_terminal else WIDE
    for line in case_lines(recording.cases):
        ui.say(shortened(line, room), indent=2)
    for note in notes(result):
        ui.note(str(note), indent=2)
    _show_mutants(result)
    for name in result.removed:
        ui.say(f"kept the old {name} in authoring/removed/", indent=2)
    ui.say(f"test {result.implementation.unit_test_file}", indent=2)
    named = [str(task)] if task else []
    evaluate = shlex.join(["lmr-author", "evaluate", *where.options, *named])
    ui.say(f"next: {shlex.join(['lmr-author', 'validate', *named])} && {evaluate}", whole=True)


def _made(generated: int) -> str:
    return f", and {counted(generated, 'generated call')}" if generated else ""


def case_lines(cases: Sequence[Case]) -> Iterator[str]:
    """Yield what all cases have in common, and for each its call, its size and what it adds to the others."""
    from lmr_author.authoring.recording.selection import in_words

    if len(cases) > 1:
        common = set.intersection(*(set(case.summary.items()) for case in cases))
        shared = []
        for path, text in cases[0].summary.items():
            if (path, text) in common and not _CONTAINER.match(text):
                shared.append(in_words(path, text))
        if shared:
            yield f"all     {listed(shared, 6)}"
    for case in cases[:MOST_CASES]:
        adds = ui.framed(": ", case.adds)
        yield f"{case.name}  {case.origin}, {size_text(case.bytes)}{adds}"
    if len(cases) > MOST_CASES:
        more, size = len(cases) - MOST_CASES, sum(case.bytes for case in cases)
        yield f"and {more} more that differ from these; {len(cases)} cases, {size_text(size)} in all"


def _show_mutants(result: RecordResult) -> None:
    from lmr_author.authoring.recording.record import EffectKind
    from lmr_author.core.task.mutation import NEEDED_PERCENT, Judgement
    from lmr_author.core.texts import whole_percent

    selected, score = result.selected, result.mutants
    if score.share is None:
        if selected.made:
            ui.note("the golden is too slow to try mutants here: `lmr-author evaluate` tries them", indent=2)
        return
    ui.say(f"{score.text} ({whole_percent(score.share)})", indent=2)
    if score.untried:
        ui.note(
            f"only {score.made} of {selected.made} mutants were tried, as the golden is slow: call it with smaller "
            "inputs and record again; `lmr-author evaluate` takes a sample of its own",
            indent=2,
        )
    survivors = [mutant for mutant in selected.survivors if mutant.id not in result.accepted]
    if survivors:
        ui.say("`lmr-author evaluate` shows which of these some input can tell from the original", indent=4)
    for mutant in survivors[:SURVIVORS]:
        ui.say(f"survives, line {mutant.line}:", indent=4)
        ui.diff(mutant.diff.splitlines(), indent=6)
    if len(survivors) > SURVIVORS:
        ui.say(f"and {len(survivors) - SURVIVORS} more", indent=4)
    if score.judgement is Judgement.OPEN:
        advice = (
            "record other inputs, with --force; `lmr-author accept` is only for a survivor that does the same as the "
            "original on every input"
        )
        if any(effect.kind in (EffectKind.ARGUMENTS, EffectKind.GRADS) for effect in result.uncompared):
            advice = f"record again with --compare arguments --force, which compares what the call changes, or {advice}"
        ui.note(f"`evaluate` requires {NEEDED_PERCENT} %: {advice}", indent=2)
