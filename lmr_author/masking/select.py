"""Find the functions that targets mean, as typed on the command line, or say why they cannot be masked."""

from __future__ import annotations

import ast
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lmr_author import code, files
from lmr_author.errors import SourceError, TargetError
from lmr_author.masking import locate
from lmr_author.masking.body import is_masked, raises_not_implemented
from lmr_author.masking.notes import MaskNotes
from lmr_author.masking.notes_file import Described, Entry
from lmr_author.task import Target, Task, TaskInfo, golden_name

CONSTRUCTORS = ("__init__", "__new__")
"""Methods that a class does not stand for, unless it has no others: every call of the class needs them."""


@dataclass(frozen=True)
class Chosen:
    """A function that is to be masked.

    Attributes:
        path: its file, relative to the repository.
        module: that file as it is now.
        begun: it is masked already, by a command that was killed before ``info.json`` was written.
    """

    path: str
    module: code.Module
    definition: code.Definition
    begun: bool = False

    @property
    def target(self) -> Target:
        """Its node id, as ``info.json`` names it."""
        return Target(self.path, self.definition.qualname, code.number(self.module, self.definition))


@dataclass(frozen=True)
class Selection:
    """The subject of a command: the task's ``info.json``, the functions in the order named, remarks."""

    info: TaskInfo
    repository: Path
    chosen: tuple[Chosen, ...]
    remarks: tuple[str, ...]

    def by_file(self) -> dict[str, list[Chosen]]:
        """The functions of each file."""
        result: dict[str, list[Chosen]] = {}
        for item in self.chosen:
            result.setdefault(item.path, []).append(item)
        return result


def select(task: Task, targets: Sequence[str], here: Path) -> Selection:
    """Find the functions that targets mean; a class stands for each of its methods.

    Args:
        task: the task folder.
        targets: node ids as typed.
        here: the current folder, which their paths may be relative to.

    Raises:
        TargetError: unknown, ambiguous, masked already, nothing to mask, given twice, or one inside another.
    """
    info = task.load()
    repository = task.repository(info)
    modules: dict[str, code.Module] = {}
    chosen: list[Chosen] = []
    remarks: list[str] = []
    for text in targets:
        target = locate.locate(repository, text, here)
        module, definition = find_target(repository, target)
        module = modules.setdefault(target.path, module)
        golden = _golden(task, info, target.path)
        begun = {item for item in module.definitions if _is_begun(module, item, golden)}
        found, said = functions(module, definition, begun)
        remarks += said
        chosen += [Chosen(target.path, module, item, begun=item in begun) for item in found]
    selection = Selection(info, repository, tuple(chosen), tuple(remarks))
    for path, items in selection.by_file().items():
        _assert_separate(path, [item.definition for item in items])
        for item in items:
            _refuse_overlap(info, item)
    return selection


def methods_of(task: Task, text: str, here: Path) -> dict[str, bool]:
    """Return the node ids of the methods that a class target could mean, True for those that it does mean.

    Empty for a function, and for a class with one method.
    """
    repository = task.repository(task.load())
    target = locate.locate(repository, text, here)
    module, definition = find_target(repository, target)
    if definition.kind == "function":
        return {}
    masked = [item for item in code.methods(module, definition) if not empty_body(item)]
    if len(masked) < 2:
        return {}
    return {str(Chosen(target.path, module, item).target): item.name not in CONSTRUCTORS for item in masked}


def targets_of(
    task: Task, entries: Sequence[Entry], name: str, here: Path
) -> tuple[tuple[str, ...], dict[str, Described]]:
    """The targets that a notes file names, as typed, and what it says about each, by node id.

    Args:
        entries, name: what was read, and how errors call the file.

    Raises:
        LmrError: a target that cannot be masked, is named twice, or is a class with several methods, of
            which one docstring or comment cannot be said; with the file and its line.
    """
    described: dict[str, Described] = {}
    for entry in entries:
        try:
            chosen = select(task, [entry.target], here).chosen
        except TargetError as error:
            raise TargetError(f"{name}:{entry.line}: {error.message}", error.hint) from error
        if len(chosen) > 1 and entry.described.notes != MaskNotes():
            raise TargetError(
                f"{name}:{entry.line}: {entry.target} stands for {len(chosen)} functions",
                f"describe each: {', '.join(str(item.target) for item in chosen)}",
            )
        for item in chosen:
            if str(item.target) in described:
                raise TargetError(
                    f"{name}:{entry.line}: {item.target} is named twice", "name each target once"
                )
            described[str(item.target)] = entry.described
    return tuple(entry.target for entry in entries), described


def find_target(repository: Path, target: Target) -> tuple[code.Module, code.Definition]:
    """The file and definition of a target. Raises TargetError, also for what a name is instead."""
    try:
        return locate.find(repository, target)
    except TargetError as error:
        module = locate.parse(repository, target.path)
        if any(item.qualname == target.qualname for item in module.definitions):
            raise
        what = _other_binding(module, target)
        if not what:
            raise
        hint = error.hint if error.hint.startswith("did you mean") else ""
        if "lambda" in what or not hint:
            hint = "make it a `def`, or make a function of the code with `lmr-author extract`"
        raise TargetError(f"{target.qualname} in {target.path} {what}", hint) from error


def _golden(task: Task, info: TaskInfo, path: str) -> code.Module | None:
    """The golden of a goal file, if there is one that can be read."""
    taken = {item.golden_file: item.goal_file for item in info.implementations}
    golden = files.inside(task.root, golden_name(path, taken))
    try:
        return code.Module.parse(golden.read_bytes(), golden.name) if golden.is_file() else None
    except SourceError:
        return None


def _is_begun(module: code.Module, definition: code.Definition, golden: code.Module | None) -> bool:
    """Whether a function is masked, and not by its author: its golden has another body."""
    if golden is None or definition.kind == "class" or not is_masked(definition):
        return False
    pair = code.matching(golden, module, definition.qualname, definition.nth)
    return pair is not None and not is_masked(pair[0])


def functions(
    module: code.Module, definition: code.Definition, begun: set[code.Definition]
) -> tuple[list[code.Definition], list[str]]:
    """Return the functions that a target stands for, and remarks about those left out."""
    if definition.kind == "function":
        if definition.is_overload:
            raise TargetError(
                f"{module.name}::{definition.qualname}#{definition.nth} is an overload, without a body",
                f"name the implementation: {module.name}::{definition.qualname}",
            )
        if definition not in begun and (body := empty_body(definition)):
            raise TargetError(
                f"{module.name}::{definition.qualname} has nothing to mask: its body is {body}",
                "name a function that does something; if it was masked by hand, restore the original first",
            )
        return [definition], []
    found: list[code.Definition] = []
    remarks: list[str] = []
    for item in code.methods(module, definition):
        if item not in begun and (body := empty_body(item)):
            remarks.append(f"{item.qualname} is left as it is: its body is {body}")
        else:
            found.append(item)
    if others := [item for item in found if item.name not in CONSTRUCTORS or item in begun]:
        remarks += [
            f"{item.qualname} is left as it is, because nothing runs without a constructor: name it to mask it too"
            for item in found
            if item not in others
        ]
        found = others
    remarks += [
        f"the methods of the nested class {item.qualname} are left as they are: name it too"
        for item in module.definitions
        if item.kind == "class" and item.qualname.rpartition(".")[0] == definition.qualname
    ]
    if not found:
        raise TargetError(
            f"no method of {definition.qualname} in {module.name} has a body to mask",
            "name a function instead",
        )
    return found, remarks


def _refuse_overlap(info: TaskInfo, item: Chosen) -> None:
    """Refuse what is masked already, and what holds a function that is."""
    name = item.definition.qualname
    for known in info.implementations:
        if known.goal_file != item.path:
            continue
        undo = f"restore it first: lmr-author unmask {shlex.quote(str(known.target))}"
        number = f"as implementation {known.index}"
        if known.target == item.target and item.begun:
            other = (
                f"`lmr-author instruct --implementation {known.index}` sets another instruction or category"
            )
            raise TargetError(
                f"{known.target} is already masked, {number}", f"{other}; to mask it anew, {undo}"
            )
        if known.qualname == name and known.nth is None and _other_is_masked(item):
            raise TargetError(
                f"another {known.target} is masked already, {number}, and info.json does not say which one",
                f'add "goal_nth" to that entry, or {undo}',
            )
        if known.qualname.startswith(f"{name}."):
            raise TargetError(f"{known.qualname}, inside of {name}, is already masked, {number}", undo)


def _other_is_masked(item: Chosen) -> bool:
    """Whether another definition of the same name (``#2``) is the masked one."""
    return any(
        other.qualname == item.definition.qualname and other != item.definition and is_masked(other)
        for other in item.module.definitions
        if other.kind == "function"
    )


def empty_body(definition: code.Definition) -> str:
    """Return the content of a body that does nothing, as in "`...`"; "" when there is something to mask."""
    body = list(definition.node.body)
    if definition.docstring is not None:
        body = body[1:]
    if not body:
        return "a docstring"
    for node in body:
        constant = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not (constant or isinstance(node, ast.Pass) or raises_not_implemented(node)):
            return ""
    return f"`{ast.unparse(body[-1]).partition(chr(10))[0]}`"


def _assert_separate(path: str, definitions: Sequence[code.Definition]) -> None:
    """Refuse targets of one file that cannot be masked together: one given twice, one inside another.

    Raises TargetError, naming both.
    """
    for position, one in enumerate(definitions):
        for other in definitions[position + 1 :]:
            if one == other:
                raise TargetError(f"{path}::{one.qualname} is given twice", "name each function once")
            outer, inner = sorted((one, other), key=lambda item: (item.line, -item.end_line))
            if outer.line <= inner.line and inner.end_line <= outer.end_line:
                raise TargetError(
                    f"{path}::{inner.qualname} lies inside {outer.qualname}, which is masked too",
                    "mask the outer function alone, or the inner one",
                )


def _other_binding(module: code.Module, target: Target) -> str:
    """Say why a name of a module is no function: "is a lambda (line 3)…"; "" when nothing binds the name."""
    for node in _scope(module, target):
        if isinstance(node, ast.Assign | ast.AnnAssign) and _binds(node, target.name):
            if isinstance(node.value, ast.Lambda):
                return f"is a lambda (line {node.lineno}), not a function with a body"
            return f"is a variable (line {node.lineno}), not a function"
        if isinstance(node, ast.Import | ast.ImportFrom) and any(
            (alias.asname or alias.name) == target.name for alias in node.names
        ):
            origin = f"from {node.module} " if isinstance(node, ast.ImportFrom) and node.module else ""
            return f"is only imported {origin}there (line {node.lineno})"
    return ""


def _scope(module: code.Module, target: Target) -> list[ast.AST]:
    """The statements, however deep under ``if``, of the class or function in which a target would lie."""
    above = target.qualname.rpartition(".")[0]
    roots: list[ast.AST] = [item.node for item in module.definitions if item.qualname == above]
    stack: list[ast.AST] = roots if above else [module.tree]
    found: list[ast.AST] = []
    while stack:
        for child in ast.iter_child_nodes(stack.pop()):
            found.append(child)
            if not isinstance(child, code.DefinitionNode | ast.expr):
                stack.append(child)
    return found


def _binds(node: ast.Assign | ast.AnnAssign, name: str) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    names = (item for target in targets for item in ast.walk(target) if isinstance(item, ast.Name))
    return any(item.id == name and isinstance(item.ctx, ast.Store) for item in names)
