"""A set's own assessment in the form of the Agentic Benchmark Checklist: each score from the records of its tasks.

The checklist: Zhu et al., Establishing Best Practices for Building Rigorous Agentic Benchmarks, arXiv 2507.02825.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lmr_author import __version__
from lmr_author.core import quoting
from lmr_author.core.task import (
    Evaluation,
    Finding,
    GateStatus,
    State,
    Task,
    accepted,
    challenge,
    evaluation,
    provenance,
)
from lmr_author.core.task import recording as recorded
from lmr_author.core.task.challenge import Kind, Standing
from lmr_author.core.task.equivalents import EquivalentMutants
from lmr_author.core.task.evaluation import MUTANTS_DIE
from lmr_author.core.task.recording import Recording
from lmr_author.core.texts import counted, listed
from lmr_author.release.recipes import made
from lmr_author.release.review.review import standing_of
from lmr_author.release.review.standing import ACCEPTED

ASSESSMENT = "assessment.yaml"
LEAKS = "LMR4"
"""Start of the codes of what gives a solution away."""
NOT_SHOWN = "not shown: "


@dataclass(frozen=True)
class Item:
    """One item of the checklist: its number, what it asks, 1 where the set shows it, and the evidence."""

    id: str
    check: str
    score: int
    reason: str


@dataclass(frozen=True)
class Evidence:
    """What the records of one task show.

    Attributes:
        proof: the evaluation of the task as it is; None for none.
        recordings: of its implementations.
        functions: number of its implementations.
        leaks: findings about leaks that nobody accepted.
        accepted_findings, accepted_mutants: number of those that a person accepted, with a reason.
        signed: reviewers accepted it.
        pinned: its packages and its base image have exact versions.
        license: of the repository; "" for none known.
        remade: it was made from a recipe.
        answers: answers of its recipe that got the verdict that was known before, and how many there are.
        misreadings: misreadings of its challenge that fail, and how many there are.
        rewrites: rewrites of its challenge that pass, and how many there are.
    """

    task: str
    proof: Evaluation | None
    recordings: tuple[Recording, ...]
    functions: int
    leaks: int
    accepted_findings: int
    accepted_mutants: int
    signed: bool
    pinned: bool
    license: str
    remade: bool
    answers: tuple[int, int]
    misreadings: tuple[int, int]
    rewrites: tuple[int, int]

    def holds(self, *gates: str) -> bool:
        """True where each implementation passes these gates."""
        results = [gate for gate in self.proof.gates if gate.gate in gates] if self.proof else []
        passed = [gate for gate in results if gate.status is GateStatus.PASSED]
        return len(passed) == len(results) == self.functions * len(gates)


Score = tuple[bool, str]
Set = Sequence[Evidence]


def gather(task: Task, findings: Sequence[Finding]) -> Evidence:
    """Read a task's records. ``findings``: what `validate` finds. Raises LmrError for an unreadable ``info.json``."""
    info = task.load()
    proof = evaluation.load(task)
    state = State.of(task)
    recordings = (recorded.load(task.recording(info, one.index)) for one in info.implementations)
    equivalent = EquivalentMutants.read_if_valid(task.equivalent_mutants_path)
    origin = made.load(made.path_of(task))
    held, challenged = challenge.standing(task, info)
    current = challenged if held in (Standing.OPEN, Standing.HELD) else None
    return Evidence(
        task.name,
        proof if proof and proof.is_of(state) else None,
        tuple(one for one in recordings if one is not None),
        len(info.implementations),
        sum(one.code.startswith(LEAKS) for one in findings),
        len(accepted.load(task)),
        len(equivalent.accepted) if equivalent else 0,
        standing_of(task, None, state.content).state == ACCEPTED,
        task.lock.is_file() and bool(provenance.load(task).environment.base_image.reference),
        info.license,
        bool(origin.content),
        (sum(one.right for one in origin.answers), len(origin.answers)),
        current.count(Kind.MISREADING) if current else (0, 0),
        current.count(Kind.REWRITE) if current else (0, 0),
    )


def assess(tasks: Set) -> list[Item]:
    """Score every item. An item that nothing in the set shows has 0 and says so."""
    items = []
    for entry in _items():
        if "missing" in entry:
            items.append(Item(entry["id"], entry["check"], 0, NOT_SHOWN + entry["missing"]))
        elif not tasks:
            items.append(Item(entry["id"], entry["check"], 0, f"{NOT_SHOWN}there is no task"))
        else:
            shown, reason = _SCORES[entry["id"]](tasks)
            items.append(Item(entry["id"], entry["check"], int(shown), reason))
    return items


def as_yaml(items: Sequence[Item]) -> str:
    """Return the assessment as the checklist's authors keep theirs: item → check, score and reason."""
    head = "# Agentic Benchmark Checklist (arXiv 2507.02825): scored by lmr-author from the records of the tasks.\n"
    table = {item.id: {"check": item.check, "score": item.score, "reason": item.reason} for item in items}
    return head + quoting.yaml(table)


@cache
def _items() -> list[dict[str, str]]:
    text = Path(__file__).with_name("assessment.toml").read_text("utf-8")
    return list(tomllib.loads(text)["item"])


def _all(tasks: Set, holds: Callable[[Evidence], bool], what: str) -> Score:
    """Score whether something holds for every task, and name those for which it does not."""
    without = [one.task for one in tasks if not holds(one)]
    reason = f"{what} in {len(tasks) - len(without)} of {counted(len(tasks), 'task')}"
    return not without, f"{reason}; not in {listed(without, 3)}" if without else reason


def _verified(tasks: Set) -> Score:
    golden, by_run = _all(tasks, lambda one: one.holds("golden-passes"), "the golden passes its test")
    signed, by_people = _all(tasks, lambda one: one.signed, "reviewers signed off")
    return golden and signed, f"{by_run}; {by_people}"


def _measured(tasks: Set) -> Score:
    killed, tried = _mutants(tasks)
    reasons = [f"{killed} of {tried} wrong versions made by operators fail"]
    for figures, what in (
        ([one.answers for one in tasks], "answers of recipes got the verdict that was known before"),
        ([one.misreadings for one in tasks], "misreadings of challenges fail"),
        ([one.rewrites for one in tasks], "rewrites of challenges pass"),
    ):
        right, answers = (sum(pair[position] for pair in figures) for position in (0, 1))
        if answers:
            reasons.append(f"{right} of {answers} {what}")
    return all(one.holds(MUTANTS_DIE) for one in tasks), "; ".join(reasons)


def _mutants(tasks: Set) -> tuple[int, int]:
    figures = [evaluation.mutants_killed(one.proof.gates) for one in tasks if one.proof]
    return sum(killed for killed, _ in figures), sum(tried for _, tried in figures)


def _edges(tasks: Set) -> Score:
    cases = [case for one in tasks for recording in one.recordings for case in recording.cases]
    functions = sum(len(one.recordings) for one in tasks)
    raising = sum(case.outcome == "raised" for case in cases)
    reason = (
        f"{counted(len(cases), 'case')} of {counted(functions, 'function')}, each chosen for what it adds"
    )
    several = all(one.recordings and all(len(item.cases) > 1 for item in one.recordings) for one in tasks)
    return several, f"{reason}; {raising} of them raise an exception, as the original does"


def _varied(tasks: Set) -> Score:
    def varies(one: Evidence) -> bool:
        kinds = [{str(sorted(case.summary.items())) for case in item.cases} for item in one.recordings]
        return bool(kinds) and all(len(summaries) > 1 for summaries in kinds)

    return _all(tasks, varies, "cases differ in types, shapes or lengths")


def _sensitive(tasks: Set) -> Score:
    gates = ("trivial-fails", MUTANTS_DIE)
    return _all(tasks, lambda one: one.holds(*gates), "constant results and nine of ten mutants fail")


def _exercised(tasks: Set) -> Score:
    reached = sum(len(item.coverage.lines) for one in tasks for item in one.recordings)
    missed = {one.task: sum(len(item.coverage.missed) for item in one.recordings) for one in tasks}
    reason = f"cases reach {reached} of {reached + sum(missed.values())} blocks of the masked functions"
    names = [f"{task} ({number})" for task, number in missed.items() if number]
    written = [one.task for one in tasks if len(one.recordings) < one.functions]
    if written:
        reason += f"; not measured for tests written by hand: {listed(written, 3)}"
    return not names and not written, f"{reason}; not all in {listed(names, 3)}" if names else reason


def _steady(tasks: Set) -> Score:
    return _all(tasks, lambda one: one.holds("golden-passes"), "repeated runs of the golden agree")


def _versions(tasks: Set) -> Score:
    return _all(tasks, lambda one: one.pinned, "packages and base image have exact versions")


def _isolated(tasks: Set) -> Score:
    return _all(tasks, lambda one: one.holds("isolated"), "each run starts from a fresh copy without network")


def _apart(tasks: Set) -> Score:
    alone, reason = _all(tasks, lambda one: not one.leaks, "no leak of a solution is found")
    return alone, f"{reason}; agents get neither test, golden nor expected values"


def _static(tasks: Set) -> Score:
    return _all(tasks, lambda one: one.pinned and one.holds("isolated"), "pinned, and run without network")


def _true(tasks: Set) -> Score:
    gates = ("untampered", "golden-passes", "target-entered")
    return _all(tasks, lambda one: one.holds(*gates), "the repository's own code gives the expected values")


def _solvable(tasks: Set) -> Score:
    return _all(tasks, lambda one: one.holds("golden-passes"), "the golden passes as an answer would")


def _no_shortcut(tasks: Set) -> Score:
    gates = ("masked-fails", "trivial-fails", "isolated")
    return _all(
        tasks, lambda one: one.holds(*gates) and not one.leaks, "doing nothing, little or cheating fails"
    )


def _licensed(tasks: Set) -> Score:
    return _all(tasks, lambda one: bool(one.license), "the repository's licence is known")


def _harness(tasks: Set) -> Score:
    return (
        True,
        f"lmr-author {__version__} makes, proves and judges the tasks; also for Harbor and Inspect AI",
    )


def _remade(tasks: Set) -> Score:
    return _all(tasks, lambda one: one.remade, "a recipe makes the task again")


def _flaws(tasks: Set) -> Score:
    findings = sum(one.accepted_findings for one in tasks)
    mutants = sum(one.accepted_mutants for one in tasks)
    reason = f"accepted, each with a reason: {counted(findings, 'finding')}, {counted(mutants, 'mutant')}"
    return all(one.proof is not None for one in tasks), reason


def _measured_flaws(tasks: Set) -> Score:
    killed, tried = _mutants(tasks)
    proven, reason = _all(tasks, lambda one: one.proof is not None, "survivors are listed")
    return proven, f"{tried - killed} of {tried} mutants survive; {reason}"


def _trivial(tasks: Set) -> Score:
    gates = ("masked-fails", "trivial-fails")
    return _all(
        tasks, lambda one: one.holds(*gates), "the masked code and trivial answers were run, and fail"
    )


_SCORES: dict[str, Callable[[Set], Score]] = {
    "O.d.1": _verified,
    "O.d.2": _measured,
    "O.e.1": _edges,
    "O.e.2": _varied,
    "O.e.3": _sensitive,
    "O.f.2": _exercised,
    "O.f.3": _steady,
    "T.1": _versions,
    "T.4": _isolated,
    "T.5": _apart,
    "T.6": _static,
    "T.7": _true,
    "T.8": _solvable,
    "T.9": _solvable,
    "T.10": _no_shortcut,
    "R.1": _licensed,
    "R.2": _harness,
    "R.4": _remade,
    "R.7": _flaws,
    "R.9": _measured_flaws,
    "R.13": _trivial,
}
"""By the number of the item."""
