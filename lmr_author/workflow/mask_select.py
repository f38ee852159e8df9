"""From targets as typed to the functions that will be masked, or why they cannot be."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lmr_author import files, source
from lmr_author.errors import SourceError, TargetError
from lmr_author.masking import locate, refusing
from lmr_author.masking.mask import is_masked
from lmr_author.masking.notes import MaskNotes
from lmr_author.masking.notes_file import Described, Entry
from lmr_author.model import Target, TaskInfo
from lmr_author.taskdir import TaskDir, golden_name


@dataclass(frozen=True)
class Chosen:
    """A function that is to be masked.

    Attributes:
        path: its file, relative to the repository.
        module: that file as it is now.
        begun: it is masked already, by a command that was killed before ``info.json`` was written.
    """

    path: str
    module: source.Module
    definition: source.Definition
    begun: bool = False

    @property
    def target(self) -> Target:
        """Its node id, as ``info.json`` names it."""
        return Target(self.path, self.definition.qualname, source.number(self.module, self.definition))


@dataclass(frozen=True)
class Selection:
    """What a command is about: the task's ``info.json``, the functions in the order named, remarks."""

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


def select(task: TaskDir, targets: Sequence[str], here: Path) -> Selection:
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
    modules: dict[str, source.Module] = {}
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
        refusing.assert_separate(path, [item.definition for item in items])
        for item in items:
            _refuse_overlap(info, item)
    return selection


def targets_of(
    task: TaskDir, entries: Sequence[Entry], name: str, here: Path
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


def find_target(repository: Path, target: Target) -> tuple[source.Module, source.Definition]:
    """The file and definition of a target. Raises TargetError, also for what a name is instead."""
    try:
        return locate.find(repository, target)
    except TargetError as error:
        module = locate.parse(repository, target.path)
        if any(item.qualname == target.qualname for item in module.definitions):
            raise
        what = refusing.other_binding(module, target)
        if not what:
            raise
        hint = error.hint if error.hint.startswith("did you mean") else ""
        if "lambda" in what or not hint:
            hint = "make it a `def`, or make a function of the code with `lmr-author extract`"
        raise TargetError(f"{target.qualname} in {target.path} {what}", hint) from error


def _golden(task: TaskDir, info: TaskInfo, path: str) -> source.Module | None:
    """The golden of a goal file, if there is one that can be read."""
    taken = {item.golden_file: item.goal_file for item in info.implementations}
    golden = files.inside(task.root, golden_name(path, taken))
    try:
        return source.Module.parse(golden.read_bytes(), golden.name) if golden.is_file() else None
    except SourceError:
        return None


def _is_begun(module: source.Module, definition: source.Definition, golden: source.Module | None) -> bool:
    """Whether a function is masked, and not by its author: its golden has another body."""
    if golden is None or definition.kind == "class" or not is_masked(definition):
        return False
    pair = source.matching(golden, module, definition.qualname, definition.nth)
    return pair is not None and not is_masked(pair[0])


def functions(
    module: source.Module, definition: source.Definition, begun: set[source.Definition]
) -> tuple[list[source.Definition], list[str]]:
    """The functions that a target stands for, and what is said about those left out."""
    if definition.kind == "function":
        if definition.is_overload:
            raise TargetError(
                f"{module.name}::{definition.qualname}#{definition.nth} is an overload, without a body",
                f"name the implementation: {module.name}::{definition.qualname}",
            )
        if definition not in begun and (body := refusing.empty_body(definition)):
            raise TargetError(
                f"{module.name}::{definition.qualname} has nothing to mask: its body is {body}",
                "name a function that does something; if it was masked by hand, restore the original first",
            )
        return [definition], []
    found: list[source.Definition] = []
    remarks: list[str] = []
    for item in source.methods(module, definition):
        if item not in begun and (body := refusing.empty_body(item)):
            remarks.append(f"{item.qualname} is left as it is: its body is {body}")
        else:
            found.append(item)
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
