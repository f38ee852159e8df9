"""How the result of record looks."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from lmr_author.cli.render import console
from lmr_author.cli.render_text import escape
from lmr_author.texts import counted, listed, shortened

if TYPE_CHECKING:
    from rich.console import Console

    from lmr_author.recording.prove import Proof
    from lmr_author.recording.record import RecordResult
    from lmr_author.recording.tolerance import Widened
    from lmr_author.task.recording import Case

MOST = 3
"""Notes of one kind that are shown."""


def record_result(result: RecordResult, place: Sequence[str] = (), where: Sequence[str] = ()) -> None:
    """Print what was recorded, what it covers, and the next command.

    Args:
        place: the task, where it is not the current folder's.
        where: options that say where the code ran.
    """
    screen = console()
    recording, proof = result.recording, result.proof
    made = sum(case.made for case in recording.cases)
    screen.print(
        f"[green]recorded[/] {len(recording.cases) - made} of {recording.calls} calls of "
        f"{escape(str(result.implementation.target))}{f', and {made} with made inputs' if made else ''}"
    )
    for case in recording.cases:
        _case(case, screen)
    for text in not_stored(recording.cases):
        _note(screen, text)
    for text in lost_calls(result):
        _note(screen, text)
    _uncovered(result, screen)
    tolerances(item for proven in proof.chosen for item in proven.wide)
    if all(case.outcome == "raised" for case in recording.cases):
        _note(
            screen,
            "the golden raises in every case, which says little: give it what it takes (a file of json has no tensors)",
        )
    _killed(proof, screen, recording.varied)
    if result.exit_code != 0:
        said = f": {result.error}" if result.error else ""
        _note(screen, f"the command itself ended with exit code {result.exit_code}{said}")
    for name in result.kept:
        screen.print(f"  kept the old {escape(name)} in authoring/removed/")
    screen.print(f"  test {result.implementation.unit_test_file}", markup=False)
    validate = shlex.join(["lmr-author", "validate", *place])
    evaluate = shlex.join(["lmr-author", "evaluate", *place, *where])
    screen.print(f"next: {validate} && {evaluate}", markup=False, soft_wrap=True)


def where_it_runs(line: str) -> None:
    """Which Python runs the command, before it runs, and what was found out on the way."""
    console().print(line, markup=False, soft_wrap=True)


def lost_calls(result: RecordResult) -> list[str]:
    """Return a line for each reason for which calls did not become cases."""
    from lmr_author.recording.calls import too_large_advice

    reasons: dict[str, list[int]] = {}
    for rejected in result.proof.rejected:
        reasons.setdefault(rejected.reason, []).append(rejected.call.number)
    found = [
        f"{'calls' if len(numbers) > 1 else 'call'} {listed([str(item) for item in numbers], MOST)} "
        f"{'were' if len(numbers) > 1 else 'was'} rejected: {shortened(reason, 200)}"
        for reason, numbers in reasons.items()
    ]
    kinds = {"too_large": "too large to store", "misfit": "against the signature"}
    for item in result.not_stored:
        why = kinds.get(item.kind, "impossible to store")
        advice = f": {too_large_advice(item.reason)}" if item.kind == "too_large" else ""
        found.append(f"lost: {counted(item.count, 'call')}, {why} ({shortened(item.reason, 200)}){advice}")
    shown = found[:MOST]
    if len(found) > MOST:
        shown.append(f"and calls were lost for {counted(len(found) - MOST, 'more reason')}")
    if result.cut_off:
        shown.append("the command was stopped at its time limit (--timeout): later calls are missing")
    return shown


def _uncovered(result: RecordResult, screen: Console) -> None:
    file = result.recording.target.goal_file
    if result.not_kept:
        _note(
            screen,
            f"executed only by calls that are not among the cases: {lines(result.not_kept)} of {file}; make these "
            "calls storable and reproducible, or raise --cases",
        )
    if result.missed:
        before = " before the command was stopped" if result.cut_off else ""
        _note(
            screen,
            f"never executed{before}: {lines(result.missed)} of {file}; drive it with inputs that reach them",
        )
    if result.never_false:
        never = ", ".join(map(str, result.never_false))
        _note(
            screen,
            f"never false: the condition on line {never}; drive it with inputs for which it does not hold",
        )


def lines(blocks: Sequence[tuple[int, int]]) -> str:
    """As in ``line 7`` or ``lines 7, 12-15``."""
    shown = [str(first) if first == last else f"{first}-{last}" for first, last in blocks]
    return f"line{'s' if len(shown) > 1 or '-' in shown[0] else ''} {', '.join(shown)}"


def _case(case: Case, screen: Console) -> None:
    from lmr_author.recording.calls import megabytes

    values = ", ".join(f"{name}: {text}" for name, text in case.summary.items())
    origin = "inputs made" if case.made else f"call {case.call}"
    screen.print(f"  {case.name}  {origin}, {megabytes(case.bytes)}, {shortened(values, 110)}", markup=False)


def not_stored(cases: Sequence[Case]) -> list[str]:
    """What was left out of objects, each part once, and the functions that would build it; a line each."""
    from lmr_author.probe.outcome import as_written
    from lmr_author.recording.checkers import fixture_name

    found: dict[str, list[str]] = {}
    for case in cases:
        for item in case.omitted:
            found.setdefault(f"{as_written(str(item.get('path')))} ({item.get('type')})", []).append(
                case.name
            )
    lines = []
    for text, names in list(found.items())[:MOST]:
        where = "" if len(names) == len(cases) else f" in {', '.join(names)}"
        lines.append(f"not stored{where}: {text}")
    if len(found) > MOST:
        lines.append(f"and {len(found) - MOST} more parts; recording.json names them")
    functions = list(dict.fromkeys(f"def {name}(): …" for name in map(fixture_name, found) if name))
    if functions:
        lines.append(
            f"where that matters, have it built: {', '.join(functions[:MOST])} in unit_test/fixtures.py"
        )
    return lines


def tolerances(wide: Iterable[Widened]) -> None:
    """Parts that are compared more loosely than their element type calls for."""
    screen = console()
    shown = {item.path: item for item in wide}
    for item in list(shown.values())[:MOST]:
        _note(
            screen,
            f"{item.path} ({item.dtype}) is compared with rtol {item.rtol:.2g}, atol {item.atol:.2g}: {item.reason}",
        )
    if len(shown) > MOST:
        _note(screen, f"and {len(shown) - MOST} more parts; CHECKERS in the unit test has all")


def agree_to_tolerances(wide: Sequence[Widened]) -> bool:
    """Ask whether tolerances that had to be widened are right."""
    from lmr_author.cli import ask

    tolerances(wide)
    return ask.confirm("Are these tolerances right?")


def cut_short() -> None:
    """There are calls that were complete when the command was interrupted."""
    screen = console()
    screen.print()
    _note(screen, "the calls so far are kept: the same command with --resume goes on with them")


def _killed(proof: Proof, screen: Console, varied: bool) -> None:
    """Print how many mutants of the golden the cases kill."""
    tried, survivors = proof.killed.tried, proof.killed.survivors
    if not tried:
        return
    from lmr_author.evaluation.wrong_versions import NEEDED, whole_percent

    share = 1 - len(survivors) / len(tried)
    more = "shows the survivors" if proof.killed.complete else "tries more: the golden is slow"
    screen.print(
        f"  {len(tried) - len(survivors)} of {len(tried)} mutants fail ({whole_percent(share)}; "
        f"`lmr-author evaluate` {more})"
    )
    if share < NEEDED:
        advice = (
            "accept those that are equivalent (evaluate --accept-mutant)"
            if varied
            else "record again with --vary --force"
        )
        _note(screen, f"`evaluate` asks for {NEEDED:.0%}: {advice}, or drive it with other inputs")


def _note(screen: Console, text: str) -> None:
    screen.print(f"[yellow]  note:[/] {escape(text)}")
