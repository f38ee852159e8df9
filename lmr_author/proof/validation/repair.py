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
from lmr_author.core.task import AUTHORING, INFO, Finding, Implementation, Task
from lmr_author.proof.checks import hygiene
from lmr_author.proof.checks.leaks import histories, scan
from lmr_author.proof.checks.lookup import (
    candidates,
    clean_path,
    context_key,
    function_names,
    goal_path,
    golden_path,
    pair,
    unit_test_path,
)
from lmr_author.proof.checks.metadata import canonical_category
from lmr_author.proof.checks.view import TaskView, readable
from lmr_author.proof.validation.report import Report

ROUNDS = 4
"""A fix can reveal another finding, which is fixed too: so many rounds at most."""


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
        """Return the entry of info.json that a finding is about: as it is, and the draft of it."""
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
    """Rename a misspelt key, or remove it where the right one exists; make a year that is a text a number."""
    entry = draft.entry(finding)
    inside = entry[1] if entry else draft.info
    named = re.fullmatch(r"(?:the key '(\w+)' is missing|retrieval_content .*)", finding.message)
    wrong = re.fullmatch(r"rename the key(?: '(\w+)')?|remove the misspelt key", finding.hint)
    if named and wrong:
        old, new = wrong[1] or "retrieval_content", named[1] or "retrieval_context"
        both = old in inside and new in inside
        items = [(new if key == old else key, inside[key]) for key in inside if not (both and key == old)]
        inside.clear()
        inside.update(items)
    elif finding.pointer == "/year" and re.fullmatch(r"\s*(19|20)\d\d\s*", str(inside.get("year"))):
        inside["year"] = int(inside["year"])


def _category(draft: InfoDraft, finding: Finding) -> None:
    entry = draft.entry(finding)
    if entry and (meant := canonical_category(entry[0].category)):
        entry[1]["category"] = meant


def _instance_id(draft: InfoDraft, finding: Finding) -> None:
    number = re.match(r"(\d+)-", draft.view.name)
    if number and type(draft.info.get("instance_id")) is not int:  # a number is somebody's decision
        draft.info["instance_id"] = int(number[1])


def _folder_name(draft: InfoDraft, finding: Finding) -> None:
    draft.info["folder_name"] = draft.view.name


def _names(draft: InfoDraft, finding: Finding) -> None:
    """Set function and class where the files define only one function that can be meant."""
    entry = draft.entry(finding)
    names = function_names(entry[0]) if entry else ()
    if entry is None or len(names) != 1:
        return
    files_of = pair(draft.view, entry[0])
    module = files_of.golden or files_of.goal
    found = candidates(module, names[0], entry[0].class_name.strip()) if module else []
    if len(found) == 1 and found[0].kind == "function":
        entry[1].update(goal_function=found[0].function_name, class_name=found[0].class_name)


def _index(draft: InfoDraft, finding: Finding) -> None:
    entry = draft.entry(finding)
    if entry is None or type(entry[1].get("index")) is int:
        return
    entries = draft.info["implementations"]
    number = entries.index(entry[1]) + 1
    others = (one.get("index") for one in entries if isinstance(one, dict) and one is not entry[1])
    if str(number) not in map(str, others):
        entry[1]["index"] = number


def _paths(key: str, find: Callable[[TaskView, Implementation], Path | None]) -> Fix:
    """Set a path that does not exist where only one file can be meant."""

    def fix(draft: InfoDraft, finding: Finding) -> None:
        view, entry = draft.view, draft.entry(finding)
        root = view.task.root if key == "golden_file" else view.repository
        path = find(view, entry[0]) if entry and root else None
        if entry is None or path is None or root is None or not path.is_relative_to(root):
            return
        relative = path.relative_to(root).as_posix()
        if finding.path == INFO and readable(relative) == relative:
            entry[1][key] = relative

    return fix


def _retrieval(draft: InfoDraft, finding: Finding) -> None:
    """Correct the folder of a file where there is only one of that name."""
    entry = draft.entry(finding)
    match = re.search(r"/retrieval_conte[nx]t/(\d+)$", finding.pointer)
    if entry is None or match is None:
        return
    name = clean_path(entry[0].retrieval_context[int(match[1])]).rpartition("/")[2]
    outside = (path for path in draft.view.repository_files if not path.startswith("unit_test/"))
    same = [path for path in outside if path.rpartition("/")[2] == name]
    if name and len(same) == 1:
        key, number = context_key(entry[1]), int(match[1])
        entry[1][key] = [*entry[1][key][:number], same[0], *entry[1][key][number + 1 :]]


def _unwanted(group: str) -> Fix:
    return lambda draft, finding: draft.move(
        finding, (one.relative for one in hygiene.unwanted(draft.view, group))
    )


def _leaks(draft: InfoDraft, finding: Finding) -> None:
    """Put a compiled solution, or a version history, aside."""
    view = draft.view
    compiled = (leak for leak in scan(view).leaks if leak.kind == "compiled")
    start = view.relative_raw(view.repository) if view.repository else ""
    found = compiled if finding.code == "LMR401" else histories(view)
    draft.move(finding, (f"{start}/{leak.path}" for leak in found))


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
    aside = sorted(draft.aside)
    outermost = [one for one in aside if not any(one.startswith(f"{other}/") for other in aside)]
    info = change_info(view, draft.info)
    return (*([info] if info else []), *map(Change, outermost))


def change_info(view: TaskView, new: dict[str, Any]) -> Change | None:
    """Return info.json with new content, formatted as it was; None when it cannot be written without a loss."""
    path = view.task.root / INFO
    before = view.read_bytes(path)
    if before is None or new == view.raw or path.is_symlink():
        return None
    try:
        text = before.decode("utf-8")
        json.loads(text, object_pairs_hook=_unique_keys, parse_constant=_refuse_number)
        indent = re.search(r"^([ \t]+)\S", text, re.MULTILINE)
        ascii_only = text.isascii() and "\\u" in text
        changed = json.dumps(new, indent=indent[1] if indent else None, ensure_ascii=ascii_only)
        changed = changed.replace("\n", "\r\n" if "\r\n" in text else "\n") + text[len(text.rstrip()) :]
        return Change(INFO, before, changed.encode("utf-8"))
    except (ValueError, RecursionError):
        return None


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("duplicate key")
    return found


def _refuse_number(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


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
