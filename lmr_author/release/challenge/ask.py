"""Ask a model for misreadings and rewrites of a task's functions. Each reply is stored and requested only once.

Models make plausible mistakes that mutation operators cannot make: Lei et al., SWE-Mutation, arXiv 2605.22175.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lmr_author.core import code, files
from lmr_author.core.errors import LmrError
from lmr_author.core.task import Implementation, Progress, Task, TaskInfo
from lmr_author.core.task import challenge as stored
from lmr_author.core.task.challenge import AnswerKind, Challenger
from lmr_author.core.task.record import Digest, Record, Text
from lmr_author.core.texts import shortened, told
from lmr_author.release.export.output import render
from lmr_author.release.models import prompts
from lmr_author.runtime.environment.where import find_versions, in_words
from lmr_author.runtime.replay.staging import read_golden

REPLIES = "challenge-replies"
"""Folder of ``authoring/`` with the replies."""
NUMBER = {AnswerKind.MISREADING: 6, AnswerKind.REWRITE: 2}
"""Versions of a function to request."""
INPUT_TOKENS = 60_000
"""Limit of a prompt: the last pages of a longer paper are cut."""
OUTPUT_TOKENS = 16_000
_VERSION = re.compile(
    r"^={3,}[ \t]*(?P<name>[^=\n]*[^=\s])[ \t]*=*[ \t]*\n"
    r"(?P<about>(?:(?!={3}|```|~~~).*\n)*)"
    r"(?P<code>(?P<fence>```+|~~~+).*\n(?:.*\n)*?(?P=fence))[ \t]*$",
    re.MULTILINE,
)
"""A name, a sentence, and a block of code, whose own lines may look like names."""
_LONGEST_SENTENCE = 300
_LONGEST_NAME = 40


@dataclass(frozen=True)
class ModelReply(Record):
    """A model's reply to one request: a file in `authoring/challenge-replies/`.

    Attributes:
        model: the model, as Inspect AI names it.
        prompt: SHA-256 of the prompt.
        text: the reply.
    """

    model: Text
    prompt: Digest
    text: str


@dataclass(frozen=True)
class AnswerRequest:
    """A request for misreadings or rewrites of one function, and the path and reply of an earlier run."""

    index: int
    kind: AnswerKind
    prompt: str
    path: Path
    reply: ModelReply | None

    @property
    def tokens(self) -> int:
        return round(len(self.prompt) / prompts.CHARACTERS)


def requests(task: Task, model: str, implementation: int | None = None) -> list[AnswerRequest]:
    """Return the requests to a model about a task, with the replies of earlier runs.

    Raises LmrError: nothing is masked, an unknown implementation, or no text of the paper.
    """
    info = task.load()
    chosen = [info.implementation(implementation)] if implementation is not None else info.implementations
    if not chosen:
        raise LmrError(f"nothing is masked in {task.name}", "mask a function: lmr-author mask FILE::FUNCTION")
    planned = []
    for target in chosen:
        for kind in AnswerKind:
            prompt = _prompt(task, info, target, kind)
            digest = files.sha256_bytes(f"{model}\n{prompt}".encode())
            path = task.authoring / REPLIES / f"{target.index}-{kind}-{digest[:12]}.json"
            planned.append(AnswerRequest(target.index, kind, prompt, path, ModelReply.read_if_valid(path)))
    return planned


def _prompt(task: Task, info: TaskInfo, target: Implementation, kind: AnswerKind) -> str:
    golden = code.Module.parse(read_golden(task, target), target.golden_file)
    function = code.statement_text(golden, code.find(golden, target.target).node)
    context = prompts.beside(task, info, target)
    versions_in_image = in_words(find_versions(task))
    question = render(f"challenge/{kind}.md.j2", item=target, number=NUMBER[kind])

    def write(pages: Sequence[prompts.Page], cut: str) -> str:
        material = render(
            "challenge/material.md.j2",
            info=info,
            item=target,
            golden=function,
            files=context,
            pages=pages,
            cut=cut,
            versions=versions_in_image,
        )
        return f"{material}\n{question}"

    prompt, _ = prompts.fit_pages(prompts.pages(task, info), INPUT_TOKENS, write)
    return prompt


def ask(task: Task, model: str, planned: Sequence[AnswerRequest], say: Progress) -> list[Challenger]:
    """Return the versions that a model wrote; requests with a stored reply are not sent again.

    Raises LmrError: Inspect AI is not installed, there is no such model, or its reply cannot be read.
    """
    before = stored.load(task)
    answers = before.answers if before else ()
    names = {(answer.index, answer.name) for answer in answers if answer.source != model}
    written = []
    for number, request in enumerate(planned, 1):
        reply = request.reply
        if reply is None:
            say(f"{number} of {len(planned)}: asking {model} for {request.kind}s of function {request.index}")
            reply = _ask(model, request)
            reply.write(request.path)
        for name, about, text in versions(reply.text):
            name = _distinct(name, request, names)
            names.add((request.index, name))
            written.append(
                Challenger(
                    index=request.index, name=name, kind=request.kind, about=about, code=text, source=model
                )
            )
    return written


def versions(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield name, sentence and fenced code of each version in a reply."""
    for match in _VERSION.finditer(text):
        yield match["name"], " ".join(match["about"].split())[:_LONGEST_SENTENCE], match["code"] + "\n"


def _distinct(name: str, request: AnswerRequest, names: set[tuple[int, str]]) -> str:
    """Return a name as a slug that no other answer to the function has."""
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:_LONGEST_NAME] or str(request.kind)
    unique, number = slug, 1
    while (request.index, unique) in names:
        number += 1
        unique = f"{slug}-{number}"
    return unique


def _ask(model: str, request: AnswerRequest) -> ModelReply:
    try:
        import anyio
        from inspect_ai.model import GenerateConfig, get_model
    except ImportError as error:
        raise LmrError(
            "--model needs Inspect AI", "in the checkout of lmr-author: pip install '.[inspect]'"
        ) from error

    async def generate() -> str:
        client = get_model(model, config=GenerateConfig(max_tokens=OUTPUT_TOKENS))
        output = await client.generate(request.prompt)
        return output.completion

    try:
        text = anyio.run(generate)
    except Exception as error:  # of a provider's client: each has its own
        raise LmrError(
            f"{model} gave no answer: {told(error)}",
            "check the model's name, as in openai/gpt-4o, and the provider's key; earlier replies are kept",
        ) from error
    if not any(versions(text)):
        start = shortened(" ".join(text.split()), 100)
        raise LmrError(
            f"{model} wrote no readable version: {start}",
            "run the same command again, which keeps earlier replies, or use another model",
        )
    return ModelReply(model, files.sha256_bytes(request.prompt.encode()), text)
