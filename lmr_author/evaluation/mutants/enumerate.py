"""Every wrong version of a function that the operators can make, each once, with a name that stays."""

from __future__ import annotations

import ast
import difflib
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from lmr_author.evaluation.mutants import arithmetic, flow, research
from lmr_author.evaluation.mutants.equivalent import Canonical, unread
from lmr_author.evaluation.mutants.operator import Code, Edit, Operator
from lmr_author.source import Definition, Module, parse

OPERATORS: tuple[type[Operator], ...] = (*arithmetic.OPERATORS, *research.OPERATORS, *flow.OPERATORS)
"""All operators, in the order their mutants are tried."""

LOGGING = frozenset(
    {"print", "warn", "warning", "info", "debug", "error", "log_metrics", "tqdm", "breakpoint"}
)


@dataclass(frozen=True)
class Mutant:
    """A wrong version of the golden.

    Attributes:
        id: eight hex digits made of what it changes: the same as long as the target's source is.
        operator: how it is wrong.
        line: where, in the golden's file.
        before, after: the lines that differ, as the golden and as the mutant has them.
        data: the whole file.
        parameter: the parameter that it ignores; "" for other operators.
    """

    id: str
    operator: str
    line: int
    before: str
    after: str
    data: bytes
    parameter: str = ""

    @property
    def diff(self) -> str:
        """The change as lines with ``-`` and ``+``."""
        lines = [f"-{line}" for line in self.before.splitlines()]
        return "\n".join(lines + [f"+{line}" for line in self.after.splitlines()])


def mutants(golden: Module, target: Definition, most: int | None = None) -> tuple[Mutant, ...]:
    """Wrong versions of a function, in the order of its lines.

    Args:
        golden: the file with the function unmasked.
        target: the function.
        most: how many at most; then every operator and line keeps its share.
    """
    node = target.node
    assert not isinstance(node, ast.ClassDef)
    parents = {child: parent for parent in ast.walk(node) for child in ast.iter_child_nodes(parent)}
    code = Code(golden, node, parents)
    seen = {_form(code, golden.text) or ""}
    found = []
    operators = [operator() for operator in OPERATORS]
    for site in _sites(code):
        for operator in operators:
            for edit in operator.edits(site, code):
                mutant = _apply(code, target, operator.name, edit, seen)
                if mutant is not None:
                    found.append(mutant)
    found.sort(key=lambda item: item.line)
    return tuple(found if most is None else _thinned(found, most))


def _sites(code: Code) -> Iterator[ast.AST]:
    """The function and the nodes of its body that compute: no docstring, log line, message or annotation."""
    yield code.function
    ignored = unread(code.function)
    stack: list[ast.AST] = list(reversed(code.function.body))
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Raise | ast.Assert | ast.Import | ast.ImportFrom | ast.Global | ast.Nonlocal):
            continue
        if isinstance(node, ast.Expr) and (isinstance(node.value, ast.Constant) or _logs(node.value)):
            continue
        if isinstance(node, ast.Assign) and _is_unread_constant(node, ignored):
            continue
        yield node
        left_out = [getattr(node, name, None) for name in ("annotation", "returns", "decorator_list")]
        stack.extend(child for child in reversed(list(ast.iter_child_nodes(node))) if child not in left_out)


def _is_unread_constant(node: ast.Assign, ignored: frozenset[str]) -> bool:
    """``offset = 0`` of a variable that nothing reads: no test can notice another number."""
    names = [target.id if isinstance(target, ast.Name) else "" for target in node.targets]
    return isinstance(node.value, ast.Constant) and ignored.issuperset(names)


def _logs(node: ast.expr) -> bool:
    if not isinstance(node, ast.Call):
        return False
    function = node.func
    return (function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")) in LOGGING


def _apply(code: Code, target: Definition, operator: str, edit: Edit, seen: set[str]) -> Mutant | None:
    """The file with one edit; None when it is no Python, or nothing new."""
    module = code.module
    start, end = code.span(edit.node)
    text = module.text[:start] + edit.text + module.text[end:]
    form = _form(code, text, len(edit.text) - (end - start))
    if form is None or form in seen:
        return None
    seen.add(form)
    before, after = _lines(module, text, start, end, len(edit.text))
    line = edit.node.lineno
    name = f"{target.qualname}\0{operator}\0{line - target.line}\0{after}\0{code.text(code.function)}"
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    data = module.data[: module.byte_offset(start)] + module.encode(edit.text)
    data += module.data[module.byte_offset(end) :]
    return Mutant(digest, operator, line, before, after, data, edit.parameter)


def _form(code: Code, text: str, longer: int = 0) -> str | None:
    """The function's structure in a version of the file; None when that is no Python."""
    start = code.module.line_start(code.function.lineno)
    end = code.span(code.function)[1] + longer
    try:
        own = text[start:end]
        return ast.dump(Canonical().visit(parse(own if own[0] in "da" else f"if 1:\n{own}")))
    except (SyntaxError, ValueError, RecursionError):
        return None


def _lines(module: Module, text: str, start: int, end: int, length: int) -> tuple[str, str]:
    """The whole lines that an edit touches, before and after, without what is equal around them."""
    first = module.text.rfind("\n", 0, start) + 1
    old_last, new_last = module.text.find("\n", end), text.find("\n", start + length)
    old = module.text[first : old_last if old_last >= 0 else None].splitlines()
    new = text[first : new_last if new_last >= 0 else None].splitlines()
    blocks = [
        op for op in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes() if op[0] != "equal"
    ]
    low, high = (blocks[0][1], blocks[-1][2]) if blocks else (0, len(old))
    new_low, new_high = (blocks[0][3], blocks[-1][4]) if blocks else (0, len(new))
    return "\n".join(old[low:high]), "\n".join(new[new_low:new_high])


def _thinned(found: list[Mutant], most: int) -> list[Mutant]:
    """As many as are wanted: in rounds, one of each line, of the operators least chosen so far."""
    if len(found) <= most:
        return found
    by_line: dict[int, list[Mutant]] = {}
    for mutant in found:
        by_line.setdefault(mutant.line, []).append(mutant)
    used: dict[str, int] = {}
    chosen: list[Mutant] = []
    while len(chosen) < most:
        for waiting in by_line.values():
            if waiting and len(chosen) < most:
                best = min(waiting, key=lambda item: used.get(item.operator, 0))
                waiting.remove(best)
                used[best.operator] = used.get(best.operator, 0) + 1
                chosen.append(best)
    return sorted(chosen, key=lambda item: item.line)
