"""Where the repository's own files ask for its published package, in which the solution stands unmasked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lmr_author.checks.leak_package import is_own
from lmr_author.checks.published import published
from lmr_author.checks.view import TaskView

_FILES = re.compile(r"(?:.*requirements.*\.(?:txt|in)|(?:environment|conda|env).*\.ya?ml)", re.IGNORECASE)
_ITEM = re.compile(r"^\s*(?:-\s+)?([\"']?)([A-Za-z].*?)\1\s*(?:#.*)?$")


@dataclass(frozen=True)
class OwnRequirement:
    """A line of a requirements file or a conda environment.

    Attributes:
        path: the file, relative to the repository.
        line: where, from 1.
        requirement: as it is written.
        sure: whether the repository gives itself that name; if not, it follows from its folders.
    """

    path: str
    line: int
    requirement: str
    sure: bool


def own_requirements(view: TaskView) -> Iterator[OwnRequirement]:
    """The requirements of the repository that install the package which contains a goal file."""
    names = published(view)
    for entry in view.repository_entries:
        among = entry.suffix == ".txt" and entry.folder.endswith("/requirements")
        if entry.kind != "file" or not (among or _FILES.fullmatch(entry.name)):
            continue
        path = view.in_repository(entry)
        for number, line in enumerate((view.text(view.task.root / entry.relative) or "").splitlines(), 1):
            match = _ITEM.match(line)
            sure = is_own(names, match[2]) if match else None
            if match and sure is not None:
                yield OwnRequirement(path, number, match[2], sure)
