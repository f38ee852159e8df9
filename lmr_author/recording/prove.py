"""Replay recorded calls on the golden, keep those that reproduce, and derive their tolerances."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lmr_author import replaying
from lmr_author.errors import LmrError
from lmr_author.recording.checkers import with_chosen
from lmr_author.recording.choose import Call, Proven, order_of_choice
from lmr_author.recording.rivals import Noticed, Rivals, Trial
from lmr_author.recording.tolerance import derive
from lmr_author.sandbox.base import Sandbox

REPEATS = 3
"""Golden replays per call, each in a process of its own."""

SPARE = 3
"""How many more calls than wanted are replayed at once, so that rejected ones have a replacement."""

LOOKED_AT = 40
"""Calls among which those are looked for that notice wrong versions, at most."""
LOOKED_AT_BYTES = 48 * 2**20
"""Size of these together, at most."""
LOOKED_AT_SECONDS = 20.0
"""Time that these took together when they were recorded, at most."""


@dataclass(frozen=True)
class Rejected:
    """A call that does not, and why."""

    call: Call
    reason: str


@dataclass(frozen=True)
class Proof:
    """The chosen calls in order, the rejected ones, and the versions of what ran them.

    Attributes:
        noticed: which wrong versions of the golden the chosen calls tell from it.
    """

    chosen: tuple[Proven, ...]
    rejected: tuple[Rejected, ...]
    versions: dict[str, str]
    noticed: Noticed = field(default_factory=Noticed)


def prove(
    sandbox: Sandbox,
    calls: Sequence[Call],
    wanted: int,
    plan: replaying.Plan,
    tree: Path,
    inside: str,
    work: Path,
    progress: Callable[[str], None],
    rivals: Rivals | None = None,
    checks: Mapping[str, Mapping[str, Any]] | None = None,
) -> Proof:
    """Choose ``wanted`` calls that replay to the same outcome, and a few more that notice wrong versions.

    Args:
        calls: what was recorded.
        plan: target and module; its recording folder and cases are filled in here.
        tree, inside: the golden tree, without tests, and where it appears.
        work: a folder of ours.
        rivals: makes wrong versions of the goal file; None to choose by coverage alone.
        checks: path in the outcome → how it is compared, where the annotator says so.

    Raises:
        LmrError: not one call reproduces, with the reasons.
    """
    waiting = order_of_choice(calls)
    proven: list[Proven] = []
    rejected: list[Rejected] = []
    versions: dict[str, str] = {}
    plan = replace(plan, recording=_recording(work))
    while waiting and len(proven) < wanted:
        batch = _first(waiting, LOOKED_AT if rivals else wanted - len(proven) + SPARE)
        waiting = waiting[len(batch) :]
        progress(f"replaying {len(batch)} of {len(calls)} recorded calls on the golden")
        runs = _replay(sandbox, batch, plan, tree, inside)
        versions = versions or _versions(runs[0])
        for call in batch:
            judged = _judge(call, runs, checks or {})
            if isinstance(judged, Rejected):
                rejected.append(judged)
            else:
                proven.append(judged)
    if not proven:
        raise _irreproducible(plan, rejected)
    if rivals is None:
        return Proof(tuple(proven[:wanted]), tuple(rejected), versions)
    progress("trying wrong versions of the golden on the recorded calls")
    chosen, noticed = Trial(sandbox, plan, tree, inside).choose(proven, wanted, rivals)
    return Proof(tuple(chosen), tuple(rejected), versions, noticed)


def _irreproducible(plan: replaying.Plan, rejected: Sequence[Rejected]) -> LmrError:
    reasons = "; ".join(dict.fromkeys(item.reason for item in rejected))
    return LmrError(
        f"no recorded call of {plan.qualname} reproduces: {reasons[:400]}",
        "the function depends on what is no argument (a global, a file, the time); drive it with "
        "that passed in, or choose a function whose result its inputs determine",
    )


def _first(waiting: Sequence[Call], most: int) -> list[Call]:
    """The next calls to look at, until they get too large or too slow together; one at least."""
    batch, size, seconds = list(waiting[:1]), waiting[0].size, 0.0
    for call in waiting[1:most]:
        size, seconds = size + call.size, seconds + call.seconds + call.comparing
        if size > LOOKED_AT_BYTES or seconds > LOOKED_AT_SECONDS:
            break
        batch.append(call)
    return batch


def _recording(work: Path) -> Path:
    """An empty folder for the inputs of calls, as a recording has it."""
    folder = work / "cases"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


def _replay(
    sandbox: Sandbox, batch: Sequence[Call], plan: replaying.Plan, tree: Path, inside: str
) -> list[replaying.Replay]:
    for call in batch:
        shutil.copytree(call.folder, plan.recording / str(call.number))
    filled = replace(plan, cases=tuple(str(call.number) for call in batch))
    golden = [replaying.Variant("golden")]
    return [
        # Another number of threads sums in another order: the spread of that belongs to the tolerance.
        replaying.replay(sandbox, tree, inside, filled, golden, hash_seed=seed, threads=1 + seed // REPEATS)
        for seed in range(1, REPEATS + 1)
    ]


def _judge(
    call: Call, runs: Sequence[replaying.Replay], checks: Mapping[str, Mapping[str, Any]]
) -> Proven | Rejected:
    expected = replaying.load_document(call.folder, "expected")
    outcomes = [run.of("golden", str(call.number)) for run in runs]
    documents = []
    for outcome in outcomes:
        if outcome.document is None:
            return Rejected(call, _why(outcome))
        documents.append(outcome.document)
    checkers = with_chosen(derive(expected, documents), checks, expected)
    for outcome in outcomes:
        found = replaying.differences(expected, outcome, checkers)
        if found:
            return Rejected(call, f"gives another result when replayed: {found[0]}")
    return Proven(call, checkers, max(outcome.seconds for outcome in outcomes))


def _why(outcome: replaying.Outcome) -> str:
    text = outcome.error_text or outcome.status
    if outcome.status == "import-error":
        return f"the goal file cannot be imported by itself: {text}"
    return f"cannot be replayed: {text}"


def _versions(run: replaying.Replay) -> dict[str, str]:
    return {
        name: str(run.facts[name]) for name in ("python", "torch", "numpy", "pandas") if run.facts.get(name)
    }
