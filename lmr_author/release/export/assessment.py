"""A set's own assessment in the form of the Agentic Benchmark Checklist: each score from the records of its tasks.

The checklist: Zhu et al., Establishing Best Practices for Building Rigorous Agentic Benchmarks, arXiv 2507.02825.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lmr_author import __version__
from lmr_author.core import quoting, resources
from lmr_author.core.task import (
    Evaluation,
    Finding,
    GateStatus,
    Task,
    TaskState,
    evaluation,
    provenance,
)
from lmr_author.core.task import recording as recorded
from lmr_author.core.task.evaluation import MUTANTS_DIE
from lmr_author.core.task.mutation import MutationScore
from lmr_author.core.task.recording import Recording
from lmr_author.core.texts import counted, listed
from lmr_author.release.recipes import made
from lmr_author.release.review.review_status import ACCEPTED, proof_of, review_status

ASSESSMENT = "assessment.yaml"
LEAKS = "LMR4"
"""Start of the codes of what gives a solution away."""


@dataclass(frozen=True)
class Item:
    """One item of the checklist; ``score`` is 1 if the set shows it."""

    id: str
    check: str
    score: int
    reason: str


@dataclass(frozen=True)
class TaskEvidence:
    """Facts from the records of one task; ``proof`` is None unless the evaluation is of the current state."""

    task: str
    proof: Evaluation | None
    recordings: tuple[Recording, ...]
    functions: int
    leaks: int
    signed: bool
    pinned: bool
    license: str
    remade: bool

    def holds(self, *gates: str) -> bool:
        results = [gate for gate in self.proof.gates if gate.gate in gates] if self.proof else []
        passed = [gate for gate in results if gate.status is GateStatus.PASSED]
        return len(passed) == len(results) == self.functions * len(gates)

    @property
    def is_varied(self) -> bool:
        for recording in self.recordings:
            summaries = {str(sorted(case.summary.items())) for case in recording.cases}
            if len(summaries) < 2:
                return False
        return bool(self.recordings)


Score = tuple[bool, str]
Set = Sequence[TaskEvidence]


def gather(task: Task, findings: Sequence[Finding]) -> TaskEvidence:
    """Read a task's records. ``findings``: of `validate`. Raises LmrError for an unreadable ``info.json``."""
    info = task.load()
    state = TaskState.of(task)
    proof = proof_of(task, state.reviewed)
    recordings = []
    for implementation in info.implementations:
        recording = recorded.load(task.recording(info, implementation.index))
        if recording is not None:
            recordings.append(recording)
    return TaskEvidence(
        task=task.name,
        proof=proof if proof and proof.is_of(state) else None,
        recordings=tuple(recordings),
        functions=len(info.implementations),
        leaks=sum(finding.code.startswith(LEAKS) for finding in findings),
        signed=review_status(task, None, state.reviewed).state == ACCEPTED,
        pinned=task.lock.is_file() and bool(provenance.load(task).environment.base_image.reference),
        license=info.license,
        remade=bool(made.load(made.path_of(task)).content),
    )


def assess(tasks: Set) -> list[Item]:
    """Score every item. An item that nothing in the set shows scores 0 and says so."""
    items = []
    for number, item in tomllib.loads(resources.template("export/huggingface/assessment.toml")).items():
        if "reason" in item:
            shown, reason = False, f"not shown: {item['reason']}"
        elif not tasks:
            shown, reason = False, "not shown: there is no task"
        elif number in IN_EVERY:
            shown, reason = _in_every(tasks, *IN_EVERY[number])
        else:
            shown, reason = OF_THE_SET[number](tasks)
        items.append(Item(number, item["check"], int(shown), reason))
    return items


def as_yaml(items: Sequence[Item]) -> str:
    """Return the assessment in the form of the checklist's authors: item → check, score and reason."""
    head = "# Agentic Benchmark Checklist (arXiv 2507.02825): scored by lmr-author from the records of the tasks.\n"
    table = {
        scored.id: {"check": scored.check, "score": scored.score, "reason": scored.reason} for scored in items
    }
    return head + quoting.yaml(table)


def _in_every(tasks: Set, words: str, holds: Callable[[TaskEvidence], bool]) -> Score:
    """Score whether something holds for every task, and name the other tasks."""
    without = [evidence.task for evidence in tasks if not holds(evidence)]
    reason = f"{words} in {len(tasks) - len(without)} of {counted(len(tasks), 'task')}"
    return not without, f"{reason}; not in {listed(without, 3)}" if without else reason


def _golden_passes(task: TaskEvidence) -> bool:
    return task.holds("golden-passes")


def _verified(tasks: Set) -> Score:
    golden, by_run = _in_every(tasks, "the golden passes its test", _golden_passes)
    signed, by_people = _in_every(tasks, "reviewers signed off", lambda task: task.signed)
    return golden and signed, f"{by_run}; {by_people}"


def _measured(tasks: Set) -> Score:
    return all(task.holds(MUTANTS_DIE) for task in tasks), _mutants(tasks)


def _measured_flaws(tasks: Set) -> Score:
    return all(task.proof is not None for task in tasks), f"survivors: {_mutants(tasks)}"


def _mutants(tasks: Set) -> str:
    scores = (evaluation.mutation_score(task.proof.gates) for task in tasks if task.proof)
    return MutationScore.total(scores).text


def _edges(tasks: Set) -> Score:
    recordings = [recording for task in tasks for recording in task.recordings]
    cases = [case for recording in recordings for case in recording.cases]
    raising = sum(case.outcome == "raised" for case in cases)
    reason = (
        f"{counted(len(cases), 'case')} of {counted(len(recordings), 'function')}, "
        f"each chosen for what it adds; {raising} of them raise an exception, as the original does"
    )
    recorded_everywhere = all(task.recordings for task in tasks)
    return recorded_everywhere and all(len(recording.cases) > 1 for recording in recordings), reason


def _exercised(tasks: Set) -> Score:
    reached = unreached = 0
    incomplete, written = [], []
    for task in tasks:
        missed = sum(len(recording.coverage.missed) for recording in task.recordings)
        reached += sum(len(recording.coverage.lines) for recording in task.recordings)
        unreached += missed
        if missed:
            incomplete.append(f"{task.task} ({missed})")
        if len(task.recordings) < task.functions:
            written.append(task.task)
    reason = f"cases reach {reached} of {reached + unreached} blocks of the masked functions"
    if written:
        reason += f"; not measured for tests written by hand: {listed(written, 3)}"
    if incomplete:
        reason += f"; not all in {listed(incomplete, 3)}"
    return not incomplete and not written, reason


def _apart(tasks: Set) -> Score:
    alone, reason = _in_every(tasks, "no leak of a solution is found", lambda task: not task.leaks)
    return alone, f"{reason}; agents get neither test, golden nor expected values"


IN_EVERY: dict[str, tuple[str, Callable[[TaskEvidence], bool]]] = {
    "O.e.2": ("cases differ in types, shapes or lengths", lambda task: task.is_varied),
    "O.e.3": (
        "constant results fail, and so do enough mutants, with at most a tenth accepted or reviewers' approval,",
        lambda task: task.holds("trivial-fails", MUTANTS_DIE),
    ),
    "O.f.3": ("repeated runs of the golden agree", _golden_passes),
    "T.1": ("packages and base image have exact versions", lambda task: task.pinned),
    "T.4": ("each run starts from a fresh copy without network", lambda task: task.holds("isolated")),
    "T.6": ("pinned, and run without network", lambda task: task.pinned and task.holds("isolated")),
    "T.7": (
        "the repository's own code gives the expected values",
        lambda task: task.holds("untampered", "golden-passes", "target-entered"),
    ),
    "T.8": ("the golden passes as an answer would", _golden_passes),
    "T.9": ("the golden passes as an answer would", _golden_passes),
    "T.10": (
        "doing nothing, little or cheating fails",
        lambda task: task.holds("masked-fails", "trivial-fails", "isolated") and not task.leaks,
    ),
    "R.1": ("the repository's licence is known", lambda task: bool(task.license)),
    "R.4": ("a recipe makes the task again", lambda task: task.remade),
    "R.7": ("what people accepted is listed with reasons", lambda task: task.proof is not None),
    "R.13": (
        "the masked code and trivial answers were run, and fail",
        lambda task: task.holds("masked-fails", "trivial-fails"),
    ),
}
"""Items that hold if a property holds for every task: the property, and its test."""
OF_THE_SET: dict[str, Callable[[Set], Score]] = {
    "O.d.1": _verified,
    "O.d.2": _measured,
    "O.e.1": _edges,
    "O.f.2": _exercised,
    "T.5": _apart,
    "R.2": lambda _: (
        True,
        f"lmr-author {__version__} makes, proves and judges the tasks; also for Harbor, verifiers and Inspect AI",
    ),
    "R.9": _measured_flaws,
}
