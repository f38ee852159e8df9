"""Mask functions of one file in memory, and restore them."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lmr_author.authoring.masking.notes import (
    MaskNotes,
    clean_docstring,
    docstring_lines,
    left_out_body,
    masked_body,
    read_notes,
)
from lmr_author.core import code
from lmr_author.core.errors import SourceError, TargetError

IMPORT_TIME_DECORATORS = frozenset(
    {"script", "jit", "njit", "vectorize", "compile", "register", "overload", "singledispatch"}
)
"""Last names of decorators that compile or register a body when the file is imported."""


@dataclass(frozen=True)
class Masked:
    """A masked file.

    Attributes:
        data: its bytes.
        remarks: what the annotator should know (no docstring, a decorator that needs the body).
    """

    data: bytes
    remarks: tuple[str, ...]


def mask_source(
    module: code.Module,
    definitions: Sequence[code.Definition],
    notes: Mapping[str, MaskNotes] | None = None,
    along: Sequence[code.Definition] = (),
) -> Masked:
    """Mask functions of a file: signature, decorators and docstring stay, the body becomes a raise.

    Args:
        module: the file, unmasked at these functions.
        definitions: functions, none inside another.
        notes: by :attr:`~lmr_author.core.code.Definition.label`, what docstring and comment say.
        along: look-alikes that are emptied too, and of which nothing is asked.

    Raises:
        TargetError: a function is already masked, or has a docstring where another one is given.
        SourceError: the masked file would not parse, which is a bug or an encoding that cannot be cut.
    """
    notes = notes or {}
    bodies: dict[code.Definition, Sequence[str]] = {}
    remarks: list[str] = []
    for definition in definitions:
        own = notes.get(definition.label, MaskNotes())
        bodies[definition] = _body(module, definition, own)
        remarks += _remarks(module, definition, own)
    for definition in along:
        bodies[definition] = left_out_body(generator=code.is_generator(definition.function))
    data = code.splice(module, bodies)
    _assert_faithful(module, data, [*definitions, *along], notes)
    return Masked(data, tuple(remarks))


def _body(module: code.Module, definition: code.Definition, notes: MaskNotes) -> list[str]:
    name = f"{definition.qualname} in {module.name}"
    if is_masked(definition):
        raise TargetError(f"{name} is already masked", "run `lmr-author unmask` first to mask it anew")
    body = masked_body(definition.name, notes, generator=code.is_generator(definition.function))
    if not clean_docstring(notes.docstring):
        return body
    if definition.docstring is not None:
        raise TargetError(
            f"{name} has a docstring, and it is never changed",
            "leave out the docstring that you gave; --objective and the other parts go into the comment",
        )
    return [*docstring_lines(notes.docstring, module.can_hold), *body]


def unmask_source(golden: code.Module, goal: code.Module, qualname: str, nth: int | None = None) -> bytes:
    """Return the goal file with one function's original region restored.

    Raises TargetError when the two files do not fit each other.
    """
    pair = code.matching(golden, goal, qualname, nth)
    if pair is None:
        raise TargetError(
            f"{qualname} is not in both the golden and {goal.name}",
            "restore the goal file from the golden by hand",
        )
    original, masked = pair
    return code.splice_regions(goal, {masked: code.region_bytes(golden, original)})


def is_masked(definition: code.Definition) -> bool:
    """Return True when a body is nothing but a docstring and ``raise NotImplementedError`` (and a yield)."""
    statements = list(definition.node.body)
    if definition.docstring is not None:
        statements = statements[1:]
    if not statements or not raises_not_implemented(statements[0]):
        return False
    return all(isinstance(node, ast.Expr) and isinstance(node.value, ast.Yield) for node in statements[1:])


def raises_not_implemented(node: ast.stmt) -> bool:
    """Return True for ``raise NotImplementedError``, with or without arguments."""
    raised = node.exc if isinstance(node, ast.Raise) else None
    raised = raised.func if isinstance(raised, ast.Call) else raised
    return isinstance(raised, ast.Name) and raised.id == "NotImplementedError"


def notes_in(module: code.Module, definition: code.Definition) -> MaskNotes:
    """Read the comment in a masked body as it is in the file now; the docstring is not read."""
    where = code.region(module, definition)
    return read_notes(module.text[where.start : where.end].splitlines())


def _remarks(module: code.Module, definition: code.Definition, notes: MaskNotes) -> Iterator[str]:
    name = definition.qualname
    if definition.docstring is None and not notes.docstring:
        yield f"{name} has no docstring: the instruction alone must say what it does (or give --docstring)"
    for decorator in definition.node.decorator_list:
        text = ast.unparse(decorator)
        if text.partition("(")[0].rpartition(".")[2] in IMPORT_TIME_DECORATORS:
            yield (
                f"{name} is decorated with @{text}, which may compile or register the body at import: check "
                "that the masked file still imports"
            )
    yield from import_remarks(module, definition)


def import_remarks(module: code.Module, definition: code.Definition) -> Iterator[str]:
    """Yield why no test could import the masked file, or run the function."""
    name = definition.qualname
    if line := _called_on_import(module, name):
        yield (
            f"{name} is called when the file is imported (line {line}): the masked file cannot be imported, "
            "so no test can judge an answer; choose another function"
        )
    if demand := code.demanded(module.tree):
        yield f"the file {demand}: no test can import it; choose a function of another file"
    if gone := code.python_2_names(module.tree, definition.node):
        yield (
            f"{name}, or what it calls of its file, uses {', '.join(gone)}, which Python 3 does not have: it cannot "
            "run; choose another function"
        )


def _called_on_import(module: code.Module, name: str) -> int:
    """Return the line on which a function is called, or decorates another, on import; 0 for none."""
    for node in code.running(module.tree):
        called = [node.func] if isinstance(node, ast.Call) else getattr(node, "decorator_list", [])
        for function in called:
            if isinstance(function, ast.Name) and function.id == name:
                return function.lineno
    return 0


def _assert_faithful(
    module: code.Module,
    data: bytes,
    definitions: Sequence[code.Definition],
    notes: Mapping[str, MaskNotes],
) -> None:
    """Raise SourceError unless the masked file parses and differs from the original in the regions only."""
    masked = code.Module.parse(data, module.name)
    wanted = {(definition.qualname, definition.nth) for definition in definitions}
    now = [definition for definition in masked.definitions if (definition.qualname, definition.nth) in wanted]
    same = len(now) == len(wanted) and code.outside(module, definitions) == code.outside(masked, now)
    if not same or not all(_has_docstring(definition, notes) for definition in now):
        raise SourceError(
            f"{module.name}: masking would change more than the body",
            "report this file to the lmr-author project",
        )


def _has_docstring(definition: code.Definition, notes: Mapping[str, MaskNotes]) -> bool:
    """Return False for a function that was given a docstring and has another one now."""
    given = clean_docstring(notes.get(definition.label, MaskNotes()).docstring)
    return not given or inspect.cleandoc(definition.docstring or "") == given
