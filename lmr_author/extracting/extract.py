"""Turn a block of statements into a function: select, check, analyse, write."""

from __future__ import annotations

import ast
import builtins
import difflib
import keyword
import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from lmr_author import code
from lmr_author.errors import TargetError, UsageError
from lmr_author.extracting import events, rules, write
from lmr_author.extracting.events import CHANGES
from lmr_author.extracting.names import Names, bound_in_module, names
from lmr_author.extracting.selection import SelectedBlock, select

COMPILING = frozenset({"compile", "jit", "njit", "script", "vectorize"})
"""Last names of decorators that translate a function, and may not know how to call another one."""

METHODS = frozenset(
    {
        "add", "append", "appendleft", "clear", "difference_update", "discard", "extend", "extendleft",
        "insert", "intersection_update", "pop", "popitem", "popleft", "remove", "reverse", "rotate",
        "setdefault", "sort", "subtract", "symmetric_difference_update", "update",
        "backward", "close", "eval", "load_state_dict", "step", "train", "write", "writelines", "zero_grad",
    }
)  # fmt: skip
"""Methods that change their object: of containers, files, modules, optimizers; PyTorch's others end in _."""

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_LONE_RETURN = re.compile(r"\r(?!\n)")


class As(StrEnum):
    """The kinds of function that a block of a method can become."""

    function = "function"
    method = "method"


@dataclass(frozen=True)
class Extraction:
    """A block that became a function.

    Attributes:
        data: the new file.
        qualname: the function, as in ``Model.step``.
        start, end: the lines that were moved, in the original file.
        inputs: parameters, ``self`` of a method included.
        outputs: what it returns, in order.
        mutated: inputs that the block visibly changes in place.
        as_globals: module variables that the function binds with ``global``.
        local: names of a script that were module variables and are the function's own now.
        remarks: notes for the annotator.
        diff: a unified diff from the original to the new file.
    """

    data: bytes
    qualname: str
    start: int
    end: int
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    mutated: tuple[str, ...]
    as_globals: tuple[str, ...]
    local: tuple[str, ...]
    remarks: tuple[str, ...]
    diff: str


def extract(
    module: code.Module,
    start: int,
    end: int,
    name: str,
    *,
    kind: As | None = None,
    exported: Iterable[str] = (),
) -> Extraction:
    """Turn the statements on some lines into a function, and put a call in their place.

    Args:
        module: the file.
        start, end: first and last line, from 1; whole statements of one suite.
        name: of the new function.
        kind: function or method; by default a method where the block uses ``self``.
        exported: module variables that other files use.

    Raises TargetError with the reason and what to do, when the program would behave differently.
    """
    block = select(module, start, end)
    bound = bound_in_module(module.tree)
    control = rules.check(block, bound)
    found = names(block, exported)
    rules.check_returns(block, reaches_end=found.reaches_end)
    receiver = _receiver(block, found, control, kind)
    _check_name(module, name, receiver)
    plan = _plan(name, block, found, control, receiver)
    data = write.rewrite(module, block, plan)
    classes = [item.name for item in block.scopes[1:-1] if not isinstance(item, ast.Module)]
    qualname = ".".join([*(classes if receiver else ()), name])
    inputs = ((receiver,) if receiver else ()) + plan.parameters
    changed = tuple(name for name in _mutated(block.statements) if name in inputs)
    return Extraction(
        data, qualname, block.start, block.end, inputs, plan.outputs, changed, found.as_globals, found.local,
        tuple(_remarks(block, found, name)), _diff(module, data),
    )  # fmt: skip


def _plan(
    name: str, block: SelectedBlock, found: Names, control: rules.Control, receiver: str
) -> write.ExtractPlan:
    """Return the new function's signature; what is ``self`` around the block is its first parameter."""
    first = _self_name(block)
    parameters = (item for item in found.inputs if item != receiver)
    return write.ExtractPlan(
        name=name,
        parameters=tuple(sorted(parameters, key=lambda item: item != first)),
        outputs=() if control.returns else found.outputs,
        as_globals=found.as_globals,
        receiver=receiver,
        is_async=control.awaits,
        yields=control.yields,
        returns=control.returns,
        reaches_end=found.reaches_end,
    )


def _receiver(block: SelectedBlock, found: Names, control: rules.Control, kind: As | None) -> str:
    """Return the name of ``self`` when the function becomes a method, else ""."""
    name = _self_name(block)
    if kind is As.method and not name:
        raise TargetError(
            "the block is not part of an ordinary method", "leave --as method out: it becomes a function"
        )
    if control.needs_class and (kind is As.function or not name):
        raise TargetError(
            f"the block uses `{control.needs_class}`, which means something only in a method of its class",
            "use --as method" if name else "leave it out of the range",
        )
    if kind is None:
        kind = As.method if name and (name in found.inputs or control.needs_class) else As.function
    return name if kind is As.method else ""


def _self_name(block: SelectedBlock) -> str:
    """Return the first parameter of the ordinary method that directly holds the block, or ""."""
    scope = block.scope
    if len(block.scopes) < 2 or not isinstance(block.scopes[-2], ast.ClassDef):
        return ""
    implicit = ("__new__", "__init_subclass__", "__class_getitem__")
    if not isinstance(scope, events.Function) or scope.name in implicit:
        return ""
    decorators = {ast.unparse(item).rpartition(".")[2] for item in scope.decorator_list}
    arguments = [*scope.args.posonlyargs, *scope.args.args]
    if not arguments or decorators & {"staticmethod", "classmethod"}:
        return ""
    first = arguments[0].arg
    rebound = any(item.name == first and item.kind in CHANGES for item in events.scope(scope.body))
    return "" if rebound else first


def _mutated(statements: Iterable[ast.stmt]) -> dict[str, None]:
    """Return the names whose objects the statements visibly change, in order of appearance.

    An assignment or deletion of an attribute or item counts, and a call of a method known to change its object;
    what a called function does to its arguments is not seen.
    """
    found: dict[str, None] = {}
    for node in (node for item in statements for node in ast.walk(item)):
        changed: ast.expr | None = None
        if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
            changed = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name = node.func.attr
            in_place = name.endswith("_") and not name.startswith("_") and not name.endswith("__")
            changed = node.func.value if name in METHODS or in_place else None
        if root := code.root_name(changed):
            found.setdefault(root)
    return found


def _check_name(module: code.Module, name: str, receiver: str) -> None:
    """Refuse a name that is not an identifier, or that the file uses already."""
    if not name.isidentifier() or keyword.iskeyword(name):
        raise UsageError(
            f"--name {name}: not a name for a function", "letters, digits and _, no Python keyword"
        )
    if receiver and name.startswith("__"):
        raise UsageError(f"--name {name}: Python changes such names in a class", "begin it with a letter")
    for node in ast.walk(module.tree):
        if name in _identifiers(node):
            line = getattr(node, "lineno", 0)
            raise TargetError(
                f"{name} is used already in {module.name}" + (f", line {line}" if line else ""),
                "choose another --name",
            )


def _identifiers(node: ast.AST) -> Iterable[str]:
    """Yield the identifiers that a node itself holds."""
    for field in ("id", "attr", "name", "asname", "arg", "rest", "names", "kwd_attrs"):
        value = getattr(node, field, None)
        if isinstance(value, str):
            yield value
            yield value.partition(".")[0]
        elif isinstance(value, list):
            yield from (item for item in value if isinstance(item, str))


def _remarks(block: SelectedBlock, found: Names, name: str) -> Iterable[str]:
    if hasattr(builtins, name):
        yield f"{name} is also a builtin of Python, which this file now hides"
    if found.as_globals:
        yield (
            f"module variables that the function binds with `global`: {', '.join(found.as_globals)} "
            "(functions of the module see them)"
        )
    for variable, reason in found.read_globals:
        yield f"{variable} is no input but read as a module variable: {reason}"
    if found.local:
        yield f"no longer module variables, so other files cannot import them: {', '.join(found.local)}"
    for item in block.scopes:
        for decorator in getattr(item, "decorator_list", ()):
            text = ast.unparse(decorator)
            if text.partition("(")[0].rpartition(".")[2] in COMPILING:
                yield f"{getattr(item, 'name', '')} is compiled by @{text}, which may not accept the call"


def _diff(module: code.Module, data: bytes) -> str:
    """Return a unified diff with the lines' own endings; only a lone carriage return is shown as a newline."""
    new = code.Module.parse(data, module.name)
    before, after = (_LINE.findall(_LONE_RETURN.sub("\n", item.text)) for item in (module, new))
    lines = difflib.unified_diff(before, after, f"a/{module.name}", f"b/{module.name}")
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )
