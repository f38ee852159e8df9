"""Fixes that have only one correct form: the obvious meaning of info.json, a misspelt key, an unwanted file.

A fix never changes code, a golden, a test or an instruction. A copy of everything that changes is kept.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lmr_author import files
from lmr_author.checks import hygiene
from lmr_author.checks.leaks import histories, scan
from lmr_author.checks.lookup import (
    candidates,
    clean_path,
    context_key,
    function_names,
    goal_path,
    golden_path,
    pair,
    unit_test_path,
)
from lmr_author.checks.metadata import canonical_category
from lmr_author.checks.view import TaskView, readable
from lmr_author.task import AUTHORING, INFO, Finding, Implementation, Task
from lmr_author.validation.report import Report

ROUNDS = 4
"""A fix can reveal another finding, which is fixed too: so many rounds at most."""

Keys = tuple[str | int, ...]
"""A place in ``info.json``: keys of objects and positions in lists."""


@dataclass(frozen=True)
class SetValue:
    """Set a value of ``info.json``, whether there was one or not."""

    at: Keys
    value: Any


@dataclass(frozen=True)
class RenameKey:
    """Rename a key of ``info.json`` in its place; when the right one exists too, the wrong one is removed."""

    inside: Keys
    old: str
    new: str


@dataclass(frozen=True)
class PutAside:
    """Move a file or folder to ``authoring/removed/``. The path is as the file system has it."""

    relative: str


Edit = SetValue | RenameKey | PutAside
Fix = Callable[[TaskView, Finding], Iterable[Edit]]


# the fixes


def _entry(view: TaskView, finding: Finding) -> tuple[Keys, Implementation, dict[str, Any]] | None:
    """Return the entry of info.json that a finding is about: its place, parsed, and raw."""
    match = re.match(r"/implementations/(\d+)(?:/|$)", finding.pointer)
    for position, implementation, entry in view.numbered:
        if match is not None and int(match[1]) == position:
            return ("implementations", position), implementation, entry
    return None


def _key(view: TaskView, finding: Finding) -> Iterator[Edit]:
    """Rename a misspelt key; make a year that is a text a number."""
    entry = _entry(view, finding)
    inside, raw = (entry[0], entry[2]) if entry else ((), view.raw or {})
    named = re.fullmatch(r"(?:the key '(\w+)' is missing|retrieval_content .*)", finding.message)
    old = re.fullmatch(r"rename the key(?: '(\w+)')?|remove the misspelt key", finding.hint)
    if named and old:
        yield RenameKey(inside, old[1] or "retrieval_content", named[1] or "retrieval_context")
    elif finding.pointer == "/year" and re.fullmatch(r"\s*(19|20)\d\d\s*", str(raw.get("year"))):
        yield SetValue(("year",), int(raw["year"]))


def _category(view: TaskView, finding: Finding) -> Iterator[Edit]:
    entry = _entry(view, finding)
    meant = canonical_category(entry[1].category) if entry else None
    if entry and meant:
        yield SetValue((*entry[0], "category"), meant)


def _instance_id(view: TaskView, finding: Finding) -> Iterator[Edit]:
    number = re.match(r"(\d+)-", view.name)
    value = (view.raw or {}).get("instance_id")
    if number and (isinstance(value, bool) or not isinstance(value, int)):  # a number is somebody's decision
        yield SetValue(("instance_id",), int(number[1]))


def _folder_name(view: TaskView, finding: Finding) -> Iterator[Edit]:
    yield SetValue(("folder_name",), view.name)


def _names(view: TaskView, finding: Finding) -> Iterator[Edit]:
    """Set function and class where the files define only one function that can be meant."""
    entry = _entry(view, finding)
    names = function_names(entry[1]) if entry else ()
    if entry is None or len(names) != 1:
        return
    place, implementation, _ = entry
    module = pair(view, implementation).golden or pair(view, implementation).goal
    found = candidates(module, names[0], implementation.class_name.strip()) if module else []
    if len(found) == 1 and found[0].kind == "function":
        yield SetValue((*place, "goal_function"), found[0].function_name)
        yield SetValue((*place, "class_name"), found[0].class_name)


def _index(view: TaskView, finding: Finding) -> Iterator[Edit]:
    entry = _entry(view, finding)
    if entry is None or type(entry[2].get("index")) is int:
        return
    others = [str(one.get("index")) for _, _, one in view.numbered if one is not entry[2]]
    number = int(entry[0][1]) + 1
    if str(number) not in others:
        yield SetValue((*entry[0], "index"), number)


def _paths(key: str, find: Callable[[TaskView, Implementation], Path | None]) -> Fix:
    """Set a path that does not exist where only one file can be meant."""

    def fix(view: TaskView, finding: Finding) -> Iterator[Edit]:
        entry = _entry(view, finding)
        root = view.task.root if key == "golden_file" else view.repository
        path = find(view, entry[1]) if entry and root else None
        if entry is None or path is None or root is None or not path.is_relative_to(root):
            return
        relative = path.relative_to(root).as_posix()
        if finding.path == INFO and readable(relative) == relative and entry[2].get(key) != relative:
            yield SetValue((*entry[0], key), relative)

    return fix


def _retrieval(view: TaskView, finding: Finding) -> Iterator[Edit]:
    """Correct the folder of a file where there is only one of that name."""
    entry = _entry(view, finding)
    match = re.search(r"/retrieval_conte[nx]t/(\d+)$", finding.pointer)
    if entry is None or match is None:
        return
    name = clean_path(entry[1].retrieval_context[int(match[1])]).rpartition("/")[2]
    outside = (path for path in view.repository_files if not path.startswith("unit_test/"))
    same = [path for path in outside if path.rpartition("/")[2] == name]
    if name and len(same) == 1:
        yield SetValue((*entry[0], context_key(entry[2]), int(match[1])), same[0])


def _unwanted(group: str) -> Fix:
    return lambda view, finding: _aside(finding, (one.relative for one in hygiene.unwanted(view, group)))


def _leaks(view: TaskView, finding: Finding) -> Iterator[Edit]:
    """Put a compiled solution, or a version history, aside."""
    found = (
        [leak for leak in scan(view).leaks if leak.kind == "compiled"]
        if finding.code == "LMR401"
        else histories(view)
    )
    start = view.relative_raw(view.repository) if view.repository else ""
    yield from _aside(finding, (f"{start}/{leak.path}" for leak in found))


def _aside(finding: Finding, paths: Iterable[str]) -> Iterator[Edit]:
    wanted = finding.files or (finding.path,)
    yield from (PutAside(path) for path in paths if readable(path) in wanted)


FIXES: dict[str, Fix] = {
    "LMR002": _key,
    "LMR003": _key,
    "LMR004": _category,
    "LMR005": _instance_id,
    "LMR006": _folder_name,
    "LMR007": _names,
    "LMR009": _index,
    "LMR301": _paths("goal_file", goal_path),
    "LMR302": _paths("golden_file", golden_path),
    "LMR401": _leaks,
    "LMR402": _leaks,
    "LMR501": _paths("unit_test_file", unit_test_path),
    "LMR605": _retrieval,
    "LMR701": _unwanted("system"),
    "LMR702": _unwanted("caches"),
}
"""The fix of each code that has one. Not every finding of such a code can be fixed."""


# the changes that edits make


@dataclass(frozen=True)
class Change:
    """The change of one path of the task.

    Attributes:
        relative: the path, as the file system has it.
        before, after: its content; both None when it is put aside.
    """

    relative: str
    before: bytes | None = None
    after: bytes | None = None

    @property
    def shown(self) -> str:
        """Return the path in characters that can be printed."""
        return readable(self.relative)


def changes_for(view: TaskView, findings: Iterable[Finding]) -> tuple[Change, ...]:
    """Return the changes that fix some findings of a task; none where no fix is safe."""
    if view.raw is None:
        return ()
    return changes(
        view, [edit for one in findings if one.code in FIXES for edit in FIXES[one.code](view, one)]
    )


def changes(view: TaskView, edits: Iterable[Edit]) -> tuple[Change, ...]:
    """Return the changes that edits make: one for each file, none for what would stay as it is."""
    wanted = list(dict.fromkeys(edits))
    aside = sorted({edit.relative for edit in wanted if isinstance(edit, PutAside)})
    outermost = [one for one in aside if not any(one.startswith(f"{other}/") for other in aside)]
    info = _change_info(view, [edit for edit in wanted if not isinstance(edit, PutAside)])
    return (*([info] if info else []), *map(Change, outermost))


def _change_info(view: TaskView, edits: Sequence[SetValue | RenameKey]) -> Change | None:
    """Return info.json changed, formatted as it was; None when it cannot be written back without a loss."""
    before = view.read_bytes(view.task.info_path)
    if not edits or before is None or view.task.info_path.is_symlink():
        return None
    try:
        text = before.decode("utf-8")
        data = json.loads(text, object_pairs_hook=_unique_keys, parse_constant=_refuse_number)
        for edit in edits:
            _apply_edit(data, edit)
        indent = re.search(r"^([ \t]+)\S", text, re.MULTILINE)
        ascii_only = text.isascii() and "\\u" in text
        new = json.dumps(data, indent=indent[1] if indent else None, ensure_ascii=ascii_only)
        new = new.replace("\n", "\r\n" if "\r\n" in text else "\n") + text[len(text.rstrip()) :]
        after = new.encode("utf-8")
    except (ValueError, KeyError, IndexError, TypeError, RecursionError):
        return None
    return Change(INFO, before, after) if after != before else None


def _apply_edit(data: Any, edit: SetValue | RenameKey) -> None:
    *parents, last = edit.at if isinstance(edit, SetValue) else (*edit.inside, edit.old)
    for key in parents:
        data = data[key]
    if isinstance(edit, SetValue):
        data[last] = edit.value
        return
    items = [(edit.new if key == edit.old else key, value) for key, value in data.items()]
    if edit.new in data:
        items = [(key, value) for key, value in data.items() if key != edit.old]
    data.clear()
    data.update(items)


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("duplicate key")
    return found


def _refuse_number(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


# tasks


@dataclass(frozen=True)
class RepairPlan:
    """The changes that fix one task."""

    task: Task
    changes: tuple[Change, ...]

    @property
    def name(self) -> str:
        """Return the task's name in characters that can be printed."""
        return readable(self.task.name)

    def diff(self) -> Iterator[str]:
        """Yield the lines of a unified diff, and one for each file that is put aside."""
        for change in self.changes:
            path = f"{self.name}/{change.shown}"
            if change.before is None or change.after is None:
                yield f"moved {path} to {AUTHORING}/removed/"
                continue
            before, after = (
                data.decode("utf-8", "replace").split("\n") for data in (change.before, change.after)
            )
            yield from difflib.unified_diff(before, after, f"a/{path}", f"b/{path}", lineterm="")

    def apply(self) -> None:
        """Make the changes. Raises UnsafePathError when ``authoring/removed/`` leads out of the task."""
        for change in self.changes:
            path = self.task.root / change.relative
            files.inside(self.task.root, f"{AUTHORING}/removed/{change.relative}")
            self.task.put_aside(path, copy=change.after is not None)
            if change.after is not None:
                files.write_bytes(path, change.after)
            elif path.parent.name == "__pycache__" and not any(path.parent.iterdir()):
                path.parent.rmdir()


def plan(report: Report) -> tuple[RepairPlan, ...]:
    """Return the changes that fix what can be fixed of a report, for each task that has any."""
    plans = []
    for one in report.tasks:
        fixable = [finding for finding in one.findings if finding.fixable]
        if fixable and (changes := changes_for(TaskView(one.directory), fixable)):
            plans.append(RepairPlan(one.directory, changes))
    return tuple(plans)


def repair(report: Report, again: Callable[[], Report]) -> tuple[Report, tuple[RepairPlan, ...]]:
    """Fix tasks until nothing is left that can be fixed; return the last report and the changes made.

    Args:
        report: of the tasks as they are; only what is in it is fixed.
        again: validates them once more, in the same way.

    Raises:
        UnsafePathError: ``authoring/removed/`` leads out of the task.
    """
    done: list[RepairPlan] = []
    for _ in range(ROUNDS):
        plans = plan(report)
        if not plans:
            break
        for one in plans:
            one.apply()
        done += plans
        report = again()
    return report, tuple(done)
