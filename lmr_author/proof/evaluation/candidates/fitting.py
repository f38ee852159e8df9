"""Splice an answer into a pristine goal file, byte for byte: replace the target's body and add its dependencies.

Helpers, imports and constants of the answer that the new body uses are inserted above the statement that contains the
target, methods above the method. All other edits of the answer are dropped and reported.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from lmr_author.core.code import (
    Definition,
    FunctionNode,
    Module,
    bindings,
    body_from,
    body_of,
    each,
    find,
    first_line,
    indent_of,
    insert_above,
    is_generator,
    is_main_guard,
    parse,
    region,
    region_bytes,
    root_name,
    splice_regions,
    statement_text,
    walk,
)
from lmr_author.core.errors import LmrError
from lmr_author.core.task import Target
from lmr_author.proof.evaluation.candidates.answer import read
from lmr_author.proof.evaluation.candidates.meaning import (
    added_parameters,
    new_decorators,
    own_nodes,
    require_last,
    require_not_bound_again,
    require_same_header,
)
from lmr_author.proof.evaluation.candidates.reply import AnswerReply, Block, InvalidAnswer

_ACTS = ast.Call | ast.Yield | ast.YieldFrom | ast.Await | ast.NamedExpr
_DECLARATIONS = FunctionNode | ast.ClassDef | ast.Import | ast.ImportFrom


@dataclass(frozen=True)
class FittedAnswer:
    """A goal file with an answer in it.

    Attributes:
        line: line of the (first) target's ``def``.
        form: ``function`` (alone or in a whole file) or ``body``.
        added: source of the helpers, constants and imports added for the target.
        dropped: the answer's other changes, which were not applied.
        unchanged: the target is still masked.
    """

    data: bytes
    line: int
    form: str
    added: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    unchanged: bool = False


@dataclass(frozen=True)
class Slot:
    """The target that answers replace.

    Attributes:
        goal: the goal file with only this target masked.
        targets: the masked functions in it; several when a class is masked.
        given: the goal file as the model saw it, if other functions in it are masked too.
        others: those functions.
    """

    goal: Module
    targets: tuple[Definition, ...]
    given: Module | None = None
    others: tuple[str, ...] = ()

    @property
    def qualnames(self) -> tuple[str, ...]:
        return tuple(target.qualname for target in self.targets)

    @property
    def shown(self) -> Module:
        return self.given or self.goal


def fit(answer: str, slot: Slot, *, is_file: bool = False) -> FittedAnswer:
    """Fit the text of an answer.

    Raises InvalidAnswer: not Python, no such function, or code that changes its meaning.

    Args:
        is_file: the text is the goal file that an agent left, not a reply.
    """
    reply = read(answer, slot.shown, slot.targets, is_file=is_file)
    answers = {target: pair for target in slot.targets if (pair := reply.function(target))}
    for target, (source, own) in answers.items():
        require_last(reply, source, own.function, target.name)
        require_same_header(target, own)
        require_not_bound_again(reply, source, own, target, slot.shown)
    decorators = {target: new for target, (_, own) in answers.items() if (new := new_decorators(target, own))}
    values = {target: added_parameters(target, own) for target, (_, own) in answers.items()}
    body = None if answers else _body(reply, slot)
    if body is not None:
        block, nodes = body, [_as_function(body)]
        require_last(reply, block, nodes[0], "")
        regions = {slot.targets[0]: body_of(body.module, body.statements, slot.goal, slot.targets[0])}
    elif answers:
        block = next(reversed(answers.values()))[0]
        nodes = [own.function for _, own in answers.values()]
        regions = {
            target: body_from(source.module, own, slot.goal, target)
            for target, (source, own) in answers.items()
        }
    else:
        raise InvalidAnswer(reply.unread[-1].message if reply.unread else _nothing(reply, slot))
    extras = _Extras(reply, slot, block, nodes)
    extras.add_what_is_used()
    dropped = [f"changes {path}" for path in reply.elsewhere]
    for target, added in values.items():
        dropped += [f"adds the parameter {name} to {target.qualname}" for name in added]
    dropped += extras.dropped() if answers else ()
    dropped += [f"the answer lacks {target.qualname}" for target in slot.targets if target not in regions]
    spliced, line = _spliced(slot.goal, regions, decorators, values, extras.added)
    return FittedAnswer(
        data=spliced,
        line=line,
        form="function" if answers else "body",
        added=tuple(text for texts in extras.added.values() for text in texts),
        kept=tuple(extras.names),
        dropped=tuple(dict.fromkeys(dropped)),
        unchanged=all(region_bytes(slot.goal, target) == data for target, data in regions.items()),
    )


def _nothing(reply: AnswerReply, slot: Slot) -> str:
    definitions = [definition for block in reply.blocks for definition in block.module.definitions]
    others = ", ".join([*(definition.qualname for definition in definitions[:5]), *reply.seen[:3]])
    return f"the answer does not define {', '.join(slot.qualnames)}" + (
        f"; it has {others}" if others else ""
    )


def _body(reply: AnswerReply, slot: Slot) -> Block | None:
    """Return a block that is the body without a header: one that returns a value, else the last."""
    bodies = [block for block in reply.blocks if block.is_whole and not all(map(_is_aside, block.statements))]
    if not bodies or len(slot.targets) > 1:
        return None
    body, name = max(reversed(bodies), key=_gives), slot.targets[0].name
    if name in _bound(body.statements) or (name in body.names and not _gives(body)):
        return None  # it calls or wraps the function
    return body


def _is_aside(statement: ast.stmt) -> bool:
    match statement:
        case ast.Expr():
            return not any(isinstance(node, _ACTS) for node in walk(statement))
    return isinstance(statement, _DECLARATIONS)


def _gives(block: Block) -> bool:
    returns = any(isinstance(node, ast.Return) for node in own_nodes(block.statements))
    return returns or is_generator(_as_function(block))


def _as_function(block: Block) -> FunctionNode:
    (function,) = parse("def body(): pass").body
    assert isinstance(function, FunctionNode)
    function.body = list(block.statements)
    return function


def _spliced(
    goal: Module,
    regions: Mapping[Definition, bytes],
    decorators: Mapping[Definition, Sequence[str]],
    values: Mapping[Definition, Mapping[str, ast.expr | None]],
    added: Mapping[str, Sequence[str]],
) -> tuple[bytes, int]:
    first = next(iter(regions))
    owned = next((target for target in regions if target.class_name), first)
    try:
        spliced = Module.parse(splice_regions(goal, regions), goal.name)
        for target, parameters in values.items():
            if parameters:
                function = find(spliced, Target(goal.name, target.qualname, nth=target.nth))
                spliced = Module.parse(_with_values(spliced, function, parameters), goal.name)
        for target, names in decorators.items():
            function = find(spliced, Target(goal.name, target.qualname, nth=target.nth))
            spliced = Module.parse(_decorated(spliced, function, names), goal.name)
        for scope, texts in added.items():
            target = owned if scope else first
            function = find(spliced, Target(goal.name, target.qualname, nth=target.nth))
            spliced = Module.parse(insert_above(spliced, function, texts, at_top=not scope), goal.name)
        return spliced.data, find(spliced, Target(goal.name, first.qualname, nth=first.nth)).line
    except LmrError as error:
        raise InvalidAnswer(f"the answer cannot be spliced into {goal.name}: {error.message}") from error


def _decorated(module: Module, function: Definition, names: Sequence[str]) -> bytes:
    line = first_line(function.node)
    indent, newline = indent_of(module.line_text(line)), region(module, function).newline
    at = module.byte_offset(module.line_start(line))
    text = "".join(f"{indent}@{name}{newline}" for name in names)
    return module.data[:at] + module.encode(text) + module.data[at:]


def _with_values(module: Module, function: Definition, values: Mapping[str, ast.expr | None]) -> bytes:
    """Return the file with the answer's additional parameters set at the start of the function's body."""
    first, line = function.statements[0], first_line(function.statements[0])
    before = module.line_text(line)[: first.col_offset]
    if before.strip():
        raise InvalidAnswer(
            f"the answer adds parameters to the one-line function {function.name}: {', '.join(values)}"
        )
    newline = region(module, function).newline
    text = "".join(
        f"{before}{name} = {ast.unparse(value)}{newline}" for name, value in values.items() if value
    )
    at = module.byte_offset(module.line_start(line))
    return module.data[:at] + module.encode(text) + module.data[at:]


class _Extras:
    """The other statements of a reply, to be added or dropped.

    Attributes:
        added: scope ("" for the module, or the target's class) → source to add there, without indentation.
    """

    def __init__(self, reply: AnswerReply, slot: Slot, block: Block, nodes: Sequence[FunctionNode]) -> None:
        self.added: dict[str, list[str]] = {}
        self.names: list[str] = []
        self._slot, self._block, self._nodes = slot, block, nodes
        self._owner = next((target.class_name for target in slot.targets if target.class_name), "")
        self._masked = {*slot.others, *slot.qualnames}
        self._known = {"": _bound(slot.shown.tree.body)}
        self._same = set(map(ast.dump, Block.of(slot.shown).statements))
        for definition in slot.shown.definitions:
            if isinstance(definition.node, ast.ClassDef):
                self._known[definition.qualname] = _bound(definition.node.body)
                self._same |= {
                    definition.qualname + ast.dump(statement) for statement in definition.node.body
                }
        self._statements = {block: list(self._scoped(block)) for block in reply.blocks}
        self._taken: set[ast.stmt] = set()

    def _scoped(self, block: Block) -> Iterator[tuple[str, ast.stmt]]:
        called = {name.id for name in each(block.module.tree, ast.Name)}
        waiting = [("", statement) for statement in reversed(block.statements)]
        while waiting:
            scope, statement = waiting.pop()
            if isinstance(statement, ast.ClassDef):
                inner = _scoped_name(scope, statement.name)
                if any(node in statement.body for node in self._nodes):
                    inner = self._owner
                if inner in self._known:
                    waiting += [(inner, member) for member in reversed(statement.body)]
                    continue
            # Functions beside a bare method are methods, unless called as functions.
            if not scope and self._owner and _is_method(statement) and statement.name not in called:
                scope = self._owner
            yield scope, statement

    def add_what_is_used(self) -> None:
        blocks = list(self._statements)
        own = blocks.index(self._block)
        order = [self._block, *reversed(blocks[:own]), *blocks[own + 1 :]]
        # Only the target's body and decorators are replaced, not its annotations.
        parts = ((node, [*node.decorator_list, *_defaults(node), *node.body]) for node in self._nodes)
        waiting = [use for node, own in parts for use in self._uses(node, own)]
        wanted: set[tuple[str, str]] = set()
        while waiting:
            scope, name = waiting.pop()
            if (scope, name) in wanted or name in self._known.get(scope, ()):
                continue
            wanted.add((scope, name))
            for statement in self._makers(order, scope, name):
                self._taken.add(statement)
                waiting += self._uses(statement, [statement])
        for block in blocks:
            for scope, statement in self._statements[block]:
                if statement in self._taken:
                    self._add(scope, block, statement)

    def _makers(self, order: Sequence[Block], scope: str, name: str) -> list[ast.stmt]:
        for block in order:
            makers = []
            for own_scope, statement in self._statements[block]:
                is_ours = own_scope == scope and not self._is_of_goal(scope, statement)
                if is_ours and name in _changed([statement]):
                    makers.append(statement)
            if name in _bound(makers):
                return makers
        return []

    def _is_of_goal(self, scope: str, statement: ast.stmt) -> bool:
        names = _bound([statement])
        is_future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
        return is_future or is_main_guard(statement) or bool(names & self._known[scope])

    def _uses(self, node: ast.AST, parts: Sequence[ast.AST]) -> Iterator[tuple[str, str]]:
        stated = {name for statement in each(node, ast.Global) for name in statement.names}
        local = set(bindings(walk(node))) - stated if isinstance(node, FunctionNode) else set()
        for part in parts:
            for inner in walk(part):
                match inner:
                    case ast.Name(id=name) if name not in local:
                        yield "", name
                    case ast.Attribute(attr=name) | ast.Constant(value=str(name)) if self._owner:
                        yield self._owner, name  # a string may be an argument of getattr

    def _add(self, scope: str, block: Block, statement: ast.stmt) -> None:
        is_import = isinstance(statement, ast.Import | ast.ImportFrom)
        text = ast.unparse(statement) if is_import else statement_text(block.module, statement)
        self.added.setdefault(scope, []).append(text)
        for name in sorted(_bound([statement])):
            if _scoped_name(scope, name) not in self.names:
                self.names.append(_scoped_name(scope, name))

    def dropped(self) -> Iterator[str]:
        for scope, statement in self._statements[self._block]:
            if self._is_accounted_for(scope, statement):
                continue
            names = sorted(_bound([statement]))
            changed = [_scoped_name(scope, name) for name in names if name in self._known[scope]]
            if changed:
                yield f"changes {', '.join(changed)}"
            elif not names:
                line = self._block.module.line_text(first_line(statement)).strip()[:60]
                yield f"code at module level, line {statement.lineno}: {line}"

    def _is_accounted_for(self, scope: str, statement: ast.stmt) -> bool:
        match statement:
            case ast.Expr(value=ast.Constant()):
                return True
        if statement in self._taken or scope + ast.dump(statement) in self._same:
            return True
        names = {_scoped_name(scope, name) for name in _bound([statement])}
        return statement in self._nodes or bool(names and self._masked.issuperset(names))


def _defaults(node: FunctionNode) -> Iterator[ast.expr]:
    yield from filter(None, (*node.args.defaults, *node.args.kw_defaults))


def _scoped_name(scope: str, name: str) -> str:
    return f"{scope}.{name}" if scope else name


def _bound(statements: Iterable[ast.AST]) -> set[str]:
    return set(bindings(own_nodes(statements)))


def _changed(statements: Iterable[ast.AST]) -> set[str]:
    parts = (node for node in own_nodes(statements) if isinstance(node, ast.Attribute | ast.Subscript))
    return _bound(statements) | {root_name(node) for node in parts if isinstance(node.ctx, ast.Store)}


def _is_method(statement: ast.stmt) -> TypeGuard[FunctionNode]:
    match statement:
        case ast.FunctionDef(args=arguments) | ast.AsyncFunctionDef(args=arguments):
            first = next(iter(arguments.posonlyargs + arguments.args), None)
            return first is not None and first.arg in {"self", "cls"}
    return False
