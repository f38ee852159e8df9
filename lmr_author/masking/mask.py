"""Mask functions of one file, and put them back."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lmr_author import source
from lmr_author.errors import SourceError, TargetError
from lmr_author.masking import at_import
from lmr_author.masking.literal import clean_docstring, docstring_lines
from lmr_author.masking.notes import MaskNotes, left_out_body, masked_body, read_notes

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
    module: source.Module,
    definitions: Sequence[source.Definition],
    notes: Mapping[str, MaskNotes] | None = None,
    along: Sequence[source.Definition] = (),
) -> Masked:
    """Mask functions of a file: signature, decorators and docstring stay, the body becomes a raise.

    Args:
        module: the file, unmasked at these functions.
        definitions: functions (see :func:`source.methods` for a class), none inside another.
        notes: by :attr:`~lmr_author.source.Definition.label`, what docstring and comment say.
        along: look-alikes that are emptied too, and of which nothing is asked.

    Raises:
        TargetError: a function is already masked, or has a docstring where another one is given.
        SourceError: the masked file would not parse, which is a bug or an encoding that cannot be cut.
    """
    notes = notes or {}
    bodies: dict[source.Definition, Sequence[str]] = {}
    remarks: list[str] = []
    for definition in definitions:
        node = definition.node
        assert not isinstance(node, ast.ClassDef)
        if is_masked(definition):
            raise TargetError(
                f"{definition.qualname} in {module.name} is already masked",
                "run `lmr-author unmask` first to mask it anew",
            )
        own = notes.get(definition.label, MaskNotes())
        body = masked_body(definition.name, own, generator=source.is_generator(node))
        bodies[definition] = [*_new_docstring(module, definition, own.docstring), *body]
        remarks += _remarks(module, definition, own)
    for definition in along:
        assert not isinstance(definition.node, ast.ClassDef)
        bodies[definition] = left_out_body(generator=source.is_generator(definition.node))
    data = source.splice(module, bodies)
    _assert_faithful(module, data, [*definitions, *along], notes)
    return Masked(data, tuple(remarks))


def unmask_source(golden: source.Module, goal: source.Module, qualname: str, nth: int | None = None) -> bytes:
    """The goal file with one function's original region back; others stay as they are.

    Raises TargetError when the two files do not fit each other.
    """
    pair = source.matching(golden, goal, qualname, nth)
    if pair is None:
        raise TargetError(
            f"{qualname} is not in both the golden and {goal.name}",
            "restore the goal file from the golden by hand",
        )
    original, masked = pair
    return source.splice_regions(goal, {masked: source.region_bytes(golden, original)})


def is_masked(definition: source.Definition) -> bool:
    """Whether a body is nothing but a docstring and ``raise NotImplementedError`` (and a yield)."""
    statements = list(definition.node.body)
    if definition.docstring is not None:
        statements = statements[1:]
    if not statements or not raises_not_implemented(statements[0]):
        return False
    return all(isinstance(item, ast.Expr) and isinstance(item.value, ast.Yield) for item in statements[1:])


def raises_not_implemented(node: ast.stmt) -> bool:
    """Whether a statement is ``raise NotImplementedError``, with or without arguments."""
    raised = node.exc if isinstance(node, ast.Raise) else None
    raised = raised.func if isinstance(raised, ast.Call) else raised
    return isinstance(raised, ast.Name) and raised.id == "NotImplementedError"


def notes_in(module: source.Module, definition: source.Definition) -> MaskNotes:
    """What the comment in a masked body says, as it stands in the file now; the docstring is not read."""
    where = source.region(module, definition)
    return read_notes(module.text[where.start : where.end].splitlines())


def _new_docstring(module: source.Module, definition: source.Definition, text: str) -> list[str]:
    if not clean_docstring(text):
        return []
    if definition.docstring is not None:
        raise TargetError(
            f"{definition.qualname} in {module.name} has a docstring, and it is never changed",
            "leave out the docstring that you gave; --objective and the other parts go into the comment",
        )
    return docstring_lines(text, module.can_hold)


def _remarks(module: source.Module, definition: source.Definition, notes: MaskNotes) -> Iterator[str]:
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
    yield from at_import.remarks(module, definition)


def _assert_faithful(
    module: source.Module,
    data: bytes,
    definitions: Sequence[source.Definition],
    notes: Mapping[str, MaskNotes],
) -> None:
    """The masked file parses, differs from the original in the regions only, and says what it should."""
    masked = source.Module.parse(data, module.name)
    wanted = {(item.qualname, item.nth) for item in definitions}
    now = [item for item in masked.definitions if (item.qualname, item.nth) in wanted]
    faithful = len(now) == len(wanted)
    faithful = faithful and source.outside(module, definitions) == source.outside(masked, now)
    for item in now if faithful else ():
        given = clean_docstring(notes.get(item.label, MaskNotes()).docstring)
        faithful = faithful and (not given or inspect.cleandoc(item.docstring or "") == given)
    if not faithful:
        raise SourceError(
            f"{module.name}: masking would change more than the body",
            "report this file to the lmr-author project",
        )
