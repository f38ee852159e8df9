"""Choose a function at a terminal: fuzzy search, the best suggestions first, with their source."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lmr_author.cli.picker import Choice, Picker
from lmr_author.errors import LmrError

if TYPE_CHECKING:
    from lmr_author.suggesting import Suggestion
    from lmr_author.task import Task


def pick_target(task: Task) -> str:
    """Let the annotator choose one function of a task that is not masked yet; its node id.

    Raises KeyboardInterrupt for Esc and Ctrl-C, LmrError when there is nothing to choose from. Needs a
    terminal (see ``common.can_ask``).
    """
    return pick_targets(task, several=False)[0]


def pick_targets(task: Task, *, several: bool = True) -> list[str]:
    """The same for several functions, marked with Tab; in the order they were marked."""
    from lmr_author.cli import render
    from lmr_author.suggesting import suggest

    repository = task.repository(task.load())
    with render.progress("reading the repository"):
        found = suggest(task)
    free = [item for item in found.suggestions if item.masked is None]
    if not free:
        raise LmrError(f"every function of {found.repository}/ is masked", "name another target")
    return pick([_choice(item, repository) for item in free], several=several)


def pick(choices: Sequence[Choice], *, several: bool = False) -> list[str]:
    """Show the picker until a choice is made; the targets chosen, at least one."""
    return Picker(choices, several).run()


def _choice(item: Suggestion, repository: Path) -> Choice:
    from lmr_author.cli.render_suggest import size
    from lmr_author.suggesting.criteria import pages

    terms = ", ".join(f"{match.term} ({pages(match.pages)})" for match in item.description.matches)
    return Choice(
        target=item.target,
        score=item.score,
        about=" · ".join(filter(None, (size(item), terms))),
        warning=" · ".join(item.warnings),
        source=lambda: _source(repository, item),
    )


def _source(repository: Path, item: Suggestion) -> str:
    """The lines of a function, decorators included, as they stand in the file now."""
    from lmr_author import files, indexing

    entry = item.entry
    data = files.read_regular(str(repository / entry.path), indexing.MAX_BYTES)
    if data is None:
        return "# the file cannot be read"
    lines = data.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return textwrap.dedent("\n".join(lines[entry.first_line - 1 : entry.end_line]).expandtabs(8))
