"""``lmr-author suggest``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from lmr_author.cli import ui
from lmr_author.cli.options import Format, FormatOption, RepoOption, TaskOption, task_or_repo, task_words
from lmr_author.core.errors import UsageError
from lmr_author.core.texts import counted, shortened

if TYPE_CHECKING:
    from lmr_author.authoring.extracting.blocks import Block
    from lmr_author.authoring.suggesting import Suggestion, Suggestions


def suggest(
    top: Annotated[int, Option("--top", "-n", min=1, help="Number of functions.")] = 15,
    globs: Annotated[list[str] | None, Option("--file", help="Only functions of files that match.")] = None,
    repo: RepoOption = None,
    paper: Annotated[Path | None, Option(help="With --repo: the paper, a PDF or a paper.json.")] = None,
    task: TaskOption = None,
    output: FormatOption = Format.text,
) -> int:
    """Rank the repository's functions by how well the paper describes them and how good a task each makes.

    Blocks of scripts and long functions follow, with the command that makes a function of each.
    """
    from lmr_author.authoring.extracting.blocks import BLOCKS, WORTH, blocks_of_repository, blocks_of_task
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
            blocks = blocks_of_repository(repo, paper, BLOCKS, globs or ())
        else:
            found = suggest_in_task(task_or_repo(task), top, globs or ())
            blocks = blocks_of_task(task_or_repo(task), BLOCKS, globs or ())
    if output is Format.json:
        ui.print_json({**found.to_json(), "blocks": [one.to_json() for one in blocks]})
        return 0
    _print_table(found)
    best = max(item.score for item in found.suggestions)
    blocks = [block for block in blocks if block.score >= WORTH * best]
    _print_blocks(blocks, task, repo)
    free = next((item for item in found.suggestions if item.masked is None), None)
    if repo is not None:
        ui.then(
            "new-task", *([paper] if paper and paper.suffix == ".pdf" else []), "--repo", repo, stderr=False
        )
    elif blocks and (free is None or blocks[0].score > free.score):
        ui.then(*_command(blocks[0], task), stderr=False)
    elif free is not None:
        ui.then("mask", free.target, *task_words(task), stderr=False)
    return 0


def _command(block: Block, task: Path | None) -> list[str]:
    return ["extract", block.place, "--name", block.name, *task_words(task)]


def _print_blocks(blocks: Sequence[Block], task: Path | None, repo: Path | None) -> None:
    """Print the blocks that may become functions: section, reason and terms, and the command for each."""
    if blocks:
        ui.say("", stderr=False)
        ui.say(
            "score  block of a script or long function that the paper describes", tone="bold", stderr=False
        )
    for block in blocks:
        size = counted(block.statements, "statement")
        parts = (block.section or "no section stands out", size, *block.warnings, ", ".join(block.terms))
        ui.say(block.place, f"    {block.score:>4.0f} ", "cyan", tone="bold", stderr=False, whole=True)
        text = " · ".join(filter(None, parts))
        screen = ui.console(stderr=False)
        ui.say(
            shortened(text, screen.width - 10) if screen.is_terminal else text,
            indent=10,
            stderr=False,
            whole=True,
        )
        if repo is None:
            ui.then(*_command(block, task), head="becomes a function by", indent=10, stderr=False)


def _print_table(found: Suggestions) -> None:
    """Print two lines for each function: its target, to be copied; then reason, size, terms of the paper."""
    screen = ui.console(stderr=False)
    ui.say("rank score  function, and what lowers its score most", tone="bold", stderr=False)
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
    """Return reason, size, state, warnings, and the terms that a function shares with the paper, with their pages."""
    from lmr_author.authoring.suggesting.criteria import pages

    entry = item.entry
    size = f"{entry.statements} stmt" + (f", {entry.branches} br" if entry.branches else "")
    state = f"masked as implementation {item.masked}" if item.masked is not None else ""
    terms = ", ".join(
        f"{', '.join(match.term for match in matches)} ({pages(numbers)})"
        for numbers, matches in groupby(item.description.matches, key=lambda match: match.pages)
    )
    warnings = [warning for warning in item.warnings if warning != item.reason]
    return " · ".join(filter(None, (state, item.reason, *warnings, size, terms)))
