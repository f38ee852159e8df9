"""What an answer has beside the target: new helpers and imports are kept, changes of what is there are not."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from lmr_author.code import Definition, Module, bound_by, first_line
from lmr_author.evaluation.candidates.answer import Parsed
from lmr_author.evaluation.candidates.shifting import shifted

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Extras:
    """What stands beside the target.

    Attributes:
        statements: source of what is added to the module, not indented.
        methods: target → source of what is added to its class, not indented.
        names: what is added, by name.
        dropped: what is not applied.
    """

    statements: tuple[str, ...] = ()
    methods: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()


class _Collector:
    def __init__(self, found: Parsed, goal: Module, *, as_file: bool, others: Collection[str]) -> None:
        self.found, self.goal, self.as_file, self.others = found, goal, as_file, others
        self.bound = _bound(goal.tree.body)
        self.dumps = {ast.dump(item) for item in goal.tree.body}
        self.statements: list[str] = []
        self.methods: dict[str, list[str]] = {}
        self.names: list[str] = []
        self.dropped: list[str] = []

    def keep(self, item: ast.stmt, into: list[str]) -> None:
        into.append(_source(self.found.module, item))
        self.names.extend(sorted(_bound([item])) or ["code"])


def collect(
    found: Parsed,
    goal: Module,
    own: Sequence[Definition],
    targets: Sequence[Definition],
    *,
    as_file: bool,
    others: Collection[str] = (),
) -> Extras:
    """Sort what stands beside the target in an answer.

    Args:
        goal: the goal file as the model was given it.
        others: functions that are masked too, whose bodies are another answer's business.
        own, targets: the target's definitions in the answer and in the goal file.
        as_file: the answer is a whole file, so what it lacks was removed.
    """
    run = _Collector(found, goal, as_file=as_file, others=others)
    nodes = {id(item.node) for item in own}
    for mine, theirs in zip(targets, own, strict=True):
        run.dropped.extend(_header_changes(mine, theirs))
    for statement in found.statements:
        _sort(run, statement, nodes, targets)
    if as_file:
        has = _bound(found.statements)
        run.dropped.extend(f"removes {name}" for name in sorted(run.bound - has))
    return Extras(
        tuple(run.statements),
        {name: tuple(texts) for name, texts in run.methods.items()},
        tuple(dict.fromkeys(run.names)),
        tuple(dict.fromkeys(run.dropped)),
    )


def _sort(run: _Collector, item: ast.stmt, own: set[int], targets: Sequence[Definition]) -> None:
    """Keep, report or pass over one statement at the answer's top level."""
    if id(item) in own or ast.dump(item) in run.dumps or _is_docstring(item):
        return
    if _holds(item, own):
        if isinstance(item, ast.ClassDef):
            _sort_class(run, item, own, targets)
        return
    if isinstance(item, _FUNCTIONS) and item.name in {*run.others, *(mine.qualname for mine in targets)}:
        return  # an earlier definition of the target, or another target
    if (
        isinstance(item, ast.ClassDef)
        and item.name in run.bound
        and any(name.startswith(f"{item.name}.") for name in run.others)
    ):
        _sort_class(run, item, own, targets)
        return
    names = _bound([item])
    owner = next((mine for mine in targets if mine.class_name), None)
    if isinstance(item, ast.ImportFrom) and item.module == "__future__":
        run.dropped.append(f"from __future__ import {', '.join(sorted(names))}")
    elif isinstance(item, _FUNCTIONS) and owner is not None and _is_method(item):
        _keep_method(run, item, owner)
    elif not names or not isinstance(item, _KEPT):
        run.dropped.append(f"code at module level, line {item.lineno}: {_first_line(run.found.module, item)}")
    elif names & run.bound:
        clash = names & run.bound
        changed = isinstance(item, ast.Import | ast.ImportFrom)
        if not (changed and _same_imports(item, run.goal)):
            run.dropped.append(f"changes {', '.join(sorted(clash))}")
        elif names - clash:
            run.keep(item, run.statements)
    else:
        run.bound |= names
        run.keep(item, run.statements)


def _sort_class(run: _Collector, item: ast.ClassDef, own: set[int], targets: Sequence[Definition]) -> None:
    """New members of the target's class are kept, changed ones reported."""
    owner = next((mine for mine in targets if mine.class_name.rpartition(".")[2] == item.name), None)
    qualname = owner.class_name if owner is not None else item.name
    known = {one.name: one.node for one in run.goal.definitions if one.qualname == f"{qualname}.{one.name}"}
    for member in item.body:
        if id(member) in own or _is_docstring(member) or _holds(member, own):
            continue
        if isinstance(member, _FUNCTIONS):
            if member.name in known:
                same = ast.dump(member) == ast.dump(known[member.name])
                if not same and f"{qualname}.{member.name}" not in run.others:
                    run.dropped.append(f"changes {item.name}.{member.name}")
            elif owner is not None:
                _keep_method(run, member, owner)
            else:
                run.dropped.append(f"adds {item.name}.{member.name}")
        elif isinstance(member, ast.Assign | ast.AnnAssign) and owner is not None:
            _sort_attribute(run, member, item, owner)
    if run.as_file:
        has = {member.name for member in ast.walk(item) if isinstance(member, _FUNCTIONS)}
        run.dropped.extend(f"removes {item.name}.{name}" for name in sorted(set(known) - has))


def _sort_attribute(run: _Collector, member: ast.stmt, item: ast.ClassDef, owner: Definition) -> None:
    body = next(
        (
            one.node.body
            for one in run.goal.definitions
            if one.qualname == owner.class_name and isinstance(one.node, ast.ClassDef)
        ),
        [],
    )
    if ast.dump(member) in {ast.dump(one) for one in body}:
        return
    if _bound([member]) & _bound(body):
        run.dropped.append(f"changes {item.name}.{', '.join(sorted(_bound([member])))}")
    else:
        run.keep(member, run.methods.setdefault(owner.qualname, []))


def _keep_method(run: _Collector, item: ast.FunctionDef | ast.AsyncFunctionDef, owner: Definition) -> None:
    if any(one.qualname == f"{owner.class_name}.{item.name}" for one in run.goal.definitions):
        run.dropped.append(f"changes {owner.class_name}.{item.name}")
        return
    run.methods.setdefault(owner.qualname, []).append(_source(run.found.module, item))
    run.names.append(f"{owner.class_name}.{item.name}")


_KEPT = (*_FUNCTIONS, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign, ast.Try)


def _header_changes(mine: Definition, theirs: Definition) -> Iterator[str]:
    one, other = mine.node, theirs.node
    if isinstance(one, ast.ClassDef) or isinstance(other, ast.ClassDef):
        return
    if _parameters(one) != _parameters(other):
        yield f"the signature of {mine.qualname}: ({', '.join(_parameters(other))})"
    if type(one) is not type(other):
        yield f"{mine.qualname} is {'not ' if isinstance(one, ast.AsyncFunctionDef) else ''}async"
    decorators = [ast.dump(item) for item in other.decorator_list]
    if decorators and decorators != [ast.dump(item) for item in one.decorator_list]:
        yield f"the decorators of {mine.qualname}"


def _parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    arguments = node.args
    names = [item.arg for item in (*arguments.posonlyargs, *arguments.args)]
    defaults = [*arguments.defaults, *(item for item in arguments.kw_defaults if item is not None)]
    names += [f"*{arguments.vararg.arg}"] if arguments.vararg else []
    names += [f"{item.arg} by name" for item in arguments.kwonlyargs]
    names += [f"**{arguments.kwarg.arg}"] if arguments.kwarg else []
    return names + ([f"defaults {', '.join(map(ast.unparse, defaults))}"] if defaults else [])


def _bound(statements: Sequence[ast.stmt]) -> set[str]:
    """Names that statements bind at their own level."""
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


def _same_imports(item: ast.stmt, goal: Module) -> bool:
    """Whether what an import binds is what the goal file's imports of those names bind."""
    known = {name: where for node in ast.walk(goal.tree) for name, where in _imports(node)}
    return all(known.get(name, where) == where for name, where in _imports(item))


def _imports(node: ast.AST) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.Import):
        for item in node.names:
            yield (
                item.asname or item.name.partition(".")[0],
                item.name if item.asname else item.name.partition(".")[0],
            )
    elif isinstance(node, ast.ImportFrom):
        for item in node.names:
            yield item.asname or item.name, f"{'.' * node.level}{node.module or ''}:{item.name}"


def _is_method(item: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    names = [one.arg for one in (*item.args.posonlyargs, *item.args.args)]
    return bool(names) and names[0] in {"self", "cls"}


def _is_docstring(item: ast.stmt) -> bool:
    return isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant)


def _holds(item: ast.stmt, own: set[int]) -> bool:
    return any(id(node) in own for node in ast.walk(item))


def _source(module: Module, item: ast.stmt) -> str:
    """A statement's source, not indented."""
    line = first_line(item)
    text = module.line_text(line)
    indent = text[: len(text) - len(text.lstrip(" \t"))]
    start = module.line_start(line) + len(indent)
    end = module.offset(item.end_lineno or item.lineno, item.end_col_offset or 0)
    return shifted(module, start, end, indent, "", "\n")


def _first_line(module: Module, item: ast.stmt) -> str:
    return module.line_text(item.lineno).strip()[:60]
