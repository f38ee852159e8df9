"""Changes to a task that repair a finding, and what they make of its files. Nothing is written here."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from lmr_author.checks.lenient import readable
from lmr_author.checks.view import TaskView
from lmr_author.taskdir import INFO

Keys = tuple[str | int, ...]
"""Where in ``info.json``: keys of objects and positions in lists."""


@dataclass(frozen=True)
class SetValue:
    """``info.json`` has a value at a place, whether there was one or not."""

    at: Keys
    value: Any


@dataclass(frozen=True)
class RenameKey:
    """A key of an object in ``info.json`` is spelt otherwise, at the same place among the others.

    When the right one is there too, the wrong one is removed.
    """

    inside: Keys
    old: str
    new: str


@dataclass(frozen=True)
class ReplaceText:
    """Some text of the Dockerfile from a line on is another; only where it is first found."""

    line: int
    old: str
    new: str


@dataclass(frozen=True)
class PutAside:
    """A file or folder is moved to ``authoring/removed/``. The path is as the file system has it."""

    relative: str


Edit = SetValue | RenameKey | ReplaceText | PutAside


@dataclass(frozen=True)
class Change:
    """What becomes of one path of the task.

    Attributes:
        relative: the path, as the file system has it.
        before, after: its content; both None when it is put aside.
    """

    relative: str
    before: bytes | None = None
    after: bytes | None = None

    @property
    def shown(self) -> str:
        """The path in characters that can be printed."""
        return readable(self.relative)


def changes(view: TaskView, edits: Iterable[Edit]) -> tuple[Change, ...]:
    """What edits make of a task: one change for each file, and none for what would stay as it is.

    A file that cannot be written back without losing something (keys that are there twice, numbers that JSON
    does not have) is left alone.
    """
    wanted = list(dict.fromkeys(edits))
    in_info = [edit for edit in wanted if isinstance(edit, SetValue | RenameKey)]
    in_dockerfile = [edit for edit in wanted if isinstance(edit, ReplaceText)]
    aside = sorted({edit.relative for edit in wanted if isinstance(edit, PutAside)})
    found = [_info(view, in_info), _dockerfile(view, in_dockerfile)]
    outermost = [one for one in aside if not any(one.startswith(other + "/") for other in aside)]
    return (*(one for one in found if one is not None), *map(Change, outermost))


def _info(view: TaskView, edits: Sequence[SetValue | RenameKey]) -> Change | None:
    before = view.read_bytes(view.task.info_path)
    if not edits or before is None or view.task.info_path.is_symlink():
        return None
    try:
        text = before.decode("utf-8")
        data = json.loads(text, object_pairs_hook=_without_doubles, parse_constant=_no_number)
        for edit in edits:
            _edit(data, edit)
        after = _written_like(text, data).encode("utf-8")
    except (ValueError, KeyError, IndexError, TypeError, RecursionError):
        return None
    return Change(INFO, before, after) if after != before else None


def _edit(data: Any, edit: SetValue | RenameKey) -> None:
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


def _written_like(text: str, data: Any) -> str:
    """JSON in the manner of a text: its indentation, its line ends, its way with characters beyond ASCII."""
    indent = re.search(r"^([ \t]+)\S", text, re.MULTILINE)
    ascii_only = text.isascii() and "\\u" in text
    step: str | None = indent[1] if indent else None
    new = json.dumps(data, indent=step, ensure_ascii=ascii_only)
    end = text[len(text.rstrip()) :]
    newline = "\r\n" if "\r\n" in text else "\n"
    return new.replace("\n", newline) + end


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is there twice")
    return found


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


def _dockerfile(view: TaskView, edits: Sequence[ReplaceText]) -> Change | None:
    path = view.task.dockerfile
    before = view.read_bytes(path)
    if not edits or before is None or path.is_symlink():
        return None
    text = before.decode("utf-8", "surrogateescape")
    for edit in edits:
        lines = text.split("\n")
        head, rest = "\n".join(lines[: edit.line - 1]), "\n".join(lines[edit.line - 1 :])
        text = (head + "\n" if edit.line > 1 else "") + rest.replace(edit.old, edit.new, 1)
    after = text.encode("utf-8", "surrogateescape")
    return Change(path.name, before, after) if after != before else None
