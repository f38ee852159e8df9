"""``lmr-author suggest``."""

from __future__ import annotations

import re
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from lmr_author.cli import ui
from lmr_author.cli.options import Format, FormatOption, RepoOption, TaskOption, task_or_repo, task_words
from lmr_author.core.errors import UsageError
from lmr_author.core.texts import counted, shortened

if TYPE_CHECKING:
    from lmr_author.authoring.suggesting import Suggestion, Suggestions


def suggest(
    top: Annotated[int, Option("--top", "-n", min=1, help="Number of functions.")] = 15,
    globs: Annotated[list[str] | None, Option("--file", help="Only functions of files that match.")] = None,
    repo: RepoOption = None,
    paper: Annotated[Path | None, Option(help="With --repo: the paper, a PDF or a paper.json.")] = None,
    task: TaskOption = None,
    output: FormatOption = Format.text,
) -> int:
    """Rank the repository's functions by how well the paper describes them and how good a task each makes."""
    from lmr_author.authoring.suggesting import suggest as suggest_in_task
    from lmr_author.authoring.suggesting import suggest_repository

    if repo is not None and task is not None:
        raise UsageError(
            "--repo and --task exclude each other", "name the task alone, or the repository alone"
        )
    if paper is not None and repo is None:
        raise UsageError("--paper goes with --repo", "a task has its own paper.json")
    with ui.progress("reading the repository"):
        if repo is not None:
            found = suggest_repository(repo, paper, top, globs or ())
        else:
            found = suggest_in_task(task_or_repo(task), top, globs or ())
    if output is Format.json:
        ui.print_json(found.to_json())
        return 0
    _print_table(found)
    free = next((item for item in found.suggestions if item.masked is None), None)
    if repo is not None:
        ui.then(
            "new-task", *([paper] if paper and paper.suffix == ".pdf" else []), "--repo", repo, stderr=False
        )
    elif free is not None:
        ui.then("mask", free.target, *task_words(task), stderr=False)
    return 0


def _print_table(found: Suggestions) -> None:
    """Print two lines for each function: its target, to be copied; then size, warnings, terms of the paper."""
    screen = ui.console(stderr=False)
    for item in found.suggestions:
        style = "dim" if item.masked is not None else "bold"
        ui.say(
            item.target, f"{item.rank:>3} {item.score:>4.0f} ", "cyan", tone=style, stderr=False, whole=True
        )
        text = remark(item)
        if screen.is_terminal:
            text = shortened(text, screen.width - 10)
        styles = {re.escape(warning): "yellow" for warning in item.warnings}
        ui.say(text, indent=10, stderr=False, whole=True, styles={**styles, r"masked as \S+ \d+": "green"})
    pages = f"{counted(found.pages, 'page')} of the paper" if found.pages else "no text of the paper"
    parts = [
        f"{counted(found.functions, 'function')} in {counted(found.files, 'file')} of {found.repository}/",
        pages,
    ]
    if found.unread:
        first = found.unread[0]
        more = f" and {len(found.unread) - 1} more" if len(found.unread) > 1 else ""
        parts.append(f"not read: {first.path}{more} ({first.reason})")
    ui.say("; ".join(parts), tone="dim", stderr=False)


def remark(item: Suggestion) -> str:
    """Return size, state, warnings, and the terms that a function shares with the paper, with their pages."""
    from lmr_author.authoring.suggesting.criteria import pages

    entry = item.entry
    size = f"{entry.statements} stmt" + (f", {entry.branches} br" if entry.branches else "")
    state = f"masked as implementation {item.masked}" if item.masked is not None else ""
    terms = ", ".join(
        f"{', '.join(match.term for match in matches)} ({pages(numbers)})"
        for numbers, matches in groupby(item.description.matches, key=lambda match: match.pages)
    )
    return " · ".join(filter(None, (size, state, *item.warnings, terms)))
