"""Replay recorded calls on the golden, keep those that reproduce, and derive their tolerances."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lmr_author import replaying
from lmr_author.errors import LmrError
from lmr_author.recording.choose import Call, order_of_choice
from lmr_author.recording.tolerance import derive
from lmr_author.sandbox.base import Sandbox

REPEATS = 3
"""Golden replays per call, each in a process of its own."""

SPARE = 3
"""How many more calls than wanted are replayed at once, so that rejected ones have a replacement."""


@dataclass(frozen=True)
class Proven:
    """A call that reproduces, with the checkers of its outcome."""

    call: Call
    checkers: dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Rejected:
    """A call that does not, and why."""

    call: Call
    reason: str


@dataclass(frozen=True)
class Proof:
    """The chosen calls in order, the rejected ones, and the versions of what ran them."""

    chosen: tuple[Proven, ...]
    rejected: tuple[Rejected, ...]
    versions: dict[str, str]


def prove(
    sandbox: Sandbox,
    calls: Sequence[Call],
    wanted: int,
    plan: replaying.Plan,
    tree: Path,
    inside: str,
    work: Path,
    progress: Callable[[str], None],
) -> Proof:
    """Choose ``wanted`` calls that replay to the same outcome.

    Args:
        calls: what was recorded.
        plan: target and module; its recording folder and cases are filled in here.
        tree, inside: the golden tree, without tests, and where it appears.
        work: a folder of ours.

    Raises:
        LmrError: not one call reproduces, with the reasons.
    """
    waiting = order_of_choice(calls)
    chosen: list[Proven] = []
    rejected: list[Rejected] = []
    versions: dict[str, str] = {}
    while waiting and len(chosen) < wanted:
        batch, waiting = waiting[: wanted - len(chosen) + SPARE], waiting[wanted - len(chosen) + SPARE :]
        progress(f"replaying {len(batch)} of {len(calls)} recorded calls on the golden")
        runs = _replay(sandbox, batch, plan, tree, inside, work)
        versions = versions or _versions(runs[0])
        for call in batch:
            judged = _judge(call, runs)
            if isinstance(judged, Rejected):
                rejected.append(judged)
            elif len(chosen) < wanted:
                chosen.append(judged)
    if not chosen:
        reasons = "; ".join(dict.fromkeys(item.reason for item in rejected))
        raise LmrError(
            f"no recorded call of {plan.qualname} reproduces: {reasons[:400]}",
            "the function depends on what is no argument (a global, a file, the time); drive it with "
            "that passed in, or choose a function whose result its inputs determine",
        )
    return Proof(tuple(chosen), tuple(rejected), versions)


def _replay(
    sandbox: Sandbox, batch: Sequence[Call], plan: replaying.Plan, tree: Path, inside: str, work: Path
) -> list[replaying.Replay]:
    folder = work / "cases"
    shutil.rmtree(folder, ignore_errors=True)
    for call in batch:
        shutil.copytree(call.folder, folder / str(call.number))
    cases = tuple(str(call.number) for call in batch)
    filled = replace(plan, recording=folder, cases=cases)
    golden = [replaying.Variant("golden")]
    return [
        replaying.replay(sandbox, tree, inside, filled, golden, hash_seed=seed)
        for seed in range(1, REPEATS + 1)
    ]


def _judge(call: Call, runs: Sequence[replaying.Replay]) -> Proven | Rejected:
    expected = replaying.load_document(call.folder, "expected")
    outcomes = [run.of("golden", str(call.number)) for run in runs]
    documents = []
    for outcome in outcomes:
        if outcome.document is None:
            return Rejected(call, _why(outcome))
        documents.append(outcome.document)
    checkers = derive(expected, documents)
    for outcome in outcomes:
        found = replaying.differences(expected, outcome, checkers)
        if found:
            return Rejected(call, f"gives another result when replayed: {found[0]}")
    return Proven(call, checkers)


def _why(outcome: replaying.Outcome) -> str:
    text = outcome.error_text or outcome.status
    if outcome.status == "import-error":
        return f"the goal file cannot be imported by itself: {text}"
    return f"cannot be replayed: {text}"


def _versions(run: replaying.Replay) -> dict[str, str]:
    return {
        name: str(run.facts[name]) for name in ("python", "torch", "numpy", "pandas") if run.facts.get(name)
    }
