"""The model at its desk: a loop that keeps every message. Inspect AI brings models, their calls and the log."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence

from inspect_ai import Task as InspectTask
from inspect_ai import eval as run_eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    GenerateConfig,
    ModelOutput,
    execute_tools,
    get_model,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import ToolDef
from pydantic import TypeAdapter

from lmr_author.authoring.suggesting import suggest_repository
from lmr_author.core import files, processes, resources, texts
from lmr_author.core.errors import LmrError
from lmr_author.core.paper.parts import sections
from lmr_author.core.task import Progress
from lmr_author.release.drafting.desk import DESKS, Desk, DraftOptions
from lmr_author.release.drafting.rounds import craft
from lmr_author.release.drafting.tools import Tools, file_names
from lmr_author.release.export.output import render
from lmr_author.release.recipes.side_by_side import interrupt_workers
from lmr_author.runtime.environment import interpreters
from lmr_author.runtime.environment.build import ask_inventory
from lmr_author.runtime.environment.packages import table
from lmr_author.runtime.environment.where import DOCKER, LOCAL, Where
from lmr_author.runtime.sandbox.local import LocalSandbox

OUTPUT_TOKENS, RETRIES = 16_000, 6
TOOL_BYTES = 48 * 1024
"""Size of a tool's answer; of a longer one, the middle is left out."""
SILENT = 3
"""Replies in a row that use no tool and end a draft."""
SUGGESTED = 25
"""Functions that are listed for the model, the best first."""
LONG_TOKENS = 120_000
"""Length of a conversation above which old answers of tools are shortened."""
_RECENT, _SHORT = 8, 400
_HISTORY = TypeAdapter(list[ChatMessage])


class Agent:
    def __init__(self, options: DraftOptions) -> None:
        self.options = options
        self._bugs: list[Exception] = []
        try:
            self.model = get_model(
                options.model, config=GenerateConfig(max_tokens=OUTPUT_TOKENS, max_retries=RETRIES)
            )
        except Exception as error:  # of a provider's client: each has its own
            raise LmrError(
                f"{options.model}: {texts.told(error)}",
                "name a model as in openai/gpt-4o, install its provider's package, and set its key",
            ) from error

    def work(self, desks: Sequence[Desk], say: Progress, show: Progress) -> None:
        """Work on drafts until each of them ends; each desk's state says how."""
        if not desks:
            return
        samples = [Sample(desk.state.name, id=desk.state.name) for desk in desks]
        task = InspectTask(MemoryDataset(samples), solver=self._drafting(desks, say, show), name="draft")
        try:
            with processes.safe_path():
                run_eval(
                    task,
                    model=self.model,
                    display="none",
                    log_dir=str(self.options.out / DESKS / "logs"),
                    max_samples=self.options.jobs,
                    fail_on_error=False,
                    score=False,
                )
        finally:
            interrupt_workers()
        for bug in self._bugs:  # Inspect only logs what a solver raises
            raise bug

    def _drafting(self, desks: Sequence[Desk], say: Progress, show: Progress) -> Solver:
        by_name = {desk.state.name: desk for desk in desks}

        @solver
        def drafting() -> Solver:
            async def solve(state: TaskState, generate: Generate) -> TaskState:
                desk = by_name[str(state.sample_id)]
                try:
                    state.messages = await self.converse(desk, say, show)
                except Exception as error:
                    self._bugs.append(error)
                    raise
                return state

            return solve

        return drafting()

    async def converse(self, desk: Desk, say: Progress, show: Progress) -> list[ChatMessage]:
        """Talk to the model until the draft ends; the conversation is stored after each step."""
        tools = Tools(desk, self.options, say, show).all()
        messages = _begin(desk, self.options)
        while not desk.state.ending:
            began = time.monotonic()
            last = messages[-1]
            if isinstance(last, ChatMessageAssistant) and last.tool_calls:
                messages += (await execute_tools(messages, tools, TOOL_BYTES)).messages
            elif over := desk.state.over(self.options.budget):
                desk.end("limit", over)
            else:
                show(f"{desk.state.name}: waiting for the model")
                await self._reply(desk, messages, tools)
            _keep(desk, messages)
            desk.note(seconds=round(desk.state.seconds + time.monotonic() - began, 1))
        say(f"{desk.state.name}: {desk.state.ending}")
        return messages

    async def _reply(self, desk: Desk, messages: list[ChatMessage], tools: Sequence[ToolDef]) -> None:
        """Add the model's next message; end the draft if it refuses, uses no tools, or cannot be reached."""
        if isinstance(messages[-1], ChatMessageAssistant):
            messages.append(ChatMessageUser(content=render("draft/go-on.md.j2")))
        try:
            output = await self.model.generate(messages, list(tools))
        except Exception as error:  # of a provider's client: each has its own
            desk.end("error", texts.told(error))
            return
        messages.append(output.message)
        _count(desk, output)
        if output.stop_reason == "content_filter":
            desk.end("refused", output.message.text)
        elif output.stop_reason == "model_length":
            desk.end("error", "the conversation is too long for this model")
        elif _silent(messages) >= SILENT:
            desk.end("silent", output.message.text)
        if output.usage and output.usage.total_tokens > LONG_TOKENS:
            _shorten(messages)


def _begin(desk: Desk, options: DraftOptions) -> list[ChatMessage]:
    if desk.messages.is_file():
        return list(_HISTORY.validate_json(desk.messages.read_bytes()))
    ranking = suggest_repository(desk.repository, desk.folder / "paper.json", SUGGESTED)
    first = render(
        "draft/begin.md.j2",
        state=desk.state,
        pages=len(desk.pages),
        sections=sections(desk.pages),
        suggestions=ranking.suggestions,
        notes=ranking.notes,
        files=file_names(desk.repository, ""),
        place=_runs_in(options.where),
        recipe=(desk.recipe / "recipe.yaml").read_text("utf-8"),
    )
    fields = json.dumps(resources.schema("recipe"))
    system = render("draft/system.md.j2", craft=craft(), fields=fields, rounds=options.budget.rounds)
    return [ChatMessageSystem(content=system), ChatMessageUser(content=first)]


def _runs_in(where: Where) -> dict[str, str]:
    """Return a description of the sandbox for the model: installed packages, available Pythons."""
    if where.kind == DOCKER:
        return {"kind": DOCKER}
    if where.python is None:
        return {
            "kind": LOCAL,
            "pythons": ", ".join(minor for minor in table("pythons") if interpreters.find(minor)),
        }
    with LocalSandbox(where.python) as sandbox:
        sandbox.prepare()
        there = ask_inventory(sandbox)
    packages = ", ".join(f"{name} {version}" for name, version in sorted(there.packages.items()))
    return {"kind": LOCAL, "python": there.python, "packages": packages}


def _keep(desk: Desk, messages: list[ChatMessage]) -> None:
    files.write_bytes(desk.messages, _HISTORY.dump_json(messages, exclude_none=True))


def _count(desk: Desk, output: ModelOutput) -> None:
    if usage := output.usage:
        desk.note(
            tokens=desk.state.tokens + usage.total_tokens, cost=desk.state.cost + float(usage.total_cost or 0)
        )


def _silent(messages: Sequence[ChatMessage]) -> int:
    """Count the last replies in a row that use no tool."""
    replies = [message for message in messages if isinstance(message, ChatMessageAssistant)]
    used = [number for number, message in enumerate(replies) if message.tool_calls]
    return len(replies) - 1 - (used[-1] if used else -1)


def _shorten(messages: list[ChatMessage]) -> None:
    """Shorten all but the last few answers of tools; the model can ask for them again."""
    answers = [message for message in messages if isinstance(message, ChatMessageTool)]
    for message in answers[:-_RECENT]:
        if len(message.text) > _SHORT or not isinstance(message.content, str):
            message.content = f"{message.text[:_SHORT]}\n… (shortened: use the tool again)"
