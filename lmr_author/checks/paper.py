"""LMR101–104: the paper and the repository's folder."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator

from lmr_author.checks.base import Check, Example
from lmr_author.checks.example_texts import FILES, REPOSITORY
from lmr_author.checks.listing import Entry
from lmr_author.checks.lookup import did_you_mean
from lmr_author.checks.repository_folder import NO_REPOSITORY
from lmr_author.checks.scan import scan
from lmr_author.checks.view import TaskView
from lmr_author.files import is_lfs_pointer
from lmr_author.model import Finding

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 104857600\n"
_MANY = 5
_EMPTY = frozenset({".git", ".gitkeep", ".DS_Store", "paper.pdf", "paper.json", "unit_test"})
_SUBMODULE = "it is probably a submodule link: clone the repository at its commit and copy its files here"


class PaperThere(Check):
    code = "LMR101"
    title = "paper.pdf and paper.json are in the repository"
    rationale = (
        "The paper is what the agent implements from; LMR-Bench's prompt runner reads"
        " <repository>/paper.json."
    )
    failing = (
        Example("paper.pdf is missing", files={f"{REPOSITORY}/paper.pdf": None}),
        Example("paper.json is missing", files={f"{REPOSITORY}/paper.json": None}),
        Example(
            "beside the repository instead",
            files={f"{REPOSITORY}/paper.json": None, "paper.json": '{"1": "text"}\n'},
        ),
    )
    passing = (Example("both are there"),)

    def run(self, view: TaskView) -> Iterator[Finding]:
        """One finding for each file."""
        if view.is_empty:
            hint = "put the paper's PDF there and make paper.json from it"
            yield self.finding(
                view, "paper.pdf and paper.json are missing", hint, path=view.named_repository or ""
            )
        if view.repository is None:
            return
        for name in ("paper.pdf", "paper.json"):
            if not view.is_file(view.repository / name):
                hint = _elsewhere(view, name) or self._made(view, name)
                yield self.finding(view, f"{name} is missing", hint, path=view.repository / name)

    @staticmethod
    def _made(view: TaskView, name: str) -> str:
        """How to get a file of the paper that is nowhere in the task."""
        if name == "paper.pdf":
            return "download the paper and save it there"
        assert view.repository is not None
        if view.is_file(view.repository / "paper.pdf"):
            return "make it from paper.pdf"
        return "make it from the paper's PDF, which is not there either"


def _elsewhere(view: TaskView, name: str) -> str:
    """A hint with a file of the task that may be meant for a missing one; "" when there is none."""
    suffix = name.rpartition(".")[2]
    close = [
        entry.relative
        for entry in view.entries
        if entry.kind == "file"
        and (
            entry.name == name
            or (
                entry.name.endswith(f".{suffix}")
                and "pa" in entry.name.lower()
                and not entry.name.startswith("package")
                and entry.relative.count("/") <= 1
            )
        )
    ]
    same = [path for path in close if path.rpartition("/")[2] == name]
    return (
        f"move {same[0]} there" if same else did_you_mean(name, [path.rpartition("/")[2] for path in close])
    )


class PaperUsable(Check):
    code = "LMR102"
    title = "paper.pdf is a PDF, and paper.json holds the text of its pages"
    rationale = (
        "A download page saved as paper.pdf, or an empty paper.json, leaves the agent without the paper."
    )
    failing = (
        Example(
            "a web page saved as PDF", files={f"{REPOSITORY}/paper.pdf": "<!DOCTYPE html><html></html>\n"}
        ),
        Example("an empty PDF", files={f"{REPOSITORY}/paper.pdf": ""}),
        Example("paper.json is no JSON", files={f"{REPOSITORY}/paper.json": "3 Pairwise loss\n"}),
        Example("no pages", files={f"{REPOSITORY}/paper.json": "{}\n"}),
        Example("pages without text", files={f"{REPOSITORY}/paper.json": '{"1": "", "2": " "}\n'}),
    )
    passing = (
        Example(
            "pages as objects",
            files={f"{REPOSITORY}/paper.json": '{"1": {"text": "Abstract"}, "2": {"text": "Method"}}\n'},
        ),
    )

    def run(self, view: TaskView) -> Iterator[Finding]:
        """One finding for each file."""
        if view.repository is None:
            return
        pdf, pages = view.repository / "paper.pdf", view.repository / "paper.json"
        if view.is_file(pdf) and not is_lfs_pointer(pdf):
            head = _head(view, pdf)
            if b"%PDF-" not in head:
                yield self.finding(
                    view,
                    "paper.pdf is not a PDF file" if head else "paper.pdf is empty",
                    "download the paper again",
                    path=pdf,
                )
        data = view.read_bytes(pages)
        if data is None or is_lfs_pointer(pages):
            return
        try:
            value = json.loads(data)
        except (ValueError, RecursionError):
            yield self.finding(
                view, "paper.json is not valid JSON", "make it from paper.pdf again", path=pages
            )
            return
        if not value or not isinstance(value, dict | list) or not _has_text(value):
            yield self.finding(
                view, "paper.json holds no pages", 'write {"1": text of page 1, ...}', path=pages
            )


def _has_text(value: object) -> bool:
    """Whether there is text anywhere in a JSON value; keys do not count."""
    if isinstance(value, dict | list):
        return any(map(_has_text, value.values() if isinstance(value, dict) else value))
    return isinstance(value, str) and bool(value.strip())


def _head(view: TaskView, path: object) -> bytes:
    try:
        with open(str(path), "rb") as file:
            return file.read(1024)
    except OSError:
        return b""


class RepositoryThere(Check):
    code = "LMR103"
    title = "the repository's folder exists and holds the code"
    rationale = (
        "A submodule link without .gitmodules leaves an empty folder: nothing ships. It happened to 3 of 29"
        " published tasks."
    )
    failing = (
        Example(
            "an empty folder",
            files={path: None for path in FILES if path.startswith(REPOSITORY)}
            | {f"{REPOSITORY}/paper.json": None},
            also=("LMR101", "LMR301", "LMR501", "LMR605"),
        ),
        Example("another name", info={"repo_folder_name": "margin_ranking"}, also=("LMR204",)),
        Example("repo_folder_name is missing", info={"repo_folder_name": None}),
    )
    passing = (Example("margin-ranking/"),)

    def run(self, view: TaskView) -> Iterator[Finding]:
        """At most one finding."""
        if view.raw is None:
            return
        name = view.info.repo_folder_name
        if view.repository is None or (name.strip() and view.named_repository is None):
            message, hint = _absent(view, name)
            yield self.finding(view, message, hint, path=name or "info.json")
            return
        if not name.strip():
            yield self.finding(
                view, "repo_folder_name is missing", f"write {view.repository.name!r}", path="info.json"
            )
        if all(
            view.in_repository(entry).partition("/")[0] in _EMPTY for entry in view.repository_entries
        ) and not any(
            entry.suffix == ".py" and "unit_test/" not in entry.relative for entry in view.repository_entries
        ):
            yield self.finding(
                view,
                f"the repository folder {view.repository.name} holds no code",
                _SUBMODULE,
                path=view.repository,
            )


def _absent(view: TaskView, name: str) -> tuple[str, str]:
    """Why there is no repository of a name, and what to do."""
    if not name:
        what = "repo_folder_name is missing"
    else:
        states = {"folder": "is empty", "link": "is a link out of the task"}
        what = (
            f"the repository folder {name!r:.100} {states.get(view.kind(name.strip('/')), 'does not exist')}"
        )
    if view.kind(name.strip("/")) == "folder":
        return what, _SUBMODULE
    folders = [
        entry.relative for entry in view.entries if entry.kind == "folder" and "/" not in entry.relative
    ]
    candidates = [folder for folder in folders if folder not in NO_REPOSITORY]
    one = f"did you mean {candidates[0]}?" if len(candidates) == 1 else "put the repository there"
    return what, did_you_mean(name, candidates) or one


class NoPointers(Check):
    code = "LMR104"
    title = "no file is a Git LFS pointer"
    rationale = (
        "A pointer of 130 bytes stands where the data should be: torch.load fails on it. 17 of 29 published"
        " tasks ship some."
    )
    failing = (
        Example("a fixture", files={f"{REPOSITORY}/unit_test/inputs.pt": POINTER}),
        Example("many", files={f"{REPOSITORY}/data/part_{number}.bin": POINTER for number in range(8)}),
        Example("the paper", files={f"{REPOSITORY}/paper.pdf": POINTER}),
    )
    passing = (
        Example(
            ".gitattributes speaks of LFS",
            files={f"{REPOSITORY}/.gitattributes": "*.pt filter=lfs diff=lfs merge=lfs -text\n"},
        ),
    )

    def run(self, view: TaskView) -> Iterator[Finding]:
        """One finding for each file; where a folder has many, one for the folder."""
        by_folder: dict[str, list[Entry]] = defaultdict(list)
        for entry in scan(view).pointers:
            by_folder[entry.folder].append(entry)
        for folder, entries in by_folder.items():
            hint = "fetch the data (`git lfs pull` in a clone) and copy it here"
            if "unit_test" not in folder.split("/"):
                hint += ", or delete the file where nothing reads it"
            if len(entries) > _MANY:
                yield self.finding(
                    view,
                    f"{len(entries)} files are Git LFS pointers, {entries[0].name} for one",
                    hint,
                    path=folder,
                )
                continue
            for entry in entries:
                yield self.finding(view, "is a Git LFS pointer, not the data", hint, path=view.path(entry))
