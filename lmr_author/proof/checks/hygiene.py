"""LMR7xx: files that do not belong in a task. LMR8xx: authoring records."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lmr_author.core import files
from lmr_author.core.errors import LmrError
from lmr_author.core.task import AUTHORING, Evaluation, provenance
from lmr_author.core.task.folder import TaskState
from lmr_author.proof.checks.base import NOTE, WARNING, Problem, check
from lmr_author.proof.checks.metadata import validator
from lmr_author.proof.contents import FileEntry, TaskContents, once, read_json
from lmr_author.proof.leaks.tree import is_history

_PATTERNS = {
    "system": """
        .DS_Store ._* Thumbs.db desktop.ini __MACOSX .Spotlight-V100 .Trashes .idea .vscode *.swp *.swo *~
        .ipynb_checkpoints *.sublime-workspace *.code-workspace .ropeproject .spyproject *.bak *.*.orig nppBackup
        .history .~lock.*# .*_history *[!a-z]-[!a-z]Copy*
    """,
    "caches": """
        __pycache__ .pytest_cache .mypy_cache .ruff_cache .hypothesis .tox .eggs *.pyc *.pyo *.egg-info .coverage
        .cache .nox pyvenv.cfg node_modules *.prof *.tmp lib.linux-* temp.linux-* bdist.*
    """,
    "logs": """
        *.log nohup.out slurm-[0-9]*.out core.[0-9]* log.txt wandb lightning_logs mlruns events.out.tfevents.*
    """,
}
_NAMES = {
    group: re.compile("|".join(map(fnmatch.translate, names.split()))) for group, names in _PATTERNS.items()
}


@once
def unwanted(task: TaskContents, group: str) -> list[FileEntry]:
    """Return the outermost files and folders of a group ("system", "caches", "logs")."""
    entries = []
    listed = [f"{AUTHORING}/"]  # the content of a folder that is listed is not listed again
    for entry in task.entries:
        matches = _NAMES[group].match(entry.name) or (group == "logs" and _in_logs(task, entry))
        is_inside = entry.relative.startswith(tuple(listed)) or is_history(entry.relative)
        if matches and entry.kind in ("file", "folder", "link") and not is_inside:
            entries.append(entry)
            listed.append(f"{entry.relative}/")
    return entries


def _in_logs(task: TaskContents, entry: FileEntry) -> bool:
    path = task.in_repository(entry)
    return entry.kind == "file" and _LOG.fullmatch(path) is not None


_LOG = re.compile(r"unit_test/logs/(?:.*/)?(?!\.git|\.keep)(?:[^/.]*|[^/]*\.(?:log|txt|out))", re.IGNORECASE)


@check(
    "LMR701",
    "file of the operating system or an editor",
    rationale="They differ between machines, reveal their author, and some (swap files, checkpoints) contain old"
    " versions of the code.",
    severity=WARNING,
)
def no_system_files(task: TaskContents) -> Iterator[Problem]:
    for entry in unwanted(task, "system"):
        yield Problem(no_system_files.title, "delete it", task.path(entry), kind="system")


@check(
    "LMR702",
    "cache or build product",
    rationale="Every run recreates them, and sooner or later one is compiled from the golden (LMR401).",
    severity=WARNING,
)
def no_caches(task: TaskContents) -> Iterator[Problem]:
    for entry in unwanted(task, "caches"):
        yield Problem(no_caches.title, "delete it", task.path(entry), kind="cache")


@check(
    "LMR703",
    "log of an earlier run",
    rationale='LMR-Bench\'s scripts look for "Passed" in unit_test/logs/: with a shipped log, every answer passes.',
    severity=WARNING,
)
def no_logs(task: TaskContents) -> Iterator[Problem]:
    for entry in unwanted(task, "logs"):
        if "unit_test" in entry.relative:
            yield Problem(no_logs.title, "delete it", task.path(entry), kind="log")
        else:
            hint = "keep it if the authors committed it; otherwise delete it"
            yield Problem(no_logs.title, hint, task.path(entry), severity=NOTE, kind="log")


_ODD = re.compile(r"[\x00-\x1f\udc80-\udcff]")
"""Control characters, and bytes that are not UTF-8."""


@check(
    "LMR704",
    "link, special file or unprintable name",
    rationale="A link out of the task has a different target on every machine, and reading a pipe or device can block"
    " forever. lmr-author never opens them.",
)
def ordinary_files(task: TaskContents) -> Iterator[Problem]:
    for entry in task.entries:
        path = task.path(entry)
        if entry.kind == "special":
            yield Problem("pipe, socket or device", "delete it", path, kind="special")
        elif entry.kind == "closed":
            message = "folder cannot be listed: its contents were not checked"
            yield Problem(message, "fix its permissions, or nest it less deeply", path, kind="closed")
        elif entry.kind == "link" and not task.is_inside(path):
            message = "symbolic link to a target outside of the task"
            yield Problem(message, "replace it with the file itself", path, kind="leads out")
        elif entry.kind == "link" and not path.exists():
            yield Problem("broken symbolic link", "delete it", path, severity=WARNING, kind="broken")
        if _ODD.search(entry.name):
            message = "name with control characters or invalid UTF-8"
            yield Problem(message, "rename it", path, severity=WARNING, kind="odd name")


# authoring records


_WITH_SCHEMA = frozenset(
    (
        "accepted",
        "adjudication",
        "also-masked",
        "difficulty",
        "equivalent-mutants",
        "evaluation",
        "ledger",
        "provenance",
        "vetting",
    )
)


def _records(task: TaskContents) -> Iterator[tuple[str, Path, Any]]:
    for entry in task.files_below(AUTHORING):
        name = "review" if entry.folder == "authoring/reviews" else entry.name.removesuffix(".json")
        is_record = name == "review" or (entry.folder == AUTHORING and name in _WITH_SCHEMA)
        if is_record and entry.suffix == ".json":
            yield name, task.path(entry), read_json(task.read_bytes(task.path(entry)))


@check(
    "LMR802",
    "an authoring record violates its schema",
    rationale="Other commands read these records: an unreadable sign-off or result counts as missing.",
)
def records_valid(task: TaskContents) -> Iterator[Problem]:
    hint = "rerun the command that writes it"
    for name, path, value in _records(task):
        if value is None:
            yield Problem("not valid JSON", hint, path)
            continue
        errors = sorted(validator(name).iter_errors(value), key=lambda error: len(error.absolute_path))
        for error in errors[:1]:
            pointer = "".join(f"/{part}" for part in error.absolute_path)
            yield Problem(f"violates its schema: {error.message[:160]}", hint, path, pointer=pointer)


@check(
    "LMR804",
    "the patch on the repository is not the one recorded",
    rationale="The golden is the pinned commit plus this patch. If the patch is missing or different, nobody can tell"
    " which code is the authors'.",
)
def patch_recorded(task: TaskContents) -> Iterator[Problem]:
    patch = task.task.root / AUTHORING / "patches" / "repository.patch"  # perhaps behind a link
    data, recorded = task.read_bytes(patch), provenance.load(task.task).repository.patch
    digests = {
        files.sha256_bytes(data) if data else "",
        task.info.repo_patch,
        recorded.sha256 if recorded else "",
    }
    if len(digests) > 1:
        message = "patch, info.json's repo_patch and authoring/provenance.json do not name the same patch"
        yield Problem(message, "restore them from version control, or create the task again", patch)


@check(
    "LMR803",
    "an evaluation or sign-off is out of date",
    rationale="Changing a task invalidates its evaluation and sign-off. An evaluation covers the code that runs: it"
    " stays valid if only the instruction, the category or the paper's data change. A sign-off covers everything.",
    severity=WARNING,
)
def records_current(task: TaskContents) -> Iterator[Problem]:
    for name, path, value in _records(task):
        if name == "evaluation" and not _is_current(value, state(task)):
            message = "the evaluation is of an earlier state of the task"
            yield Problem(message, "run `lmr-author evaluate` again", path)
        is_signed = name == "review" and isinstance(value, dict) and value.get("signed_off") is True
        if is_signed and value.get("content_digest") != state(task).reviewed:
            message = "the sign-off is of an earlier state of the task"
            yield Problem(message, "run `lmr-author review` again", path)


def _is_current(value: object, now: TaskState) -> bool:
    try:
        return Evaluation.from_json(value).is_of(now)
    except LmrError:  # LMR802
        return True


@once
def state(task: TaskContents) -> TaskState:
    return TaskState.of(task.task)
