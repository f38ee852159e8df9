"""Scripted models: what a model says, written beforehand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from inspect_ai import eval as inspect_eval
from inspect_ai.log import EvalLog, EvalSample
from inspect_ai.model import ChatMessage, Model, ModelOutput, ModelUsage, get_model

Say = Callable[[list[ChatMessage]], ModelOutput]
Call = tuple[str, dict[str, Any]]


def said(output: ModelOutput) -> ModelOutput:
    """Set the usage, which Inspect would count with a tokenizer that it downloads."""
    output.usage = ModelUsage(input_tokens=10, output_tokens=10, total_tokens=20)
    return output


def scripted(say: Say, name: str = "scripted") -> Model:
    """A model that says what a function returns."""
    return get_model(
        f"mockllm/{name}", custom_outputs=lambda messages, *_: said(say(messages)), memoize=False
    )


def answering(texts: Mapping[str, str], name: str = "scripted") -> Model:
    """A model that replies by a word of the prompt."""

    def say(messages: list[ChatMessage]) -> ModelOutput:
        [text] = [text for word, text in texts.items() if word in messages[-1].text]
        return ModelOutput.from_content(name, text)

    return scripted(say, name)


def acting(calls: Sequence[Call], name: str = "scripted") -> Model:
    """An agent that makes some calls, one after the other, then submits."""

    def say(messages: list[ChatMessage]) -> ModelOutput:
        number = sum(message.role == "assistant" for message in messages)
        function, arguments = calls[number] if number < len(calls) else ("submit", {"answer": "done"})
        return ModelOutput.for_tool_call(name, function, arguments)

    return scripted(say, name)


def run(task: str, logs: Path, model: Model | str, arguments: Mapping[str, Any], **options: Any) -> EvalLog:
    """Run a task of ours as `inspect eval` does."""
    [log] = inspect_eval(
        f"lmr_author/{task}",
        task_args=dict(arguments),
        model=model,
        log_dir=str(logs),
        display="none",
        **options,
    )
    assert log.status == "success", log.error and log.error.message
    return log


def samples(log: EvalLog) -> dict[str, EvalSample]:
    """The samples of a log by their ids."""
    return {str(sample.id): sample for sample in log.samples or []}
