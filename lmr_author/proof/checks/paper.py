"""LMR1xx: the paper and the repository."""

from __future__ import annotations

import json
from collections.abc import Iterator

from lmr_author.core.files import is_lfs_pointer
from lmr_author.core.task import INFO
from lmr_author.proof.checks.base import Problem, check
from lmr_author.proof.checks.leaks import scan
from lmr_author.proof.checks.lookup import did_you_mean
from lmr_author.proof.checks.view import NO_REPOSITORY, TaskView

_SUBMODULE = "probably a submodule link: clone the repository at its commit and copy its files here"


@check(
    "LMR101",
    "the paper is missing",
    rationale="The paper is what the agent implements from; LMR-Bench's prompt runner reads <repository>/paper.json.",
)
def paper_present(task: TaskView) -> Iterator[Problem]:
    if task.repository is None:
        return
    for name in ("paper.pdf", "paper.json"):
        if not task.is_file(task.repository / name):
            same = [entry.relative for entry in task.named(name) if entry.kind == "file"]
            make = "download the paper and save it there" if name == "paper.pdf" else "make it from paper.pdf"
            near = [one.name for one in task.entries if one.kind == "file" and one.relative.count("/") <= 1]
            meant = did_you_mean(name, [one for one in near if one.endswith(name[-4:])])
            hint = f"move {same[0]} there" if same else meant or make
            yield Problem(f"{name} is missing", hint, task.repository / name)


@check(
    "LMR102",
    "the paper cannot be read",
    rationale="A download page saved as paper.pdf, or an empty paper.json, leaves the agent without the paper.",
)
def paper_readable(task: TaskView) -> Iterator[Problem]:
    if task.repository is None:
        return
    pdf, pages = task.repository / "paper.pdf", task.repository / "paper.json"
    if task.is_file(pdf) and not is_lfs_pointer(pdf):
        head = task.head(pdf, 1024)
        if b"%PDF-" not in head:
            message = "paper.pdf is not a PDF file" if head else "paper.pdf is empty"
            yield Problem(message, "download the paper again", pdf)
    data = task.read_bytes(pages)
    if data is None or is_lfs_pointer(pages):
        return
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        yield Problem("paper.json is not valid JSON", "make it from paper.pdf again", pages)
        return
    if not isinstance(value, dict | list) or not _contains_text(value):
        yield Problem("paper.json contains no pages", 'write {"1": text of page 1, ...}', pages)


def _contains_text(value: object) -> bool:
    if isinstance(value, dict | list):
        return any(map(_contains_text, value.values() if isinstance(value, dict) else value))
    return isinstance(value, str) and bool(value.strip())


@check(
    "LMR103",
    "the repository is missing or contains no code",
    rationale="A submodule link without .gitmodules leaves an empty folder: nothing ships. It happened to 3 of 29"
    " published tasks.",
)
def repository_present(task: TaskView) -> Iterator[Problem]:
    if task.raw is None:
        return
    name = task.info.repo_folder_name
    if task.repository is None or (name.strip() and task.named_repository is None):
        kind = task.kind(name.strip("/"))
        state = {"folder": "is empty", "link": "is a link out of the task"}.get(kind, "does not exist")
        message = f"the repository folder {name!r:.100} {state}" if name else "repo_folder_name is missing"
        tops = [one.relative for one in task.entries if one.kind == "folder" and not one.folder]
        meant = [folder for folder in tops if folder not in NO_REPOSITORY]
        only = f"did you mean {meant[0]}?" if len(meant) == 1 else "put the repository there"
        hint = _SUBMODULE if kind == "folder" else did_you_mean(name, meant) or only
        yield Problem(message, hint, name or INFO)
        return
    if not name.strip():
        yield Problem("repo_folder_name is missing", f"write {task.repository.name!r}", INFO)
    code = (".py", ".ipynb", ".sh", ".cpp", ".cu", ".java")
    if not any(one.suffix in code and "unit_test/" not in one.relative for one in task.repository_entries):
        message = f"the repository folder {task.repository.name} contains no code"
        yield Problem(message, _SUBMODULE, task.repository)


@check(
    "LMR104",
    "Git LFS pointer instead of data",
    rationale="A pointer is a text file of 130 bytes: torch.load fails on it. 17 of 29 published tasks ship some.",
)
def no_pointers(task: TaskView) -> Iterator[Problem]:
    for entry in scan(task).pointers:
        hint = "fetch the data (`git lfs pull` in a clone) and copy it here"
        if "unit_test" not in entry.folder.split("/"):
            hint += ", or delete the file if nothing reads it"
        yield Problem(no_pointers.title, hint, task.path(entry))
