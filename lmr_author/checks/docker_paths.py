"""Where COPY and ADD put the task's files in the image, as far as a Dockerfile tells."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from lmr_author.checks import dockerfile
from lmr_author.checks.dockerfile import Dockerfile, Instruction
from lmr_author.checks.view import TaskView

_FIRST = "?"
"""The folder that a base image starts in, which is not known here."""

_UNPACKED = re.compile(r"\.(?:tar(?:\.\w+)?|t[gbx]z\w*)$")
"""Archives that ADD takes apart."""


def in_image(view: TaskView, parsed: Dockerfile, running: Instruction, path: str) -> bool | None:
    """Whether a file that an instruction names was copied there; None when that cannot be told.

    Args:
        running: the RUN that names it.
        path: the file in the image, variables expanded.
    """
    if "$" in path or re.search(r"\bcd\s", running.text):
        return None
    wanted, covered = posixpath.normpath(posixpath.join(_folder_at(parsed, running), path)), False
    for target, sources in _copied(parsed, running):
        if target is None:
            return None
        for source in sources:
            brought = _brought(view, source, target, len(sources) > 1, wanted)
            if brought is None or brought:
                return brought
            covered |= _is_folder(view, source) and wanted.startswith(f"{posixpath.normpath(target)}/")
    return False if covered else None


def _copied(parsed: Dockerfile, until: Instruction) -> Iterator[tuple[str | None, list[str]]]:
    """(where to, sources) of each COPY and ADD before an instruction; None for where what is not known."""
    for instruction, sources in parsed.copies:
        if instruction.line > until.line:
            return
        target = parsed.target(instruction)
        unclear = any(re.search(r"[$*?\[]", text) for text in (target, *sources))
        unpacked = instruction.name == "ADD" and any(_UNPACKED.search(source) for source in sources)
        yield (
            None if unclear or unpacked else posixpath.join(_folder_at(parsed, instruction), target),
            sources,
        )


def _folder_at(parsed: Dockerfile, until: Instruction) -> str:
    """The folder that an instruction works in."""
    folder = _FIRST
    for item in parsed.named("WORKDIR", "FROM"):
        if item.line < until.line:
            folder = (
                _FIRST
                if item.name == "FROM"
                else posixpath.join(folder, parsed.expand(item.text).strip("\"' "))
            )
    return folder


def _is_folder(view: TaskView, source: str) -> bool:
    """Whether a source of a COPY is a folder: one of the task, or the whole context."""
    place = dockerfile.in_context(source)
    return not place or view.kind(place) == "folder"


def _brought(view: TaskView, source: str, target: str, several: bool, wanted: str) -> bool | None:
    """Whether one source of a COPY brings a file to a path of the image."""
    plain = dockerfile.in_context(source)
    if _is_folder(view, source):
        above = posixpath.normpath(target)
        inside = wanted[len(above) + 1 :] if wanted.startswith(f"{above}/") else ""
        return bool(inside and dockerfile.copied(view, [posixpath.join(plain, inside)]))
    if view.kind(plain) != "file":
        return None  # a link, or what LMR205 says is missing
    into = target.endswith("/") or several or posixpath.basename(target) in (".", "")
    place = posixpath.join(target, posixpath.basename(plain)) if into else target
    if posixpath.normpath(place) == wanted:
        return True
    # Without a slash at its end, a target that is a folder of the image is not told from a file.
    return None if not into and posixpath.join(target, posixpath.basename(plain)) == wanted else False
