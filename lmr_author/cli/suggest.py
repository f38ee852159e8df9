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
from lmr_author.core.texts import counted, listed

if TYPE_CHECKING:
    from lmr_author.authoring.suggesting import Suggestion, Suggestions


DEFAULT_TOP = 15
AROUND = 7
"""Lines above and below the table on a screen."""


def suggest(
    top: Annotated[
        int | None,
        Option(
            "--top",
            "-n",
            min=1,
            help="Number of functions; by default those that fit the screen, at most 15.",
        ),
    ] = None,
    globs: Annotated[
        list[str] | None, Option("--file", help="Only functions of files that match, or in this folder.")
    ] = None,
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
            ranking = suggest_repository(repo, paper, top or DEFAULT_TOP, globs or ())
        else:
            ranking = suggest_in_task(task_or_repo(task), top or DEFAULT_TOP, globs or ())
    if output is Format.json:
        ui.print_json(ranking.to_json())
        return 0
    _print_table(ranking, is_fitted=top is None)
    for note in ranking.notes if repo is not None else ():  # `new-task` has told them of a task's repository
        ui.note(note)
    _then(ranking, task, repo, paper)
    return 0


def _then(ranking: Suggestions, task: Path | None, repo: Path | None, paper: Path | None) -> None:
    if repo is not None:
        pdf = paper if paper and paper.suffix == ".pdf" else "PAPER"
        ui.then("new-task", pdf, "--repo", repo, stderr=False)
        return
    unmasked = next((suggestion for suggestion in ranking.suggestions if suggestion.masked is None), None)
    if unmasked is not None:
        ui.then("mask", unmasked.target, *task_words(task), stderr=False)


def _print_table(ranking: Suggestions, *, is_fitted: bool) -> None:
    screen = ui.console(stderr=False)
    width, room = (screen.width - 10, screen.height - AROUND) if screen.is_terminal else (10**6, 10**6)
    ui.say("rank score  function, and what lowers its score most", tone="bold", stderr=False)
    for shown, suggestion in enumerate(ranking.suggestions):
        first, *rest = ui.folded(suggestion.target, width)
        room -= len(rest) + 2
        if is_fitted and shown and room < 0:
            ui.say(f"{len(ranking.suggestions) - shown} more: --top {len(ranking.suggestions)}", stderr=False)
            break
        head = f"{suggestion.rank:>3} {suggestion.score:>4.0f} "
        tone = "dim" if suggestion.masked is not None else "bold"
        ui.say(first, head, "cyan", tone=tone, stderr=False, whole=True)
        for part in rest:
            ui.say(part, indent=10, tone=tone, stderr=False, whole=True)
        styles = {re.escape(warning): "yellow" for warning in suggestion.warnings}
        styles[r"masked as \S+ \d+"] = "green"
        ui.say(ui.fitted(remark(suggestion), 10), indent=10, stderr=False, whole=True, styles=styles)
    functions, files = counted(ranking.functions, "function"), counted(ranking.files, "file")
    pages = f"{counted(ranking.pages, 'page')} of the paper" if ranking.pages else "no text of the paper"
    parts = [f"{functions} in {files} of {ranking.repository}/", pages]
    if ranking.unread:
        unread = ranking.unread[0]
        more = f" and {len(ranking.unread) - 1} more" if len(ranking.unread) > 1 else ""
        parts.append(f"not read: {unread.path}{more} ({unread.reason})")
    ui.say("; ".join(parts), tone="dim", stderr=False)


def remark(suggestion: Suggestion) -> str:
    """Return reason, size, state, warnings, and the terms that a function shares with the paper, with their pages."""
    from lmr_author.authoring.suggesting.criteria import pages

    entry = suggestion.entry
    parts = []
    if suggestion.masked is not None:
        parts.append(f"masked as implementation {suggestion.masked}")
    if suggestion.copies:
        parts.append(f"also in {listed([copy.partition('::')[0] for copy in suggestion.copies], 2)}")
    parts.append(suggestion.reason)
    parts += [warning for warning in suggestion.warnings if warning != suggestion.reason]
    parts.append(
        f"{entry.statements} stmt, {entry.branches} br" if entry.branches else f"{entry.statements} stmt"
    )
    terms = []
    for numbers, matches in groupby(suggestion.description.matches, key=lambda match: match.pages):
        terms.append(f"{', '.join(match.term for match in matches)} ({pages(numbers)})")
    parts.append(", ".join(terms))
    return " · ".join(filter(None, parts))
