"""LMR7xx: files that have no place in a task."""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterator
from pathlib import Path

from lmr_author.checks.base import NOTE, WARNING, Problem, check, folded
from lmr_author.checks.listing import Entry
from lmr_author.checks.scan import is_history
from lmr_author.checks.view import TaskView
from lmr_author.task import AUTHORING

SYSTEM_FILES = """
    .DS_Store ._* Thumbs.db desktop.ini __MACOSX .Spotlight-V100 .Trashes .idea .vscode *.swp *.swo *~
    .ipynb_checkpoints *.sublime-workspace *.code-workspace .ropeproject .spyproject *.bak *.*.orig nppBackup .history
    .~lock.*# .*_history
""".split()  # noqa: SIM905
COPIES = [
    "* - Copy*",
    "* - Copie*",
    "* - Copia*",
    "* - Kopie*",
    "* - \u526f\u672c*",
    "* - \u30b3\u30d4\u30fc*",
]
CACHES = """
    __pycache__ .pytest_cache .mypy_cache .ruff_cache .hypothesis .tox .eggs *.pyc *.pyo *.egg-info .coverage .cache
    .nox pyvenv.cfg node_modules *.prof *.tmp
""".split()  # noqa: SIM905
LOGS = """
    *.log nohup.out slurm-[0-9]*.out core.[0-9]* log.txt wandb lightning_logs mlruns events.out.tfevents.*
""".split()  # noqa: SIM905
_NAMES = {
    group: re.compile("|".join(map(fnmatch.translate, patterns)))
    for group, patterns in (("system", SYSTEM_FILES + COPIES), ("caches", CACHES), ("logs", LOGS))
}
_BUILT = re.compile(r"(.*/build/)(?:(?:lib|temp|bdist)\.[^/]+|lib(?=/(.+\.py)$))/.+")
"""Something that setuptools made: ``build/lib/`` with copies of modules, ``build/temp.linux-x86_64/``."""


def unwanted(task: TaskView, group: str) -> list[Entry]:
    """Return the files and folders of a group ("system", "caches", "logs"), none of them inside another."""
    return task.memo(("unwanted", group), lambda: list(_unwanted(task, group)))


def _unwanted(task: TaskView, group: str) -> Iterator[Entry]:
    fits, made = _NAMES[group].match, built_folders(task) if group == "caches" else frozenset()
    known: dict[str, bool] = {}
    folders: tuple[str, ...] = (f"{AUTHORING}/",)  # what is in a folder that was found is not listed again
    for entry in task.entries:
        if entry.name not in known:
            known[entry.name] = fits(entry.name) is not None
        found = known[entry.name] or entry.relative in made or (group == "logs" and _in_logs(task, entry))
        if not found or entry.kind not in ("file", "folder", "link"):
            continue
        if not entry.relative.startswith(folders) and not is_history(entry.relative):
            folders = (*folders, f"{entry.relative}/") if entry.kind == "folder" else folders
            yield entry


def _in_logs(task: TaskView, entry: Entry) -> bool:
    """Return whether a file lies where tests write their logs, and can be one."""
    inside = entry.kind == "file" and task.in_repository(entry).startswith("unit_test/logs/")
    return (
        inside
        and entry.suffix in (".log", ".txt", ".out", "")
        and not entry.name.startswith((".git", ".keep"))
    )


def built_folders(task: TaskView) -> frozenset[str]:
    """Return the folders that building the package made; ``build/lib`` only if its modules exist outside too."""
    paths = {entry.relative for entry in task.repository_entries if entry.kind == "file"}
    found = set()
    for path in paths:
        match = _BUILT.fullmatch(path) if "/build/" in path else None
        if match:
            around = match[1].removesuffix("build/")
            if match[2] is None or {f"{around}{match[2]}", f"{around}src/{match[2]}"} & paths:
                found.add(match[1] + path[len(match[1]) :].partition("/")[0])
    return frozenset(found)


@check(
    "LMR701",
    "file of the operating system or an editor",
    rationale="They differ from machine to machine, say who made them, and some (swap files, checkpoints) hold old"
    " versions of the code.",
    severity=WARNING,
    fixable=True,
)
def no_system_files(task: TaskView) -> Iterator[Problem]:
    many = "files of the operating system or an editor"
    yield from folded(task, unwanted(task, "system"), no_system_files.title, many, "delete")


@check(
    "LMR702",
    "cache or build product",
    rationale="They are made anew by every run, and sooner or later one of them is compiled from the golden (LMR401).",
    severity=WARNING,
    fixable=True,
)
def no_caches(task: TaskView) -> Iterator[Problem]:
    yield from folded(task, unwanted(task, "caches"), no_caches.title, "caches or build products", "delete")


@check(
    "LMR703",
    "log of an earlier run",
    rationale='LMR-Bench\'s scripts decide by "Passed" in unit_test/logs/: a log that was shipped passes whatever the'
    " agent did. Not repaired automatically: a test may read it.",
    severity=WARNING,
)
def no_logs(task: TaskView) -> Iterator[Problem]:
    found = unwanted(task, "logs")
    for tests, severity in ((True, WARNING), (False, NOTE)):  # far from the tests it may be the authors' own
        entries = [entry for entry in found if ("unit_test" in entry.relative) is tests]
        yield from folded(
            task, entries, "log of an earlier run", "logs of earlier runs", "delete", severity=severity
        )


_ODD = re.compile(r"[\x00-\x1f\udc80-\udcff]")
"""Control characters, and bytes that are not UTF-8."""


@check(
    "LMR704",
    "link, special file or unprintable name",
    rationale="A link out of the task shows something else on every machine, and a pipe or device blocks whatever reads"
    " it. Such things are never opened.",
)
def ordinary_files(task: TaskView) -> Iterator[Problem]:
    for entry in task.entries:
        path = task.path(entry)
        if entry.kind == "special":
            yield Problem("pipe, socket or device", "delete it", path)
        elif entry.kind == "closed":
            message = "folder that cannot be listed: nothing in it was checked"
            yield Problem(message, "correct its permissions, or nest it less deeply", path)
        elif entry.kind == "link":
            real = os.path.realpath(path)
            if real != task.root and not real.startswith(task.root + os.sep):
                message = "symbolic link that leads out of the task"
                yield Problem(message, "replace it by the file itself", path)
            elif not Path(real).exists():
                yield Problem("broken symbolic link", "delete it", path, severity=WARNING)
        if _ODD.search(entry.name):
            message = "name with control characters or bytes that are not UTF-8"
            yield Problem(message, "rename it", path, severity=WARNING)
