"""Walk through the lines of a reply: fences with Python, edits, code between prose, and tags around thoughts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from lmr_author.core.parsing import NotParsed, json_at
from lmr_author.proof.evaluation.candidates import envelopes
from lmr_author.proof.evaluation.candidates.envelopes import Content, ReplyText, ToolCall
from lmr_author.proof.evaluation.candidates.reply import (
    COMMAND,
    PATH,
    WRAPPER,
    Block,
    Edit,
    InvalidAnswer,
    UnreadCode,
    as_python,
    is_data,
    parsed_module,
    path_in,
    read_command,
    read_hunk,
    read_path,
    read_search,
)

_MAX_PARSED = 16 * 2**20
"""Characters that are parsed to find the code in a reply."""
_LEAST_PARSED = 1000
"""A shorter text counts as this many characters: each attempt takes time."""
_MAX_FENCES = 400
_MAX_EDITS = 300
_MAX_CLOSINGS = 30
_MAX_ENDS = 10

_LONG_QUOTES = ('"""', "'''")
_QUOTE = "[\"'`]"
_THOUGHTS = "think|thinking|reasoning|thought|thoughts|scratchpad"
# Prose about such tags puts them in quotes; a fence may follow them.
_TAG = re.compile(
    rf"(?<!{_QUOTE})(?:<(?P<end>/?)(?:\w+:)?(?P<name>{_THOUGHTS})>|\[(?P<end_2>/?)(?P<name_2>THINK)\]"
    rf"|◁(?P<end_3>/?)(?P<name_3>think)▷)(?!{_QUOTE}(?!``))",
    re.IGNORECASE,
)
_OPENING = re.compile(r"(?P<before>[^`]*?)(?P<fence>`{3,}|~{3,})[ \t{.]*(?P<label>[^`]*)")
_BEGINS = re.compile(r"\s*(?:(?:def|class|async|import|from)\b|@|[A-Za-z_]\w*\s*(?::[^=]+)?=[^=])")
_DEF = re.compile(r"\s*(?:async )?def\s+(?P<name>\w+)")
_LINE_IN_WORDS = re.compile(r"\b(?:replace|change|insert|add)\b[^`]*\bline \d+", re.IGNORECASE)
_JSON = re.compile(r"[^{\[]*?(?P<json>\{\s*(?:[\"}]|$)|\[\s*(?:[\"{\[]|$))")

Part = Block | Edit | UnreadCode


class Walk:
    """Walks through the lines of a reply, and gives up when it has parsed too much.

    Attributes:
        thought: the tag of thoughts that never end.
        seen: other contents, for the error message: languages of fences, tool calls.
    """

    def __init__(self, text: str, left: int = _MAX_PARSED) -> None:
        self.parts: list[Part] = []
        self.thought = ""
        self.seen: dict[str, None] = {}
        self._lines, self._number = text.split("\n"), 0
        self._left, self._fences, self._edits = left, 0, 0
        self._run: list[str] = []
        self._outside = 0
        self._closings: set[int] = set()
        self._path, self._in_diff = "", False
        self._unmarked_to = 0
        self._before = ("", 0)
        if whole := self._whole(text):
            self.parts = whole
            return
        while self._number < len(self._lines):
            _ = (
                self._fence()
                or self._edit()
                or self._unmark()
                or self._code()
                or self._envelope()
                or self._words()
            )
        self._flush()
        if self.thought:
            del self.parts[self._outside :]

    def _add(self, *parts: Part) -> None:
        self._flush()
        self.parts += parts

    def _flush(self) -> None:
        block, self._run = self._parsed("\n".join(self._run)) if self._run else None, []
        if block:
            self.parts.append(replace(block, is_whole=False))

    def _whole(self, text: str) -> list[Part]:
        parts = self._json(text.strip())
        if parts is not None:
            return parts
        if block := self._parsed(text):
            return [block]
        lines = text.strip("\n").split("\n")
        run = envelopes.unmarked(lines, 0)
        block = self._parsed("\n".join(run)) if len(run) == len(lines) else None
        return [block] if block else []

    def _json(self, text: str) -> list[Part] | None:
        if text[:1] not in ("{", "[", '"'):
            return None
        self._left -= max(len(text), _LEAST_PARSED)
        try:
            data, end = json_at(text, 0)
        except NotParsed:
            return None
        return self._unwrapped(data) if end == len(text) else None

    def _unwrapped(self, data: Any) -> list[Part]:
        try:
            return self._read(envelopes.contents(data))
        except RecursionError as error:
            raise InvalidAnswer("the answer's JSON is nested too deeply") from error

    def _read(self, contents: Iterable[Content]) -> list[Part]:
        parts: list[Part] = []
        for content in contents:
            match content:
                case Edit():
                    self._count()
                    parts.append(content)
                case ToolCall(name):
                    self.seen[f"a call of {name[:40]}"] = None
                case ReplyText(text, path):
                    parts += _of_file(self._inner(text), path)
        return parts

    def _inner(self, text: str) -> list[Part]:
        if self._left < 0:
            return []
        walk = Walk(text, self._left)
        self._left = walk._left - _LEAST_PARSED
        self.seen |= walk.seen
        return walk.parts

    def _fence(self) -> bool:
        opening = _OPENING.fullmatch(self._lines[self._number])
        if opening is None or _TAG.search(opening["before"]) or self._fences > _MAX_FENCES:
            return False
        self._number += 1
        if self._number - 1 in self._closings:
            self._path, self._in_diff = "", False
            return True
        self._fences += 1
        first, text = None, ""
        label = opening["label"].lower()
        if named := PATH.search(opening["label"][:200]):
            self._path = named[0]
        for end, content in self._contents(opening):
            first, text = (end, content) if first is None else (first, text)
            parts = self._continued(content) or self._whole(content)
            if parts:
                self._take(content, parts)
                self._number = end + 1
                return True
        if first is not None and first < len(self._lines):
            rest = re.sub(r"[`~]+[ \t]*$", "", self._lines[first])
            if rest.strip():
                self._lines[first] = rest
            else:
                self._closings.add(first)
        self._in_diff = label.startswith(("diff", "patch"))
        self._flush()
        self._before = text, len(self.parts)
        if label.startswith("py"):
            self._add(UnreadCode("", "\n".join(self._lines[self._number : first])))
        elif label:
            self.seen[f"a fence of {label[:20].strip()}"] = None
        return True

    def _take(self, content: str, parts: list[Part]) -> None:
        first = content.lstrip().partition("\n")[0]
        path, self._path = self._path or (path_in(first) if first.startswith("#") else ""), ""
        self._flush()
        self._before = content, len(self.parts)
        self.parts += _of_file(parts, path)

    def _continued(self, content: str) -> list[Part]:
        """Join a function that began in the previous fence with its end in this one."""
        text, number = self._before
        if not text or not content.lstrip("\n").startswith((" ", "\t")):
            return []
        before, both = parsed_module(text), f"{text}\n{content}"
        if before and (_returns(text) or not _returns(content)):
            return []
        block = self._parsed(both)
        if block is None or not block.functions:
            return []
        self._flush()
        del self.parts[number:]
        return [block]

    def _contents(self, opening: re.Match[str]) -> Iterator[tuple[int, str]]:
        closing = re.compile(rf"{opening['fence']}{opening['fence'][-1]}*[ \t]*$")
        indent = "" if opening["before"].strip() else opening["before"]
        left = _MAX_CLOSINGS
        content: list[str] = []
        for number in range(self._number, len(self._lines)):
            line = self._lines[number].removeprefix(indent)
            if end := closing.search(line):
                text = "\n".join([*content, line[: end.start()]])
                yield number, text
                left -= 1
                # In code, fences occur only in comments and multi-line strings.
                is_inside = line.lstrip().startswith("#") or any(
                    text.count(mark) % 2 for mark in _LONG_QUOTES
                )
                if not is_inside or left == 0 or self._left < 0:
                    return
            content.append(line)
        yield len(self._lines), "\n".join(content)

    def _edit(self) -> bool:
        lines, number = self._lines, self._number
        if header := read_path(lines, number):
            self._path, self._number = header
            self._in_diff = True
            return True
        found = read_search(lines, number, self._path) or self._command(number)
        if not found and (lines[number].startswith("@@") or (self._in_diff and lines[number].strip())):
            found = read_hunk(lines, number, self._path)
        if not found:
            return False
        edit, self._number = found
        self._count()
        self._add(edit)
        return True

    def _count(self) -> None:
        self._edits += 1
        if self._edits > _MAX_EDITS:
            raise InvalidAnswer(f"the answer has more than {_MAX_EDITS} edits")

    def _command(self, number: int) -> tuple[Edit, int] | None:
        if self._left < 0 or not COMMAND.match(self._lines[number]):
            return None
        self._left -= len(self._lines)
        return read_command(self._lines, number)

    def _unmark(self) -> bool:
        if self._number < self._unmarked_to:
            return False
        run = envelopes.unmarked(self._lines, self._number)
        self._unmarked_to = self._number + len(run)
        if not envelopes.has_code(run):
            return False
        self._lines[self._number : self._unmarked_to] = run
        return True

    def _envelope(self) -> bool:
        if self.thought or self._left < 0:
            return False
        line = self._lines[self._number]
        self._left -= len(line)
        if self._untagged(line):
            return True
        is_call = line.lstrip().startswith("<") and ("<function=" in line or "invoke name=" in line)
        json = None if is_call else _JSON.match(line)
        if not is_call and json is None:
            return False
        rest = "\n".join(self._lines[self._number :])
        self._left -= max(len(rest), _LEAST_PARSED)
        if json:
            try:
                data, end = json_at(rest, json.start("json"))
            except NotParsed:
                return False
            parts = self._unwrapped(data)
        elif read := envelopes.in_tags(rest, line.index("<")):
            parts, end = self._read(read[0]), read[1]
        else:
            return False
        self._add(*parts)
        self._number += rest.count("\n", 0, end)
        self._lines[self._number] = rest[end:].partition("\n")[0]
        return True

    def _untagged(self, line: str) -> bool:
        tag = envelopes.ANSWER_TAG.match(line)
        if tag is None:
            return envelopes.without_end(self._lines, self._number)
        self._lines[self._number] = line[tag.end() :]
        self._left -= len(self._lines)
        for number in range(self._number, len(self._lines) if self._left > 0 else 0):
            if envelopes.without_end(self._lines, number):
                break
        return True

    def _code(self) -> bool:
        lines, number = self._lines, self._number
        begin = lines[number]
        if self.thought or not _BEGINS.match(begin):
            return False
        if end := self._end(number):
            self._run += [WRAPPER.strip()] if begin[0].isspace() else []
            self._run += lines[number:end]
            self._number = end
            return True
        function = _DEF.match(begin)
        if function is None:
            return False
        end = number + 1  # the rest of an unfinished function is not code by itself
        while end < len(lines) and _is_below(lines[end], begin):
            end += 1
        text = "\n".join(lines[number:end])
        # A signature alone does not count, unless the reply ends with it.
        if end == len(lines) or text.rstrip() != begin.rstrip():
            self._add(UnreadCode(function["name"], text))
        self._number = end
        return True

    def _words(self) -> bool:
        line = self._lines[self._number]
        if not self.thought and _LINE_IN_WORDS.search(line):
            for span in re.findall(r"`([^`]+)`", line):
                if block := self._parsed(span):
                    self._add(Block(block.module, block.statements, is_whole=False))
        if line.strip():
            self._path = path_in(line)
        end = 0
        for tag in _TAG.finditer(line):
            end = tag.end()
            name = (tag["name"] or tag["name_2"] or tag["name_3"]).lower()
            closes = tag["end"] or tag["end_2"] or tag["end_3"]
            is_in_words = bool(line[: tag.start()].strip() and line[end:].strip())
            if not closes and not self.thought:
                self._flush()
                self.thought, self._outside = name, len(self.parts)
            elif closes and (self.thought == name or not (self.thought or is_in_words)):
                self._flush()
                # Without an opening tag, the thoughts began with the reply.
                del self.parts[self._outside if self.thought else 0 :]
                self.thought = ""
        if end and line[end:].strip():
            self._lines[self._number] = line[end:]
        else:
            self._number += 1
        return True

    def _parsed(self, text: str) -> Block | None:
        self._left -= max(len(text), _LEAST_PARSED)
        if not text.strip() or self._left < 0:
            return None
        block = as_python(text)
        if block and is_data(block):
            return None
        if (
            block and not envelopes.escaped_names(text) & block.names
        ):  # `a &lt; b` is Python with a variable `lt`
            return block
        return next(filter(None, map(as_python, envelopes.repaired(text))), None)

    def _end(self, begin: int) -> int:
        lines, tries = self._lines, 0
        for end in range(begin + 1, len(lines) + 1):
            if end < len(lines) and _is_below(lines[end], lines[begin]):
                continue
            tries += 1
            if self._left < 0 or tries > _MAX_ENDS:
                break
            if self._parsed("\n".join(lines[begin:end])):
                return end
        return 0


def _of_file(parts: Iterable[Part], path: str) -> list[Part]:
    return [
        replace(part, path=path) if isinstance(part, Block) and path and not part.path else part
        for part in parts
    ]


def _returns(text: str) -> bool:
    return bool(re.search(r"^\s*(?:return|yield|raise)\b", text, re.MULTILINE))


def _is_below(line: str, begin: str) -> bool:
    return not line.strip() or len(line) - len(line.lstrip()) > len(begin) - len(begin.lstrip())
