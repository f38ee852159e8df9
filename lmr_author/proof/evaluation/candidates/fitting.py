"""Fit an answer into a pristine goal file: replace the target's body, and add what it needs, byte for byte.

New helpers, imports and constants are inserted in front of the statement that holds the target, new methods in front
of the method. Every other edit of the answer is left out and reported.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from lmr_author.core.code import (
    Definition,
    Module,
    bound_by,
    find,
    first_line,
    region,
    region_bytes,
    splice_regions,
)
from lmr_author.core.errors import LmrError
from lmr_author.core.task import Target
from lmr_author.proof.evaluation.candidates.answer import Invalid, Parsed, parsed

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DECLARATIONS = (*_FUNCTIONS, ast.ClassDef, ast.Import, ast.ImportFrom)
_KEPT = (*_DECLARATIONS, ast.Assign, ast.AnnAssign, ast.Try)
"""Statements that may come along with a target: they define names."""


@dataclass(frozen=True)
class Fitted:
    """An answer in its place.

    Attributes:
        data: the goal file.
        line: of the (first) target's ``def`` in it.
        form: of the answer: ``function``, ``file`` or ``body``.
        kept: names of the helpers and imports that were added.
        dropped: its other changes, which were not applied.
        unchanged: the target is as masked.
    """

    data: bytes
    line: int
    form: str
    kept: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    unchanged: bool = False


@dataclass(frozen=True)
class Slot:
    """The place of answers.

    Attributes:
        goal: the goal file with nothing but this target masked.
        targets: the masked functions in it; several when a class is masked.
        given: the goal file as the model was given it, when other functions of it are masked too.
        others: those functions.
    """

    goal: Module
    targets: tuple[Definition, ...]
    given: Module | None = None
    others: tuple[str, ...] = ()

    @property
    def qualnames(self) -> tuple[str, ...]:
        """The names of the masked functions."""
        return tuple(one.qualname for one in self.targets)


def fit(answer: str, place: Slot) -> Fitted:
    """Fit the text of an answer. Raises Invalid: not Python, or without the function."""
    return _fitted(parsed(answer, place.qualnames), place)


def fit_file(answer: bytes, place: Slot) -> Fitted:
    """Fit a goal file as an agent left it. Raises Invalid."""
    try:
        module = Module.parse(answer, place.goal.name)
    except LmrError as error:
        raise Invalid(error.message) from error
    return _fitted(Parsed(module, tuple(module.tree.body)), place, as_file=True)


def _fitted(found: Parsed, place: Slot, *, as_file: bool = False) -> Fitted:
    goal = place.goal
    defined = ((mine, found.function(mine.qualname, mine)) for mine in place.targets)
    pairs = [(mine, own) for mine, own in defined if own is not None]
    if not pairs and not as_file and (body := _fitted_body(found, place)):
        return body
    if not pairs:
        others = ", ".join(item.qualname for item in found.module.definitions[:5])
        more = f", but {others}" if others else ""
        raise Invalid(f"the answer does not define {', '.join(place.qualnames)}{more}")
    regions = {}
    for mine, own in pairs:
        theirs, ours = region(found.module, own), region(goal, mine)
        text = shifted(found.module, theirs.start, theirs.end, theirs.indent, ours.indent, ours.newline)
        regions[mine] = goal.encode(text)
    unchanged = all(region_bytes(goal, mine) == data for mine, data in regions.items())
    extras = _Extras(found, place, pairs, as_file=as_file)
    missing = [name for name in place.qualnames if name not in {mine.qualname for mine, _ in pairs}]
    dropped = (*extras.dropped, *(f"{name} is not in the answer" for name in missing))
    whole = as_file or any(mine.class_name and own.class_name for mine, own in pairs)
    spliced, line = _spliced(goal, regions, extras.added)
    return Fitted(spliced, line, "file" if whole else "function", tuple(extras.names), dropped, unchanged)


def _fitted_body(found: Parsed, place: Slot) -> Fitted | None:
    """Take an answer that is no function as the target's body; None where it only declares or says something."""
    target = place.targets[0] if len(place.targets) == 1 else None
    spoken = (ast.Constant, ast.Name)
    rest = [item for item in found.statements if not isinstance(item, _DECLARATIONS)]
    if target is None or all(isinstance(item, ast.Expr) and isinstance(item.value, spoken) for item in rest):
        return None
    module, ours = found.module, region(place.goal, target)
    line = first_line(found.statements[0])
    old = module.line_text(line)[: found.statements[0].col_offset]
    text = shifted(module, module.line_start(line), len(module.text.rstrip()), old, ours.indent, ours.newline)
    kept = [ours.indent + item for item in (ours.type_comment, ours.docstring) if item is not None]
    body = ours.newline.join([ours.header_rest, *kept, ours.indent + text[len(old) :]])
    data = place.goal.encode(body)
    spliced, at = _spliced(place.goal, {target: data}, {})
    return Fitted(spliced, at, "body", unchanged=region_bytes(place.goal, target) == data)


def _spliced(
    goal: Module, regions: dict[Definition, bytes], added: Mapping[str, Sequence[str]]
) -> tuple[bytes, int]:
    """Return the goal file with other bodies and with what is added, and the line of the first target."""
    try:
        spliced = Module.parse(splice_regions(goal, regions), goal.name)
        first = next(iter(regions))
        owned = next((mine for mine in regions if mine.class_name), first)
        for scope, texts in added.items():
            spliced = _inserted(spliced, owned if scope else first, texts, top=not scope)
        return spliced.data, find(spliced, Target(goal.name, first.qualname, nth=first.nth)).line
    except LmrError as error:
        raise Invalid(f"the answer does not fit into {goal.name}: {error.message}") from error


def _inserted(module: Module, target: Definition, texts: Sequence[str], *, top: bool = False) -> Module:
    """Insert statements (not indented) in front of a target, or of the top-level statement that holds it."""
    if not texts:
        return module
    definition = find(module, Target(module.name, target.qualname, nth=target.nth))
    node: ast.stmt = definition.node
    if top:
        node = next(
            item for item in module.tree.body if item.lineno <= definition.line <= (item.end_lineno or 0)
        )
    line = first_line(node)
    indent = "" if top else _indent(module.line_text(line))
    newline = region(module, definition).newline
    chunk = ""
    for text in texts:
        helper = Module.parse(text.encode(), "a helper")
        moved = shifted(helper, 0, len(helper.text), "", indent, newline)
        chunk += f"{indent}{moved}{newline}{newline}"
    place = module.byte_offset(module.line_start(line))
    return Module.parse(module.data[:place] + module.encode(chunk) + module.data[place:], module.name)


class _Extras:
    """The statements of an answer beside the target: to be added, or dropped.

    Attributes:
        added: scope ("" for the module, or the target's class) → source of what is added there, not indented.
        names: names of what is added.
        dropped: changes that are not applied.
    """

    def __init__(
        self, found: Parsed, place: Slot, pairs: Sequence[tuple[Definition, Definition]], *, as_file: bool
    ) -> None:
        self.added: dict[str, list[str]] = {}
        self.names: list[str] = []
        self.dropped: list[str] = []
        self._module = found.module
        self._goal = place.given or place.goal
        self._pairs = pairs
        self._masked = {*place.others, *(mine.qualname for mine, _ in pairs)}
        self._owner = next((mine.class_name for mine, _ in pairs if mine.class_name), "")
        for mine, own in pairs:
            header = _header(own)
            if header != _header(mine):
                self.dropped.append(f"the header of {mine.qualname}: {' '.join(header.split())}")
        self._sort(found.statements, "")
        if as_file:
            removed = _bound(self._goal.tree.body) - _bound(found.statements)
            self.dropped += [f"removes {name}" for name in sorted(removed)]
        self.names, self.dropped = list(dict.fromkeys(self.names)), list(dict.fromkeys(self.dropped))

    def _sort(self, items: Sequence[ast.stmt], scope: str) -> None:
        """Add or drop statements of the answer's module, or of one of its classes."""
        body = self._goal.tree.body
        if scope:
            nodes = (item.node for item in self._goal.definitions if item.qualname == scope)
            body = next((node.body for node in nodes if isinstance(node, ast.ClassDef)), [])
        same, bound = {ast.dump(item) for item in body}, _bound(body)
        prefix = f"{scope}." if scope else ""
        for item in items:
            names = sorted(_bound([item]))
            is_docstring = isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant)
            if is_docstring or ast.dump(item) in same:
                continue
            if names and all(prefix + name in self._masked for name in names):
                continue  # the target, an earlier definition of it, or another target
            if inner := self._class_of(item, bound, prefix):
                assert isinstance(item, ast.ClassDef)
                self._sort(item.body, inner)
            elif not scope and self._owner and _is_method(item):
                self._sort([item], self._owner)
            elif isinstance(item, ast.Import | ast.ImportFrom):
                self._sort_import(item, bound, scope)
            elif not names or not isinstance(item, _KEPT):
                line = self._module.line_text(item.lineno).strip()[:60]
                self.dropped.append(f"code at module level, line {item.lineno}: {line}")
            elif changed := [prefix + name for name in names if name in bound]:
                self.dropped.append(f"changes {', '.join(changed)}")
            elif scope not in ("", self._owner):
                self.dropped.append(f"adds {prefix}{', '.join(names)}")
            else:
                self._add(scope, _source(self._module, item), [prefix + name for name in names])

    def _class_of(self, item: ast.stmt, bound: Collection[str], prefix: str) -> str:
        """Return the goal file's class that a class of the answer stands for; "" for a new one, or no class."""
        if not isinstance(item, ast.ClassDef):
            return ""
        targets = (mine.class_name for mine, own in self._pairs if own.node in item.body)
        return next(targets, prefix + item.name if item.name in bound else "")

    def _sort_import(self, item: ast.Import | ast.ImportFrom, bound: Collection[str], scope: str) -> None:
        """Add what an import binds anew, name by name."""
        known = {text for node in ast.walk(self._goal.tree) for text in _imports(node)}
        for text in _imports(item):
            name = text.split()[-1].partition(".")[0]
            if text.startswith("from __future__") and text not in known:
                self.dropped.append(text)
            elif text not in known and name in bound:
                self.dropped.append(f"changes {name}")
            elif text not in known:
                self._add(scope, text, [name])

    def _add(self, scope: str, text: str, names: Sequence[str]) -> None:
        if not set(names) <= set(self.names):
            self.added.setdefault(scope, []).append(text)
            self.names += names


def _header(definition: Definition) -> str:
    """Return the lines above a function's body, without annotations."""
    node = copy.deepcopy(definition.node)
    if isinstance(node, ast.ClassDef):
        return ""
    node.body, node.returns = [ast.Pass()], None
    for item in ast.walk(node.args):
        if isinstance(item, ast.arg):
            item.annotation = None
    return ast.unparse(node).rpartition(":")[0]


def _bound(statements: Sequence[ast.stmt]) -> set[str]:
    """Return the names that statements bind at their own level."""
    found: set[str] = set()
    stack: list[ast.AST] = list(statements)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            found.update(bound_by(node))
        elif isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif not isinstance(node, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            stack.extend(ast.iter_child_nodes(node))
    return found


def _imports(node: ast.AST) -> Iterator[str]:
    """Yield an import statement for each name that a node imports."""
    if isinstance(node, ast.Import):
        yield from (ast.unparse(ast.Import([item])) for item in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield from (ast.unparse(ast.ImportFrom(node.module, [item], node.level)) for item in node.names)


def _is_method(item: ast.stmt) -> bool:
    arguments = [*item.args.posonlyargs, *item.args.args] if isinstance(item, _FUNCTIONS) else []
    return bool(arguments) and arguments[0].arg in {"self", "cls"}


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def _source(module: Module, item: ast.stmt) -> str:
    """Return a statement's source, not indented."""
    line = first_line(item)
    indent = _indent(module.line_text(line))
    end = module.offset(item.end_lineno or item.lineno, item.end_col_offset or 0)
    return shifted(module, module.line_start(line) + len(indent), end, indent, "", "\n")


def shifted(module: Module, start: int, end: int, old: str, new: str, newline: str) -> str:
    """Return a part of a module with its lines (but the first) indented otherwise; inside strings nothing moves.

    Args:
        start, end: in characters of the module's text; the first line may begin anywhere.
        old, new: indentation before and after.
        newline: line ending of the result.
    """
    inside = _lines_inside_strings(module.tree)
    number = module.text.count("\n", 0, start) + 1
    result = []
    for offset, line in enumerate(module.text[start:end].split("\n")):
        if offset == 0 or number + offset in inside:
            result.append(line)
        elif not line.strip():
            result.append("")
        else:
            result.append(new + (line[len(old) :] if line.startswith(old) else line.lstrip(" \t")))
    return newline.join(result)


def _lines_inside_strings(tree: ast.AST) -> set[int]:
    """Return the numbers of the lines that begin inside a string."""
    return {
        line
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        or (isinstance(node, ast.Constant) and isinstance(node.value, str | bytes))
        for line in range(node.lineno + 1, (node.end_lineno or node.lineno) + 1)
    }
