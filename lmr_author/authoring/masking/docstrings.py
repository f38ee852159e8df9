"""Read docstrings in the styles of Google, NumPy and reST."""

from __future__ import annotations

import inspect
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from lmr_author.authoring.masking.body import one_line

_ROLE = re.compile(r":(?:py:)?(?!math)[a-z]+:`[~!]?([^`]+)`")
"""A role of Sphinx, ``:obj:`x```; its colons would be taken for the end of a parameter's name."""
_TITLE = re.compile(
    r"(?:(?P<parameters>args|arguments|params?|parameters?|inputs?|keyword arg(?:ument)?s|other parameters)"
    r"|(?P<returns>returns?|outputs?|yields?)"
    r"|raises?|examples?|usage|shapes?|attributes|references?|notes?|warnings?|see also|todo|warns)"
    r"\s*(?P<colon>::?)?\s*",
    re.IGNORECASE,
)
_RULE = re.compile(r"\s*(-{3,}|={3,})\s*")
_FIELD = re.compile(r":(?P<kind>param\w*|arg|type|returns?|rtype|yields?|raises?)\b(?P<name>[^:]*):")
_TYPE = r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
_ENTRY = re.compile(
    rf"[-*\s`]*(?P<name>\*{{0,2}}[A-Za-z_]\w*)[`*]*\s*(?P<type>{_TYPE}|\[[^\]]*\])?\s*:(?P<text>.*)"
)
_NO_PURPOSE = re.compile(
    r"""\W*(todo|fixme|deprecated|_?summary_?\b|>>>|```|copyright\b|licen[sc]ed?\b|authors?:|adapted\ from|copied\ from
    |https?://|see\b|(forward|backward)(\ pass)?\W*$|defines\ the\ computation\ performed|\W*$)""",
    re.IGNORECASE | re.VERBOSE,
)
"""Beginnings of sentences that say nothing of what a function is for."""
_ABBREVIATED = re.compile(r"\b(e\.g|i\.e|cf|vs|etc|resp|al|Eq|Fig|Sec|Tab|approx|w\.r\.t|[A-Z])\.$")


@dataclass(frozen=True)
class DocumentedParameter:
    """A parameter as a docstring has it: either part may be ""."""

    type: str = ""
    text: str = ""


@dataclass(frozen=True)
class Documented:
    """The content of a docstring.

    Attributes:
        summary: the purpose that its first paragraph names, on one line; "" when it names none.
        parameters: by name, in the docstring's order.
        returns: one line each.
    """

    summary: str = ""
    parameters: dict[str, DocumentedParameter] = field(default_factory=dict)
    returns: tuple[str, ...] = ()


def read_docstring(text: str | None) -> Documented:
    """Read a docstring in Google, NumPy or reST style."""
    parameters: dict[str, DocumentedParameter] = {}
    returns: list[str] = []
    first = ""
    for kind, block in _sections(_ROLE.sub(r"\1", inspect.cleandoc(text or "")).split("\n")):
        if kind == "summary":
            first = "\n".join(block).strip("\n").split("\n\n")[0]
        elif kind == "parameters":
            parameters.update(_parameters(block))
        elif kind == "returns":
            returns += _returns(block)
        elif kind == "field":
            _read_field(block, parameters, returns)
    return Documented(purpose(first), parameters, tuple(filter(None, returns)))


def _sections(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield (kind, lines) of a docstring's sections; of a field (``:param x:``) its own lines."""
    kind, block = "summary", list[str]()
    for line, below in itertools.zip_longest(lines, lines[1:], fillvalue=""):
        title = _TITLE.fullmatch(line)
        begun = ""
        if title and (title["colon"] or _RULE.fullmatch(below)):
            begun = "parameters" if title["parameters"] else "other"
            begun = "returns" if title["returns"] else begun
        elif _FIELD.match(line):
            begun = "field"
        elif kind == "field" and not line.strip():
            begun = "text"
        elif line.strip() and not _width(line) and any(map(_width, block[:1])):
            begun = "text"  # behind a section that is indented
        if begun:
            yield kind, block
            kind, block = begun, [line] if begun == "field" else []
        elif (line.strip() and not _RULE.fullmatch(line)) or kind == "summary":
            block.append(line)
    yield kind, block


def _read_field(block: list[str], parameters: dict[str, DocumentedParameter], returns: list[str]) -> None:
    """Enter a field, such as ``:param x: the logits``, into the parameters or the returns."""
    heading = _FIELD.match(block[0])
    assert heading is not None
    kind, text = heading["kind"], one_line(" ".join([block[0][heading.end() :], *block[1:]]))
    *types, name = heading["name"].split() or [""]
    name = name.lstrip("*")
    before = parameters.get(name, DocumentedParameter())
    if kind == "type":
        parameters[name] = DocumentedParameter(text, before.text)
    elif kind.startswith(("param", "arg")):
        parameters[name] = DocumentedParameter(" ".join(types) or before.type, text)
    elif kind == "rtype":
        returns[:1] = [f"{text}: {returns[0]}" if returns else text]
    elif kind.startswith(("return", "yield")):
        returns[:1] = [f"{returns[0]}: {text}" if returns else text]


def _entries(block: list[str]) -> list[list[str]]:
    """Return the entries of a section: each begins at the section's own indentation."""
    margin = min(map(_width, block), default=0)
    entries: list[list[str]] = []
    for line in block:
        if _width(line) == margin or not entries:
            entries.append([])
        entries[-1].append(line)
    return entries


def _parameters(block: list[str]) -> dict[str, DocumentedParameter]:
    parameters: dict[str, DocumentedParameter] = {}
    for first, *more in _entries(block):
        entry, text = _ENTRY.match(first), one_line(" ".join(more))
        if entry is None:
            if more:  # a name alone on its line, as NumPy has it
                parameters[first.strip().lstrip("*")] = DocumentedParameter("", text)
            continue
        kind, same_line = one_line(entry["type"] or "")[1:-1], one_line(entry["text"])
        if text and not kind and " : " in first:
            kind = same_line  # NumPy: the type behind the colon, the text below
        else:
            text = one_line(f"{same_line} {text}")
        parameters[entry["name"].lstrip("*")] = DocumentedParameter(kind, text)
    return parameters


def _returns(block: list[str]) -> list[str]:
    returns: list[str] = []
    for first, *more in _entries(block):
        text, below = one_line(first), one_line(" ".join(more))
        numpy = re.fullmatch(r"(\w+) : (.+)", text)
        if below and numpy:
            returns.append(f"{numpy[1]} ({numpy[2]}): {below}")
        elif returns and not _ENTRY.match(first) and not text.startswith(("-", "*")):
            returns[-1] = one_line(f"{returns[-1]} {text} {below}")
        else:
            returns.append(one_line(f"{text} {below}").lstrip("-* "))
    return returns


def _width(line: str) -> int:
    return len(line) - len(line.lstrip())


def purpose(paragraph: str) -> str:
    """Return what the first paragraph of a docstring says a function is for; "" when it says nothing."""
    lines = []
    for line in paragraph.splitlines():
        entry = _ENTRY.match(line)
        if entry and entry["type"]:
            break  # a parameter without a title above it
        if not _RULE.fullmatch(line):
            lines.append(line)
    telling = []
    for sentence in sentences(one_line(" ".join(lines))):
        if _NO_PURPOSE.match(sentence):
            break
        telling.append(sentence)
    return " ".join(telling)


def sentences(text: str) -> list[str]:
    """Split a text on one line into its sentences."""
    result: list[str] = []
    for part in re.split(r"(?<=[.!?])\s+(?=[A-Z\[(`\"'¿¡]|[^\x00-\x7f])", text):
        if result and _ABBREVIATED.search(result[-1]):
            result[-1] += f" {part}"
        elif part:
            result.append(part)
    return result
