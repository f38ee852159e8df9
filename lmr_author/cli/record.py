"""``lmr-author record``."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from lmr_author.cli import ui
from lmr_author.cli.options import ForceOption, TaskOption, complete_masked, current_task, finite, task_words
from lmr_author.core.errors import LmrError, UsageError
from lmr_author.core.texts import counted, listed, shortened, size_text

if TYPE_CHECKING:
    from lmr_author.authoring.recording.driver import RecordOptions
    from lmr_author.authoring.recording.record import RecordResult
    from lmr_author.core.errors import Hint
    from lmr_author.core.task import Implementation, Task, TaskInfo
    from lmr_author.core.task.recording import Case
    from lmr_author.runtime.environment.where import Where

MOST = 3
MOST_CASES = 12
"""Cases that are listed; the test page has all of them."""
WIDE = 200
SURVIVORS = 5
_CONTAINER = re.compile(r"(?!(?:True|False|None)$)[A-Za-z]\w*(?: of \d+)?$")
"""The description of an object or a container: its parts say more."""

COMMAND, LAST, TESTS, EXAMPLE, DRAFT = "command", "last", "tests", "example", "draft"


class Effect(StrEnum):
    gradients = "gradients"
    arguments = "arguments"


def record(
    context: typer.Context,
    target: Annotated[
        str | None, Argument(autocompletion=complete_masked, help="The masked function, if several.")
    ] = None,
    from_tests: Annotated[
        bool, Option("--from-tests", help="Run the repository's tests; pytest gets what follows --.")
    ] = False,
    from_example: Annotated[list[str] | None, Option(help="A call to record, as f(torch.randn(4)).")] = None,
    draft_driver: Annotated[Path | None, Option(help="Only write a script of calls to edit.")] = None,
    check: Annotated[
        list[str] | None,
        Option(metavar="PATH=KIND", help="Compare a part as exact, set, allclose:RTOL,ATOL or ignore."),
    ] = None,
    compare: Annotated[
        list[Effect] | None, Option(help="Compare gradients too, or changed arguments.")
    ] = None,
    cuda_as_cpu: Annotated[
        bool, Option("--cuda-as-cpu", help="Run GPU code on the CPU, also in the test.")
    ] = False,
    cases: Annotated[
        int | None,
        Option(min=1, max=50, help="Cases to keep; more if each adds something. By default a few dozen."),
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
        gradients=Effect.gradients in compared,
        in_place=True if Effect.arguments in compared else None,
        checks=tuple(check or ()),
        cuda_as_cpu=cuda_as_cpu,
    )
    folder, asking = current_task(task), ui.can_ask()
    if draft_driver is not None and options.drives:
        raise UsageError("--draft-driver records nothing", "draft first, then record: -- python FILE")
    if draft_driver is None and asking:
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
    """Yield the arguments all cases share, then each case's call, size and addition to the others."""
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
        ui.say(
            "`lmr-author evaluate` leaves out those that no generated call can tell from the original",
            indent=4,
        )
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
        ui.note(f"`evaluate` requires {NEEDED_PERCENT} %; if it does not reach them: {advice}", indent=2)


# Questions about what calls the target; nothing is offered or taken that is refused later


def ask_target(folder: Task, target: str | None, *, force: bool) -> tuple[str | None, bool]:
    """Ask which target, and whether to replace its recording. Raises UsageError for no."""
    from lmr_author.authoring.recording.job import implementation_of

    info = folder.load()
    targets = [str(implementation.target) for implementation in info.implementations]

    def confirm(given: dict[str, Any]) -> bool | None:
        implementation = implementation_of(folder, info, target or given["target"], Path.cwd())
        if force or not folder.unit_test(info, implementation).exists():
            return None
        question = f"{implementation.target} already has a test. Replace it (the old one is kept)?"
        if not ui.confirm(question, default=False):
            raise UsageError("nothing was recorded", "the earlier test is unchanged")
        return True

    is_open = target is None and len(targets) > 1
    answers = ui.ask(
        target=lambda _: ui.choice("Which function?", targets) if is_open else None, replaces=confirm
    )
    return target or answers["target"], force or bool(answers["replaces"])


def ask_driver(folder: Task, target: str | None, options: RecordOptions) -> RecordOptions | Path:
    """Ask what calls the target; return the options with it, or the file of a driver to draft."""
    from lmr_author.authoring.recording.driver import require_python
    from lmr_author.authoring.recording.job import implementation_of

    info = folder.load()
    implementation = implementation_of(folder, info, target, Path.cwd())
    repository = folder.repository(info)
    last = _last_command(folder, info, implementation)
    choices = {}
    if last:
        choices[LAST] = f"The last command: {shlex.join(last)}"
    choices[COMMAND] = "A command, as python train.py --steps 2"
    if tests := _tests(implementation, repository):
        choices[TESTS] = f"The repository's tests: {tests}"
    owner, dot, method = implementation.qualname.rpartition(".")
    typed = f"{owner}(8){dot}{method}(2.0)" if dot else f"{method}(2.0, scale=0.5)"
    choices[EXAMPLE] = f"A call that I type, as {typed}"
    choices[DRAFT] = "Draft a script of calls for me to edit"

    def describe(given: dict[str, Any]) -> RecordOptions | Path:
        if given["driver"] == DRAFT:
            exists = lambda name: "it exists" if Path(name).exists() else ""  # noqa: E731
            return Path(ui.path("Script to write:", "driver.py", exists))
        if given["driver"] == TESTS:
            return replace(options, from_tests=True)
        if given["driver"] == EXAMPLE:
            check = lambda text: ui.problem(lambda: require_python(text))  # noqa: E731
            text = ui.needed("Call:", f"{owner or method}(", check)
            return replace(options, examples=(text,))
        command = _command(repository) if given["driver"] == COMMAND else shlex.join(last)
        return replace(options, command=command)

    question = f"What calls {implementation.qualname}?"
    answer: RecordOptions | Path = ui.ask(driver=lambda _: ui.choice(question, choices), answer=describe)[
        "answer"
    ]
    return answer


def _tests(implementation: Implementation, repository: Path) -> str:
    from lmr_author.authoring.recording.driver import from_tests

    try:
        words = from_tests(implementation, repository, ()).arguments
    except LmrError:
        return ""
    tests = [word for word in words if word.endswith(".py")]
    return f"{tests[0]} and {len(tests) - 1} more" if len(tests) > 1 else tests[0]


def _command(repository: Path) -> str:
    def problem(answer: str) -> str:
        try:
            words = tuple(shlex.split(answer))
        except ValueError as error:
            return str(error)
        return _refusal(words, repository)

    return ui.needed("Command that calls the function:", "python ", problem)


def _refusal(words: Sequence[str], repository: Path) -> str:
    from lmr_author.authoring.recording.driver import read_command

    return ui.problem(lambda: read_command(words, repository, Path.cwd()))


def _last_command(folder: Task, info: TaskInfo, implementation: Implementation) -> tuple[str, ...]:
    """Return the last usable command: of this function's recording, else of another's; () for none."""
    from lmr_author.core.task.recording import load

    others = [other for other in info.implementations if other.index != implementation.index]
    for recorded in (implementation, *reversed(others)):
        recording = load(folder.recording(info, recorded.index))
        if recording is not None and not _refusal(recording.command, folder.repository(info)):
            return recording.command
    return ()
