"""Fixes that have only one correct form: the obvious meaning of info.json, a misspelt key, an unwanted file.

A fix never changes code, a golden, a test or an instruction. A copy of everything that changes is kept.
"""

from __future__ import annotations

import difflib
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lmr_author.core import files, locks
from lmr_author.core.errors import LmrError
from lmr_author.core.parsing import json_data
from lmr_author.core.task import AUTHORING, INFO, Finding, Implementation, Task
from lmr_author.proof.checks import hygiene
from lmr_author.proof.leaks.tree import histories, scan
from lmr_author.proof.lookup import canonical_category, goal_path, golden_path, unit_test_path
from lmr_author.proof.validation.report import Report
from lmr_author.proof.view import TaskView, readable


@dataclass
class InfoDraft:
    """A task while fixes edit it.

    Attributes:
        view: the task as it is.
        info: its info.json, which fixes change in place.
        aside: files and folders that are moved to ``authoring/removed/``, as the file system has them.
    """

    view: TaskView
    info: dict[str, Any]
    aside: set[str]

    def entry(self, finding: Finding) -> tuple[Implementation, dict[str, Any]] | None:
        """Return the implementation that a finding points into, and the draft of its entry in info.json."""
        match = re.match(r"/implementations/(\d+)(?:/|$)", finding.pointer)
        for position, implementation, _ in self.view.numbered:
            if match is not None and int(match[1]) == position:
                entries = self.info["implementations"] = list(self.info["implementations"])
                entries[position] = dict(entries[position])  # the view keeps its own
                return implementation, entries[position]
        return None

    def move(self, finding: Finding, paths: Iterable[str]) -> None:
        """Put those of some paths aside that a finding names."""
        wanted = finding.files or (finding.path,)
        self.aside.update(path for path in paths if readable(path) in wanted)


Fix = Callable[[InfoDraft, Finding], None]


def _key(draft: InfoDraft, finding: Finding) -> None:
    """Rename a misspelt key, or remove it where the right one exists."""
    if finding.fix is None:
        return
    entry = draft.entry(finding)
    inside = entry[1] if entry else draft.info
    old, new = finding.fix.old, finding.fix.new
    renamed: dict[str, Any] = {}
    for key, value in inside.items():  # the order of the keys stays
        if key != old:
            renamed[key] = value
        elif new not in inside:
            renamed[new] = value
    inside.clear()
    inside.update(renamed)


def _category(draft: InfoDraft, finding: Finding) -> None:
    target, entry = draft.entry(finding) or (None, {})
    if target and (meant := canonical_category(target.category)):
        entry["category"] = meant


def _instance_id(draft: InfoDraft, finding: Finding) -> None:
    number = re.match(r"(\d+)-", draft.view.name)
    if number and type(draft.info.get("instance_id")) is not int:  # a number is somebody's decision
        draft.info["instance_id"] = int(number[1])


def _folder_name(draft: InfoDraft, finding: Finding) -> None:
    draft.info["folder_name"] = draft.view.name


def _paths(key: str, find: Callable[[TaskView, Implementation], Path | None]) -> Fix:
    """Set a path that does not exist where only one file can be meant."""

    def fix(draft: InfoDraft, finding: Finding) -> None:
        target, entry = draft.entry(finding) or (None, {})
        view = draft.view
        root = view.task.root if key == "golden_file" else view.repository
        path = find(view, target) if target else None
        if path is None or root is None or finding.path != INFO or not path.is_relative_to(root):
            return
        relative = path.relative_to(root).as_posix()
        if readable(relative) == relative:
            entry[key] = relative

    return fix


def _unwanted(group: str) -> Fix:
    def fix(draft: InfoDraft, finding: Finding) -> None:
        draft.move(finding, (entry.relative for entry in hygiene.unwanted(draft.view, group)))

    return fix


def _leaks(draft: InfoDraft, finding: Finding) -> None:
    """Put a compiled solution, or a version history, aside."""
    view = draft.view
    leaks = histories(view)
    if finding.code == "LMR401":
        leaks = tuple(leak for leak in scan(view).leaks if leak.kind == "compiled")
    start = view.relative_raw(view.repository) if view.repository else ""
    draft.move(finding, (f"{start}/{leak.path}" for leak in leaks))


FIXES: dict[str, Fix] = {
    "LMR002": _key,
    "LMR003": _key,
    "LMR004": _category,
    "LMR005": _instance_id,
    "LMR006": _folder_name,
    "LMR301": _paths("goal_file", goal_path),
    "LMR302": _paths("golden_file", golden_path),
    "LMR401": _leaks,
    "LMR402": _leaks,
    "LMR501": _paths("unit_test_file", unit_test_path),
    "LMR701": _unwanted("system"),
    "LMR702": _unwanted("caches"),
}
"""The fix of each code that has one. Not every finding of such a code can be fixed."""


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
    """Return the changes that fix some findings of a task, one for each file; none where no fix is safe."""
    if view.raw is None:
        return ()
    draft = InfoDraft(view, dict(view.raw), set())
    for finding in findings:
        if finding.code in FIXES:
            FIXES[finding.code](draft, finding)
    outermost: list[str] = []
    for path in sorted(draft.aside, key=lambda path: path.split("/")):  # a folder before what is in it
        if not outermost or not path.startswith(f"{outermost[-1]}/"):
            outermost.append(path)
    info = change_info(view, draft.info)
    return (*([info] if info else []), *map(Change, sorted(outermost)))


def change_info(view: TaskView, new: dict[str, Any]) -> Change | None:
    """Return info.json with new content, formatted as it was; None when it cannot be written without a loss."""
    path = view.task.root / INFO
    before = view.read_bytes(path)
    if before is None or new == view.raw or path.is_symlink():
        return None
    try:
        text = before.decode("utf-8")
        json_data(text, _unique_keys)
        indent = re.search(r"^([ \t]+)\S", text, re.MULTILINE)
        ascii_only = text.isascii() and "\\u" in text
        changed = json.dumps(new, indent=indent[1] if indent else None, ensure_ascii=ascii_only)
        changed = changed.replace("\n", "\r\n" if "\r\n" in text else "\n") + text[len(text.rstrip()) :]
        return Change(INFO, before, changed.encode("utf-8"))
    except ValueError:
        return None


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    unique = dict(pairs)
    if len(unique) != len(pairs):
        raise ValueError("duplicate key")
    return unique


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
            before = change.before.decode("utf-8", "replace").split("\n")
            after = change.after.decode("utf-8", "replace").split("\n")
            yield from difflib.unified_diff(before, after, f"a/{path}", f"b/{path}", lineterm="")

    def apply(self) -> None:
        """Make the changes.

        Raises UnsafePathError when ``authoring/removed/`` leads out of the task; LmrError when another command has
        changed a file since it was validated.
        """
        with locks.held(self.task.root):
            self._apply()

    def _apply(self) -> None:
        for change in self.changes:
            path = self.task.root / change.relative
            if change.before is not None and path.read_bytes() != change.before:
                raise LmrError(f"{self.name}/{change.shown} has changed meanwhile", "run the command again")
        for change in self.changes:
            path = self.task.root / change.relative
            if not os.path.lexists(path):
                continue  # a temporary file of a killed command, which went when the task was locked
            files.inside(self.task.root, f"{AUTHORING}/removed/{change.relative}")
            self.task.put_aside(path, copy=change.after is not None)
            if change.after is not None:
                files.write_bytes(path, change.after)
            elif path.parent.name == "__pycache__" and not any(path.parent.iterdir()):
                path.parent.rmdir()


def plan(report: Report) -> tuple[RepairPlan, ...]:
    """Return the changes that fix what can be fixed of a report, for each task that has any."""
    plans = []
    for task in report.tasks:
        fixable = [finding for finding in task.findings if finding.fixable]
        if fixable and (changes := changes_for(TaskView(task.directory), fixable)):
            plans.append(RepairPlan(task.directory, changes))
    return tuple(plans)
