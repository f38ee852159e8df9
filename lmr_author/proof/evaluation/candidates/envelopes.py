"""Unwrap a reply: JSON, tool calls, tags, and the marks that chats and terminals put before lines."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lmr_author.core.parsing import NotParsed, json_data
from lmr_author.proof.evaluation.candidates.reply import Edit

# marks: quotes, line numbers and prompts before lines, and characters that editors put in

_QUOTED = re.compile(r"[ ]{0,3}>(?!>) ?")
_NUMBERED = re.compile(r"[ \t]*(?P<number>\d+)(?P<mark>\t|[ ]?[|:│→]|[ ](?![ ]*[=+*/<-]))")
_PROMPT = re.compile(r"[ ]*(?:>>> ?|In \[\d*\]: ?)")
_CONTINUED = re.compile(r"[ ]*(?:\.{3,}:? ?)")
_HAS_CODE = re.compile(r"(?:\s*(?:async )?def |\s*class |\s*[`~]{3})")
_INVISIBLE = {
    **dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff\u00ad")),
    0xA0: " ",
    0x202F: " ",
    0x3000: " ",
}
_TYPOGRAPHIC = str.maketrans("“”„‘’‚−", "\"\"\"'''-")
_ENTITY = re.compile(r"&(?P<name>lt|gt|amp|quot|apos|nbsp|#\d{2,4}|#x[0-9a-fA-F]{2,4});")


def unmarked(lines: Sequence[str], number: int) -> list[str]:
    for mark, reader in ((_QUOTED, _quoted), (_PROMPT, _prompted), (_NUMBERED, _numbered)):
        if mark.match(lines[number]):
            return list(reader(lines, number))
    return []


def has_code(lines: Sequence[str]) -> bool:
    return any(map(_HAS_CODE.match, lines))


def _quoted(lines: Sequence[str], number: int) -> Iterator[str]:
    for position in range(number, len(lines)):
        if not (mark := _QUOTED.match(lines[position])):
            return
        yield lines[position][mark.end() :]


def _prompted(lines: Sequence[str], number: int) -> Iterator[str]:
    for position in range(number, len(lines)):
        if not (mark := (_PROMPT if position == number else _CONTINUED).match(lines[position])):
            return
        yield lines[position][mark.end() :]


def _numbered(lines: Sequence[str], number: int) -> Iterator[str]:
    before, run = None, list[str]()
    for position in range(number, len(lines)):
        line = lines[position]
        found = _NUMBERED.match(line) or re.fullmatch(r"[ \t]*(?P<number>\d+)(?P<mark>)", line)
        if not found or (before is not None and int(found["number"][:9]) != before + 1):
            break
        before = int(found["number"][:9])
        run.append(line[found.end() :])
    is_spaced = all(line[:1] in ("", " ") for line in run)
    yield from (line[1:] if is_spaced else line for line in run) if len(run) > 1 else ()


def repaired(text: str) -> Iterator[str]:
    """Yield a non-Python text without invisible characters, with plain quotes, and without HTML entities."""
    for change in (_visible, _plain, _unescaped):
        old, text = text, change(text)
        if text != old:
            yield text


def _visible(text: str) -> str:
    return text.translate(_INVISIBLE)


def _plain(text: str) -> str:
    return text.translate(_TYPOGRAPHIC)


def _unescaped(text: str) -> str:
    return html.unescape(text) if _ENTITY.search(text) else text


def escaped_names(text: str) -> set[str]:
    """Return the names of HTML entities in a text: Python with variables of these names parses by accident."""
    return {match["name"] for match in _ENTITY.finditer(text)}


# envelopes: structured outputs, chats and tool calls

_PROSE = re.compile(
    r"(?:.*_)?(?:think|thinking|thoughts?|reasoning|explanations?|rationale|analysis|notes?|comments?|descriptions?"
    r"|summary|plan|usage|examples?|tests?|drafts?|scratchpad|signature|outputs|query|prompt|instructions?)(?:_.*)?",
    re.IGNORECASE,
)
"""Keys of remarks about the code."""
_CODE = frozenset({"code", "answer", "implementation", "solution", "content", "body", "source", "arguments"})
"""Keys whose text is code even if it has only one line."""
_PATH_KEYS = ("path", "file_path", "filepath", "filename", "file_name", "target_file", "file", "name")
_TEXT_KEYS = ("content", "contents", "file_text", "code", "text", "source")
_INPUT_KEYS = ("arguments", "input", "args", "parameters")
_OLD_KEYS = ("old_str", "old_string", "old_text", "search")
_NEW_KEYS = ("new_str", "new_string", "new_text", "replace", "insert_text")
_PATH = re.compile(r"[\w./\\ -]*\w\.[A-Za-z]\w{0,5}")
_CALL = re.compile(
    r"<(?:function=|(?:\w+:)?invoke name=\")(?P<name>[^\">]+)\"?>(?P<inner>.*?)</(?:function|(?:\w+:)?invoke)>",
    re.DOTALL,
)
_PARAMETER = re.compile(
    r"<(?:\w+:)?parameter(?:=| name=\")(?P<key>[^\">]+)\"?>\n?(?P<value>.*?)\n?</(?:\w+:)?parameter>",
    re.DOTALL,
)


_ANSWER = "pre|code|answer|solution|response|result|output|implementation"
ANSWER_TAG = re.compile(rf"(?:[ \t]*<(?:(?:{_ANSWER})\b[^<>]*>|!\[CDATA\[))+")
_ANSWER_END = re.compile(rf"(?:[ \t]*(?:</(?:{_ANSWER})>|\]\]>))+[ \t]*$")
_MOST_OF_TAGS = 200
_READ_AS_TEXT = re.compile(r"\bcat\b[^\n|;]{0,200}<<|\*\*\* Begin Patch")
_REDIRECTED = re.compile(r">\s*(?P<path>[\w./-]+\.py)\b")
_SOURCE = re.compile(r"[\w./-]{1,200}\.py\b")
_CHANGES = re.compile(
    r"\b(?:sed|perl)\s(?:\S+\s){0,8}?-\w*i|\.write\w*\(|\btee\s|\bpatch\s|\b(?:mv|cp)\s"
    r"|\bgit\s+(?:checkout|restore|apply|stash|reset\s+--hard)"
)


@dataclass(frozen=True)
class ReplyText:
    """A reply, or a part of one, without its envelope; ``path`` is the named file, or ""."""

    text: str
    path: str = ""


@dataclass(frozen=True)
class ToolCall:
    name: str


Content = ReplyText | Edit | ToolCall


def contents(data: Any) -> Iterator[Content]:
    """Yield the contents of JSON in order, without remarks about the code or messages by others than the model."""
    match data:
        case str():
            yield ReplyText(data)
        case [str(), *_] if all(isinstance(line, str) and "\n" not in line[:-1] for line in data):
            # Lines of one text, as in a notebook.
            yield ReplyText("\n".join(line.removesuffix("\n") for line in data))
        case list():
            for part in data:
                yield from contents(part)
        case {"role": "user" | "system" | "developer" | "tool"} | {"type": "tool_result"}:
            return
        case {"name": str(name), **rest} if given := next(
            (rest[key] for key in _INPUT_KEYS if key in rest), None
        ):
            yield from of_call(name, given)
        case dict():
            yield from _members(data)


def _members(data: Mapping[str, Any]) -> Iterator[Content]:
    path, text = _first(data, _PATH_KEYS), _first(data, _TEXT_KEYS)
    old, new = _given(data, _OLD_KEYS), _given(data, _NEW_KEYS)
    if old is not None and new is not None:
        yield Edit(*_lines(old, new), path)
        return
    if _PATH.fullmatch(path) and text:
        yield ReplyText(text, path)
        return
    for key, value in data.items():
        if _PROSE.fullmatch(key) or (isinstance(value, str) and "\n" not in value and key not in _CODE):
            continue
        if isinstance(value, str) and _PATH.fullmatch(key):
            yield ReplyText(value, key)
        else:
            yield from contents(value)


def of_call(name: str, given: Any) -> Iterator[Content]:
    """Yield the text that a tool call writes, identified by its arguments: clients name their tools differently."""
    if isinstance(given, str):
        try:
            given = json_data(given)
        except NotParsed:
            yield ReplyText(given)  # a tool with a text argument, such as apply_patch
            return
    if not isinstance(given, dict):
        yield ToolCall(name)
        return
    path, text = _first(given, _PATH_KEYS), _given(given, _TEXT_KEYS)
    new, line = _given(given, _NEW_KEYS), str(given.get("insert_line"))
    if given.get("command") == "undo_edit":
        yield Edit([], [], path, unread="undo_edit")
    elif isinstance(given.get("edits"), list):
        for edit in given["edits"]:
            yield from of_call(name, {**given, "edits": None, **edit} if isinstance(edit, dict) else None)
    elif path and re.fullmatch("[0-9]{1,7}", line):
        yield Edit([], (new or text or "").removesuffix("\n").split("\n"), path, line=int(line))
    elif path and text is not None and new is None:
        yield Edit([], text.split("\n"), path, is_file=True)
    elif not path and (command := _first(given, ("command", "cmd", "script"))):
        yield from _of_shell(name, command)
    else:
        found = list(_members(given))
        yield from found or [ToolCall(name)]


def _of_shell(name: str, command: str) -> Iterator[Content]:
    yield ToolCall(name)
    if _READ_AS_TEXT.search(command):
        yield ReplyText(command)
        return
    paths = [match["path"] for match in _REDIRECTED.finditer(command)]
    if _CHANGES.search(command):
        paths += _SOURCE.findall(command) or [""]
    for path in paths:
        yield Edit([], [], path, unread=" ".join(command.split())[:80])


def in_tags(text: str, begin: int) -> tuple[list[Content], int] | None:
    match = _CALL.match(text, begin)
    if match is None:
        return None
    given = {found["key"]: found["value"] for found in _PARAMETER.finditer(match["inner"])}
    return list(of_call(match["name"], given)), match.end()


def _given(data: Mapping[str, Any], keys: tuple[str, ...]) -> str | None:
    return next((data[key] for key in keys if isinstance(data.get(key), str)), None)


def _first(data: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    return _given(data, keys) or ""


def _lines(old: str, new: str) -> tuple[list[str], list[str]]:
    """Split both texts of a replacement into lines, without blank lines around both."""
    while old.endswith("\n") and new.endswith("\n"):
        old, new = old[:-1], new[:-1]
    while old.startswith("\n") and new.startswith("\n"):
        old, new = old[1:], new[1:]
    return old.split("\n"), new.split("\n")


def without_end(lines: list[str], number: int) -> bool:
    end = _ANSWER_END.search(lines[number], max(len(lines[number]) - _MOST_OF_TAGS, 0))
    if end:
        lines[number] = lines[number][: end.start()]
    return end is not None
