"""One target under challenge: answers run as hostile code on its cases, and on its other recorded calls."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from threading import Event
from typing import TypeVar

from lmr_author.core import code, files
from lmr_author.core.code import Definition, FunctionNode, Module
from lmr_author.core.errors import LmrError
from lmr_author.core.task import Progress, Target
from lmr_author.core.task.challenge import CallDifference, Challenger, DriverAdvice
from lmr_author.core.task.recording import Case
from lmr_author.proof.evaluation.candidates.fitting import FittedAnswer
from lmr_author.proof.evaluation.candidates.predictions import Prediction
from lmr_author.proof.evaluation.candidates.reply import InvalidAnswer
from lmr_author.proof.evaluation.candidates.run import retried
from lmr_author.proof.evaluation.candidates.scorer import Scorer
from lmr_author.proof.evaluation.judges import RecordingJudge
from lmr_author.release.challenge.calls import Calls, record_again, write_recording
from lmr_author.runtime.replay import replaying
from lmr_author.runtime.replay.outcomes import Replay
from lmr_author.runtime.replay.replaying import Variant
from lmr_author.runtime.sandbox.base import ExecResult

Result = TypeVar("Result")
_ID = "candidate"
_LONGEST_NAME = 100
MOST_LINES = 24
"""Lines of a difference that are kept."""
MOST_NAMES = 8
_OWN = ("self", "cls")
_WORD = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True)
class Trial:
    """Outcomes of an answer on the calls of a recording; an answer that crashed may lack some."""

    judge: RecordingJudge
    replay: Replay

    def differs(self, case: Case) -> list[str]:
        """Return the differences between its outcome on a call and the golden's."""
        expected, checkers = self.judge.expected[case.name], self.judge.checkers[case.name]
        try:
            return replaying.differences(expected, self.replay.of(_ID, case.name), checkers)
        except Exception as error:  # an outcome made to break the comparison fails like any other
            return [f"its result cannot be read ({type(error).__name__})"]

    @cached_property
    def failing(self) -> list[Case]:
        """Calls on which the answer differs from the golden; all of them if it has no outcome."""
        cases = self.judge.recording.cases
        outcomes = [case for case in cases if (_ID, case.name) in self.replay.outcomes]
        if not outcomes:
            return list(cases)
        return [case for case in outcomes if self.differs(case)]

    @property
    def failing_calls(self) -> tuple[int, ...]:
        return tuple(case.call for case in self.failing)

    def first_difference(self, *, is_case: bool) -> CallDifference | None:
        if not self.failing:
            return None
        case = self.failing[0]
        raised = self.replay.of(_ID, case.name).error.type[:_LONGEST_NAME]
        name = case.name if is_case else ""
        return CallDifference(case.call, name, self.differs(case)[0], raised, case.made_of)


class Trials:
    """Runs answers on one target.

    ``rewrites``, those that pass, have to agree with generated calls: set them before :attr:`calls` is read.
    """

    def __init__(self, scorer: Scorer, driver: Path, say: Progress, stack: ExitStack) -> None:
        self.trees, self.options, self.say = scorer.trees, scorer.options, say
        self._scorer, self._driver, self._stack = scorer, driver, stack
        assert isinstance(scorer.judge, RecordingJudge)
        self.judge = scorer.judge
        self.recording = scorer.judge.recording
        self._on_calls: dict[str, Trial] = {}
        self.rewrites: tuple[Challenger, ...] = ()

    @cached_property
    def calls(self) -> Calls:
        """All recorded calls, made again. Raises LmrError, SandboxError."""
        work = self._stack.enter_context(files.temporary_folder("lmr-author-again-"))
        fitted = {answer.name: self._fit(answer) for answer in self.rewrites}
        rewrites = {name: Variant(f"answer {name}", each.data, each.line) for name, each in fitted.items()}
        return record_again(self.trees, self.recording, self._driver, rewrites, work, self.say)

    @cached_property
    def judge_of_calls(self) -> RecordingJudge:
        work = self._stack.enter_context(files.temporary_folder("lmr-author-calls-"))
        others = [(call, "") for call in self.calls.others]
        return write_recording(work, self.trees, self.recording, self.calls, others, keep_cases=False)

    def on_cases(self, answer: Challenger) -> Trial:
        return _retried(lambda: self.run(self.judge, answer))

    def on_calls(self, answer: Challenger) -> Trial:
        """Run an answer on the other recorded calls, once. Raises InvalidAnswer, SandboxError."""
        if answer.name not in self._on_calls:
            self._on_calls[answer.name] = _retried(lambda: self.run(self.judge_of_calls, answer))
        return self._on_calls[answer.name]

    def run(self, judge: RecordingJudge, answer: Challenger) -> Trial:
        """Run an answer on the cases of a recording; after a timeout once more, as the machine may have been busy.

        Raises InvalidAnswer, SandboxError.
        """
        fitted, cases = self._fit(answer), judge.recording.cases
        if not cases:
            return Trial(judge, Replay({}, {}, ExecResult(0, b"", b"", 0.0)))
        limits = self.options.limits(cases)
        for _ in range(2):
            replay = judge.outcomes(fitted.data, fitted.line, limits, lambda: False)
            if all(outcome.status != "timeout" for outcome in replay.outcomes.values()):
                break
        return Trial(judge, replay)

    def _fit(self, answer: Challenger) -> FittedAnswer:
        task = self.trees.task.name
        prediction = Prediction(task, answer.index, answer.name, answer.name, code=answer.code)
        fitted = self._scorer.fit(prediction)
        if fitted.unchanged:
            raise InvalidAnswer("nothing was implemented: the target is as masked")
        return fitted

    def missing(self, answer: Challenger) -> DriverAdvice:
        """Return advice for a driver that distinguishes a misreading which agrees on every call."""
        calls, golden = self.calls, self.trees.golden_module
        target, _ = self.trees.pairs[0]
        summaries: list[Mapping[str, str]] = [case.summary for case in self.recording.cases]
        summaries += [call.summary for call in calls.others if not call.made_of]
        effects = {effect.kind.value: effect.names for effect in calls.uncompared()}
        if calls.differentiable:
            effects["gradients"] = calls.differentiable
        advice = missing(golden, target, self._fit(answer).data, summaries, calls.missed)
        return replace(advice, not_compared=effects)


def _retried(work: Callable[[], Result]) -> Result:
    """Do some work; retry if the sandbox fails. Raises its last error."""
    result, _ = retried(work, Event())
    if isinstance(result, LmrError):
        raise result
    return result


@dataclass(frozen=True)
class Line:
    number: int
    text: str


def missing(
    golden: Module,
    target: Definition,
    answer: bytes,
    summaries: Sequence[Mapping[str, str]],
    missed: Sequence[int],
) -> DriverAdvice:
    """Return the lines in which a misreading differs from the golden, and those that no recorded call shows.

    Args:
        target: in the golden file.
        answer: the goal file with the misreading.
        summaries: of all recorded calls: argument or attribute → its value, or its type and shape.
        missed: lines at which blocks begin that no recorded call reaches.
    """
    try:
        module = Module.parse(answer, golden.name)
        misreading = code.find(module, Target(golden.name, target.qualname, nth=target.nth)).function
    except LmrError:
        return DriverAdvice()
    before, after = _lines_of(target.function), _lines_of(misreading)
    numbers, diff = _difference(before, after)
    words = set(_WORD.findall("\n".join(diff)))
    # Backwards, so that the words from which a changed line is computed are among them.
    for line in reversed([*before, *after]):
        assigned, _, value = line.text.partition(" = ")
        if words.intersection(_WORD.findall(assigned)):
            words.update(_WORD.findall(value))
    unreached = {line for start in missed for line in range(start, code.block_end(golden.tree, start) + 1)}
    parameters = [parameter.arg for parameter, _ in code.parameters(target.function.args)]
    recorded = {_WORD.findall(path)[0] for summary in summaries for path in summary}
    return DriverAdvice(
        lines=tuple(numbers),
        diff="\n".join(diff[:MOST_LINES]),
        unreached=tuple(number for number in numbers if number in unreached),
        constant=_constant(summaries, words),
        not_given=tuple(name for name in parameters if name in words - recorded and name not in _OWN),
    )


def _difference(before: Sequence[Line], after: Sequence[Line]) -> tuple[list[int], list[str]]:
    old, new = ([line.text for line in lines] for lines in (before, after))
    numbers, diff = list[int](), list[str]()
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for kind, start, end, first, last in matcher.get_opcodes():
        if kind == "equal":
            continue
        removed, added = before[start:end], after[first:last]
        # An addition is placed after a line of the golden.
        numbers += [line.number for line in removed or before[max(start - 1, 0) : start]]
        diff += [f"-{line.text}" for line in removed]
        diff += [f"+{line.text}" for line in added]
    return list(dict.fromkeys(numbers)), diff


def _lines_of(function: FunctionNode) -> list[Line]:
    has_docstring = ast.get_docstring(function) is not None
    return list(_lines(function.body[1:] if has_docstring else function.body, ""))


def _lines(statements: Iterable[ast.stmt | ast.ExceptHandler], indent: str) -> Iterator[Line]:
    for statement in statements:
        text = indent + ast.unparse(statement)
        if not isinstance(getattr(statement, "body", None), list):
            yield Line(statement.lineno, text)
            continue
        yield Line(statement.lineno, text.splitlines()[0])
        for name, heading in (("body", ""), ("handlers", ""), ("orelse", "else:"), ("finalbody", "finally:")):
            block = getattr(statement, name, None) or ()
            if block and heading:
                yield Line(block[0].lineno, indent + heading)
            yield from _lines(block, indent if name == "handlers" else f"{indent}    ")


def _constant(summaries: Sequence[Mapping[str, str]], words: set[str]) -> dict[str, str]:
    """Return the named arguments, attributes and keys that are the same in every recorded call."""
    if not summaries:
        return {}
    alike = set.intersection(*(set(summary.items()) for summary in summaries))
    constant = {}
    for path, value in summaries[0].items():
        if (path, value) in alike and path not in _OWN and _WORD.findall(path)[-1] in words:
            constant[path] = value
    return dict(list(constant.items())[:MOST_NAMES])
