"""Find the functions that targets name as typed on the command line, or say why they cannot be masked."""

from __future__ import annotations

import ast
import difflib
import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lmr_author.authoring.masking.body import is_masked, raises_not_implemented
from lmr_author.core import code, files, indexing
from lmr_author.core.errors import SourceError, TargetError
from lmr_author.core.task import Implementation, Target, Task, TaskInfo
from lmr_author.core.texts import did_you_mean

MAX_SOURCE = 4 * 1024 * 1024
"""Python files larger than this (bytes) are data, not code to mask: parsing takes 500 times their size."""

CONSTRUCTORS = ("__init__", "__new__")


def locate(repository: Path, text: str, here: Path) -> Target:
    """Read a target and make its path relative to the repository.

    Args:
        text: the node id as typed. Its path may be relative to the repository, to ``here``, or to the task folder; a
            qualified name alone will do where only one function has it.

    Raises:
        TargetError: no such file (with suggestions), or it lies outside the repository.
    """
    try:
        target = Target.parse(text)
    except TargetError as error:
        return _named(repository, text.strip(), error)
    root = repository.resolve()
    for candidate in (repository / target.path, here / target.path, repository.parent / target.path):
        if candidate.is_file() and candidate.resolve().is_relative_to(root):
            relative = candidate.resolve().relative_to(root).as_posix()
            return Target(relative, target.qualname, target.nth, target.line)
    for candidate in (repository / target.path, here / target.path):
        if candidate.is_file():
            raise TargetError(
                f"{target.path} lies outside the repository {repository.name}/",
                "name a file in the task's repository, relative to it; links out of it are not followed",
            )
        if os.path.lexists(candidate):
            raise TargetError(f"{target.path} is not a regular file", "name a .py file")
    close = [entry.node_id for entry in _similar(repository, target)]
    close = close or difflib.get_close_matches(target.path, indexing.build(repository).files, 3, 0.7)
    raise TargetError(
        f"no file {target.path!r} in {repository.name}/",
        did_you_mean(close, "paths are relative to the repository folder"),
    )


def _named(repository: Path, name: str, error: TargetError) -> Target:
    """Return the only function of a name without a path; else raise the error, with the likeliest as its hint."""
    path, colon, rest = name.partition(":")
    if colon and rest.replace(".", "").isidentifier():
        raise TargetError(error.message, f"did you mean {path}::{rest}?") from error
    if colon or "/" in name or name.endswith(".py"):
        raise error
    similar = _similar(repository, Target("", name))
    exact = [entry for entry in similar if entry.qualname == name]
    if len(exact) == 1:
        return Target.parse(exact[0].node_id)
    nodes = [entry.node_id for entry in exact or similar]
    raise TargetError(error.message, did_you_mean(nodes, error.hint)) from error


def parse(repository: Path, path: str) -> code.Module:
    """Parse a file of the repository. Raises SourceError, UnsafePathError or TargetError."""
    file = files.inside(repository, path)
    if file.is_symlink() or not file.is_file():
        raise TargetError(f"{path} is not a regular file", "name the file itself, not a link to it")
    if file.suffix != ".py":
        export = "export the notebook to a script (jupyter nbconvert --to script) and name that"
        hint = export if file.suffix == ".ipynb" else "choose a function in a .py file"
        raise SourceError(f"{path} is not a Python file", hint)
    if file.stat().st_size > MAX_SOURCE:
        raise SourceError(
            f"{path} is larger than {MAX_SOURCE // 2**20} MB", "choose a target in another file"
        )
    return code.Module.parse(file.read_bytes(), path)


def find(repository: Path, target: Target) -> tuple[code.Module, code.Definition]:
    """Return the file and definition of a target; an unknown name is searched in the whole repository."""
    module = parse(repository, target.path)
    try:
        return module, code.find(module, target)
    except TargetError as error:
        names = list(dict.fromkeys(definition.qualname for definition in module.definitions))
        if target.qualname in names:
            raise  # defined several times, or not on the line that was given
        here = difflib.get_close_matches(target.qualname, names, 2, 0.8)
        close = [f"{target.path}::{name}" for name in here]
        close = close or [entry.node_id for entry in _similar(repository, target)]
        raise TargetError(error.message, did_you_mean(close, error.hint)) from error


def _similar(repository: Path, target: Target) -> list[indexing.IndexEntry]:
    index = indexing.build(repository)

    def unlike(entry: indexing.IndexEntry) -> tuple[bool, float]:
        alike = difflib.SequenceMatcher(None, entry.path, target.path).ratio()
        return entry.qualname != target.qualname, -alike

    similar = sorted(index.similar(target.name), key=lambda entry: entry.path != target.path)
    return sorted(index.named(target.name), key=unlike) or similar


# the functions to mask


@dataclass(frozen=True)
class FunctionToMask:
    """A function to mask: its file, relative to the repository, that file as it is now, and its definition."""

    path: str
    module: code.Module
    definition: code.Definition

    @property
    def target(self) -> Target:
        return Target(self.path, self.definition.qualname, code.number(self.module, self.definition))


@dataclass(frozen=True)
class Selection:
    """The task's ``info.json``, and the functions that a command names, in that order."""

    info: TaskInfo
    repository: Path
    chosen: tuple[FunctionToMask, ...]

    def by_file(self) -> dict[str, list[FunctionToMask]]:
        result: dict[str, list[FunctionToMask]] = {}
        for chosen in self.chosen:
            result.setdefault(chosen.path, []).append(chosen)
        return result


def select(task: Task, targets: Sequence[str], here: Path) -> Selection:
    """Find the functions that targets name; paths may be relative to ``here``.

    Raises:
        TargetError: unknown, ambiguous, masked already, nothing to mask, given twice, or one inside another.
    """
    info = task.load()
    repository = task.repository(info)
    modules: dict[str, code.Module] = {}  # a file is one object in a selection
    chosen = []
    for text in targets:
        target = locate(repository, text, here)
        module, definition = find(repository, target)
        _refuse_masked(info, target.path, definition)
        refuse_empty(module, definition)
        chosen.append(FunctionToMask(target.path, modules.setdefault(target.path, module), definition))
    selection = Selection(info, repository, tuple(chosen))
    for path, together in selection.by_file().items():
        refuse_overlaps(info, path, modules[path], [function.definition for function in together])
    return selection


def _refuse_masked(info: TaskInfo, path: str, definition: code.Definition) -> None:
    for entry in info.implementations:
        if means(entry, path, definition) and is_masked(definition):
            raise TargetError(
                f"{entry.target} is already masked, as implementation {entry.index}",
                f"`lmr-author set instruction=@FILE --implementation {entry.index}` changes the instruction; to "
                f"mask it again, restore it first: lmr-author unmask {shlex.quote(str(entry.target))}",
            )


def refuse_empty(module: code.Module, definition: code.Definition) -> None:
    """Raise TargetError for a class, whose methods are named in the hint, and for a function without a body."""
    name = f"{module.name}::{definition.qualname}"
    if definition.kind == "class":
        methods = methods_of(module, definition)
        if not methods:
            raise TargetError(f"no method of {name} has a body to mask", "name a function instead")
        nodes = " ".join(shlex.quote(node) for node in methods)
        raise TargetError(f"{name} is a class", f"name the methods to mask: lmr-author mask {nodes}")
    if definition.is_overload:
        raise TargetError(
            f"{name}#{definition.nth} is an overload, without a body", f"name the implementation: {name}"
        )
    if body := empty_body(definition):
        raise TargetError(
            f"{name} has nothing to mask: its body is {body}",
            "name a function that does something; if it was masked by hand, restore the original first",
        )


def methods_of(module: code.Module, definition: code.Definition) -> list[str]:
    """Return the node ids of a class's methods that have a body to mask, constructors last."""
    methods = [method for method in code.methods(module, definition) if not empty_body(method)]
    methods.sort(key=lambda method: method.name in CONSTRUCTORS)
    return [str(FunctionToMask(module.name, module, method).target) for method in methods]


def refuse_overlaps(
    info: TaskInfo, path: str, module: code.Module, definitions: Sequence[code.Definition]
) -> None:
    """Raise TargetError for functions of a file that cannot be masked together: given twice, or one inside another."""
    masked = []
    for definition in module.definitions:
        if any(means(entry, path, definition) for entry in info.implementations):
            masked.append(definition)
    for position, function in enumerate(definitions):
        if function in definitions[:position]:
            raise TargetError(f"{path}::{function.qualname} is given twice", "name each function once")
        for other in (*definitions[position + 1 :], *masked):
            outer, inner = sorted((function, other), key=lambda node: (node.line, -node.end_line))
            if function != other and inner.end_line <= outer.end_line:
                raise TargetError(
                    f"{path}::{inner.qualname} lies inside {outer.qualname}, which is masked too",
                    "mask the outer function alone, or the inner one; unmask restores one that is masked already",
                )


def means(entry: Implementation, path: str, definition: code.Definition) -> bool:
    """Return True if a definition of a goal file is that of an implementation."""
    return (
        definition.kind == "function"
        and (entry.goal_file, entry.qualname) == (path, definition.qualname)
        and entry.nth in (None, definition.nth)
    )


def empty_body(definition: code.Definition) -> str:
    """Return the content of a body that does nothing, as in "`...`"; "" when there is something to mask."""
    body = definition.statements
    if not body:
        return "a docstring"
    for node in body:
        constant = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not (constant or isinstance(node, ast.Pass) or raises_not_implemented(node)):
            return ""
    return f"`{ast.unparse(body[-1]).partition(chr(10))[0]}`"
