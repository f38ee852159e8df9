"""Fixes that have only one correct form: the obvious meaning of info.json, a misspelt key, an unwanted file.

A fix never changes code, a golden, a test or an instruction.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

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
from lmr_author.task import Finding, Implementation
from lmr_author.validation.edits import (
    Change,
    Edit,
    Keys,
    PutAside,
    RenameKey,
    ReplaceText,
    SetValue,
    changes,
)

Fix = Callable[[TaskView, Finding], Iterable[Edit]]


def changes_for(view: TaskView, findings: Iterable[Finding]) -> tuple[Change, ...]:
    """Return the changes that fix some findings of a task; none where no fix is safe."""
    if view.raw is None:
        return ()
    edits = [edit for one in findings if one.code in FIXES for edit in FIXES[one.code](view, one)]
    return changes(view, edits)


def _entry(view: TaskView, finding: Finding) -> tuple[Keys, Implementation, dict[str, Any]] | None:
    """Return the entry of info.json that a finding is about: its place, parsed, and raw."""
    match = re.match(r"/implementations/(\d+)(?:/|$)", finding.pointer)
    for position, implementation, entry in view.numbered:
        if match is not None and int(match[1]) == position:
            return ("implementations", position), implementation, entry
    return None


def _key(view: TaskView, finding: Finding) -> Iterator[Edit]:
    """Rename a misspelt key; make a year that is a text a number."""
    match = re.match(r"the key '(\w+)' is missing$", finding.message)
    entry = _entry(view, finding)
    raw = entry[2] if entry else view.raw or {}
    if match is not None:
        close = difflib.get_close_matches(match[1], list(raw), 1, 0.75)
        if close and finding.hint == f"rename the key {close[0]!r}":
            yield RenameKey(entry[0] if entry else (), close[0], match[1])
    elif finding.pointer == "/year" and re.fullmatch(r"\s*(19|20)\d\d\s*", str(raw.get("year"))):
        yield SetValue(("year",), int(raw["year"]))


def _legacy(view: TaskView, finding: Finding) -> Iterator[Edit]:
    entry = _entry(view, finding)
    if entry is None:
        return
    place, _, raw = entry
    old = "retrieval_content"
    if old not in raw:
        close = difflib.get_close_matches("retrieval_context", list(raw), 1, 0.75)
        old = close[0] if close and close[0] != "retrieval_context" else ""
    if old:
        yield RenameKey(place, old, "retrieval_context")


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
    if entry is None:
        return
    place, implementation, _ = entry
    names = function_names(implementation)
    module = pair(view, implementation).golden or pair(view, implementation).goal
    found = (
        candidates(module, names[0], implementation.class_name.strip()) if module and len(names) == 1 else []
    )
    if len(found) == 1 and found[0].kind == "function":
        yield SetValue((*place, "goal_function"), found[0].function_name)
        yield SetValue((*place, "class_name"), found[0].class_name)


def _index(view: TaskView, finding: Finding) -> Iterator[Edit]:
    entry = _entry(view, finding)
    others = [one.get("index") for _, _, one in view.numbered if entry and one is not entry[2]]
    if entry is None or (isinstance(entry[2].get("index"), int) and not isinstance(entry[2]["index"], bool)):
        return
    number = int(entry[0][1]) + 1
    if number not in others and str(number) not in map(str, others):
        yield SetValue((*entry[0], "index"), number)


def _paths(key: str, meant: Callable[[TaskView, Implementation], Any]) -> Fix:
    """Set a path that leads nowhere where it is plain which file is meant."""

    def fix(view: TaskView, finding: Finding) -> Iterator[Edit]:
        entry = _entry(view, finding)
        root = view.task.root if key == "golden_file" else view.repository
        path = meant(view, entry[1]) if entry and root else None
        if entry is None or path is None or root is None or not path.is_relative_to(root):
            return
        relative = path.relative_to(root).as_posix()
        about_path = finding.path == "info.json"
        if about_path and readable(relative) == relative and entry[2].get(key) != relative:
            yield SetValue((*entry[0], key), relative)

    return fix


def _retrieval(view: TaskView, finding: Finding) -> Iterator[Edit]:
    """Correct the folder of a file where there is only one of that name."""
    entry = _entry(view, finding)
    match = re.search(r"/retrieval_conte[nx]t/(\d+)$", finding.pointer)
    if entry is None or match is None:
        return
    key = context_key(entry[2])
    name = clean_path(entry[1].retrieval_context[int(match[1])]).rpartition("/")[2]
    same = [
        path for path, one in view.repository_files.items() if one.name == name and "unit_test/" not in path
    ]
    if name and len(same) == 1:
        yield SetValue((*entry[0], key, int(match[1])), same[0])


def _quoted(view: TaskView, finding: Finding) -> Iterator[Edit]:
    """Quote version ranges that contain no blank."""
    words, _, said = finding.message.partition(" is not quoted")
    text = view.text(view.task.dockerfile)
    line = _line(finding)
    if text and line and re.search(r"""sh["',\s]+-\w*c\b""", text.split("\n")[line - 1]):
        return  # quotes within quotes
    for word in words.split(", ") if said and text and line else ():
        if re.fullmatch(r"[\w.\-\[\]]+[<>]=?[\w.*]+", word) and text and text.count(word) == 1:
            yield ReplaceText(line, word, f'"{word}"')


def _directory(view: TaskView, finding: Finding) -> Iterator[Edit]:
    """Correct the default of ARG DIR."""
    text, line = view.text(view.task.dockerfile), _line(finding)
    wanted = view.info.repo_folder_name.strip().strip("/")
    found = re.match(r"\s*ARG\s+DIR=\S+\s*$", (text or "").split("\n")[line - 1]) if text and line else None
    alone = " and " not in finding.hint
    if alone and found and view.repository and re.fullmatch(r"[\w.\-]+", wanted):
        old = found[0].strip()
        yield ReplaceText(line, old, f"{old.partition('=')[0]}={wanted}")


def _line(finding: Finding) -> int:
    match = re.match(r"L(\d+)$", finding.pointer)
    return int(match[1]) if match else 0


def _unwanted(group: str) -> Fix:
    def fix(view: TaskView, finding: Finding) -> Iterator[Edit]:
        for entry in hygiene.unwanted(view, group):
            # One finding may be about all such files of a folder, or of the repository.
            path = readable(entry.relative)
            if not finding.path or path == finding.path or path.startswith(f"{finding.path}/"):
                yield PutAside(entry.relative)

    return fix


def _compiled(view: TaskView, finding: Finding) -> Iterator[Edit]:
    paths = (leak.path for leak in scan(view).leaks if leak.kind == "compiled" and not leak.member)
    return _aside(view, paths, finding)


def _history(view: TaskView, finding: Finding) -> Iterator[Edit]:
    return _aside(view, (leak.path for leak in histories(view)), finding)


def _aside(view: TaskView, paths: Iterable[str], finding: Finding) -> Iterator[Edit]:
    for path in paths:
        relative = view.relative_raw(view.repository / path) if view.repository else ""
        if relative and readable(relative) == finding.path:
            yield PutAside(relative)


FIXES: dict[str, Fix] = {
    "LMR002": _key,
    "LMR003": _legacy,
    "LMR004": _category,
    "LMR005": _instance_id,
    "LMR006": _folder_name,
    "LMR007": _names,
    "LMR009": _index,
    "LMR203": _quoted,
    "LMR204": _directory,
    "LMR301": _paths("goal_file", goal_path),
    "LMR302": _paths("golden_file", golden_path),
    "LMR401": _compiled,
    "LMR402": _history,
    "LMR501": _paths("unit_test_file", unit_test_path),
    "LMR605": _retrieval,
    "LMR701": _unwanted("system"),
    "LMR702": _unwanted("caches"),
}
"""The fix of each code that has one. Not every finding of such a code can be fixed."""
