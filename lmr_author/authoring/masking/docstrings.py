"""Read docstrings in the styles of Google, NumPy, reST and epydoc."""

from __future__ import annotations

import ast
import inspect
import itertools
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from lmr_author.authoring.masking.body import one_line
from lmr_author.core import code

_ROLE = re.compile(r":(?:py:)?(?!math)[a-z]+:`[~!]?([^`]+)`")
"""A role of Sphinx, ``:obj:`x```; its colons would be taken for the end of a parameter's name."""
_TITLE = re.compile(
    r"\s*(?:(?P<parameters>args|arguments|params?|parameters?|inputs?|keyword arg(?:ument)?s|other parameters)"
    r"|(?P<returns>returns?|outputs?|yields?)"
    r"|raises?|examples?|usage|shapes?|attributes|references?|notes?|warnings?|see also|todo|warns)"
    r"\s*(?P<colon>::?)?\s*",
    re.IGNORECASE,
)
_RULE = re.compile(r"\s*(-{3,}|={3,})\s*")
_FIELD = re.compile(r"\s*[:@](?P<kind>param\w*|arg|type|returns?|rtype|yields?|raises?)\b(?P<name>[^:]*):")
_TYPE = r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
_ENTRY = re.compile(
    rf"[-*•\s`]*(?P<name>\*{{0,2}}[A-Za-z_]\w*)[`*]*\s*(?P<type>{_TYPE}|\[[^\]]*\])?\s*(?::|--)(?P<text>.*)"
)
_NO_PURPOSE = re.compile(
    r"""\W*(todo|fixme|xxx|hack|deprecated|@\w+|_?summary_?\b|docstring|>>>|```|copyright\b|licen[sc]ed?\b|author\b
    |c\)|created\ (on|by)\b|adapted\ from|(copied|taken|borrowed)\ (and\ \w+\ )?from|https?://|see\b|inherit|overrid
    |same\ as\ \S+$|from\ \S+$|refer\ to|not\ (yet\ )?(documented|implemented)|(not\ |un)used)""",
    re.IGNORECASE | re.VERBOSE,
)
"""Beginnings of sentences that say nothing of what a function is for."""
_GENERIC = frozenset(
    """
    a an the this that it its is are be of for in to from with by on as at and or all any each given some which when
    forward pass step run runs call called every performed computation function method class module object main entry
    point init initialize constructor create helper utility implementation implement define defines perform do compute
    calculate get gets return result output input value data model layer use uses used
    """.split()  # noqa: SIM905
)
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


def documented(definition: code.Definition) -> Documented:
    """Read the docstring of a function or class."""
    node = definition.node
    parameters = [] if isinstance(node, ast.ClassDef) else code.parameters(node.args)
    names = [parameter.arg for parameter, _ in parameters]
    return read_docstring(definition.docstring, (definition.name, definition.class_name), names)


def read_docstring(
    text: str | None, own_names: Collection[str] = (), names: Collection[str] = ()
) -> Documented:
    """Read a docstring in Google, NumPy, reST or epydoc style.

    Args:
        own_names: of the function and its class; a summary of nothing but them is none.
        names: of its parameters; lines that begin with one of them are no summary.
    """
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
    return Documented(purpose(first, own_names, names), parameters, tuple(filter(None, returns)))


def _read_field(block: list[str], parameters: dict[str, DocumentedParameter], returns: list[str]) -> None:
    """Enter a field, such as ``:param x: the logits``, into the parameters or the returns."""
    heading = _FIELD.match(block[0])
    assert heading is not None
    kind, text = heading["kind"], one_line(" ".join([block[0][heading.end() :], *block[1:]]))
    *types, name = heading["name"].split() or [""]
    name = name.lstrip("*")
    known = parameters.get(name, DocumentedParameter())
    if kind == "type":
        parameters[name] = DocumentedParameter(text, known.text)
    elif kind.startswith(("param", "arg")):
        parameters[name] = DocumentedParameter(" ".join(types) or known.type, text)
    elif kind == "rtype":
        returns[:1] = [f"{text}: {returns[0]}" if returns else text]
    elif kind.startswith(("return", "yield")):
        returns[:1] = [f"{returns[0]}: {text}" if returns else text]


def _sections(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield (kind, lines) of a docstring's sections; of a field (``:param x:``) its own lines."""
    kind, block, title_width = "summary", list[str](), -1
    for line, below in itertools.zip_longest(lines, lines[1:], fillvalue=""):
        title, ruled = _TITLE.fullmatch(line), _RULE.fullmatch(below)
        indented = any(_width(earlier) for earlier in block)
        begun = ""
        if title and (title["colon"] or ruled):
            begun = "parameters" if title["parameters"] else "returns" if title["returns"] else "other"
        elif _FIELD.match(line):
            begun = "field"
        elif kind == "field" and not line.strip():
            begun = "text"
        elif indented and line.strip() and _width(line) <= title_width:
            begun = "text"  # text behind a section that is indented
        if begun:
            yield kind, block
            kind, block = begun, [line] if begun in ("field", "text") else []
            title_width = _width(line) if title and title["colon"] and not ruled else -1
        elif block or kind == "summary" or not _RULE.fullmatch(line):
            block.append(line)
    yield kind, block


def _entries(block: list[str]) -> list[list[str]]:
    """Return the entries of a section: each begins at the section's own indentation."""
    filled = [line for line in block if line.strip()]
    margin = min(map(_width, filled), default=0)
    entries: list[list[str]] = []
    for line in filled:
        if _width(line) == margin or not entries:
            entries.append([])
        entries[-1].append(line)
    return entries


def _parameters(block: list[str]) -> dict[str, DocumentedParameter]:
    parameters: dict[str, DocumentedParameter] = {}
    last = ""
    for first, *more in _entries(block):
        entry = _ENTRY.match(first)
        rest = one_line(" ".join(more))
        if entry:
            last = entry["name"].lstrip("*")
            is_numpy = rest and not entry["type"] and first[entry.start("text") - 2 :].startswith(" :")
            kind, text = one_line(entry["type"] or "")[1:-1], one_line(f"{entry['text']} {rest}")
            if is_numpy:
                kind, text = one_line(entry["text"]), rest
        elif rest and re.fullmatch(r"\s*\*{0,2}\w+\s*", first):
            last, kind, text = first.strip().lstrip("*"), "", rest
        elif last:  # a line that was not indented goes on with the last entry
            known = parameters[last]
            kind, text = known.type, one_line(f"{known.text} {first} {rest}")
        else:
            continue
        parameters[last] = DocumentedParameter(kind, text)
    return parameters


def _returns(block: list[str]) -> list[str]:
    returns: list[str] = []
    for first, *more in _entries(block):
        text, rest = one_line(first), one_line(" ".join(more))
        numpy = re.fullmatch(r"(\w+) : (.+)", text)
        is_short = len(text.split()) < 4 and not text.endswith((".", ",", ":"))
        if more and numpy:
            returns.append(f"{numpy[1]} ({numpy[2]}): {rest}")
        elif more and is_short:
            returns.append(f"{text}: {rest}")
        elif returns and not _ENTRY.match(first) and not text.startswith(("-", "*")):
            returns[-1] = one_line(f"{returns[-1]} {text} {rest}")
        else:
            returns.append(one_line(f"{text} {rest}").lstrip("-* "))
    return returns


def _width(line: str) -> int:
    return len(line) - len(line.lstrip())


def purpose(paragraph: str, own_names: Collection[str] = (), parameters: Collection[str] = ()) -> str:
    """Return what the first paragraph of a docstring says a function is for; "" when it says nothing.

    Args:
        own_names: of the function and its class: words that are in them say nothing more.
        parameters: names of what it takes; a line about one of them is no purpose.
    """
    known = {name.lower() for name in parameters}
    lines = []
    for line in paragraph.splitlines():
        entry = _ENTRY.match(line)
        if entry and (entry["name"].lower() in known or entry["type"]):
            break
        if _TITLE.fullmatch(line.partition(":")[0]):
            break
        if not re.fullmatch(r"[\W_]*", line):  # a rule of dashes
            lines.append(line)
    kept = []
    for sentence in sentences(one_line(" ".join(lines))):
        if _NO_PURPOSE.match(sentence):
            break
        kept.append(sentence)
    text = " ".join(kept)
    telling = {word for word in _words(text) if len(word) > 1 and not word.isdigit()}
    return text if telling - _GENERIC - set(_words(" ".join(own_names))) else ""


def sentences(text: str) -> list[str]:
    """Split a text on one line into its sentences."""
    result: list[str] = []
    for part in re.split(r"(?<=[.!?])\s+(?=[A-Z\[(`\"'¿¡]|[^\x00-\x7f])", text):
        if result and _ABBREVIATED.search(result[-1]):
            result[-1] += f" {part}"
        elif part:
            result.append(part)
    return result


def _words(text: str) -> list[str]:
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_", " ", text)
    return re.findall(r"[^\W_]+", parted.lower())
