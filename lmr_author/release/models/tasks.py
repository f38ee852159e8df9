"""The tasks of Inspect AI: one request, an agent, and answers that are there already."""

from __future__ import annotations

import atexit
from collections.abc import Callable, Iterator
from contextlib import ExitStack
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
from inspect_ai.solver import Generate, Solver, TaskState, generate, solver
from inspect_ai.tool import bash, text_editor
from inspect_ai.util import sandbox as sandbox_of
from inspect_ai.util import store

from lmr_author.core import files
from lmr_author.core.errors import LmrError, UsageError
from lmr_author.core.task import Implementation, Task, TaskInfo, by_name, tasks_at
from lmr_author.proof.evaluation.candidates import logs
from lmr_author.proof.evaluation.candidates import predictions as given
from lmr_author.proof.evaluation.candidates.answer import Invalid
from lmr_author.release.analysis.observations import INPUTS
from lmr_author.release.models import prompts
from lmr_author.release.models.images import COMPOSE, write_image
from lmr_author.release.models.scorers import golden_share, judge, unit_test
from lmr_author.runtime.replay.staging import tree_path

TOOL_SECONDS = 180
MESSAGES = 200
"""Messages of an agent's conversation, if ``--message-limit`` does not say otherwise."""

_log = getLogger(__name__)

P = ParamSpec("P")


def _user_errors(make: Callable[P, InspectTask]) -> Callable[P, InspectTask]:
    """Have Inspect show our errors as it shows its own, without a traceback."""

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
    context: str | list[str] = "",
    tokens: int = 100_000,
    sandbox: str = "local",
    python: str = "",
    base_image: str = "",
    gpus: str = "",
    jobs: int = 1,
) -> InspectTask:
    """Ask a model once for each function: paper, goal file, instruction and retrieval context.

    Args:
        tasks: a task, or a folder of tasks.
        input: what the model is given: signature, paper, paper+goal or repository.
        context: files and folders (of Python files) to show in place of the task's retrieval context; . for all.
        tokens: budget of a prompt; the paper's last pages are cut to fit.
        sandbox, python, base_image, gpus, jobs: of the unit test, as for ``lmr-author evaluate``.
    """
    _check_input(input, INPUTS)
    # Inspect splits what has a comma.
    chosen = [context] if isinstance(context, str) and context else list(context)
    samples = []
    for one, info, item in _problems(tasks):
        prompt = prompts.prompting(one, info, item, input, chosen, tokens)
        about = _about(one, item, "prompting", input)
        if prompt.cut:
            _log.warning("%s/%s: %s", one.name, item.index, prompt.cut)
            about["cut"] = prompt.cut
        samples.append(Sample(prompt.text, id=f"{one.name}/{item.index}", metadata=about))
    scorers = _scorers(tasks, sandbox, python, base_image, gpus, jobs)
    return InspectTask(MemoryDataset(samples), solver=generate(), scorer=scorers)


@task
@_user_errors
def agent(
    tasks: str,
    input: str = "repository",  # noqa: A002 - the paper's word, and the option's name
    sandbox: str = "docker",
    python: str = "",
    base_image: str = "",
    gpus: str = "",
    jobs: int = 1,
) -> InspectTask:
    """Let an agent with a shell and an editor work on each function, in a container without network, tests and goldens.

    Args:
        tasks: a task, or a folder of tasks.
        input: the files in the container: paper, paper+goal or repository.
        sandbox, python, gpus, jobs: of the unit test, as for ``lmr-author evaluate``.
        base_image: base image of the agent's container and of the unit test, in place of the Dockerfile's.
    """
    _check_input(input, INPUTS[1:])
    ending = ExitStack()
    atexit.register(ending.close)
    folder = ending.enter_context(files.temporary_folder("lmr-author-agents-"))
    samples = []
    for one, info, item in _problems(tasks):
        about = {**_about(one, item, "agent", input), "answer_file": f"{tree_path(info)}/{item.goal_file}"}
        # Only the goal file distinguishes the implementations of a task.
        place = folder / (f"{one.name}-goal-{item.index}" if input == "paper+goal" else f"{one.name}-{input}")
        if not place.exists():
            write_image(one, info, item, input, base_image, place)
        container = ("docker", str(place / COMPOSE))
        text = prompts.agent(one, info, item, input)
        samples.append(Sample(text, id=f"{one.name}/{item.index}", metadata=about, sandbox=container))
    scorers = _scorers(tasks, sandbox, python, base_image, gpus, jobs)
    return InspectTask(MemoryDataset(samples), solver=working_agent(), scorer=scorers, message_limit=MESSAGES)


@task
@_user_errors
def answers(
    tasks: str,
    predictions: str,
    sandbox: str = "local",
    python: str = "",
    base_image: str = "",
    gpus: str = "",
    jobs: int = 1,
) -> InspectTask:
    """Score answers that are there already, with ``--model none``.

    Args:
        tasks: a task, or a folder of tasks.
        predictions: as for ``lmr-author evaluate --predictions``: JSONL, a log, a folder of logs or task folders.
        sandbox, python, base_image, gpus, jobs: of the unit test, as for ``lmr-author evaluate``.
    """
    known = by_name(tasks_at([Path(tasks)]), "samples")
    found = given.read(Path(predictions), {name: one.load() for name, one in known.items()})
    samples = []
    for item in found.items:
        one = known[item.task]
        implementation = one.load().implementation(item.index)
        about = _about(one, implementation, item.setting, item.input)
        about |= {"model": item.model, "sample": item.sample, "answer": _text(one, implementation, item)}
        name = "/".join(map(str, (item.task, item.index, item.model, item.setting, item.input, item.sample)))
        samples.append(Sample(implementation.instruction, id=name, metadata=about))
    scorers = _scorers(tasks, sandbox, python, base_image, gpus, jobs)
    return InspectTask(MemoryDataset(samples), solver=given_answer(), scorer=scorers)


@solver
def working_agent() -> Solver:
    """Let an agent work, and keep the goal file that it leaves, also when a limit ends it."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        working = AgentState(messages=state.messages)
        try:
            tools = [bash(TOOL_SECONDS), text_editor(TOOL_SECONDS)]
            await react(tools=tools, submit=AgentSubmit(keep_in_messages=True))(working)
        finally:
            state.messages, state.output = working.messages, working.output
            with anyio.CancelScope(shield=True):
                # The container is gone when a finished log is scored again.
                store().set(logs.ANSWER, await _collect(state.metadata["answer_file"]))
        return state

    return solve


@solver
def given_answer() -> Solver:
    """Take the answer from the sample."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state.output = ModelOutput.from_content(state.metadata["model"], state.metadata["answer"])
        return state

    return solve


async def _collect(path: str) -> str:
    """Return the goal file that an agent left; "" without one."""
    try:
        data = await sandbox_of().read_file(path, text=False)
    except (OSError, ValueError, RuntimeError) as error:
        _log.info("the agent left no %s: %s", path, error)
        return ""
    return data.decode("utf-8", errors="replace")


def _scorers(tasks: str, sandbox: str, python: str, base_image: str, gpus: str, jobs: int) -> list[Scorer]:
    """Return the scorers of a task; a model judges if there is one in the role ``grader``."""
    folder = str(Path(tasks).resolve())
    found = [unit_test(folder, sandbox, python, base_image, gpus, jobs), golden_share(folder)]
    return [*found, judge(folder)] if "grader" in model_roles() else found


def _problems(tasks: str) -> Iterator[tuple[Task, TaskInfo, Implementation]]:
    for one in by_name(tasks_at([Path(tasks)]), "samples").values():
        info = one.load()
        for item in info.implementations:
            yield one, info, item


def _about(one: Task, item: Implementation, setting: str, input_: str) -> dict[str, Any]:
    about = {"task": one.name, "index": item.index, "category": item.category}
    return about | {"setting": setting, "input": input_}


def _check_input(value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise UsageError(f"input {value!r} is unknown", f"one of: {', '.join(allowed)}")


def _text(one: Task, item: Implementation, prediction: given.Prediction) -> str:
    """Return an answer as text: of a patch or a tree, the goal file as it is afterwards."""
    if prediction.code is not None:
        return prediction.code
    repository = one.repository(one.load())
    try:
        changed = given.changed_files(prediction, repository, item.goal_file)
    except Invalid:
        return prediction.patch or ""
    return changed.get(item.goal_file, b"").decode("utf-8", errors="replace")
