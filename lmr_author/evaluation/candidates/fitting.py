"""Fit an answer into a pristine goal file: the target's body is exchanged, what it needs is added, byte for byte.

Kept are new helpers, imports and constants, in front of the statement that holds the target, and new methods
in front of the method. Everything else that an answer changes is left out and reported.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from lmr_author.code import (
    Definition,
    Module,
    find,
    first_line,
    matching,
    region,
    region_bytes,
    splice_regions,
)
from lmr_author.errors import LmrError
from lmr_author.evaluation.candidates.answer import Invalid, Parsed, parsed
from lmr_author.evaluation.candidates.extras import Extras, collect
from lmr_author.evaluation.candidates.shifting import shifted
from lmr_author.task import Target


@dataclass(frozen=True)
class Fitted:
    """An answer in its place.

    Attributes:
        data: the goal file.
        line: of the (first) target's ``def`` in it.
        form: ``function``, ``file`` or ``body``: what the answer was.
        kept: helpers and imports that were added, by name.
        dropped: what else it changes, which was not applied.
        unchanged: the target is as masked.
    """

    data: bytes
    line: int
    form: str
    kept: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    unchanged: bool = False


@dataclass(frozen=True)
class Place:
    """Where answers go.

    Attributes:
        goal: the goal file with nothing but this target masked.
        qualnames: the masked functions; several when a class is masked.
        given: the goal file as the model was given it, when other functions of it are masked too.
        others: those functions.
        nth: which definition of the name the target is, where the goal file has several.
    """

    goal: Module
    qualnames: tuple[str, ...]
    given: Module | None = None
    others: tuple[str, ...] = ()
    nth: int | None = None

    def pairs(self, found: Parsed) -> list[tuple[Definition, Definition]]:
        """Each target with what an answer has for it."""
        return [
            (mine, own)
            for name in self.qualnames
            if (mine := _target(self.goal, name, self.nth)) is not None
            and (own := found.function(name, mine)) is not None
        ]

    def extras(
        self, found: Parsed, pairs: Sequence[tuple[Definition, Definition]], *, as_file: bool
    ) -> Extras:
        """What an answer has beside the target."""
        own, mine = [one for _, one in pairs], [one for one, _ in pairs]
        return collect(found, self.given or self.goal, own, mine, as_file=as_file, others=self.others)


def fit(answer: str, place: Place) -> Fitted:
    """Fit the text of an answer. Raises Invalid: not Python, or without the function."""
    found = parsed(answer, place.qualnames)
    pairs = place.pairs(found)
    return _fit_functions(found, place, pairs) if pairs else _fit_body(found, place)


def fit_file(answer: bytes, place: Place, *, whole: bool) -> Fitted:
    """Fit a goal file as an agent left it. Raises Invalid.

    Args:
        whole: take the file as it is, whatever else it changes; only other masked functions are golden.
    """
    goal = place.goal
    try:
        module = Module.parse(answer, goal.name)
    except LmrError as error:
        raise Invalid(error.message) from error
    found = Parsed(module, tuple(module.tree.body))
    pairs = place.pairs(found)
    if not pairs:
        raise Invalid(f"{goal.name} does not define {', '.join(place.qualnames)} any more")
    if not whole:
        return _fit_functions(found, place, pairs, as_file=True)
    extras = place.extras(found, pairs, as_file=True)
    regions = {
        own: region_bytes(goal, mine)
        for name in place.others
        if (mine := _target(goal, name)) is not None and (own := _target(module, name)) is not None
    }
    data = splice_regions(module, regions)
    target = find(Module.parse(data, goal.name), Target(goal.name, pairs[0][1].qualname, nth=pairs[0][1].nth))
    unchanged = all(region_bytes(goal, mine) == region_bytes(module, own) for mine, own in pairs)
    return Fitted(data, target.line, "file", (*extras.names, *extras.dropped), (), unchanged)


def whole_file(answer: str, place: Place) -> Fitted:
    """Take an answer that is a file as the goal file; any other answer is fitted. Raises Invalid."""
    found = parsed(answer, place.qualnames)
    has = {item.qualname for item in found.module.definitions}
    if {item.qualname for item in place.goal.definitions} <= has:
        return fit_file(found.module.data, place, whole=True)
    return fit(answer, place)


def _target(goal: Module, qualname: str, nth: int | None = None) -> Definition | None:
    pair = matching(goal, goal, qualname, nth)
    if pair is not None:
        return pair[0]
    try:
        return find(goal, Target(goal.name, qualname))
    except LmrError:
        return None


def _fit_functions(
    found: Parsed, place: Place, pairs: Sequence[tuple[Definition, Definition]], *, as_file: bool = False
) -> Fitted:
    goal = place.goal
    regions = {mine: goal.encode(_region(found.module, own, goal, mine)) for mine, own in pairs}
    unchanged = all(region_bytes(goal, mine) == data for mine, data in regions.items())
    extras = place.extras(found, pairs, as_file=as_file)
    missing = [name for name in place.qualnames if name not in {mine.qualname for mine, _ in pairs}]
    dropped = (*extras.dropped, *(f"{name} is not in the answer" for name in missing))
    whole = as_file or any(mine.class_name and own.class_name for mine, own in pairs)
    return _finished(goal, regions, extras, "file" if whole else "function", dropped, unchanged)


def _fit_body(found: Parsed, place: Place) -> Fitted:
    """An answer without the target's header is its body, when it does something of its own."""
    goal, qualnames = place.goal, place.qualnames
    names = ", ".join(qualnames)
    target = _target(goal, qualnames[0], place.nth) if len(qualnames) == 1 else None
    does = [item for item in found.statements if not isinstance(item, _DECLARATIONS) and not _is_text(item)]
    if target is None or not does:
        defined = ", ".join(item.qualname for item in found.module.definitions[:5])
        raise Invalid(f"the answer does not define {names}" + (f", but {defined}" if defined else ""))
    where = region(goal, target)
    first, module = found.statements[0], found.module
    line = first_line(first)
    start = module.line_start(line)
    text = module.line_text(line)
    old = text[: len(text) - len(text.lstrip(" \t"))]
    lines = shifted(module, start, len(module.text.rstrip()), old, where.indent, where.newline)
    body = where.indent + lines[len(old) :]
    kept = [item for item in (where.type_comment, where.docstring) if item is not None]
    head = "".join(f"{where.newline}{where.indent}{item}" for item in kept)
    data = goal.encode(where.header_rest + head + where.newline + body)
    return _finished(goal, {target: data}, Extras(), "body", (), region_bytes(goal, target) == data)


_DECLARATIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant | ast.Name)


def _region(module: Module, own: Definition, goal: Module, mine: Definition) -> str:
    """The answer's region at the indentation of the target."""
    theirs, ours = region(module, own), region(goal, mine)
    return shifted(module, theirs.start, theirs.end, theirs.indent, ours.indent, ours.newline)


def _finished(
    goal: Module,
    regions: dict[Definition, bytes],
    extras: Extras,
    form: str,
    dropped: tuple[str, ...],
    unchanged: bool,
) -> Fitted:
    try:
        spliced = Module.parse(splice_regions(goal, regions), goal.name)
        first = next(iter(regions))
        for mine in regions:
            spliced = _inserted(spliced, mine, extras.methods.get(mine.qualname, ()))
        spliced = _inserted(spliced, first, extras.statements, top=True)
        target = find(spliced, Target(goal.name, first.qualname, nth=first.nth))
    except LmrError as error:
        raise Invalid(f"the answer does not fit into {goal.name}: {error.message}") from error
    return Fitted(spliced.data, target.line, form, extras.names, dropped, unchanged)


def _inserted(module: Module, target: Definition, texts: Sequence[str], *, top: bool = False) -> Module:
    """The module with some statements (not indented) in front of a target, or of the statement that holds it."""
    if not texts:
        return module
    definition = find(module, Target(module.name, target.qualname, nth=target.nth))
    node: ast.stmt = definition.node
    if top:
        node = next(
            item for item in module.tree.body if item.lineno <= definition.line <= (item.end_lineno or 0)
        )
    line = first_line(node)
    header = module.line_text(line)
    indent = "" if top else header[: len(header) - len(header.lstrip(" \t"))]
    newline = region(module, definition).newline
    chunk = "".join(f"{indent}{shift_text(text, indent, newline)}{newline}{newline}" for text in texts)
    place = module.byte_offset(module.line_start(line))
    return Module.parse(module.data[:place] + module.encode(chunk) + module.data[place:], module.name)


def shift_text(text: str, indent: str, newline: str) -> str:
    """Some statements (not indented) at an indentation; the first line without it."""
    module = Module.parse(text.encode(), "a helper")
    return shifted(module, 0, len(module.text), "", indent, newline)
