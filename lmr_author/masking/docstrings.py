"""Read docstrings in Google, NumPy, reST and epydoc style, and write them as literals."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from lmr_author import code
from lmr_author.masking.notes import one_line

_ROLE = re.compile(r":(?:py:)?(?!math)[a-z]+:`[~!]?([^`]+)`")
"""A role of Sphinx, ``:obj:`x```; its colons would be taken for the end of a parameter's name."""
_TITLES = {
    "parameters": r"args|arguments|params?|parameters?|inputs?|keyword args|keyword arguments|other parameters",
    "returns": r"returns?|outputs?|yields?",
    "other": r"raises?|examples?|usage|shapes?|attributes|references?|notes?|warnings?|see also|todo|warns",
}
_SECTION = re.compile(
    r"\s*(?:"
    + "|".join(f"(?P<{name}>{titles})" for name, titles in _TITLES.items())
    + r")\s*(?P<colon>::?)?\s*",
    re.IGNORECASE,
)
_FIELD = re.compile(
    r"\s*[:@](?P<kind>param|parameter|arg|type|returns?|rtype|yields?|raises?)\b(?P<name>[^:]*):(?P<text>.*)"
)
_TYPE = r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
_ENTRY = re.compile(
    rf"[-*•\s`]*(?P<name>\*{{0,2}}[A-Za-z_]\w*)[`*]*\s*(?P<type>{_TYPE}|\[[^\]]*\])?\s*(?::|--)(?P<text>.*)"
)
_SIZE = r"(?:[A-Za-z_]\w*|\d+|\*|…|\.\.\.|-1)"
_SHAPE = re.compile(
    rf"[(\[]\s*{_SIZE}(?:\s*[*+/-]\s*{_SIZE})*\s*(?:,\s*(?:{_SIZE}(?:\s*[*+/-]\s*{_SIZE})*)?\s*)+[)\]]"
)
_NO_PURPOSE = re.compile(
    r"""\W*(todo|fixme|xxx|hack|wip|tbd|deprecated|@\w+|_?summary_?\b|docstring|>>>|```|copyright\b|licen[sc]ed?\b
    |author\b|c\)|created\ (on|by)\b|adapted\ from|(copied|taken|borrowed)\ (and\ \w+\ )?from|https?://|see\b|inherit
    |overrid|same\ as\ \S+$|from\ \S+$|refer\ to|not\ (yet\ )?(documented|implemented)|(not\ |un)used)""",
    re.IGNORECASE | re.VERBOSE,
)
"""Beginnings of sentences that say nothing of what a function is for."""
_GENERIC = frozenset(
    """
    a an the this that it its is are be of for in to from with by on as at and or all any each given some which when
    forward pass backward step run runs call calls called every performed computation function method class module
    object main entry point init initialize initializes initialise constructor create creates helper utility base
    implementation implement implements define defines perform performs do does compute computes calculate calculates
    get gets return returns result results output outputs input inputs value values data model layer use used
    """.split()  # noqa: SIM905
)
_ABBREVIATED = re.compile(r"\b(e\.g|i\.e|cf|vs|etc|resp|al|Eq|Fig|Sec|Tab|approx|w\.r\.t|[A-Z])\.$")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


@dataclass(frozen=True)
class Entry:
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
    parameters: dict[str, Entry] = field(default_factory=dict)
    returns: tuple[str, ...] = ()


def documented(definition: code.Definition) -> Documented:
    """Read the docstring of a function or class."""
    node = definition.node
    names = [] if isinstance(node, ast.ClassDef) else [item.arg for item, _ in code.parameters(node.args)]
    return read_docstring(definition.docstring, (definition.name, definition.class_name), names)


def read_docstring(
    text: str | None, own_names: Collection[str] = (), names: Collection[str] = ()
) -> Documented:
    """Read a docstring.

    Args:
        own_names: of the function and its class; a summary of nothing but them is none.
        names: of its parameters; lines that begin with one of them are no summary.
    """
    if not text or not text.strip():
        return Documented()
    lines = _ROLE.sub(r"\1", inspect.cleandoc(text)).split("\n")
    summary: list[str] = []
    parameters: dict[str, Entry] = {}
    returns: list[str] = []
    kind, block, title_width = "summary", list[str](), -1

    def close() -> None:
        if kind == "parameters":
            parameters.update(_parameters(block))
        elif kind == "returns":
            returns.extend(_returns(block))
        elif kind == "other":
            returns.extend(_shape_outputs(block))

    number = 0
    while number < len(lines):
        line, below = lines[number], lines[number + 1] if number + 1 < len(lines) else ""
        title = _SECTION.fullmatch(line)
        ruled = bool(re.fullmatch(r"\s*(-{3,}|={3,})\s*", below))
        if title and (title["colon"] or ruled):
            close()
            kind, block = _kind(title), []
            title_width = -1 if ruled else _width(line)
            number += 2 if ruled else 1
            continue
        if found := _FIELD.match(line):
            close()
            kind, block = "field", []
            number = _read_field(found, lines, number, parameters, returns)
            continue
        if title_width >= 0 and any(map(_width, block)) and line.strip() and _width(line) <= title_width:
            close()  # text behind a section that is indented
            kind, block, title_width = "text", [], -1
        if kind == "summary":
            summary.append(line)
        else:
            block.append(line)
        number += 1
    close()
    first = "\n".join(summary).strip("\n").split("\n\n")[0]
    return Documented(purpose(first, own_names, names), parameters, tuple(filter(None, returns)))


def _kind(title: re.Match[str]) -> str:
    return next(name for name in _TITLES if title[name])


def _read_field(
    found: re.Match[str], lines: list[str], number: int, parameters: dict[str, Entry], returns: list[str]
) -> int:
    """Read ``:param int x: text`` with the lines that go on with it; the number of the line behind it."""
    texts = [found["text"]]
    number += 1
    while number < len(lines) and lines[number].strip() and not _FIELD.match(lines[number]):
        texts.append(lines[number])
        number += 1
    text, kind, name = one_line(" ".join(texts)), found["kind"], found["name"].split()
    if kind in ("param", "parameter", "arg", "type") and name:
        known = parameters.get(name[-1].lstrip("*"), Entry())
        known = Entry(text, known.text) if kind == "type" else Entry(" ".join(name[:-1]) or known.type, text)
        parameters[name[-1].lstrip("*")] = known
    elif kind == "rtype":
        returns[:] = [f"{text}: {returns[0]}", *returns[1:]] if returns else [text]
    elif kind.startswith(("return", "yield")):
        returns[:] = [f"{returns[0]}: {text}"] if returns else [text]
    return number


def _items(block: list[str]) -> list[list[str]]:
    """The entries of a section: each begins at the section's own indentation."""
    filled = [line for line in block if line.strip()]
    margin = min((_width(line) for line in filled), default=0)
    items: list[list[str]] = []
    for line in filled:
        if _width(line) == margin or not items:
            items.append([])
        items[-1].append(line)
    return items


def _parameters(block: list[str]) -> dict[str, Entry]:
    found: dict[str, Entry] = {}
    last = ""
    for first, *more in _items(block):
        entry = _ENTRY.match(first)
        text = one_line(" ".join([entry["text"] if entry else "", *more]))
        if entry and more and not entry["type"] and first[entry.start("text") - 2 :].startswith(" :"):
            last, kind, text = entry["name"], one_line(entry["text"]), one_line(" ".join(more))  # NumPy
        elif entry:
            last, kind = entry["name"], one_line(entry["type"] or "")[1:-1]
        elif re.fullmatch(r"\s*\*{0,2}\w+\s*", first) and more:
            last, kind = first.strip(), ""
        elif last:  # a line that was not indented goes on with the last entry
            known = found[last.lstrip("*")]
            found[last.lstrip("*")] = Entry(known.type, one_line(f"{known.text} {first} {' '.join(more)}"))
            continue
        else:
            continue
        found[last.lstrip("*")] = Entry(kind, text)
    return found


def _returns(block: list[str]) -> list[str]:
    found: list[str] = []
    for first, *more in _items(block):
        text, rest = one_line(first), one_line(" ".join(more))
        numpy = re.fullmatch(r"(\w+) : (.+)", text)
        if more and (numpy or (len(text.split()) < 4 and not text.endswith((".", ",", ":")))):
            head = f"{numpy[1]} ({numpy[2]})" if numpy else text
            found.append(f"{head}: {rest}")
        elif found and not _ENTRY.match(first) and not first.lstrip().startswith(("-", "*")):
            found[-1] = one_line(f"{found[-1]} {text} {rest}")
        else:
            found.append(one_line(f"{text} {rest}").lstrip("-* "))
    return found


def _shape_outputs(block: list[str]) -> list[str]:
    """The outputs in a ``Shape:`` section, as torch's docstrings have it."""
    lines = [re.match(r"\s*[-*]?\s*Outputs?:\s*(\S.*)", line) for line in block]
    return [one_line(line[1].replace(":math:", "").replace("`", "")) for line in lines if line]


def _width(line: str) -> int:
    return len(line) - len(line.lstrip())


def shape_in(text: str) -> str:
    """Return the first shape in a text, as in ``(batch_size, seq_len)``; "" when there is none."""
    match = _SHAPE.search(text)
    return one_line(match.group()) if match else ""


# the purpose


def purpose(paragraph: str, own_names: Collection[str] = (), parameters: Collection[str] = ()) -> str:
    """Return what the first paragraph of a docstring says a function is for; "" when it says nothing.

    Args:
        own_names: of the function and its class: words that are in them say nothing more.
        parameters: names of what it takes; a line about one of them is no purpose.
    """
    known = {name.lower() for name in parameters}
    lines = []
    for line in paragraph.splitlines():
        entry = _ENTRY.match(line) or re.match(r"\s*(?P<name>\w+)(?P<type>)\s+-\s", line)
        about = entry and (entry["name"].lower() in known or entry["type"] or "_" in entry["name"])
        if about or _SECTION.fullmatch(line.partition(":")[0]):
            break
        if not re.fullmatch(r"[\W_]*", line):  # a rule of dashes
            lines.append(line)
    kept: list[str] = []
    for sentence in sentences(one_line(" ".join(lines))):
        if _NO_PURPOSE.match(sentence):
            break
        kept.append(sentence)
    text = " ".join(kept)
    own = [word for name in own_names for word in _words(name)]
    words = [word for word in _words(text) if len(word) > 1 and not word.isdigit()]
    if len(words) < 2 and text.isascii():
        return ""  # "Dropout": a title; other scripts may have no blanks
    says = any(word not in _GENERIC and not any(_alike(word, other) for other in own) for word in words)
    return text if says else ""


def sentences(text: str) -> list[str]:
    """Split a text on one line into its sentences."""
    found: list[str] = []
    for part in re.split(r"(?<=[.!?])\s+(?=[A-Z\[(`\"'¿¡]|[^\x00-\x7f])", text):
        if found and _ABBREVIATED.search(found[-1]):
            found[-1] += f" {part}"
        elif part:
            found.append(part)
    return found


def _words(text: str) -> list[str]:
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_", " ", text)
    return re.findall(r"[^\W_]+", parted.lower())


def _alike(word: str, other: str) -> bool:
    """Return True for two forms of one word: ``prunes`` and ``prune``, ``initialized`` and ``initialize``."""
    shorter, longer = sorted((word, other), key=len)
    same = len(shorter) > 3 and longer.startswith(shorter[: max(4, len(shorter) - 1)])
    return word == other or (same and len(longer) - len(shorter) <= 3)


# literals


def clean_docstring(text: str) -> str:
    """Return a docstring's text as `inspect.cleandoc` would give it back, without blanks behind its lines."""
    lines = (line.rstrip() for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    cleaned = inspect.cleandoc("\n".join(lines)).strip()
    return inspect.cleandoc(cleaned)  # text whose first line stood alone has a margin only now


def docstring_lines(text: str, can_hold: Callable[[str], bool] = lambda text: True) -> list[str]:
    """Return the lines of a docstring literal, not indented, whose cleaned value is ``clean_docstring(text)``.

    Args:
        text: the docstring; not empty.
        can_hold: tells whether the file's encoding has every character of a text. What it has not is later
            written as ``\\uXXXX``, which a raw literal would not understand.
    """
    text = clean_docstring(text)
    several = "\n" in text
    fits_raw = '"""' not in text and not _CONTROL.search(text) and can_hold(text)
    if "\\" in text and fits_raw and (several or not text.endswith(('"', "\\"))):
        prefix = "r"
    else:
        prefix = ""
        body = text if several else text.rstrip('"')
        closing = len(text) - len(body)
        text = body.replace("\\", "\\\\").replace('"""', r"\"\"\"") + r"\"" * closing
        text = _CONTROL.sub(lambda match: f"\\x{ord(match.group()):02x}", text)
    lines = f'{prefix}"""{text}'.split("\n")
    return [*lines, '"""'] if several else [lines[0] + '"""']
