"""Edits that fix a finding, and the files that they make. Nothing is written here."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from lmr_author.checks.view import TaskView, readable
from lmr_author.task import INFO

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
class ReplaceText:
    """Replace the first occurrence of a text in the Dockerfile, from a line on."""

    line: int
    old: str
    new: str


@dataclass(frozen=True)
class PutAside:
    """Move a file or folder to ``authoring/removed/``. The path is as the file system has it."""

    relative: str


Edit = SetValue | RenameKey | ReplaceText | PutAside


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
        """The path in characters that can be printed."""
        return readable(self.relative)


def changes(view: TaskView, edits: Iterable[Edit]) -> tuple[Change, ...]:
    """Return what edits make of a task: one change for each file, none for what would stay as it is.

    A file that cannot be written back without losing something (duplicate keys, numbers that JSON does not
    have) is left alone.
    """
    wanted = list(dict.fromkeys(edits))
    aside = sorted({edit.relative for edit in wanted if isinstance(edit, PutAside)})
    outermost = [one for one in aside if not any(one.startswith(other + "/") for other in aside)]
    found = (
        _info(view, [edit for edit in wanted if isinstance(edit, SetValue | RenameKey)]),
        _dockerfile(view, [edit for edit in wanted if isinstance(edit, ReplaceText)]),
    )
    return (*(one for one in found if one is not None), *map(Change, outermost))


def _info(view: TaskView, edits: Sequence[SetValue | RenameKey]) -> Change | None:
    before = view.read_bytes(view.task.info_path)
    if not edits or before is None or view.task.info_path.is_symlink():
        return None
    try:
        text = before.decode("utf-8")
        data = json.loads(text, object_pairs_hook=_without_duplicates, parse_constant=_refuse_number)
        for edit in edits:
            _edit(data, edit)
        after = _formatted_like(text, data).encode("utf-8")
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


def _formatted_like(text: str, data: Any) -> str:
    """Write JSON with a text's indentation, line ends and way with characters beyond ASCII."""
    indent = re.search(r"^([ \t]+)\S", text, re.MULTILINE)
    ascii_only = text.isascii() and "\\u" in text
    new = json.dumps(data, indent=indent[1] if indent else None, ensure_ascii=ascii_only)
    end = text[len(text.rstrip()) :]
    return new.replace("\n", "\r\n" if "\r\n" in text else "\n") + end


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("duplicate key")
    return found


def _refuse_number(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


def _dockerfile(view: TaskView, edits: Sequence[ReplaceText]) -> Change | None:
    path = view.task.dockerfile
    before = view.read_bytes(path)
    if not edits or before is None or path.is_symlink():
        return None
    lines = before.decode("utf-8", "surrogateescape").split("\n")
    for edit in edits:
        rest = "\n".join(lines[edit.line - 1 :]).replace(edit.old, edit.new, 1)
        lines[edit.line - 1 :] = rest.split("\n")
    after = "\n".join(lines).encode("utf-8", "surrogateescape")
    return Change(path.name, before, after) if after != before else None
