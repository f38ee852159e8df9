"""Ask a model for misreadings and rewrites of a task's functions. Every reply is kept, and asked for once.

Models' mistakes are plausible ones, which operators do not make: Lei et al., SWE-Mutation, arXiv 2605.22175.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lmr_author.core import code, files
from lmr_author.core.errors import LmrError
from lmr_author.core.task import Implementation, Progress, Task, TaskInfo
from lmr_author.core.task import challenge as stored
from lmr_author.core.task.challenge import Kind
from lmr_author.core.task.record import Count, Digest, Record, Text
from lmr_author.release.challenge.variants import Variant
from lmr_author.release.export.output import render
from lmr_author.release.models import prompts
from lmr_author.runtime.replay.staging import read_golden

REPLIES = "challenge-replies"
"""Folder of ``authoring/`` with the replies."""
NUMBER = {Kind.MISREADING: 6, Kind.REWRITE: 2}
"""How many versions of a function are asked for."""
INPUT_TOKENS = 60_000
"""The last pages of a longer paper are cut."""
OUTPUT_TOKENS = 16_000
_TRIES = 2
_AGAIN = (
    "Your reply has no version that can be read. Begin each with a line `=== short-name`, write one sentence, and "
    "then the complete function in one block that begins with ```python."
)
_NAME = re.compile(r"={3,}[ \t]*(?P<name>[^=\n]*[^=\s])[ \t]*=*[ \t]*")
_FENCE = re.compile(r"[ \t]*(```+|~~~+)")
_LONGEST_SENTENCE = 300


@dataclass(frozen=True)
class Reply(Record):
    """A model's reply to one request: a file in `authoring/challenge-replies/`.

    Attributes:
        model: the model, as Inspect AI names it.
        prompt: SHA-256 of what it was asked.
        text: what it replied.
        input_tokens: tokens that it read, as it counted.
        output_tokens: tokens that it wrote, likewise.
    """

    model: Text
    prompt: Digest
    text: str
    input_tokens: Count = 0
    output_tokens: Count = 0


@dataclass(frozen=True)
class Request:
    """One request: misreadings or rewrites of one function.

    Attributes:
        path: where the reply is kept.
        reply: the reply of an earlier run; None for none.
    """

    index: int
    kind: Kind
    prompt: str
    path: Path
    reply: Reply | None

    @property
    def tokens(self) -> int:
        """Length of the prompt in tokens, about."""
        return round(len(self.prompt) / prompts.CHARACTERS)


def requests(task: Task, model: str, implementation: int | None = None) -> list[Request]:
    """Return the requests to a model about a task, with the replies that are there.

    Raises LmrError: nothing is masked, an unknown implementation, or no text of the paper.
    """
    info = task.load()
    chosen = [info.implementation(implementation)] if implementation is not None else info.implementations
    if not chosen:
        raise LmrError(f"nothing is masked in {task.name}", "mask a function: lmr-author mask FILE::FUNCTION")
    planned = []
    for item in chosen:
        for kind in Kind:
            prompt = _prompt(task, info, item, kind)
            digest = files.sha256_bytes(f"{model}\n{prompt}".encode())
            path = task.authoring / REPLIES / f"{item.index}-{kind}-{digest[:12]}.json"
            planned.append(Request(item.index, kind, prompt, path, Reply.read_if_valid(path)))
    return planned


def ask(task: Task, model: str, planned: Sequence[Request], say: Progress) -> list[Variant]:
    """Return the versions that a model wrote. What it was asked before it is not asked again.

    Raises LmrError: Inspect AI is not installed, there is no such model, or it does not answer.
    """
    answered = []
    for number, request in enumerate(planned, 1):
        reply = request.reply
        if reply is None:
            say(f"{number} of {len(planned)}: asking {model} for {request.kind}s of function {request.index}")
            reply = _ask(model, request)
            reply.write(request.path)
        answered.append((request, reply))
    return _distinct(task, model, answered)


def versions(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield name, sentence and answer of each version in a reply; the answer still is as the model wrote it."""
    for name, lines in _sections(text.splitlines()):
        fence = next((number for number, line in enumerate(lines) if _FENCE.match(line)), None)
        if fence is None:
            continue
        sentence = " ".join(" ".join(lines[:fence]).split())[:_LONGEST_SENTENCE]
        yield name, sentence, "\n".join(lines[fence:]) + "\n"


def _sections(lines: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the lines below each line with a name. Inside of a fence, such a line is a part of the code."""
    name, section, fence = "", list[str](), ""
    for line in lines:
        mark = _FENCE.match(line)
        named = _NAME.fullmatch(line.strip())
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence):
            fence = ""
        elif named and not fence:
            if name:
                yield name, section
            name, section = named["name"], []
            continue
        section.append(line)
    if name:
        yield name, section


def _prompt(task: Task, info: TaskInfo, item: Implementation, kind: Kind) -> str:
    """Write a request. Of a long paper, the last pages are cut."""
    golden = code.Module.parse(read_golden(task, item), item.golden_file)
    function = code.find(golden, item.target)
    pages = prompts.pages(task, info)
    about = {
        "info": info,
        "item": item,
        "golden": code.statement_text(golden, function.node),
        "files": prompts.beside(task, info, item),
    }
    question = render(f"challenge/{kind}.md.j2", item=item, number=NUMBER[kind])
    for number in range(len(pages), -1, -1):
        cut = f"Pages {number + 1} to {len(pages)} of {len(pages)} are cut" if number < len(pages) else ""
        material = render("challenge/material.md.j2", pages=pages[:number], cut=cut, **about)
        if len(material) + len(question) <= INPUT_TOKENS * prompts.CHARACTERS:
            break
    return f"{material}\n{question}"


def _ask(model: str, request: Request) -> Reply:
    """Ask a model, once more where its reply holds no version."""
    try:
        import anyio
        from inspect_ai.model import ChatMessage, ChatMessageUser, GenerateConfig, get_model
    except ImportError as error:
        raise LmrError(
            "--model needs Inspect AI", "in the checkout of lmr-author: pip install '.[inspect]'"
        ) from error

    async def generate() -> Reply:
        asked = get_model(model, config=GenerateConfig(max_tokens=OUTPUT_TOKENS))
        conversation: list[ChatMessage] = [ChatMessageUser(content=request.prompt)]
        read = written = 0
        for _ in range(_TRIES):
            output = await asked.generate(conversation)
            if output.usage is not None:
                read += output.usage.input_tokens
                written += output.usage.output_tokens
            if any(versions(output.completion)):
                break
            conversation += [output.message, ChatMessageUser(content=_AGAIN)]
        digest = files.sha256_bytes(request.prompt.encode())
        return Reply(model, digest, output.completion, read, written)

    try:
        return anyio.run(generate)
    except Exception as error:  # of a provider's client: each has its own
        raise LmrError(
            f"{model} gave no answer: {type(error).__name__}: {error}"[:300],
            "check the name, as in openai/gpt-4o, and the provider's key; what was answered is kept",
        ) from error


def _distinct(task: Task, model: str, answered: Sequence[tuple[Request, Reply]]) -> list[Variant]:
    """Return the versions of some replies with names that no other answer to the task has."""
    before = stored.load(task)
    taken = {(one.index, one.name) for one in (before.answers if before else ()) if one.source != model}
    found = []
    for request, reply in answered:
        for name, about, text in versions(reply.text):
            slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40] or str(request.kind)
            unique, number = slug, 1
            while (request.index, unique) in taken:
                number += 1
                unique = f"{slug}-{number}"
            taken.add((request.index, unique))
            found.append(Variant(request.index, unique, request.kind, about, text, model))
    if not found:
        raise LmrError(
            f"{model} wrote no version that can be read",
            f"its replies are in {task.authoring / REPLIES}; remove them to ask again, or take another model",
        )
    return found
