"""Scorers: the unit test, a model that judges, and how much of the golden an answer repeats.

Answers are judged here, never in the agent's container, with the judge of ``judge --predictions``.
"""

from __future__ import annotations

import atexit
import threading
from collections import Counter
from functools import partial
from pathlib import Path

import anyio
from inspect_ai.log import transcript
from inspect_ai.model import ChatMessage, ChatMessageUser, GenerateConfig, get_model
from inspect_ai.scorer import Score, Scorer, Target, accuracy, frequency, mean, scorer, stderr
from inspect_ai.solver import TaskState
from inspect_ai.util import concurrency

from lmr_author.core.code import FunctionNode, parse
from lmr_author.core.errors import LmrError
from lmr_author.core.task import Task, by_name, tasks_at
from lmr_author.proof.evaluation.candidates import logs
from lmr_author.proof.evaluation.candidates.predictions import Prediction
from lmr_author.proof.evaluation.candidates.results import CandidateResult
from lmr_author.proof.evaluation.candidates.run import judged
from lmr_author.proof.evaluation.candidates.scorer import CandidateOptions, TaskScorer
from lmr_author.proof.evaluation.verdict import Outcome
from lmr_author.proof.leaks import statements
from lmr_author.release.analysis.grades import GRADES, UNPARSABLE, read_grade
from lmr_author.release.models.prompts import judging
from lmr_author.release.review.score import answer
from lmr_author.runtime.environment.where import LOCAL, Where

_TRIES = 2
_AGAIN = "Your reply has no readable grade. End with one line: GRADE: CC, GRADE: LC or GRADE: LI."
_LOG_LINES = 10

_ready: dict[tuple[Path, CandidateOptions], TaskScorer] = {}
"""Tasks whose sandboxes stay open for more answers: preparing one takes longer than judging an answer."""


@scorer(metrics=[accuracy(), stderr()])
def unit_test(
    tasks: str, sandbox: str = LOCAL, python: str = "", base_image: str = "", gpus: str = "", jobs: int = 1
) -> Scorer:
    """Run the unit test of a task on an answer.

    An answer that could not be judged (no sandbox, a golden that does not pass) is unscored, never wrong.

    Args:
        tasks: folder of the tasks.
        sandbox, python, base_image, gpus: as for ``lmr-author evaluate``.
        jobs: answers judged side by side.
    """
    where = Where(sandbox, Path(python) if python else None, base_image, gpus)
    options = CandidateOptions(Path(), jobs, where)
    folder = Path(tasks)

    async def score(state: TaskState, target: Target) -> Score:
        if failure := _unanswered(state):
            return failure
        stop = threading.Event()
        async with concurrency("lmr-author unit tests", jobs):
            work = partial(_judge, _task(folder, state), options, _prediction(state), stop)
            try:
                result = await anyio.to_thread.run_sync(work, abandon_on_cancel=True)
            except LmrError as error:
                return _unscored(type(error).__name__, error.message)
            finally:
                stop.set()
        text, about = _explain(result), result.to_json()
        if result.outcome is Outcome.UNJUDGED:
            return Score.unscored(reason="scoring_failed", explanation=text, metadata=about)
        value = "C" if result.outcome is Outcome.PASSED else "I"
        return Score(value=value, answer=_answer(state), explanation=text, metadata=about)

    return score


@scorer(metrics=[frequency(categories=[*GRADES, UNPARSABLE])])
def judge(tasks: str, prompt: str = "function", temperature: float = 0.0) -> Scorer:
    """Have the model of the role ``grader`` grade an answer: completely correct, logically correct or incorrect.

    A reply without a grade is asked for it once more, and counts as ``unparsable`` then. The log holds the golden, as a
    part of the grader's prompt.

    Args:
        tasks: folder of the tasks.
        prompt: ``function``, or ``paper`` (whole files, as in LMR-Bench's appendix C).
        temperature: of the grader.
    """
    folder = Path(tasks)

    async def score(state: TaskState, target: Target) -> Score:
        if failure := _unanswered(state):
            return failure
        task = _task(folder, state)
        candidate = answer(task, _prediction(state))
        text, version = judging(task.load(), candidate, prompt)
        model, config = get_model(role="grader", required=True), GenerateConfig(temperature=temperature)
        conversation: list[ChatMessage] = [ChatMessageUser(content=text)]
        for asked in range(1, _TRIES + 1):  # noqa: B007 - stored below
            try:
                reply = await model.generate(conversation, config=config)
            except Exception as error:  # whatever its client raises: the answer's own scores stay
                return _unscored(type(error).__name__, str(error))
            grade = read_grade(reply.completion)
            if grade:
                break
            conversation += [reply.message, ChatMessageUser(content=_AGAIN)]
        about = {
            "grader": reply.model,
            "temperature": temperature,
            "prompt": version,
            "asked": asked,
            "golden_sha256": candidate.golden_sha256,
        }
        value = grade or UNPARSABLE
        return Score(value=value, answer=candidate.text, explanation=reply.completion, metadata=about)

    return score


@scorer(metrics=[mean()])
def golden_share(tasks: str) -> Scorer:
    """Measure how much of the golden an answer repeats word for word: with ``input=signature``, what was memorised.

    The share is that of the golden's statements, variable names included, weighted by how distinctive they are.

    Args:
        tasks: folder of the tasks.
    """
    folder = Path(tasks)

    async def score(state: TaskState, target: Target) -> Score:
        if failure := _unanswered(state):
            return failure
        candidate = answer(_task(folder, state), _prediction(state))
        own, golden = _statements(candidate.text), _statements(candidate.golden)
        left = Counter(statement.exact for statement in own)
        same = 0.0
        for statement in golden:
            if left[statement.exact]:
                left[statement.exact] -= 1
                same += statement.weight
        return Score(value=same / max(sum(statement.weight for statement in golden), 1e-9))

    return score


def _unanswered(state: TaskState) -> Score | None:
    """Return the score of a sample without an answer; None if there is one."""
    about = state.metadata
    if logs.BROKEN in about:
        return _unscored(about["error"], about[logs.BROKEN])
    events = transcript().events
    for event in events:
        if event.event == "error":  # Inspect scores it with `--score-on-error` only
            return _unscored(logs.name_of_error(event.error), event.error.message)
    limited = any(event.event == "sample_limit" for event in events)
    has_answer = limited or logs.ANSWER in state.store or "answer" in about
    failure = None if has_answer else logs.missing_output(state.output)
    return _unscored(*failure) if failure else None


def _unscored(error: str, reason: str) -> Score:
    about = {"outcome": Outcome.UNJUDGED.value, "error": error, "reason": reason}
    return Score.unscored(reason="scoring_failed", explanation=reason, metadata=about)


def _task(folder: Path, state: TaskState) -> Task:
    name, tasks = state.metadata["task"], by_name(tasks_at([folder]), "samples")
    if name not in tasks:
        raise LmrError(f"{name} is not in {folder}", "name the folder of the tasks: -S tasks=DIR")
    return tasks[name]


def _answer(state: TaskState) -> str:
    # `Store.get` would store its default, and the next scorer take a reply for the file that an agent left.
    return str(state.store.get(logs.ANSWER)) if logs.ANSWER in state.store else state.output.completion


def _prediction(state: TaskState) -> Prediction:
    about = state.metadata
    is_file = logs.ANSWER in state.store
    return Prediction(
        about["task"],
        about["index"],
        str(state.model),
        "",
        state.epoch,
        code=_answer(state),
        is_file=is_file,
    )


def _judge(
    task: Task, options: CandidateOptions, prediction: Prediction, stop: threading.Event
) -> CandidateResult:
    key = task.root, options
    if key not in _ready:
        _ready[key] = TaskScorer(task, options, lambda _: None)
        atexit.register(_ready[key].close)
    return judged(_ready[key], prediction, "", stop)


def _explain(result: CandidateResult) -> str:
    lines = [f"{result.outcome.value}: {result.reason}" if result.reason else result.outcome.value]
    failed = [case for case in result.cases if case.outcome is not Outcome.PASSED]
    if failed:
        lines.append(f"{len(failed)} of {len(result.cases)} cases failed:")
        lines += [f"- {case.case}: {case.reason}" for case in failed]
    if result.dropped:
        lines.append(f"not applied, as outside of the target: {', '.join(result.dropped)}")
    if result.outcome is not Outcome.PASSED:
        lines += result.log.splitlines()[-_LOG_LINES:]
    return "\n".join(lines)


def _statements(text: str) -> list[statements.Statement]:
    try:
        tree = parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    functions = [node for node in tree.body if isinstance(node, FunctionNode)]
    return [statement for node in functions for statement in statements.of_function(node)]
