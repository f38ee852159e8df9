"""An implementation under review: golden, paper, recording and gates, read once for all questions."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lmr_author.authoring.masking.instruction import words_of
from lmr_author.authoring.recording.checkers import ComparedPart, compared_parts
from lmr_author.authoring.suggesting.paper import FunctionWords
from lmr_author.core import code
from lmr_author.core.errors import LmrError
from lmr_author.core.task import (
    Evaluation,
    GateResult,
    Implementation,
    Task,
    TaskState,
    challenge,
    equivalents,
)
from lmr_author.core.task import recording as recorded
from lmr_author.core.task.challenge import Challenge, Challenger
from lmr_author.core.task.equivalents import EquivalentMutant
from lmr_author.core.task.evaluation import MUTANTS_DIE, GateDetail
from lmr_author.core.task.recording import Coverage, Recording
from lmr_author.proof.contents import TaskContents
from lmr_author.proof.targets import Pair, function_of, pair
from lmr_author.release.review.checklist import CodeLine, LineMark
from lmr_author.release.review.instruction import InstructionCitation, cite, paper_pages
from lmr_author.release.review.review_status import proof_of


@dataclass(frozen=True)
class TargetUnderTest:
    """One implementation and its records; ``recording`` is None for a hand-written test.

    ``lines`` are the golden's without docstrings, ``problems`` the records that cannot be read, and ``challengers`` the
    misreadings and rewrites that ran on the current test.
    """

    implementation: Implementation
    files: Pair
    cited: InstructionCitation
    lines: tuple[CodeLine, ...]
    words: FunctionWords | None
    recording: Recording | None
    gates: tuple[GateResult, ...]
    accepted: tuple[EquivalentMutant, ...]
    problems: tuple[str, ...]
    compared: tuple[ComparedPart, ...]
    challengers: tuple[Challenger, ...]

    @property
    def goldens(self) -> list[code.FunctionNode]:
        return [node for target in self.files.targets if (node := function_of(target.golden)) is not None]

    @property
    def mutants(self) -> GateDetail | None:
        return next((gate.detail for gate in self.gates if gate.gate == MUTANTS_DIE), None)


@dataclass(frozen=True)
class ReviewedTask:
    """A task under review; ``evaluation`` is ``"none"``, ``"stale"`` or ``"current"``, and ``proof`` its record."""

    task: Task
    contents: TaskContents
    pages: Mapping[int, str]
    targets: tuple[TargetUnderTest, ...]
    evaluation: str
    proof: Evaluation | None


def read_task(task: Task) -> ReviewedTask:
    """Read a task for its review. Raises LmrError only when ``info.json`` cannot be read."""
    info, contents = task.load(), TaskContents(task)
    pages = paper_pages(task, info)
    evaluation, challenged = proof_of(task), challenge.load(task)
    state = "none"
    if evaluation is not None:
        state = "current" if evaluation.is_of(TaskState.of(task)) else "stale"
    gates = evaluation.gates if evaluation else ()
    targets = tuple(
        _read_target(contents, each, gates, pages, challenged) for each in contents.implementations
    )
    return ReviewedTask(task, contents, pages, targets, state, evaluation)


def _read_target(
    contents: TaskContents,
    implementation: Implementation,
    gates: Iterable[GateResult],
    pages: Mapping[int, str],
    challenged: Challenge | None,
) -> TargetUnderTest:
    task, both, problems = contents.task, pair(contents, implementation), []
    recording: Recording | None = None
    compared: tuple[ComparedPart, ...] = ()
    accepted: tuple[EquivalentMutant, ...] = ()
    try:
        folder = task.recording(contents.info, implementation.index)
        if recording := recorded.load(folder):
            compared = compared_parts(folder, recording)
    except LmrError as error:
        problems.append(error.message)
    try:
        accepted = equivalents.load(task).of(implementation.target)
    except LmrError as error:
        problems.append(error.message.replace(f"{task.root}/", ""))
    golden = next((target.golden for target in both.targets if target.golden), None)
    is_challenged = challenged and implementation.index not in challenged.stale(task, contents.info)
    return TargetUnderTest(
        implementation=implementation,
        files=both,
        cited=cite(implementation.instruction, pages),
        lines=golden_lines(both, recording.coverage if recording else None),
        words=words_of(golden) if golden else None,
        recording=recording,
        gates=tuple(gate for gate in gates if gate.implementation == implementation.index),
        accepted=accepted,
        problems=tuple(problems),
        compared=compared,
        challengers=challenged.of(implementation.index) if challenged and is_challenged else (),
    )


def line_marks(golden: code.Module, coverage: Coverage) -> dict[int, LineMark]:
    """Return the golden's lines that the cases do not reach, and conditions that always hold, by number."""
    blocks = [range(first, code.block_end(golden.tree, first) + 1) for first in coverage.missed]
    blocks += [range(first, last + 1) for first, last in code.behind_exits(golden.tree, coverage.never_false)]
    marks: dict[int, LineMark] = dict.fromkeys(coverage.never_false, "always true")
    marks |= {line: "not reached" for block in blocks for line in block if line not in coverage.lines}
    return marks


def golden_lines(both: Pair, coverage: Coverage | None) -> tuple[CodeLine, ...]:
    if both.golden is None:
        return ()
    marks = line_marks(both.golden, coverage) if coverage else {}
    lines = []
    for target in both.targets:
        if target.golden is None:
            continue
        # A body that is nothing but a docstring is shown, as there is nothing else.
        docstring = target.golden.docstring_lines if target.golden.statements else range(0)
        returns = _returning_lines(target.golden)
        for number in range(code.first_line(target.golden.node), target.golden.end_line + 1):
            if number not in docstring:
                text = both.golden.line_text(number).rstrip()
                lines.append(CodeLine(number, text, marks.get(number, ""), number in returns))
    return tuple(lines)


def _returning_lines(definition: code.Definition) -> set[int]:
    lines: set[int] = set()
    for node in code.each(definition.node, ast.Return, ast.Yield):
        lines.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return lines
