"""Turn a block of statements into a function: select, check, analyse, write."""

from __future__ import annotations

import ast
import builtins
import difflib
import io
import keyword
import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from lmr_author.authoring.extracting import events, write
from lmr_author.authoring.extracting.names import Names, binding_names, names
from lmr_author.authoring.extracting.selection import SelectedBlock, check, has_return, needs_class, select
from lmr_author.core import code
from lmr_author.core.errors import TargetError, UsageError


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
    check(block)
    used = names(block, exported)
    returns = has_return(block, reaches_end=used.reaches_end)
    if used.outputs and (returns or not used.reaches_end):
        raise TargetError(
            f"{used.outputs[0]} is bound in the block only, which does not hand it on",
            f"extend the range over all lines that mention {used.outputs[0]}",
        )
    receiver = _receiver(block, used, kind)
    _check_name(module, name, receiver)
    first = _self_name(block)  # what is `self` around the block is the first parameter, of a function too
    parameters = [name for name in used.inputs if name != receiver]
    plan = write.ExtractPlan(
        name=name,
        parameters=tuple(sorted(parameters, key=lambda name: name != first)),
        outputs=used.outputs,
        receiver=receiver,
        returns=returns,
    )
    data = write.rewrite(module, block, plan)
    classes = [scope.name for scope in block.scopes[1:-1] if not isinstance(scope, ast.Module)]
    return Extraction(
        data=data,
        qualname=".".join([*(classes if receiver else ()), name]),
        start=block.start,
        end=block.end,
        inputs=((receiver,) if receiver else ()) + plan.parameters,
        outputs=plan.outputs,
        local=used.local,
        remarks=tuple(_remarks(used, name)),
        diff=_diff(module, data),
    )


def _receiver(block: SelectedBlock, used: Names, kind: As | None) -> str:
    """Return the name of ``self`` when the function becomes a method, else ""."""
    name, needed = _self_name(block), needs_class(block)
    if kind is As.method and not name:
        raise TargetError(
            "the block is not part of an ordinary method", "leave --as method out: it becomes a function"
        )
    if needed and (kind is As.function or not name):
        raise TargetError(
            f"the block uses `{needed}`, which means something only in a method of its class",
            "use --as method" if name else "leave it out of the range",
        )
    if kind is None:
        kind = As.method if name and (name in used.inputs or needed) else As.function
    return name if kind is As.method else ""


def _self_name(block: SelectedBlock) -> str:
    """Return the first parameter of the ordinary method that directly holds the block, or ""."""
    scope = block.scope
    if len(block.scopes) < 2 or not isinstance(block.scopes[-2], ast.ClassDef):
        return ""
    implicit = ("__new__", "__init_subclass__", "__class_getitem__")
    if not isinstance(scope, events.Function) or scope.name in implicit:
        return ""
    decorators = {ast.unparse(decorator).rpartition(".")[2] for decorator in scope.decorator_list}
    arguments = [*scope.args.posonlyargs, *scope.args.args]
    if not arguments or decorators & {"staticmethod", "classmethod"}:
        return ""
    first = arguments[0].arg
    return "" if first in binding_names(events.scope(scope.body)) else first


def _check_name(module: code.Module, name: str, receiver: str) -> None:
    """Refuse a name that is not an identifier, or that the file uses already."""
    if not name.isidentifier() or keyword.iskeyword(name):
        raise UsageError(
            f"--name {name}: not a name for a function", "letters, digits and _, no Python keyword"
        )
    if receiver and name.startswith("__"):
        raise UsageError(f"--name {name}: Python changes such names in a class", "begin it with a letter")
    # Names of any kind, those of attributes too: a method of the name may be called through an object.
    if re.search(rf"'{name}['.]", ast.dump(module.tree)):
        raise TargetError(f"{name} is used already in {module.name}", "choose another --name")


def _remarks(used: Names, name: str) -> Iterable[str]:
    if hasattr(builtins, name):
        yield f"{name} is also a builtin of Python, which this file now hides"
    if used.local:
        yield f"no longer module variables, so other files cannot import them: {', '.join(used.local)}"


def _diff(module: code.Module, data: bytes) -> str:
    """Return a unified diff with the lines' own endings."""
    new = code.Module.parse(data, module.name)
    before, after = (list(io.StringIO(version.text, newline="")) for version in (module, new))
    lines = difflib.unified_diff(before, after, f"a/{module.name}", f"b/{module.name}")
    return "".join(
        line if line.endswith(("\n", "\r")) else f"{line}\n\\ No newline at end of file\n" for line in lines
    )
