"""Mask functions of one file, and put them back."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lmr_author import source
from lmr_author.errors import SourceError, TargetError
from lmr_author.masking.notes import MaskNotes, masked_body

IMPORT_TIME_DECORATORS = frozenset(
    {"script", "jit", "njit", "vectorize", "compile", "register", "overload", "singledispatch"}
)
"""Last names of decorators that compile or register a body when the file is imported."""


@dataclass(frozen=True)
class Masked:
    """A masked file.

    Attributes:
        data: its bytes.
        qualnames: the functions masked, in file order.
        remarks: what the annotator should know (no docstring, a decorator that needs the body).
    """

    data: bytes
    qualnames: tuple[str, ...]
    remarks: tuple[str, ...]


def mask_source(
    module: source.Module,
    definitions: Sequence[source.Definition],
    notes: Mapping[str, MaskNotes] | None = None,
) -> Masked:
    """Mask functions of a file: signature, decorators and docstring stay, the body becomes a raise.

    Args:
        module: the file, unmasked at these functions.
        definitions: functions (see :func:`source.methods` for a class), none inside another.
        notes: by qualified name, what the comment says.

    Raises:
        TargetError: a function is already masked.
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
        own = notes.get(definition.qualname, MaskNotes())
        bodies[definition] = masked_body(definition.name, own, generator=source.is_generator(node))
        remarks += _remarks(definition)
    data = source.splice(module, bodies)
    _assert_faithful(module, data, definitions)
    return Masked(data, tuple(item.qualname for item in definitions), tuple(remarks))


def unmask_source(golden: source.Module, goal: source.Module, qualname: str) -> bytes:
    """The goal file with one function's original region back; others stay as they are.

    Raises TargetError when the two files do not fit each other.
    """
    pair = source.matching(golden, goal, qualname)
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
    if not statements or not isinstance(statements[0], ast.Raise):
        return False
    raised = statements[0].exc
    raised = raised.func if isinstance(raised, ast.Call) else raised
    rest = statements[1:]
    only_yield = all(isinstance(item, ast.Expr) and isinstance(item.value, ast.Yield) for item in rest)
    return isinstance(raised, ast.Name) and raised.id == "NotImplementedError" and only_yield


def _remarks(definition: source.Definition) -> list[str]:
    remarks = []
    if definition.docstring is None:
        remarks.append(f"{definition.qualname} has no docstring: the instruction alone must say what it does")
    for decorator in definition.node.decorator_list:
        text = ast.unparse(decorator)
        if text.partition("(")[0].rpartition(".")[2] in IMPORT_TIME_DECORATORS:
            remarks.append(
                f"{definition.qualname} is decorated with @{text}, which may compile or register the body at "
                "import: check that the masked file still imports"
            )
    return remarks


def _assert_faithful(module: source.Module, data: bytes, definitions: Sequence[source.Definition]) -> None:
    """The masked file parses, and differs from the original in the regions only."""
    masked = source.Module.parse(data, module.name)
    wanted = {(item.qualname, item.nth) for item in definitions}
    now = [item for item in masked.definitions if (item.qualname, item.nth) in wanted]
    if len(now) != len(wanted) or source.outside(module, definitions) != source.outside(masked, now):
        raise SourceError(
            f"{module.name}: masking would change more than the body",
            "report this file to the lmr-author project",
        )
