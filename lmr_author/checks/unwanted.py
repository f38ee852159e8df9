"""Names of files and folders that have no place in a task: of systems, editors, caches, builds and logs."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator
from functools import cache

from lmr_author.checks.listing import Entry
from lmr_author.checks.view import TaskView
from lmr_author.files import CACHE_FOLDERS

SYSTEM_FILES = (".DS_Store", "._*", "Thumbs.db", "desktop.ini", "__MACOSX", ".Spotlight-V100", ".Trashes")
EDITOR_FILES = (
    ".idea",
    ".vscode",
    "*.swp",
    "*.swo",
    "*~",
    ".ipynb_checkpoints",
    "*.sublime-workspace",
    "*.code-workspace",
    ".ropeproject",
    ".spyproject",
    "*.bak",
    "*.*.orig",
    "nppBackup",
    ".history",
    ".~lock.*#",
    ".*_history",
    *(f"* - {word}*" for word in ("Copy", "Copie", "Copia", "Kopie", "\u526f\u672c", "\u30b3\u30d4\u30fc")),
)
CACHES = (
    *sorted(CACHE_FOLDERS),
    "*.pyc",
    "*.pyo",
    "*.egg-info",
    ".coverage",
    ".cache",
    ".nox",
    "pyvenv.cfg",
    "node_modules",
    "*.prof",
    "*.tmp",
)
LOGS = (
    "*.log",
    "nohup.out",
    "slurm-[0-9]*.out",
    "core.[0-9]*",
    "log.txt",
    "wandb",
    "lightning_logs",
    "mlruns",
    "events.out.tfevents.*",
)

_WILD = re.compile(r"[*?\[]")
_INSIDE = re.compile(r"\*[^*?\[]+\*")


def suspects(view: TaskView) -> tuple[Entry, ...]:
    """What has one of all these names, or lies where logs and builds are: the few that are looked at closely."""
    return view.memo("suspects", lambda: tuple(_suspects(view)))


def _suspects(view: TaskView) -> Iterator[Entry]:
    names, folders = fitting((*SYSTEM_FILES, *EDITOR_FILES, *CACHES, *LOGS)), built(view)
    known: dict[str, bool] = {}
    for entry in view.entries:
        name = entry.name
        if name not in known:
            known[name] = name in names
        if known[name] or "unit_test/logs/" in entry.relative or entry.relative in folders:
            yield entry


@cache
def fitting(patterns: tuple[str, ...]) -> _Patterns:
    """The names that fit one of some patterns: ``name in fitting(CACHES)``."""
    return _Patterns(patterns)


class _Patterns:
    """Whether a name fits one of some patterns; whole names and endings, as most are, without an expression."""

    def __init__(self, patterns: tuple[str, ...]) -> None:
        inside = [pattern for pattern in patterns if _INSIDE.fullmatch(pattern)]
        patterns = tuple(pattern for pattern in patterns if pattern not in inside)
        self._inside = re.compile("|".join(re.escape(pattern.strip("*")) for pattern in inside) or r"(?!)")
        plain = [not _WILD.search(pattern.removeprefix("*")) for pattern in patterns]
        simple = [pattern for pattern, is_plain in zip(patterns, plain, strict=True) if is_plain]
        rest = [pattern for pattern, is_plain in zip(patterns, plain, strict=True) if not is_plain]
        self._whole = frozenset(pattern for pattern in simple if not pattern.startswith("*"))
        self._endings = tuple(pattern[1:] for pattern in simple if pattern.startswith("*"))
        self._rest = re.compile("|".join(map(fnmatch.translate, rest)) or r"(?!)")

    def __contains__(self, name: str) -> bool:
        return (
            name in self._whole
            or name.endswith(self._endings)
            or self._rest.match(name) is not None
            or self._inside.search(name) is not None
        )


_BUILT = re.compile(
    r"(?P<folder>(?P<around>.*/)build/(?:(?:lib|temp|bdist)\.[^/]+|lib(?=/(?P<copy>.+\.py)$)))/.+"
)
"""Something in a folder that setuptools makes: ``build/lib/``, with copies of modules, ``build/temp.linux-x86_64/``."""


def built(view: TaskView) -> frozenset[str]:
    """Folders that building the package made, relative to the task."""
    return view.memo("built", lambda: frozenset(_built(view)))


def _built(view: TaskView) -> Iterator[str]:
    """``build/lib/`` counts only when a file in it is also where it was copied from."""
    files = {entry.relative for entry in view.repository_entries if entry.kind == "file"}
    for path in files:
        found = _BUILT.fullmatch(path) if "/build/" in path else None
        if found:
            sources = (f"{found['around']}{folder}{found['copy']}" for folder in ("", "src/"))
            if found["copy"] is None or not files.isdisjoint(sources):
                yield found["folder"]
