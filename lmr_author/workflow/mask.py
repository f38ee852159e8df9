"""``mask`` and ``unmask``: goal file, golden, ``info.json`` and tree, in an order that survives a kill."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lmr_author import files, source
from lmr_author.errors import LmrError, TargetError, UsageError
from lmr_author.masking import cleaning, locate
from lmr_author.masking.mask import is_masked, mask_source, unmask_source
from lmr_author.masking.notes import MaskNotes
from lmr_author.model import CATEGORIES, Implementation, Target, TaskInfo
from lmr_author.taskdir import TaskDir, golden_name, replace_implementation, unit_test_name


@dataclass(frozen=True)
class MaskOptions:
    """What the annotator gave to ``mask``; None means "not given" (kept from an earlier mask, or drafted)."""

    targets: tuple[str, ...]
    instruction: str | None = None
    category: str | None = None
    retrieval: tuple[str, ...] | None = None
    notes: MaskNotes = field(default_factory=MaskNotes)


@dataclass(frozen=True)
class MaskResult:
    """What ``mask`` did: implementations in the order masked, files taken out of the tree, remarks."""

    implementations: tuple[Implementation, ...]
    cleaned: cleaning.Cleaned
    remarks: tuple[str, ...]


@dataclass(frozen=True)
class UnmaskResult:
    """What ``unmask`` did: targets restored, and what was moved to ``authoring/removed/``."""

    targets: tuple[str, ...]
    moved: tuple[str, ...]


def mask(task: TaskDir, options: MaskOptions, here: Path) -> MaskResult:
    """Mask one or more functions of a task's repository.

    The golden is written first, the goal file second, ``info.json`` last; running the same command
    again completes one that was killed in between.

    Args:
        task: the task folder.
        options: targets and what is known about them.
        here: the current folder, which a target's path may be relative to.

    Raises:
        TargetError: unknown, ambiguous, or already masked.
        UsageError: a category or a retrieval path that does not exist.
    """
    info = task.load()
    repository = task.repository(info)
    _check(options, repository)
    by_file: dict[str, list[source.Definition]] = {}
    modules: dict[str, source.Module] = {}
    for text in options.targets:
        target = locate.locate(repository, text, here)
        modules[target.path], definition = locate.find(repository, target)
        chosen = by_file.setdefault(target.path, [])
        chosen += [item for item in source.methods(modules[target.path], definition) if item not in chosen]
    _refuse_masked(info, by_file)
    done: list[Implementation] = []
    remarks: list[str] = []
    for path, definitions in by_file.items():
        info, new, said = _mask_file(task, info, modules[path], path, definitions, options)
        done += new
        remarks += said
    goal_files = tuple({item.goal_file for item in info.implementations})
    cleaned = cleaning.clean(repository, task.authoring / "removed", goal_files)
    return MaskResult(tuple(done), cleaned, tuple(remarks))


def unmask(task: TaskDir, target: str | None, here: Path, *, force: bool = False) -> UnmaskResult:
    """Restore one masked function, or all of them, byte for byte.

    The implementation's entry, its unit test and its recordings are moved to ``authoring/removed/``, from
    where a later ``mask`` of the same target takes the instruction, category and context again.

    Raises:
        TargetError: not masked, or the goal file was edited outside the mask (``force`` overrides, with
            a copy in ``authoring/removed/``).
    """
    info = task.load()
    chosen = _chosen(task, info, target, here)
    moved: list[str] = []
    for implementation in chosen:
        moved += _unmask_one(task, info, implementation, force)
        kept = tuple(item for item in info.implementations if item.index != implementation.index)
        info = replace(info, implementations=kept)
        task.save(info)
        if all(item.golden_file != implementation.golden_file for item in kept):
            task.golden(implementation).unlink(missing_ok=True)
    return UnmaskResult(tuple(str(item.target) for item in chosen), tuple(moved))


def _check(options: MaskOptions, repository: Path) -> None:
    if options.category is not None and options.category not in CATEGORIES:
        raise UsageError(f"unknown category {options.category!r}", "one of: " + "; ".join(CATEGORIES))
    for path in options.retrieval or ():
        if not files.inside(repository, path).is_file():
            raise UsageError(
                f"--retrieval {path}: no such file in {repository.name}/", "paths are relative to it"
            )


def _refuse_masked(info: TaskInfo, by_file: dict[str, list[source.Definition]]) -> None:
    known = {(item.goal_file, item.qualname): item.index for item in info.implementations}
    for path, definitions in by_file.items():
        for definition in definitions:
            index = known.get((path, definition.qualname))
            if index is not None and is_masked(definition):
                raise TargetError(
                    f"{path}::{definition.qualname} is already masked, as implementation {index}",
                    f"restore it first: lmr-author unmask {path}::{definition.qualname}",
                )


def _mask_file(
    task: TaskDir,
    info: TaskInfo,
    module: source.Module,
    path: str,
    definitions: Sequence[source.Definition],
    options: MaskOptions,
) -> tuple[TaskInfo, list[Implementation], list[str]]:
    """Mask the targets of one file; returns the new info, what was added, and remarks."""
    taken = {item.golden_file: item.goal_file for item in info.implementations}
    golden_relative = golden_name(path, taken)
    golden_path = files.inside(task.root, golden_relative)
    data, remarks = module.data, []
    pending = [item for item in definitions if not is_masked(item)]
    if pending:
        masked = mask_source(module, pending, {item.qualname: options.notes for item in pending})
        data, remarks = masked.data, list(masked.remarks)
    _assert_golden(golden_path, golden_relative, info, module, definitions)
    if not golden_path.exists():
        files.write_bytes(golden_path, module.data)
    files.write_bytes(files.inside(task.repository(info), path), data)
    added = []
    for definition in definitions:
        implementation = _entry(task, info, path, definition, golden_relative, options)
        info = replace_implementation(info, implementation)
        added.append(implementation)
    task.save(info)
    return info, added, remarks


def _assert_golden(
    golden_path: Path,
    name: str,
    info: TaskInfo,
    module: source.Module,
    definitions: Sequence[source.Definition],
) -> None:
    """An existing golden must be the original of this very file, else it is somebody's work to spoil."""
    already = [item for item in definitions if is_masked(item)]
    if not golden_path.exists():
        if already:
            raise TargetError(
                f"{module.name}::{already[0].qualname} is already masked, and no golden of it is kept",
                "restore the original file (from the repository's history) before masking it",
            )
        return
    golden = source.Module.parse(golden_path.read_bytes(), name)
    others = {item.qualname for item in info.implementations if item.goal_file == module.name}
    names = others | {item.qualname for item in definitions}
    pairs = [source.matching(golden, module, qualname) for qualname in sorted(names)]
    if any(pair is None for pair in pairs) or source.outside(
        golden, [p[0] for p in pairs if p]
    ) != source.outside(module, [p[1] for p in pairs if p]):
        raise LmrError(
            f"{name} exists and is not the original of {module.name}",
            "the goal file was edited after it was masked: restore it, or move the golden away",
        )


def _entry(
    task: TaskDir, info: TaskInfo, path: str, definition: source.Definition, golden: str, options: MaskOptions
) -> Implementation:
    """The ``info.json`` entry of a newly masked function, completed from an earlier mask of the same one."""
    target = Target(path, definition.qualname)
    earlier = _earlier(task, target)
    known = {(item.goal_file, item.qualname): item.index for item in info.implementations}
    used = {item.index for item in info.implementations}
    index = known.get((path, definition.qualname)) or next(
        n for n in range(1, len(used) + 2) if n not in used
    )
    retrieval = (
        options.retrieval if options.retrieval is not None else tuple(earlier.get("retrieval_context", ()))
    )
    return Implementation(
        index=index,
        instruction=options.instruction or earlier.get("instruction") or draft_instruction(path, definition),
        category=options.category or earlier.get("category") or "",
        goal_file=path,
        goal_function=definition.function_name,
        class_name=definition.class_name,
        golden_file=golden,
        retrieval_context=tuple(item for item in dict.fromkeys(retrieval) if item != path),
        unit_test_file=unit_test_name(index),
    )


def draft_instruction(path: str, definition: source.Definition) -> str:
    """A first instruction from what stays visible: kind, name, file, and the docstring's first paragraph."""
    kind = f"method `{definition.function_name}` of the class `{definition.class_name}`"
    kind = kind if definition.class_name else f"function `{definition.function_name}`"
    summary = " ".join((definition.docstring or "").strip().split("\n\n")[0].split())
    says = f" Its purpose: {summary.rstrip('.')}." if summary else ""
    return (
        f"Implement the {kind} in `{path}` as the paper describes it.{says} Keep its signature, and return "
        "what its docstring and its callers expect."
    )


def _chosen(task: TaskDir, info: TaskInfo, target: str | None, here: Path) -> list[Implementation]:
    if not info.implementations:
        raise TargetError(f"nothing is masked in {task.name}", "mask a function with `lmr-author mask`")
    if target is None:
        return list(info.implementations)
    wanted = locate.locate(task.repository(info), target, here)
    chosen = [
        item
        for item in info.implementations
        if item.goal_file == wanted.path
        and (item.qualname == wanted.qualname or item.qualname.rpartition(".")[0] == wanted.qualname)
    ]
    if not chosen:
        masked = ", ".join(str(item.target) for item in info.implementations)
        raise TargetError(f"{wanted} is not masked in {task.name}", f"masked: {masked}")
    return chosen


def _unmask_one(task: TaskDir, info: TaskInfo, implementation: Implementation, force: bool) -> list[str]:
    repository = task.repository(info)
    goal_path, golden_path = task.goal(info, implementation), task.golden(implementation)
    if not golden_path.is_file():
        raise LmrError(f"{implementation.golden_file} is missing", "restore it from version control")
    golden = source.Module.parse(golden_path.read_bytes(), implementation.golden_file)
    siblings = [item for item in info.implementations if item.goal_file == implementation.goal_file]
    moved: list[str] = []
    problem = ""
    try:
        goal = locate.parse(repository, implementation.goal_file)
        restored = unmask_source(golden, goal, implementation.qualname)
        if len(siblings) == 1 and restored != golden.data:
            problem = f"{implementation.goal_file} was edited outside of the mask"
    except LmrError as error:
        problem = error.message
    if problem:
        if not force or len(siblings) > 1:
            raise TargetError(
                problem, "--force restores the golden; the edited file is kept in authoring/removed/"
            )
        moved.append(task.put_aside(goal_path, copy=True))
        restored = golden.data
    record = task.authoring / "removed" / f"implementation-{implementation.index}.json"
    files.write_json(record, implementation.to_json())
    for path in (task.unit_test(info, implementation), task.recording(info, implementation.index)):
        if path.exists():
            moved.append(task.put_aside(path))
    files.write_bytes(goal_path, restored)
    return moved


def _earlier(task: TaskDir, target: Target) -> dict[str, Any]:
    """The entry of an implementation that was unmasked before, if the target is the same."""
    for path in sorted((task.authoring / "removed").glob("implementation-*.json")):
        data = files.read_json(path)
        if isinstance(data, dict) and Implementation.from_json(data).target == target:
            return data
    return {}
