"""LMR605: the paths of retrieval_context."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lmr_author.checks.base import Example
from lmr_author.checks.info_entries import context_key, raw_implementations
from lmr_author.checks.lookup import clean_path, is_folder
from lmr_author.checks.view import TaskView
from lmr_author.checks.written_paths import PathCheck, leaves, similar_path
from lmr_author.model import Finding, Implementation


class RetrievalPaths(PathCheck):
    key = "retrieval_context"
    code = "LMR605"
    title = "the paths of retrieval_context exist in the repository"
    fixable = True
    rationale = (
        "These files are put into the prompt. One that is missing is silently left out, or stops the run."
    )
    failing = (
        Example("a missing file", implementation={"retrieval_context": ["ranking/trian.py"]}),
        Example("a path upwards", implementation={"retrieval_context": ["../golden_files/losses_golden.py"]}),
        Example("no text", implementation={"retrieval_context": [7]}),
    )
    passing = (
        Example("with the repository's folder", implementation={"retrieval_context": ["./ranking/train.py"]}),
    )

    def run_one(self, view: TaskView, implementation: Implementation) -> Iterator[Finding]:
        """One finding for each path."""
        key = next(
            (context_key(entry) for _, one, entry in raw_implementations(view) if one is implementation),
            self.key,
        )
        entries = implementation.retrieval_context
        if view.is_empty and entries:
            rest = f" and {len(entries) - 1} more do" if len(entries) > 1 else " does"
            message = f"{key} {entries[0]!r:.100}{rest} not exist: nothing is in the repository"
            yield self.finding(view, message, "copy the repository", **self.where(view, implementation, key))
        if view.repository is None:
            return
        for number, text in enumerate(entries):
            wrong = self._wrong(view, view.repository, text)
            if wrong is not None:
                place = self.where(view, implementation, f"{key}/{number}")
                yield self.finding(view, f"{key} {wrong[0]}", wrong[1], **place)

    def _wrong(self, view: TaskView, repository: Path, text: str) -> tuple[str, str] | None:
        """(message without the key, hint) of what is wrong with an entry; None when nothing is."""
        path = clean_path(text).partition("::")[0]
        if not path:
            return "has an entry that is no path", "name a file of the repository"
        if leaves(view, repository, path):
            message = f"{text!r:.100} does not stay inside the repository"
            return message, "write a path relative to the repository"
        named = [repository / path, repository / path.removeprefix(f"{repository.name}/")]
        if any(view.is_file(item) or is_folder(item) for item in named):
            return None
        return f"{text!r:.100} does not exist", similar_path(view, path, "")
