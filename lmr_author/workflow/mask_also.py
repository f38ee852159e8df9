"""Look-alikes that ``mask --also`` empties along with a target: which ones, and where originals are kept."""

from __future__ import annotations

import ast
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lmr_author import also_masked, files, source
from lmr_author.also_masked import AlsoMasked
from lmr_author.errors import TargetError, UsageError
from lmr_author.leaks.compare import compare
from lmr_author.leaks.statements import of_function
from lmr_author.masking import locate
from lmr_author.masking.mask import is_masked
from lmr_author.model import Implementation
from lmr_author.taskdir import TaskDir
from lmr_author.workflow.mask_select import Selection, find_target, functions

UNLIKE = 0.4
"""Similarity below which an annotator is told that a look-alike does not look alike."""


@dataclass(frozen=True)
class Along:
    """A look-alike that is to be masked.

    Attributes:
        path: its file, relative to the repository.
        module: that file as it is now.
        target: node id of the masked function that it is most like.
        similarity: how much of that function stands in it, 0 to 1.
        begun: it is masked already, by a command that was killed.
    """

    path: str
    module: source.Module
    definition: source.Definition
    target: str
    similarity: float
    begun: bool = False

    @property
    def record(self) -> AlsoMasked:
        """What is recorded about it, without its original."""
        return AlsoMasked(self.path, self.definition.qualname, self.definition.nth, self.target)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the annotator should know."""
        if self.begun or self.similarity >= UNLIKE:
            return ()
        percent = round(self.similarity * 100)
        return (f"{self.record.node_id} has little of {self.target} ({percent} %): is it the one you mean?",)


def select_along(
    task: TaskDir, selection: Selection, nodes: Sequence[str], here: Path
) -> tuple[tuple[Along, ...], tuple[str, ...]]:
    """Find the functions that ``--also`` names; a class stands for each of its methods.

    Args:
        selection: the targets of the same command; none when only look-alikes are to be masked.
        nodes: node ids as typed.
        here: the current folder, which their paths may be relative to.

    Returns:
        The functions, and remarks.

    Raises:
        TargetError: unknown (with a suggestion), a target itself, masked already, or around or inside of a
            masked function.
        UsageError: nothing is masked that something could look like.
    """
    if not nodes:
        return (), ()
    goldens = list(_goldens(task, selection))
    if not goldens:
        raise UsageError("--also is for look-alikes of a target, and nothing is masked", "name a target too")
    recorded = {(item.path, item.qualname, item.nth): item for item in also_masked.load(task)}
    modules = {item.path: item.module for item in selection.chosen}
    found: list[Along] = []
    remarks: list[str] = []
    for text in nodes:
        target = locate.locate(selection.repository, text, here)
        module, definition = find_target(selection.repository, target)
        if (known := modules.setdefault(target.path, module)) is not module:
            module, definition = known, source.find(known, target)
        entries = {
            item: recorded[target.path, item.qualname, item.nth]
            for item in module.definitions
            if (target.path, item.qualname, item.nth) in recorded and is_masked(item)
        }
        _refuse_target(selection, target.path, definition)
        chosen, said = functions(module, definition, set(entries))
        remarks += said
        found += [_along(selection, target.path, module, item, entries.get(item), goldens) for item in chosen]
    _refuse_overlaps(selection, found)
    return tuple(found), (*remarks, *(remark for item in found for remark in item.remarks))


def _along(
    selection: Selection,
    path: str,
    module: source.Module,
    definition: source.Definition,
    entry: AlsoMasked | None,
    goldens: Sequence[tuple[str, source.FunctionNode]],
) -> Along:
    """A look-alike with its target; ``entry`` is its record, when a command was killed behind masking it."""
    _refuse_target(selection, path, definition)
    if entry and any(str(one.target) == entry.target for one in selection.info.implementations):
        raise TargetError(
            f"{entry.node_id} is already masked, along with {entry.target}",
            f"restore both: lmr-author unmask {shlex.quote(entry.target)}",
        )
    named = {str(item.target) for item in selection.chosen}
    target, share = (entry.target, 1.0) if entry else _most_like(definition, goldens, named)
    return Along(path, module, definition, target, share, begun=entry is not None)


def record(
    task: TaskDir, along: Iterable[Along], originals: dict[str, str], goal_files: Iterable[str]
) -> None:
    """Write down what is about to be masked along, before it is.

    Args:
        along: the look-alikes.
        originals: by file, where its original is kept, relative to the task.
        goal_files: files that have a golden, or are about to: it is the original of theirs.
    """
    entries = {(item.path, item.qualname, item.nth): item for item in also_masked.load(task)}
    for item in along:
        new = replace(item.record, original=originals.get(item.path, ""))
        entries[new.path, new.qualname, new.nth] = new
    with_golden = set(goal_files)
    kept = [replace(item, original="") if item.path in with_golden else item for item in entries.values()]
    if kept or task.also_masked_path.is_file():
        also_masked.save(task, kept)
    for entry in entries.values():
        if entry.original and entry.path in with_golden:
            files.inside(task.root, entry.original).unlink(missing_ok=True)


def original_of(task: TaskDir, path: str) -> bytes | None:
    """A file as it was before its first look-alike was masked; None when it has none, or has a golden."""
    for item in also_masked.load(task):
        if item.path == path and item.original:
            kept = files.inside(task.root, item.original)
            return kept.read_bytes() if kept.is_file() else None
    return None


def original_name(task: TaskDir, path: str) -> str:
    """Where the original of a file that has no golden is kept, relative to the task."""
    return (task.originals / path).relative_to(task.root).as_posix()


def _goldens(task: TaskDir, selection: Selection) -> Iterator[tuple[str, source.FunctionNode]]:
    """(node id, original function) of everything that is masked, or is about to be."""
    for item in selection.chosen:
        if not item.begun and not isinstance(item.definition.node, ast.ClassDef):
            yield str(item.target), item.definition.node
    for one in selection.info.implementations:
        path = task.golden(one)
        module = source.Module.parse(path.read_bytes(), one.golden_file) if path.is_file() else None
        for definition in module.definitions if module else ():
            if _means(one, definition) and not isinstance(definition.node, ast.ClassDef):
                yield str(one.target), definition.node
    for item in selection.chosen:
        if item.begun and not isinstance(item.definition.node, ast.ClassDef):
            yield str(item.target), item.definition.node  # its original is known; likeness is not asked


def _means(one: Implementation, definition: source.Definition) -> bool:
    return one.qualname == definition.qualname and one.nth in (None, definition.nth)


def _most_like(
    definition: source.Definition, goldens: Sequence[tuple[str, source.FunctionNode]], named: set[str]
) -> tuple[str, float]:
    """(node id, similarity) of the masked function of which the most stands in a function.

    One that looks alike goes before all that do not, then one that the same command names.
    """
    assert not isinstance(definition.node, ast.ClassDef)
    code = of_function(definition.node)
    shares = [(compare(of_function(node), code).similarity, name) for name, node in goldens]
    share, name = max(shares, key=lambda item: (item[0] >= UNLIKE, item[1] in named, item[0]))
    return name, share


def _refuse_target(selection: Selection, path: str, definition: source.Definition) -> None:
    """``--also`` is for what is no target; another of the same name would leave open which one that is."""
    name = f"{path}::{definition.qualname}"
    names = {str(item.target) for item in selection.chosen}
    names |= {str(item.target) for item in selection.info.implementations}
    if name in names:
        raise TargetError(
            f"{name} is a target" + (", by its name" if definition.siblings > 1 else ""),
            "--also is for functions elsewhere that give a target's solution away",
        )


def _refuse_overlaps(selection: Selection, found: Sequence[Along]) -> None:
    masked = [(item.path, item.definition) for item in selection.chosen]
    masked += [
        (item.path, definition)
        for item in found
        for definition in item.module.definitions
        for one in selection.info.implementations
        if one.goal_file == item.path and _means(one, definition)
    ]
    seen: list[tuple[str, source.Definition]] = []
    for item in found:
        for path, other in (*masked, *seen):
            one = item.definition
            if path != item.path or one.line > other.end_line or other.line > one.end_line:
                continue
            if one == other:
                raise TargetError(f"{item.record.node_id} is given twice", "name each function once")
            raise TargetError(
                f"{item.record.node_id} and {other.qualname} lie one inside the other, and both are to be masked",
                "mask the outer function alone, or the inner one",
            )
        seen.append((item.path, item.definition))
