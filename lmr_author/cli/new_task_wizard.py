"""The questions of ``new-task``: paper and repository if they are not given, then one page to confirm.

Nothing that can be derived is asked. Everything derived is shown, and can be changed, before anything is written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from lmr_author.cli import ask
from lmr_author.new_task.draft import LABELS, Draft, forget, kept_in, problems
from lmr_author.texts import shortened

if TYPE_CHECKING:
    from lmr_author.cli.render import Progress

MAKE = "Make the task like this"
ANOTHER = "another one"
WIDTH = 76
"""Columns of a line to choose, so that it fits a terminal of 80."""


def paper(tasks_dir: Path, repo: str | None) -> tuple[str, str | None]:
    """Which paper, and the repository if it is known; an interrupted wizard is gone on with when wished.

    Raises LmrError when the answers that interrupted wizards have left are damaged.
    """
    interrupted = kept_in(tasks_dir)
    for before in interrupted:
        about = f"{before.paper}, {before.repo}" if before.repo else before.paper
        if ask.confirm(f"Go on with the task that was interrupted ({about})?"):
            return before.paper, repo or before.repo or None
    for before in interrupted:
        forget(tasks_dir, before.paper)
    answer = ""
    while not answer:
        answer = ask.text("Which paper? (PDF file, URL or arXiv id)")
    return answer, repo


class AtTerminal:
    """A person who is asked; the spinner stops meanwhile."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def repository(self, linked: tuple[str, ...]) -> str:
        """The repository: one of those that the paper links, or another."""
        with self._progress.paused():
            if linked:
                chosen = ask.choice("Its repository? (the paper links)", [*linked[:8], ANOTHER])
                if chosen != ANOTHER:
                    return chosen
            answer = ""
            while not answer:
                answer = ask.text("Its repository? (URL, or a local clone)")
            return answer

    def edit(self, draft: Draft, taken: Mapping[int, str], note: Callable[[Draft], None]) -> Draft:
        """Ask for what is missing, then show everything until it is confirmed."""
        with self._progress.paused():
            while True:
                wrong = problems(draft, taken)
                for field, problem in wrong.items():
                    draft = _changed(draft, field, f"{LABELS[field]}? ({problem})")
                    note(draft)
                if wrong:
                    continue
                lines = {_line(draft, field): field for field in LABELS}
                chosen = ask.choice("This is what will be made", [MAKE, *lines])
                if chosen == MAKE:
                    return draft
                draft = _changed(draft, lines[chosen], f"{LABELS[lines[chosen]]}?")
                note(draft)


def _line(draft: Draft, field: str) -> str:
    return shortened(f"{LABELS[field]}: {getattr(draft, field) or 'not known'}", WIDTH)


def _changed(draft: Draft, field: str, question: str) -> Draft:
    return replace(draft, **{field: ask.text(question, getattr(draft, field))})
