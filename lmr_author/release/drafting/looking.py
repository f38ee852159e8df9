"""What a model may look at: pages of the paper, files of the repository, and the recipe so far. Nothing else."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from lmr_author.core import files, foreign
from lmr_author.core.errors import LmrError
from lmr_author.core.texts import counted
from lmr_author.release.drafting.desk import Desk

MOST_BYTES = 4 * 1024 * 1024
"""Size of a file that is read or searched."""
MOST_LINES = 400
MOST_HITS = 80
MOST_NAMES = 400
_LONGEST_LINE = 300


def pages(desk: Desk, first: int, last: int) -> str:
    """Return the text of some pages. Raises LmrError where there are none of these numbers."""
    there = desk.pages
    wanted = [number for number in range(first, last + 1) if number in there]
    if not wanted:
        raise LmrError(f"the paper has no pages {first} to {last}", f"it has 1 to {max(there)}")
    return "\n\n".join(f"=== page {number} ===\n{there[number]}" for number in wanted)


def file_names(root: Path, folder: str) -> str:
    """List the files in and below a folder, with their sizes; of many, those of its folders are only counted."""
    start = files.inside(root, folder) if folder.strip("./") else root
    if not start.is_dir():
        raise LmrError(f"there is no folder {folder!r}", "leave it out for all of the repository")
    paths = list(files.walk(start))
    if len(paths) <= MOST_NAMES:
        return (
            "\n".join(f"{path.relative_to(root).as_posix()}  {path.stat().st_size}" for path in paths)
            or "none"
        )
    lines = [f"{path.name}  {path.stat().st_size}" for path in paths if path.parent == start]
    below = Counter(path.relative_to(start).parts[0] for path in paths if path.parent != start)
    lines += [
        f"{(start / name).relative_to(root).as_posix()}/  {counted(many, 'file')}"
        for name, many in sorted(below.items())
    ]
    return "\n".join(lines[:MOST_NAMES])


def read(root: Path, path: str, first: int = 1, lines: int = MOST_LINES) -> str:
    """Return numbered lines of a text file. Raises LmrError for what is none."""
    text = _text(root, files.inside(root, path))
    if text is None:
        raise LmrError(f"there is no text file {path!r} of at most 4 MiB", "list the files")
    every = text.splitlines()
    first, many = max(1, first), min(max(1, lines), MOST_LINES)
    shown = every[first - 1 : first - 1 + many]
    head = f"{path}: lines {first} to {first + len(shown) - 1} of {len(every)}"
    return "\n".join(
        [head, *(f"{number:>5} {line[:_LONGEST_LINE]}" for number, line in enumerate(shown, first))]
    )


def search(root: Path, words: str, folder: str = "") -> str:
    """Return the lines of text files that contain some words, whatever their case: ``path:line: text``."""
    if not words.strip():
        raise LmrError("nothing to look for", "give the words that a line has to contain")
    start = files.inside(root, folder) if folder.strip("./") else root
    hits = list[str]()
    for hit in _hits(root, start, words.casefold()):
        if len(hits) == MOST_HITS:
            hits.append("… and more: look in a folder, or for other words")
            break
        hits.append(hit)
    return "\n".join(hits) or "none"


def _hits(root: Path, start: Path, words: str) -> Iterator[str]:
    for path in files.walk(start):
        for number, line in enumerate((_text(root, path) or "").splitlines(), 1):
            if words in line.casefold():
                yield f"{path.relative_to(root).as_posix()}:{number}: {line.strip()[:_LONGEST_LINE]}"


def _text(root: Path, path: Path) -> str | None:
    data = foreign.read_inside(os.path.realpath(root), path, MOST_BYTES)
    return None if data is None or b"\0" in data[:4096] else data.decode("utf-8", "replace")
