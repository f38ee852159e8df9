"""``lmr-author suggest``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lmr_author.cli.common import Format, FormatOption, TaskOption, print_json, task_or_repo


def suggest(
    top: Annotated[int, typer.Option("--top", "-n", min=1, help="How many functions.")] = 15,
    globs: Annotated[
        list[str] | None,
        typer.Option("--file", metavar="GLOB", help="Only functions of these files; repeatable."),
    ] = None,
    repo: Annotated[
        Path | None, typer.Option("--repo", help="A repository that is no task yet, in place of a task.")
    ] = None,
    paper: Annotated[
        Path | None, typer.Option("--paper", help="With --repo: the paper, a PDF or a paper.json.")
    ] = None,
    task: TaskOption = None,
    output: FormatOption = Format.text,
) -> int:
    """Rank the repository's functions by how well the paper describes them and how good a task each makes."""
    from lmr_author import suggesting
    from lmr_author.cli import render, render_suggest
    from lmr_author.errors import UsageError

    if repo is not None and task is not None:
        raise UsageError(
            "--repo and --task exclude each other", "name the task alone, or the repository alone"
        )
    if paper is not None and repo is None:
        raise UsageError("--paper goes with --repo", "a task has its own paper.json")
    with render.progress("reading the repository"):
        if repo is not None:
            found = suggesting.suggest_repository(repo, paper, top, globs or ())
        else:
            found = suggesting.suggest(task_or_repo(task), top, globs or ())
    if output is Format.json:
        print_json(found.to_json())
    else:
        render_suggest.table(found, of_task=repo is None)
    return 0
