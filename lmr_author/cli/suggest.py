"""``lmr-author suggest``."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lmr_author.cli import ui
from lmr_author.cli.options import Format, FormatOption, TaskOption, task_or_repo
from lmr_author.errors import UsageError
from lmr_author.texts import counted

if TYPE_CHECKING:
    from rich.text import Text

    from lmr_author.suggesting import Suggestion, Suggestions


def suggest(
    top: Annotated[int, typer.Option("--top", "-n", min=1, help="Number of functions.")] = 15,
    globs: Annotated[
        list[str] | None,
        typer.Option("--file", metavar="GLOB", help="Only functions of these files; repeatable."),
    ] = None,
    repo: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="A repository without a task, in place of a task.")
    ] = None,
    paper: Annotated[Path | None, typer.Option(help="With --repo: the paper, a PDF or a paper.json.")] = None,
    task: TaskOption = None,
    output: FormatOption = Format.text,
) -> int:
    """Rank the repository's functions by how well the paper describes them and how good a task each makes."""
    from lmr_author.suggesting import suggest as suggest_in_task
    from lmr_author.suggesting import suggest_repository

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
        ui.then("mask", free.target, *(["--task", task] if task else []), stderr=False)
    return 0


def _print_table(found: Suggestions) -> None:
    """Print two lines for each function: its target, to be copied; then size, warnings, terms of the paper."""
    from rich.text import Text

    screen = ui.console(stderr=False)
    for item in found.suggestions:
        style = "dim" if item.masked is not None else "bold"
        head = Text.assemble(
            (f"{item.rank:>3} ", "dim"), (f"{item.score:>4.0f}  ", "cyan"), (item.target, style)
        )
        screen.print(head, soft_wrap=True)
        reason = Text.assemble("          ", _reason(item))
        if screen.is_terminal:
            reason.truncate(screen.width, overflow="ellipsis")
        screen.print(reason, soft_wrap=True)
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


def _reason(item: Suggestion) -> Text:
    from rich.text import Text

    line = Text(size(item), "dim")
    if item.masked is not None:
        line.append(" · ").append(f"masked as implementation {item.masked}", "green")
    for warning in item.warnings:
        line.append(" · ").append(warning, "yellow")
    terms = shared_terms(item)
    return line.append(" · ").append(terms) if terms else line


def size(item: Suggestion) -> str:
    """Return statements and branches: ``11 stmt, 2 br``."""
    entry = item.entry
    return f"{entry.statements} stmt" + (f", {entry.branches} br" if entry.branches else "")


def shared_terms(item: Suggestion) -> str:
    """Return the terms that a function shares with the paper, with their pages."""
    from lmr_author.suggesting.criteria import pages

    return ", ".join(
        f"{', '.join(match.term for match in matches)} ({pages(numbers)})"
        for numbers, matches in groupby(item.description.matches, key=lambda match: match.pages)
    )
