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
from lmr_author.core.task import Evaluation, GateResult, Implementation, State, Task, challenge, equivalents
from lmr_author.core.task import recording as recorded
from lmr_author.core.task.challenge import Challenge, Challenger
from lmr_author.core.task.equivalents import EquivalentMutant
from lmr_author.core.task.evaluation import MUTANTS_DIE, GateDetail
from lmr_author.core.task.recording import Coverage, Recording
from lmr_author.proof.contents import TaskContents
from lmr_author.proof.targets import Pair, function_of, pair
from lmr_author.release.review.cited import Citation, cite, paper_pages
from lmr_author.release.review.evidence import CodeLine, LineMark
from lmr_author.release.review.review_status import proof_of


@dataclass(frozen=True)
class TargetUnderTest:
    """One implementation with all that is known about it.

    Attributes:
        lines: the golden's lines, without docstrings.
        words: of the golden's first target; None without one.
        recording: None for a test written by hand.
        problems: records that cannot be read.
        compared: how the parts of the recorded outcomes are compared.
        challengers: misreadings and rewrites that were tried on its test as it is.
    """

    implementation: Implementation
    files: Pair
    cited: Citation
    lines: tuple[CodeLine, ...]
    words: FunctionWords | None
    recording: Recording | None
    gates: tuple[GateResult, ...]
    accepted: tuple[EquivalentMutant, ...]
    problems: tuple[str, ...]
    compared: tuple[ComparedPart, ...] = ()
    challengers: tuple[Challenger, ...] = ()

    @property
    def goldens(self) -> list[code.FunctionNode]:
        found: list[code.FunctionNode] = []
        for target in self.files.targets:
            if (node := function_of(target.golden)) is not None:
                found.append(node)
        return found

    @property
    def mutants(self) -> GateDetail | None:
        """The measurements of the gate about mutants; None where it did not run."""
        for gate in self.gates:
            if gate.gate == MUTANTS_DIE:
                return gate.detail
        return None


@dataclass(frozen=True)
class ReviewedTask:
    """A task under review; ``evaluation`` is ``"none"``, ``"stale"`` or ``"current"``, and ``proof`` its record."""

    task: Task
    contents: TaskContents
    pages: Mapping[int, str]
    targets: tuple[TargetUnderTest, ...]
    evaluation: str
    proof: Evaluation | None
    challenge: Challenge | None


def read_task(task: Task) -> ReviewedTask:
    """Read a task for its review. Raises LmrError only when ``info.json`` cannot be read."""
    info, contents = task.load(), TaskContents(task)
    pages = paper_pages(task, info)
    evaluation = proof_of(task)
    state = "none"
    if evaluation is not None:
        state = "current" if evaluation.is_of(State.of(task)) else "stale"
    gates = evaluation.gates if evaluation else ()
    challenged = challenge.load(task)
    targets = tuple(
        _read_target(task, contents, implementation, gates, pages, challenged)
        for implementation in contents.implementations
    )
    return ReviewedTask(task, contents, pages, targets, state, evaluation, challenged)


def _read_target(
    task: Task,
    contents: TaskContents,
    implementation: Implementation,
    gates: Iterable[GateResult],
    pages: Mapping[int, str],
    challenged: Challenge | None,
) -> TargetUnderTest:
    own = tuple(gate for gate in gates if gate.implementation == implementation.index)
    both, problems = pair(contents, implementation), []
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
    golden = [target.golden for target in both.targets if target.golden]
    lines = golden_lines(both, recording.coverage if recording else None)
    words = words_of(golden[0]) if golden else None
    cited = cite(implementation.instruction, pages)
    challengers: tuple[Challenger, ...] = ()
    if challenged is not None and implementation.index not in challenged.stale(task, contents.info):
        challengers = challenged.of(implementation.index)
    return TargetUnderTest(
        implementation,
        both,
        cited,
        lines,
        words,
        recording,
        own,
        accepted,
        tuple(problems),
        compared,
        challengers,
    )


def line_marks(golden: code.Module, coverage: Coverage) -> dict[int, LineMark]:
    """Return what the cases leave open about the golden's lines, by number; a missed line begins a block."""
    blocks = [range(first, code.block_end(golden.tree, first) + 1) for first in coverage.missed]
    blocks += [range(first, last + 1) for first, last in code.behind_exits(golden.tree, coverage.never_false)]
    marks: dict[int, LineMark] = dict.fromkeys(coverage.never_false, "always true")
    marks |= {line: "not reached" for block in blocks for line in block if line not in coverage.lines}
    return marks


def golden_lines(both: Pair, coverage: Coverage | None) -> tuple[CodeLine, ...]:
    """Return the lines of the golden's targets without docstrings; those are marked that the cases leave open."""
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
