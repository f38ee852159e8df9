"""What ``info.json`` holds, entry by entry, for messages about it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lmr_author.checks.view import TaskView
from lmr_author.model import Implementation


def raw_implementations(view: TaskView) -> Iterator[tuple[int, Implementation, dict[str, Any]]]:
    """(position in the file, implementation, entry as it stands) of each implementation that is an object."""
    entries = view.raw.get("implementations") if view.raw else None
    objects = (
        [(at, entry) for at, entry in enumerate(entries or []) if isinstance(entry, dict)]
        if isinstance(entries, list)
        else []
    )
    for (position, entry), implementation in zip(objects, view.implementations, strict=True):
        yield position, implementation, entry


def context_key(entry: dict[str, Any]) -> str:
    """Under which of its two spellings an entry has the files of the prompt."""
    is_old = "retrieval_content" in entry and "retrieval_context" not in entry
    return "retrieval_content" if is_old else "retrieval_context"


def short(text: str) -> str:
    """A message of at most 160 characters."""
    return text if len(text) <= 160 else text[:157] + "…"
