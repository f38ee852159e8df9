"""Read the repository's code once: imports, downloads, and what needs a GPU."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lmr_author import files
from lmr_author.environment import gpu
from lmr_author.environment.fetching import downloads_in
from lmr_author.environment.imports import Import, imports_in
from lmr_author.environment.own_version import asked_in
from lmr_author.environment.recipe import Download, Fact
from lmr_author.environment.requirements import MAX_BYTES, read_text
from lmr_author.errors import LmrError
from lmr_author.source import parse
from lmr_author.texts import printable

MAX_FILES = 5000
MAX_NOTEBOOK = 32 * 1024 * 1024
"""Notebooks hold the pictures that they show."""
_SKIPPED = re.compile(
    r"(^|/)(tests?|docs?|\.[^/]*|build|dist|site-packages|node_modules)/"
    r"|(^|/)(setup[^/]*|conftest|test_[^/]*|[^/]*_test)\.py$|^unit_test/",
    re.I,
)


@dataclass(frozen=True)
class SourceFile:
    """What one Python file or notebook shows. ``path`` is relative to the repository.

    Attributes:
        asked: packages whose installed version it asks for.
    """

    path: str
    imports: tuple[Import, ...] = ()
    downloads: tuple[Download, ...] = ()
    cuda: tuple[Fact, ...] = ()
    asked: tuple[str, ...] = ()


@dataclass(frozen=True)
class Code:
    """All files of a repository's code, and the names that it defines itself.

    Attributes:
        files: without tests, documentation and the task's own ``unit_test/``.
        local: names of its modules and folders, which an import can mean.
        unreadable: files that are no Python of this version.
        left_out: how many files were not looked at, because there are too many.
    """

    files: tuple[SourceFile, ...]
    local: frozenset[str]
    unreadable: tuple[str, ...] = ()
    left_out: int = 0


def read_code(root: Path) -> Code:
    """Parse every Python file and notebook below ``root`` once; nothing is run."""
    sources = [path for path in files.walk(root) if path.suffix in (".py", ".ipynb")]
    found, unreadable = [], []
    for path in sources[:MAX_FILES]:
        relative = path.relative_to(root).as_posix()
        if _SKIPPED.search(relative):
            continue
        try:
            found.append(_read(path, relative))
        except (LmrError, SyntaxError, ValueError, RecursionError, MemoryError):
            unreadable.append(printable(relative))
    return Code(
        tuple(found),
        frozenset(_local_names(root, sources)),
        tuple(unreadable),
        max(0, len(sources) - MAX_FILES),
    )


def _local_names(root: Path, sources: list[Path]) -> Iterator[str]:
    """Names that the repository itself can mean: every module and every folder of one, wherever it lies.

    Research code extends ``sys.path`` freely, so the place says little.
    """
    for path in sources:
        yield path.stem
        yield from path.relative_to(root).parts[:-1]


def _read(path: Path, relative: str) -> SourceFile:
    text = read_text(path, MAX_NOTEBOOK if path.suffix == ".ipynb" else MAX_BYTES)
    shown = printable(relative)
    if path.suffix == ".ipynb":
        return SourceFile(relative, tuple(_notebook(text)))
    tree = parse(text)
    return SourceFile(
        relative,
        tuple(imports_in(tree)),
        tuple(downloads_in(tree, shown)),
        tuple(gpu.uses_in(tree, shown)),
        tuple(asked_in(tree, text, relative)),
    )


def _notebook(text: str) -> Iterator[Import]:
    data = json.loads(text)
    cells = data.get("cells", []) if isinstance(data, dict) else []
    for number, cell in enumerate(cells if isinstance(cells, list) else [], 1):
        if not isinstance(cell, dict) or cell.get("cell_type") != "code":
            continue
        source = cell.get("source", "")
        lines = ("".join(map(str, source)) if isinstance(source, list) else str(source)).splitlines()
        code = "\n".join("" if line.lstrip().startswith(("!", "%", "?")) else line for line in lines)
        try:
            for item in imports_in(parse(code)):
                yield Import(item.name, number, item.at_once)
        except (SyntaxError, ValueError):
            continue
