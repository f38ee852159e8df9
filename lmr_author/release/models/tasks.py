"""Tasks of Inspect AI: one request, an agent, and existing answers."""

from __future__ import annotations

import atexit
import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import asdict
from functools import wraps
from logging import getLogger
from pathlib import Path
from typing import Any, ParamSpec

import anyio
from inspect_ai import Task as InspectTask
from inspect_ai import task
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.agent import AgentState, AgentSubmit, react
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ModelOutput, model_roles
from inspect_ai.scorer import Scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import bash, text_editor
from inspect_ai.util import sandbox as sandbox_of
from inspect_ai.util import store

from lmr_author.core import files
from lmr_author.core.errors import LmrError, UsageError
from lmr_author.core.task import Implementation, Task, TaskInfo, by_name, tasks_at
from lmr_author.core.texts import did_you_mean
from lmr_author.proof.evaluation.candidates import logs
from lmr_author.proof.evaluation.candidates.predictions import read as read_predictions
from lmr_author.release.analysis.model_input import ModelInput
from lmr_author.release.models import prompts
from lmr_author.release.models.images import COMPOSE, remove_images, write_image
from lmr_author.release.models.scorers import golden_share, judge, unit_test
from lmr_author.runtime.replay.staging import tree_path

TOOL_SECONDS = 180
MESSAGES = 200
"""Messages of an agent's conversation, unless ``--message-limit`` is given."""

MOST_ERRORS = 0.5
"""Share of samples that may end in an error: one never stops an eval, but a provider that is down does."""
JUDGING = ("sandbox", "python", "base_image", "gpus", "jobs")
"""Options of ``-T`` for the unit test, as for ``lmr-author evaluate``."""
OPTIONS = ("tasks", "input", "tokens", "predictions", *JUDGING)
"""Options of ``-T`` of any of the tasks: ``eval-set`` gives all of them to each."""

_log = getLogger(__name__)

P = ParamSpec("P")


def _user_errors(make: Callable[P, InspectTask]) -> Callable[P, InspectTask]:
    """Let Inspect show our errors as it shows its own, without a traceback."""

    @wraps(make)
    def wrapper(*arguments: P.args, **options: P.kwargs) -> InspectTask:
        try:
            return make(*arguments, **options)
        except LmrError as error:
            raise PrerequisiteError(f"error: {error.message}\nhint: {error.hint}") from error

    return wrapper


@task
@_user_errors
def prompting(
    tasks: str,
    input: str = "repository",  # noqa: A002 - the paper's word, and the option's name
    tokens: int = 100_000,
    **options: Any,
) -> InspectTask:
    """Ask a model once for each function: paper, goal file, instruction and retrieval context.

    Args:
        tasks: a task, or a folder of tasks.
        input: the model's input besides the signature: repository (paper+goal+context), paper+goal, paper,
            signature; or other parts: whole (all Python files), as in goal+context.
        tokens: budget of a prompt; the paper's last pages are cut to fit.
        options: of the unit test, as for ``lmr-author evaluate``: sandbox, python, base_image, gpus, jobs.
    """
    _refuse_unknown(options)
    if not isinstance(tokens, int) or tokens < 1:
        raise UsageError(f"-T tokens={tokens}: not a number of tokens", "as in -T tokens=100000")
    model_input = ModelInput.parse(input)
    samples = []
    for owner, info, implementation in _problems(tasks):
        about = _about(owner, implementation, "prompting", model_input.name)
        try:
            prompt, cut = prompts.prompting(owner, info, implementation, model_input, tokens)
        except (LmrError, OSError) as error:
            samples.append(_broken(about, error))
            continue
        if cut:
            _log.warning("%s/%s: %s", owner.name, implementation.index, cut)
            about["cut"] = cut
        samples.append(Sample(prompt, id=f"{owner.name}/{implementation.index}", metadata=about))
    return InspectTask(
        MemoryDataset(samples),
        solver=asked_once(),
        scorer=_scorers(tasks, options),
        fail_on_error=MOST_ERRORS,
    )


@task
@_user_errors
def agent(
    tasks: str,
    input: str = "repository",  # noqa: A002 - the paper's word, and the option's name
    **options: Any,
) -> InspectTask:
    """Let an agent with a shell and an editor work on each function, in a container without network, tests and goldens.

    Args:
        tasks: a task, or a folder of tasks.
        input: the files in the container: repository (all of it), paper+goal, paper; whole without the paper.
        options: of the unit test, as for ``lmr-author evaluate``: sandbox (docker unless it is given), python,
            gpus, jobs; and base_image, of the agent's container, too, in place of the Dockerfile's.
    """
    _refuse_unknown(options)
    model_input = ModelInput.parse(input)
    ending = ExitStack()
    atexit.register(ending.close)
    folder = ending.enter_context(files.temporary_folder("lmr-author-agents-"))
    samples, images = [], set[str]()
    ending.callback(remove_images, images)
    for owner, info, implementation in _problems(tasks):
        about = {
            **_about(owner, implementation, "agent", model_input.name),
            "agent": "react",
            "answer_file": f"{tree_path(info)}/{implementation.goal_file}",
        }
        # Where only the goal file is shown, it distinguishes the implementations of a task.
        alone = "goal" in model_input and not model_input.has_tree
        context = folder / (
            f"{owner.name}-{model_input.name}" + (f"-{implementation.index}" if alone else "")
        )
        base_image = options.get("base_image", "")
        try:
            if not context.exists():
                images.add(write_image(owner, info, implementation, model_input, base_image, context))
            text = prompts.agent(owner, info, implementation, model_input, base_image)
        except (LmrError, OSError) as error:
            samples.append(_broken(about, error))
            continue
        container = ("docker", str(context / COMPOSE))
        samples.append(
            Sample(text, id=f"{owner.name}/{implementation.index}", metadata=about, sandbox=container)
        )
    return InspectTask(
        MemoryDataset(samples),
        solver=working_agent(),
        scorer=_scorers(tasks, {"sandbox": "docker", **options}),
        message_limit=MESSAGES,
        fail_on_error=MOST_ERRORS,
    )


@task
@_user_errors
def answers(tasks: str, predictions: str, **options: Any) -> InspectTask:
    """Score existing answers, with ``--model none``.

    Args:
        tasks: a task, or a folder of tasks.
        predictions: as for ``lmr-author judge --predictions``: JSONL, a log, a folder of logs or task folders.
        options: of the unit test, as for ``lmr-author evaluate``: sandbox, python, base_image, gpus, jobs.
    """
    _refuse_unknown(options)
    owners = by_name(tasks_at([Path(tasks)]), "samples")
    answers_there = read_predictions(
        Path(predictions), {name: owner.load() for name, owner in owners.items()}
    )
    samples = []
    for prediction in answers_there.items:
        owner = owners[prediction.task]
        implementation = owner.load().implementation(prediction.index)
        about = _about(owner, implementation, prediction.setting, prediction.input)
        about |= asdict(prediction.key)
        if prediction.error:
            about |= {logs.BROKEN: prediction.reason, "error": prediction.error}
        else:
            about |= {"answer": prediction.code, "is_file": prediction.is_file}
        name = "/".join(filter(None, map(str, asdict(prediction.key).values())))
        samples.append(Sample(implementation.instruction, id=name, metadata=about))
    return InspectTask(MemoryDataset(samples), solver=given_answer(), scorer=_scorers(tasks, options))


@solver
def asked_once() -> Solver:
    """Ask the model once; not at all if its prompt could not be written."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        return state if logs.BROKEN in state.metadata else await generate(state)

    return solve


@solver
def working_agent() -> Solver:
    """Let an agent work, and keep the goal file that it leaves, also when a limit ends it."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        if logs.BROKEN in state.metadata:
            return state
        working = AgentState(messages=state.messages)
        try:
            tools = [bash(TOOL_SECONDS), text_editor(TOOL_SECONDS)]
            await react(tools=tools, submit=AgentSubmit(keep_in_messages=True))(working)
        finally:
            state.messages, state.output = working.messages, working.output
            await _keep_goal_file(state)
        return state

    return solve


@solver
def kept_goal_file() -> Solver:
    """Keep the goal file that an agent left: the last step of a solver that replaces ours."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        await _keep_goal_file(state)
        return state

    return solve


async def _keep_goal_file(state: TaskState) -> None:
    """Store the goal file in the log: the container is gone when a finished log is scored again."""
    with anyio.CancelScope(shield=True):
        store().set(logs.ANSWER, await _collect(state.metadata["answer_file"]))


@solver
def given_answer() -> Solver:

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        if logs.BROKEN not in state.metadata:
            state.output = ModelOutput.from_content(state.metadata["model"], state.metadata["answer"])
            if state.metadata["is_file"]:
                store().set(logs.ANSWER, state.metadata["answer"])
        return state

    return solve


async def _collect(path: str) -> str:
    try:
        data = await sandbox_of().read_file(path, text=False)
    except (OSError, ValueError, RuntimeError) as error:
        _log.info("the agent left no %s: %s", path, error)
        return ""
    return data.decode("utf-8", errors="replace")


def _scorers(tasks: str, options: Mapping[str, Any]) -> list[Scorer]:
    folder = str(Path(tasks).resolve())
    judging = {name: value for name, value in options.items() if name in JUDGING}
    scorers = [unit_test(folder, **judging), golden_share(folder)]
    return [*scorers, judge(folder)] if "grader" in model_roles() else scorers


def _problems(tasks: str) -> Iterator[tuple[Task, TaskInfo, Implementation]]:
    for owner in by_name(tasks_at([Path(tasks)]), "samples").values():
        info = owner.load()
        for implementation in info.implementations:
            yield owner, info, implementation


def _about(owner: Task, implementation: Implementation, setting: str, input_: str) -> dict[str, Any]:
    return {
        "task": owner.name,
        "index": implementation.index,
        "category": implementation.category,
        "setting": setting,
        "input": input_,
    }


def _refuse_unknown(options: Iterable[str]) -> None:
    """Raise UsageError for an unknown option of ``-T``: Inspect only warns, and runs without it."""
    for name in options:
        if name not in OPTIONS:
            close = difflib.get_close_matches(name, OPTIONS, 1)
            hint = did_you_mean(close, f"one of: {', '.join(OPTIONS)}")
            raise UsageError(f"-T {name}: there is no such option", hint)


def _broken(about: dict[str, Any], error: Exception) -> Sample:
    """Return a placeholder for a sample that cannot be made: it is not sent, and scored as unjudged."""
    _log.warning("%s/%s: %s", about["task"], about["index"], error)
    name = f"{about['task']}/{about['index']}"
    failed = {**about, logs.BROKEN: str(error), "error": type(error).__name__}
    return Sample(f"This sample could not be made: {error}", id=name, metadata=failed)
