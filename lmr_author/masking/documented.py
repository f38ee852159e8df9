"""What a docstring says about parameters and results, in whichever of the usual styles it is written."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from lmr_author import source
from lmr_author.masking.notes import one_line
from lmr_author.masking.purpose import purpose

_ROLE = re.compile(r":(?:py:)?(?!math)[a-z]+:`[~!]?([^`]+)`")
"""A role of Sphinx, ``:obj:`x```; its colons would be taken for the end of a parameter's name."""
_SHAPE_LINE = re.compile(r"^\s*[-*]?\s*(?P<name>Inputs?|Outputs?):\s*(?P<text>\S.*)$", re.MULTILINE)
_SIZE = r"(?:[A-Za-z_]\w*|\d+|\*|…|\.\.\.|-1)"
_SHAPE = re.compile(
    rf"[(\[]\s*{_SIZE}(?:\s*[*+/-]\s*{_SIZE})*\s*(?:,\s*(?:{_SIZE}(?:\s*[*+/-]\s*{_SIZE})*)?\s*)+[)\]]"
)


@dataclass(frozen=True)
class Entry:
    """A parameter or result as a docstring has it: either part may be ""."""

    type: str = ""
    text: str = ""


@dataclass(frozen=True)
class Documented:
    """What a docstring says.

    Attributes:
        summary: what its first paragraph says the function is for, on one line; "" when it does not say.
        parameters: by name, in the docstring's order.
        returns: one line each.
    """

    summary: str = ""
    parameters: dict[str, Entry] = field(default_factory=dict)
    returns: tuple[str, ...] = ()


def read_docstring(
    text: str | None, own_names: Collection[str] = (), names: Collection[str] = ()
) -> Documented:
    """Read a docstring: Google, NumPy, reST and epydoc styles, and torch's ``Shape:`` section.

    Args:
        own_names: of the function and its class; a summary that has nothing but them is none.
        names: of its parameters, by which lines about them are known.
    """
    if not text or not text.strip():
        return Documented()
    text = _ROLE.sub(r"\1", inspect.cleandoc(text))
    parsed = _parsed(text)
    summary = purpose(text.split("\n\n")[0], own_names, names)
    if parsed is None:
        return Documented(summary, {}, _shape_lines(text))
    described = parsed.description if hasattr(parsed, "description") else parsed.short_description
    if described:
        summary = purpose(described.split("\n\n")[0], own_names, names)
    elif parsed.meta:
        summary = ""  # it starts with its first section
    parameters = {
        item.arg_name.lstrip("*"): Entry(one_line(item.type_name or ""), one_line(item.description or ""))
        for item in parsed.params
    }
    return Documented(summary, parameters, _returns(parsed) or _shape_lines(text))


def documented(definition: source.Definition) -> Documented:
    """What a function's or class's own docstring says."""
    node = definition.node
    names = [] if isinstance(node, ast.ClassDef) else [item.arg for item, _ in source.parameters(node.args)]
    return read_docstring(definition.docstring, (definition.name, definition.class_name), names)


def shape_in(text: str) -> str:
    """The first shape in a text, as in ``(batch_size, seq_len)``; "" when there is none."""
    match = _SHAPE.search(text)
    return one_line(match.group()) if match else ""


def _parsed(text: str) -> Any:
    """The parse of the style that finds most; None when none of them finds a section."""
    from docstring_parser import ParseError, epydoc, google, numpydoc, rest

    extra = [
        google.Section(title, key, google.SectionType.MULTIPLE)
        for title, key in (("Inputs", "param"), ("Input", "param"), ("Parameters", "param"))
    ]
    extra += [
        google.Section(title, "returns", google.SectionType.SINGULAR_OR_MULTIPLE)
        for title in ("Outputs", "Output", "Return")
    ]
    readers = (
        google.GoogleParser([*google.DEFAULT_SECTIONS, *extra]).parse,
        numpydoc.parse,
        rest.parse,
        epydoc.parse,
    )
    best = None
    for read in readers:
        try:
            parsed = read(text)
        except (ParseError, ValueError, IndexError, AttributeError):
            continue
        if parsed.meta and (best is None or len(parsed.meta) > len(best.meta)):
            best = parsed
    return best


def _returns(parsed: Any) -> tuple[str, ...]:
    found = []
    for item in parsed.many_returns:
        parts = [item.return_name, item.type_name]
        head = " ".join(f"({part})" if number else part for number, part in enumerate(filter(None, parts)))
        text = one_line(item.description or "")
        found.append(f"{head}: {text}" if head and text else head or text)
    return tuple(one_line(text) for text in found if text)


def _shape_lines(text: str) -> tuple[str, ...]:
    """The outputs in a ``Shape:`` section, as torch's docstrings have it."""
    if not re.search(r"^\s*Shapes?:", text, re.MULTILINE):
        return ()
    return tuple(
        one_line(match["text"].replace(":math:", "").replace("`", ""))
        for match in _SHAPE_LINE.finditer(text)
        if match["name"].startswith("Output")
    )
