"""How info.json writes the paths of an implementation, and what to say of one that is written wrongly."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from lmr_author.checks.base import ImplementationCheck, Where
from lmr_author.checks.lookup import clean_path, did_you_mean
from lmr_author.checks.view import TaskView
from lmr_author.model import Finding, Implementation


class PathCheck(ImplementationCheck):
    """A check of a file that an implementation names."""

    key = ""
    """The key of info.json that names it."""

    def where(self, view: TaskView, implementation: Implementation, key: str = "") -> Where:
        """The place of the path in info.json."""
        pointer = f"/implementations/{view.position(implementation)}/{key or self.key}"
        return {"implementation": implementation, "path": "info.json", "pointer": pointer}

    def misspelt(self, view: TaskView, implementation: Implementation) -> Iterator[Finding]:
        r"""A finding for a path that can be understood, though it has backslashes or blanks around it."""
        text: str = getattr(implementation, self.key)
        wrong = (
            "is written with backslashes: only Windows finds it"
            if "\\" in text
            else "has blanks around it"
            if text != text.strip()
            else ""
        )
        if wrong:
            message = f"{self.key} {text!r:.120} {wrong}"
            yield self.finding(
                view, message, "write it with /, and nothing else", **self.where(view, implementation)
            )

    def said(self, implementation: Implementation, what: str) -> str:
        """A message about the path, or that there is none."""
        text: str = getattr(implementation, self.key)
        return f"{self.key} {text!r:.120} {what}" if text else f"{self.key} is missing"


def leaves(view: TaskView, root: Path | None, text: str) -> bool:
    """Whether a path is absolute, goes upwards, or leads outside through a symbolic link."""
    if not text.strip():
        return False
    pure = PurePosixPath(clean_path(text))
    if pure.is_absolute() or ".." in pure.parts or re.match(r"^[A-Za-z]:|^~", str(pure)):
        return True
    return root is not None and view.inside(root, str(pure)) is None


def similar_path(view: TaskView, text: str, suffix: str = ".py") -> str:
    """A hint with the repository's files that a wrong path may mean, among those with an ending."""
    names = [
        view.in_repository(entry)
        for entry in view.repository_entries
        if entry.kind == "file" and entry.name.endswith(suffix)
    ]
    name = clean_path(text).rpartition("/")[2]
    same = [path for path in names if path.rpartition("/")[2] == name and name]
    if same:
        return f"did you mean {' or '.join(same[:3])}?"
    return did_you_mean(clean_path(text), names) or "name a file of the repository, relative to it"
