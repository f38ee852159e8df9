"""``lmr-author new-task``."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lmr_author.cli.common import NoInputOption, can_ask

if TYPE_CHECKING:
    from lmr_author.new_task.new_task import NewTaskResult


def new_task(
    paper: Annotated[
        str | None, typer.Argument(metavar="PAPER", help="A PDF file, the URL of one, or an arXiv id.")
    ] = None,
    repo: Annotated[
        str | None,
        typer.Option("--repo", metavar="URL", help="The paper's repository: its address, or a local clone."),
    ] = None,
    commit: Annotated[
        str | None,
        typer.Option("--commit", metavar="SHA", help="Commit, tag or branch; by default the newest."),
    ] = None,
    number: Annotated[
        int | None, typer.Option("--id", metavar="N", help="The task's number; by default the next free one.")
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", help="The task's short name; by default the title's acronym.")
    ] = None,
    title: Annotated[
        str | None, typer.Option("--title", help="The paper's title; by default read from it.")
    ] = None,
    year: Annotated[
        int | None, typer.Option("--year", help="The paper's year; by default read from it.")
    ] = None,
    paper_url: Annotated[str | None, typer.Option("--paper-url", help="The paper's web address.")] = None,
    repo_url: Annotated[
        str | None, typer.Option("--repo-url", help="The public address, when --repo is a local clone.")
    ] = None,
    base_image: Annotated[
        str | None,
        typer.Option(
            "--base-image", metavar="IMAGE", help="Base image; by default the PyTorch image that fits."
        ),
    ] = None,
    python_version: Annotated[
        str | None,
        typer.Option(
            "--python-version", metavar="X.Y", help="Python inside the base image, where you know it."
        ),
    ] = None,
    repo_folder: Annotated[
        str | None, typer.Option("--repo-folder", metavar="NAME", help="The repository's folder in the task.")
    ] = None,
    tasks_dir: Annotated[Path, typer.Option("--tasks-dir", help="The folder that holds the tasks.")] = Path(
        "tasks"
    ),
    skip_submodules: Annotated[
        bool, typer.Option("--skip-submodules", help="Leave the repository's submodules out.")
    ] = False,
    skip_lfs: Annotated[
        bool, typer.Option("--skip-lfs", help="Leave Git LFS pointers in place of their files.")
    ] = False,
    offline: Annotated[
        bool, typer.Option("--offline", help="Pin requirements without asking the package index.")
    ] = False,
    vetting: Annotated[
        Path | None,
        typer.Option("--vetting", metavar="FILE", help="What `lmr-author vet` wrote; kept with the task."),
    ] = None,
    no_input: NoInputOption = False,
) -> int:
    """Make a task folder from a paper and its repository, pinned at a commit."""
    from lmr_author.cli import new_task_wizard as wizard
    from lmr_author.cli import render
    from lmr_author.errors import UsageError
    from lmr_author.new_task import new_task as workflow

    asking = can_ask(no_input)
    if not asking and (not paper or not repo):
        missing = "no PAPER" if not paper else "no --repo URL"
        raise UsageError(f"{missing} given", "lmr-author new-task PAPER --repo URL")
    if asking and not paper:
        paper, repo = wizard.paper(tasks_dir, repo)
    options = workflow.NewTaskOptions(
        paper=paper or "",
        repo=repo or "",
        commit=commit,
        id=number,
        name=name,
        title=title,
        year=year,
        paper_url=paper_url,
        repo_url=repo_url,
        base_image=base_image,
        python_version=python_version,
        repo_folder=repo_folder,
        tasks_dir=tasks_dir,
        skip_submodules=skip_submodules,
        skip_lfs=skip_lfs,
        offline=offline,
        vetting=vetting,
    )
    with render.progress("starting") as progress:
        person = wizard.AtTerminal(progress) if asking else None
        result = workflow.new_task(options, progress, person)
    show(result)
    return 0


def show(result: NewTaskResult) -> None:
    """Say what was made, what the annotator should look at, and what comes next."""
    from rich.text import Text

    from lmr_author.cli import render

    screen, info = render.console(), result.info
    screen.print(f"[green]made[/] {result.task.root}/", soft_wrap=True)
    screen.print(f"  paper        {info.paper_name} ({info.year})", markup=False)
    screen.print(f"  repository   {info.repo_url} at {info.repo_commit[:12]}", markup=False)
    screen.print(f"  base image   {result.base.reference}", markup=False)
    screen.print(f"               because {result.base.reason}", markup=False)
    for note in result.notes:
        screen.print(Text.assemble(("note: ", "yellow"), note))
    place = shlex.quote(str(result.task.root))
    screen.print(f"next: cd {place} && lmr-author next", markup=False, soft_wrap=True)
