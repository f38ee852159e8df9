"""A set's own assessment in the form of the Agentic Benchmark Checklist: each score from the records of its tasks.

The checklist: Zhu et al., Establishing Best Practices for Building Rigorous Agentic Benchmarks, arXiv 2507.02825.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lmr_author import __version__
from lmr_author.core import quoting
from lmr_author.core.task import (
    Evaluation,
    Finding,
    GateStatus,
    State,
    Task,
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
NOT_SHOWN = "not shown: "


@dataclass(frozen=True)
class Item:
    """One item of the checklist: its number, what it asks, 1 where the set shows it, and the evidence."""

    id: str
    check: str
    score: int
    reason: str


@dataclass(frozen=True)
class TaskEvidence:
    """What the records of one task show.

    Attributes:
        proof: the evaluation of the task as it is; None for none.
        recordings: of its implementations.
        functions: number of its implementations.
        leaks: findings about leaks that nobody accepted.
        signed: reviewers accepted it.
        pinned: its packages and its base image have exact versions.
        license: of the repository; "" for none known.
        remade: it was made from a recipe.
    """

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
        """True where the cases of each implementation differ in types, shapes or lengths."""
        for recording in self.recordings:
            summaries = {str(sorted(case.summary.items())) for case in recording.cases}
            if len(summaries) < 2:
                return False
        return bool(self.recordings)


Score = tuple[bool, str]
Set = Sequence[TaskEvidence]


def gather(task: Task, findings: Sequence[Finding]) -> TaskEvidence:
    """Read a task's records. ``findings``: what `validate` finds. Raises LmrError for an unreadable ``info.json``."""
    info = task.load()
    state = State.of(task)
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
    """Score every item. An item that nothing in the set shows has 0 and says so."""
    items = []
    for number, check, evidence in ITEMS:
        if isinstance(evidence, str):
            shown, reason = False, NOT_SHOWN + evidence
        elif not tasks:
            shown, reason = False, f"{NOT_SHOWN}there is no task"
        else:
            shown, reason = evidence(tasks)
        items.append(Item(number, check, int(shown), reason))
    return items


def as_yaml(items: Sequence[Item]) -> str:
    """Return the assessment as the checklist's authors keep theirs: item → check, score and reason."""
    head = "# Agentic Benchmark Checklist (arXiv 2507.02825): scored by lmr-author from the records of the tasks.\n"
    table = {
        scored.id: {"check": scored.check, "score": scored.score, "reason": scored.reason} for scored in items
    }
    return head + quoting.yaml(table)


def _in_every(words: str, holds: Callable[[TaskEvidence], bool]) -> Callable[[Set], Score]:
    """Return what scores whether something holds for every task, and names those for which it does not."""

    def score(tasks: Set) -> Score:
        without = [evidence.task for evidence in tasks if not holds(evidence)]
        reason = f"{words} in {len(tasks) - len(without)} of {counted(len(tasks), 'task')}"
        return not without, f"{reason}; not in {listed(without, 3)}" if without else reason

    return score


def _golden_passes(task: TaskEvidence) -> bool:
    return task.holds("golden-passes")


def _verified(tasks: Set) -> Score:
    golden, by_run = _in_every("the golden passes its test", _golden_passes)(tasks)
    signed, by_people = _in_every("reviewers signed off", lambda task: task.signed)(tasks)
    return golden and signed, f"{by_run}; {by_people}"


def _measured(tasks: Set) -> Score:
    return all(task.holds(MUTANTS_DIE) for task in tasks), _mutants(tasks)


def _measured_flaws(tasks: Set) -> Score:
    return all(task.proof is not None for task in tasks), f"survivors: {_mutants(tasks)}"


def _mutants(tasks: Set) -> str:
    return MutationScore.total(
        evaluation.mutation_score(task.proof.gates) for task in tasks if task.proof
    ).text


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
    alone, reason = _in_every("no leak of a solution is found", lambda task: not task.leaks)(tasks)
    return alone, f"{reason}; agents get neither test, golden nor expected values"


ITEMS: tuple[tuple[str, str, str | Callable[[Set], Score]], ...] = (
    (
        "O.c.1",
        "Where a model judges answers, its agreement with people is measured.",
        "the tests decide; how far a judging model agrees with people is in the page that `lmr-author analyze` writes",
    ),
    (
        "O.c.2",
        "Where a model judges answers, it withstands answers that are written to persuade it.",
        "the tests decide; a judging model sees an answer between marks that it cannot write, which no figure proves",
    ),
    ("O.d.1", "Test cases are verified for correctness and quality.", _verified),
    ("O.d.2", "The quality of the tests is measured objectively.", _measured),
    ("O.e.1", "Test inputs cover edge cases.", _edges),
    (
        "O.e.2",
        "Test inputs vary in types, layouts and ranges.",
        _in_every("cases differ in types, shapes or lengths", lambda task: task.is_varied),
    ),
    (
        "O.e.3",
        "Test inputs are such that the code's result depends on them.",
        _in_every(
            "constant results fail, and so do enough mutants, with at most a tenth accepted or reviewers' approval,",
            lambda task: task.holds("trivial-fails", MUTANTS_DIE),
        ),
    ),
    ("O.f.2", "All relevant parts of the code are exercised.", _exercised),
    ("O.f.3", "No result is flaky.", _in_every("repeated runs of the golden agree", _golden_passes)),
    (
        "T.1",
        "Versions of all tools are stated.",
        _in_every("packages and base image have exact versions", lambda task: task.pinned),
    ),
    (
        "T.4",
        "Nothing is left over from one run to the next.",
        _in_every("each run starts from a fresh copy without network", lambda task: task.holds("isolated")),
    ),
    ("T.5", "The agent is apart from the truth.", _apart),
    (
        "T.6",
        "The set-up does not change over time.",
        _in_every("pinned, and run without network", lambda task: task.pinned and task.holds("isolated")),
    ),
    (
        "T.7",
        "The truth is verified.",
        _in_every(
            "the repository's own code gives the expected values",
            lambda task: task.holds("untampered", "golden-passes", "target-entered"),
        ),
    ),
    ("T.8", "Every task can be solved.", _in_every("the golden passes as an answer would", _golden_passes)),
    (
        "T.9",
        "An oracle solves every task.",
        _in_every("the golden passes as an answer would", _golden_passes),
    ),
    (
        "T.10",
        "No shortcut solves a task.",
        _in_every(
            "doing nothing, little or cheating fails",
            lambda task: task.holds("masked-fails", "trivial-fails", "isolated") and not task.leaks,
        ),
    ),
    (
        "R.1",
        "The set may be shared.",
        _in_every("the repository's licence is known", lambda task: bool(task.license)),
    ),
    (
        "R.2",
        "The harness is open and can be run by others.",
        lambda _: (
            True,
            f"lmr-author {__version__} makes, proves and judges the tasks; also for Harbor, verifiers and Inspect AI",
        ),
    ),
    (
        "R.3",
        "Contamination of models by the repositories is measured.",
        "`lmr-author analyze` measures how much of a golden an answer repeats; a set without answers cannot show it",
    ),
    (
        "R.4",
        "The set can be made again and kept up to date.",
        _in_every("a recipe makes the task again", lambda task: task.remade),
    ),
    (
        "R.7",
        "Known flaws are described.",
        _in_every("what people accepted is listed with reasons", lambda task: task.proof is not None),
    ),
    ("R.8", "What the flaws do to results is discussed.", "nobody but its authors can"),
    ("R.9", "The flaws are measured.", _measured_flaws),
    (
        "R.10",
        "Results come with their statistical significance.",
        "`lmr-author judge` and `analyze` give intervals; a set without results cannot show it",
    ),
    (
        "R.13",
        "Trivial agents are among the results.",
        _in_every(
            "the masked code and trivial answers were run, and fail",
            lambda task: task.holds("masked-fails", "trivial-fails"),
        ),
    ),
)
"""Number, question in our words, and the score from the records of all tasks; or why a set of tasks cannot show it."""
