"""The questions of ``new-task``: paper and repository if they are not given, then one page to confirm.

Nothing that can be derived is asked. Everything derived is shown, and can be changed, before anything is written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from lmr_author.cli import ui
from lmr_author.errors import LmrError
from lmr_author.new_task.draft import LABELS, Draft, forget, kept_in, problems
from lmr_author.vetting.vet import require_local

MAKE, ANOTHER = "make", "another one"


def ask_paper(tasks_dir: Path, repo: str | None) -> tuple[str, str | None]:
    """Ask for the paper; an interrupted wizard can be resumed, with its repository.

    Raises LmrError when the answers of interrupted wizards are damaged.
    """
    interrupted = kept_in(tasks_dir)
    for before in interrupted:
        about = f"{before.paper}, {before.repo}" if before.repo else before.paper
        if ui.confirm(f"Resume the interrupted task ({about})?"):
            return before.paper, repo or before.repo or None
    for before in interrupted:
        forget(tasks_dir, before.paper)
    return ui.path("Paper (PDF file, URL or arXiv id):", check=paper_problem), repo


def ask_repository(linked: tuple[str, ...] = ()) -> str:
    """Ask for the repository: one that the paper links, or another."""
    if linked:
        chosen = ui.choice("Repository (the paper links):", [*linked[:8], ANOTHER])
        if chosen != ANOTHER:
            return chosen
    return ui.path("Repository (URL, or a local clone):", check=repository_problem)


def paper_problem(answer: str) -> str:
    """Return what is wrong with a paper that was named; "" for nothing."""
    return _problem(lambda: require_local(answer, None))


def repository_problem(answer: str) -> str:
    """Return what is wrong with a repository that was named; "" for nothing."""
    from lmr_author.repo import Address

    return _problem(lambda: require_local(None, answer)) or _problem(lambda: Address.parse(answer))


def _problem(check: Callable[[], object]) -> str:
    try:
        check()
    except LmrError as error:
        return error.message
    return ""


class AtTerminal:
    """A person who is asked; the spinner stops meanwhile."""

    def __init__(self, progress: ui.Progress) -> None:
        self._progress = progress

    def repository(self, linked: tuple[str, ...]) -> str:
        """Ask for the repository."""
        with self._progress.paused():
            return ask_repository(linked)

    def edit(self, draft: Draft, taken: Mapping[int, str], note: Callable[[Draft], None]) -> Draft:
        """Ask for what is missing or wrong, then show everything until it is confirmed."""

        def change(field: str, reason: str = "") -> Draft:
            def problem(answer: str) -> str:
                return problems(replace(draft, **{field: answer}), taken).get(field, "")

            question = f"{LABELS[field]}{f' ({reason})' if reason else ''}:"
            changed = replace(draft, **{field: ui.text(question, getattr(draft, field), problem)})
            note(changed)
            return changed

        with self._progress.paused():
            for field, reason in problems(draft, taken).items():
                draft = change(field, reason)
            while True:
                lines = {
                    field: f"{label}: {getattr(draft, field) or 'unknown'}" for field, label in LABELS.items()
                }
                chosen = ui.choice("The new task", {MAKE: "Make the task like this", **lines})
                if chosen == MAKE:
                    return draft
                draft = change(chosen)
