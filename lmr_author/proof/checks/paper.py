"""LMR1xx: the paper and the repository."""

from __future__ import annotations

from collections.abc import Iterator

from lmr_author.core.files import is_lfs_pointer
from lmr_author.core.parsing import NotParsed, json_data
from lmr_author.core.task import INFO
from lmr_author.proof.checks.base import Problem, check, did_you_mean
from lmr_author.proof.checks.paper_text import texts_in
from lmr_author.proof.contents import TaskContents
from lmr_author.proof.leaks.tree import scan

_CODE = frozenset((".py", ".ipynb", ".sh", ".cpp", ".cu", ".java"))
_SUBMODULE = "probably a submodule link: clone the repository at its commit and copy its files here"


@check(
    "LMR101",
    "the paper is missing",
    rationale="The paper is what the agent implements from; LMR-Bench's prompt runner reads <repository>/paper.json.",
)
def paper_present(task: TaskContents) -> Iterator[Problem]:
    if task.repository is None:
        return
    for name in ("paper.pdf", "paper.json"):
        if not task.is_file(task.repository / name):
            yield Problem(f"{name} is missing", _hint_for_missing(task, name), task.repository / name)


def _hint_for_missing(task: TaskContents, name: str) -> str:
    elsewhere = [entry.relative for entry in task.named(name) if entry.kind == "file"]
    if elsewhere:
        return f"move {elsewhere[0]} there"
    return "download the paper and save it there" if name == "paper.pdf" else "make it from paper.pdf"


@check(
    "LMR102",
    "the paper cannot be read",
    rationale="A download page saved as paper.pdf, or an empty paper.json, leaves the agent without the paper.",
)
def paper_readable(task: TaskContents) -> Iterator[Problem]:
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
        value = json_data(data)
    except NotParsed:
        yield Problem("paper.json is not valid JSON", "make it from paper.pdf again", pages)
        return
    if not isinstance(value, dict | list) or not any(map(str.strip, texts_in(value))):
        yield Problem("paper.json contains no pages", 'write {"1": text of page 1, ...}', pages)


@check(
    "LMR103",
    "the repository is missing or contains no code",
    rationale="A submodule link without .gitmodules leaves an empty folder: nothing ships. It happened to 3 of 29"
    " published tasks.",
)
def repository_present(task: TaskContents) -> Iterator[Problem]:
    if task.raw is None:
        return
    name, repository = task.info.repo_folder_name.strip(), task.repository
    if not name:
        hint = f"write {repository.name!r}" if repository else "name the repository's folder"
        yield Problem("repo_folder_name is missing", hint, INFO)
    elif repository is None or task.named_repository is None:
        kind = task.kind(name.strip("/"))
        state = {"folder": "is empty", "link": "is a link out of the task"}.get(kind, "does not exist")
        hint = _SUBMODULE if kind == "folder" else _meant_folder(task, name)
        yield Problem(f"the repository folder {name!r:.100} {state}", hint, name)
        return
    code = (entry for entry in task.repository_entries if entry.suffix in _CODE)
    if repository and all("unit_test/" in entry.relative for entry in code):
        yield Problem(f"the repository folder {repository.name} contains no code", _SUBMODULE, repository)


def _meant_folder(task: TaskContents, name: str) -> str:
    folders = [entry.relative for entry in task.entries if entry.kind == "folder" and not entry.folder]
    return did_you_mean(name, folders, 0.4) or "put the repository there"


@check(
    "LMR104",
    "Git LFS pointer instead of data",
    rationale="A pointer is a text file of 130 bytes: torch.load fails on it. 17 of 29 published tasks ship some.",
)
def no_pointers(task: TaskContents) -> Iterator[Problem]:
    for entry in scan(task).pointers:
        hint, kind = "fetch the data (`git lfs pull` in a clone) and copy it here", "of a test"
        if "unit_test" not in entry.folder.split("/"):
            hint, kind = f"{hint}, or delete the file if nothing reads it", "perhaps unused"
        yield Problem(no_pointers.title, hint, task.path(entry), kind=kind)
