"""Read a model's reply as a person would, from beginning to end.

A reply that is valid Python is used unchanged. Otherwise Python fences, edits, and code between prose are read in
order, skipping thoughts. An edit applies to the latest version before it. Replies are untrusted: the time is bounded.
"""

from __future__ import annotations

import html
import itertools
import re
from collections.abc import Sequence
from dataclasses import replace

from lmr_author.core.code import Definition, Module
from lmr_author.proof.evaluation.candidates.reply import (
    AnswerReply,
    Block,
    Edit,
    InvalidAnswer,
    UnreadCode,
    apply_edit,
    find_places,
    is_of_file,
    parsed_block,
    parsed_module,
)
from lmr_author.proof.evaluation.candidates.walk import Part, Walk

MAX_ANSWER = 2 * 2**20
"""Characters of an answer; a longer one is invalid."""


def read(text: str, goal: Module, targets: tuple[Definition, ...], *, is_file: bool = False) -> AnswerReply:
    """Read a reply. Raises InvalidAnswer: too long, empty, not Python, or an edit that does not apply.

    Args:
        goal: the goal file as the model saw it, to apply edits to.
        is_file: it is the goal file that an agent left, and no reply.
    """
    if len(text) > MAX_ANSWER:
        raise InvalidAnswer(f"the answer has {len(text)} characters; the limit is {MAX_ANSWER}")
    text = re.sub(r"\r\n?", "\n", text.removeprefix("\ufeff"))
    if not text.strip():
        raise InvalidAnswer("the answer is empty")
    if is_file:
        return AnswerReply((parsed_block(text, "the file"),))
    walk = Walk(_final(_unescaped(text)))
    reply = replace(_fold(walk.parts, goal, targets), seen=tuple(walk.seen))
    if reply.elsewhere and not reply.blocks:
        raise InvalidAnswer(f"the answer changes {', '.join(reply.elsewhere[:3])}, not {goal.name}")
    if not reply.blocks:
        raise InvalidAnswer(reply.unread[-1].message if reply.unread else _without_code(walk, text))
    return reply


def _without_code(walk: Walk, text: str) -> str:
    if walk.thought:
        return "the answer has no code: its thinking never ends"
    seen = f", but {', '.join(list(walk.seen)[:3])}" if walk.seen else ""
    begin = " ".join(text[:200].split())[:60]
    return f"the answer has no Python code{seen}; it begins with {begin!r}"


def _unescaped(text: str) -> str:
    """Unescape a diff that was HTML-escaped as a whole; return any other text unchanged."""
    is_escaped = text.startswith(("--- ", "diff ", "@@")) and "&" in text and not re.search("[<>]", text)
    return html.unescape(text) if is_escaped else text


def _final(text: str) -> str:
    """Return the last final channel of a reply in gpt-oss's raw format; any other text unchanged."""
    channels = re.split(r"<\|channel\|>(\w+)[^<\n]*(?:<\|\w+\|>[^<\n]*)*?<\|message\|>", text)
    finals = [after for name, after in itertools.pairwise(channels) if name == "final"]
    return re.split(r"<\|(?:end|return|start)\|>", finals[-1])[0] if finals else text


def _fold(parts: Sequence[Part], goal: Module, targets: Sequence[Definition]) -> AnswerReply:
    blocks: list[Block] = []
    unread: list[UnreadCode] = []
    elsewhere: dict[str, None] = {}
    file = re.sub(r"\r\n?", "\n", goal.text)
    paths = [part.path for part in parts if isinstance(part, Block | Edit) and part.path]
    is_named = any(is_of_file(path, goal.name) for path in paths)
    for is_edit, group in itertools.groupby(parts, lambda part: isinstance(part, Edit)):
        if is_edit:
            own = []
            for edit in group:
                assert isinstance(edit, Edit)
                if is_of_file(edit.path, goal.name):
                    own.append(edit)
                else:
                    elsewhere[edit.path] = None
            made, file = _edited(own, blocks, file, goal.name, targets)
            blocks += made
            continue
        for part in group:
            if isinstance(part, UnreadCode):
                unread.append(replace(part, number=len(blocks)))
            elif isinstance(part, Block):
                # A model may invent a path for its only file.
                if is_named and not is_of_file(part.path, goal.name):
                    elsewhere[part.path] = None
                else:
                    blocks.append(part)
    return AnswerReply(tuple(blocks), tuple(unread), tuple(elsewhere))


def _edited(
    own: Sequence[Edit], blocks: Sequence[Block], file: str, name: str, targets: Sequence[Definition]
) -> tuple[list[Block], str]:
    """Apply edits, each to the newest version of the target, or else to the goal file.

    Returns the blocks that they make, and the goal file with those that are for it.
    """
    newest = next(filter(None, map(AnswerReply(tuple(blocks)).function, targets)), None)
    before = list(dict.fromkeys([newest[0].module.text, file] if newest else [file]))
    texts, made = list(before), list[Block]()
    for edit in own:
        text = "\n".join(edit.replace)
        if edit.unread:
            raise InvalidAnswer(f"the answer changes {name} with an unsupported command: {edit.unread!r}")
        if edit.is_file:
            before, texts = [""], [text]
            continue
        if edit.line is None and not _first(edit) and text[:1].strip():  # code without a place
            made.append(parsed_block(text, "an edit"))
            continue
        for number, text in enumerate(texts):
            lines = text.split("\n")
            places = _nearest(find_places(edit, lines), text, targets)
            if len(places) == 1:
                texts[number] = "\n".join(apply_edit(edit, lines, places[0]))
                break
            if places:
                raise InvalidAnswer(f"an edit matches {len(places)} places: {_first(edit)!r}")
            if text.count(part := "\n".join(edit.search)) == 1:  # less than whole lines
                texts[number] = text.replace(part, "\n".join(edit.replace))
                break
        else:
            raise InvalidAnswer(
                f"an edit does not apply: {name} does not contain the lines that begin with {_first(edit)!r}"
            )
    changed = [text for text, old in zip(texts, before, strict=True) if text != old]
    made += [parsed_block(text, f"{name} with the edits") for text in reversed(changed)]
    return made, texts[-1]


def _nearest(places: list[int], text: str, targets: Sequence[Definition]) -> list[int]:
    if len(places) < 2 or not (module := parsed_module(text)):
        return places
    pairs = filter(None, map(AnswerReply((Block.of(module),)).function, targets))
    spans = [range(found.line - 1, found.end_line) for _, found in pairs]
    return [place for place in places if any(place in span for span in spans)] or places


def _first(edit: Edit) -> str:
    return next(filter(str.strip, edit.search), "").strip()
