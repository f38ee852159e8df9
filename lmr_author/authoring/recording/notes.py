"""Notes on a recording: calls and parts that were left out, and what the cases do not show."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from lmr_author.authoring.recording.checkers import fixture_drafts
from lmr_author.authoring.recording.failed import last_error
from lmr_author.authoring.recording.record import RecordResult
from lmr_author.authoring.recording.run import RecordedCall
from lmr_author.authoring.recording.tolerance import WIDENED
from lmr_author.core.errors import Hint, Setting
from lmr_author.core.task.recording import Case
from lmr_author.core.texts import counted, listed, shortened
from lmr_author.runtime.probe.outcome import as_written

MOST = 3
"""Notes of one kind."""


def notes(result: RecordResult) -> Iterator[Hint]:
    yield from map(Hint, not_stored(result.recording.cases))
    yield from lost_calls(result)
    yield from remarks(result)


def remarks(result: RecordResult) -> Iterator[Hint]:
    recording, selected, run = result.recording, result.selected, result.recorded.result
    goal = recording.target.goal_file
    for effect in result.uncompared:
        yield Hint(f"not compared: {effect.text}; {effect.advice.text}", effect.advice.settings)
    yield from map(Hint, selected.fragile[:MOST])
    if result.not_kept:
        yield Hint(
            f"executed only by calls that are not among the cases: {lines(result.not_kept)} of {goal}; "
            "make these calls storable and reproducible, or raise {0}",
            (Setting("--cases"),),
        )
    if result.missed:
        before = " before the command was stopped" if run.timed_out else ""
        yield Hint(f"never executed{before}: {lines(result.missed)} of {goal}; use inputs that reach them")
    if never := ", ".join(map(str, result.never_false)):
        yield Hint(f"never false: the condition on line {never}; use inputs for which it is false")
    yield from map(Hint, _tolerances(selected.calls))
    yield from (Hint(f"{part.in_words}; reviewers are asked why") for part in result.weak)
    if all(case.outcome == "raised" for case in recording.cases):
        yield Hint(
            "the golden raises in every case, which proves little: call it with valid arguments"
            " (a JSON file has no tensors)"
        )
    if run.exit_code != 0:
        reason = f": {last_error(run)}" if run.stdout or run.stderr else ""
        yield Hint(f"the command itself ended with exit code {run.exit_code}{reason}")


def lost_calls(result: RecordResult) -> Iterator[Hint]:
    reasons: dict[str, list[int]] = {}
    for rejected in result.selected.rejected:
        reasons.setdefault(rejected.reason, []).append(rejected.call.number)
    for reason, numbers in reasons.items():
        calls, were = ("calls", "were") if len(numbers) > 1 else ("call", "was")
        yield Hint(
            f"{calls} {listed(list(map(str, numbers)), MOST)} {were} rejected: {shortened(reason, 200)}"
        )
    kinds = {"too_large": "too large to store", "misfit": "against the signature"}
    for lost in result.recorded.summary.not_stored:
        why = kinds.get(lost.kind, "impossible to store")
        advice = f": {lost.advice}" if lost.advice else ""
        yield Hint(f"lost: {counted(lost.count, 'call')}, {why} ({shortened(lost.reason, 200)}){advice}")
    if result.recorded.result.timed_out:
        text = "the command was stopped at its time limit ({0}): later calls are missing"
        yield Hint(text, (Setting("--timeout"),))


def lines(blocks: Sequence[tuple[int, int]]) -> str:
    """Return ranges of lines as text: ``line 7`` or ``lines 7, 12-15``."""
    shown = [str(first) if first == last else f"{first}-{last}" for first, last in blocks]
    return f"line{'s' if len(shown) > 1 or '-' in shown[0] else ''} {', '.join(shown)}"


def not_stored(cases: Sequence[Case]) -> list[str]:
    """Return a line for each part of an object that was left out, and one about the fixtures that would build it."""
    parts: dict[tuple[str, str], list[str]] = {}
    for case in cases:
        for omitted in case.omitted:
            part = as_written(str(omitted.get("path"))), str(omitted.get("type"))
            parts.setdefault(part, []).append(case.name)
    notes = []
    for (path, kind), names in list(parts.items())[:MOST]:
        where = "" if len(names) == len(cases) else f" in {', '.join(names)}"
        notes.append(f"not stored{where}: {path} ({kind})")
    if len(parts) > MOST:
        notes.append(f"and {len(parts) - MOST} more parts; recording.json lists them")
    if drafts := fixture_drafts(path for path, _ in parts):
        notes.append(
            "if the function needs it, define a fixture that builds it in unit_test/fixtures.py in the repository: "
            + ", ".join(f"`{draft}`" for draft in drafts[:MOST])
        )
    return notes


def _tolerances(calls: Iterable[RecordedCall]) -> Iterator[str]:
    checkers = [pair for call in calls for pair in call.checkers.items()]
    wide = {path: checker for path, checker in checkers if checker.get("reason") in WIDENED}
    for path, checker in list(wide.items())[:MOST]:
        tolerance = f"rtol {checker['rtol']:.2g}, atol {checker['atol']:.2g}"
        yield f"{path} is compared with {tolerance}: {checker['reason']}"
    if len(wide) > MOST:
        yield f"and {len(wide) - MOST} more parts; CASES in the unit test lists all"
