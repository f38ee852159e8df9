"""``lmr-author new-task``."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lmr_author.cli import ui
from lmr_author.cli.options import NoInputOption, VersionOption
from lmr_author.errors import UsageError

if TYPE_CHECKING:
    from lmr_author.new_task.new_task import NewTaskResult


def new_task(
    paper: Annotated[
        str | None, typer.Argument(metavar="PAPER", help="A PDF file, the URL of one, or an arXiv id.")
    ] = None,
    repo: Annotated[
        str | None, typer.Option(metavar="URL", help="The paper's repository: its address, or a local clone.")
    ] = None,
    commit: Annotated[
        str | None, typer.Option(metavar="SHA", help="Commit, tag or branch; by default the newest.")
    ] = None,
    number: Annotated[
        int | None, typer.Option("--id", metavar="N", help="The task's number; by default the next free one.")
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="The task's short name; by default the title's acronym.")
    ] = None,
    title: Annotated[str | None, typer.Option(help="The paper's title; by default read from it.")] = None,
    year: Annotated[int | None, typer.Option(help="The paper's year; by default read from it.")] = None,
    paper_url: Annotated[str | None, typer.Option(help="The paper's web address.")] = None,
    repo_url: Annotated[
        str | None, typer.Option(help="The public address, when --repo is a local clone.")
    ] = None,
    base_image: Annotated[
        str | None, typer.Option(metavar="IMAGE", help="Base image; by default the PyTorch image that fits.")
    ] = None,
    python_version: VersionOption = None,
    repo_folder: Annotated[
        str | None, typer.Option(metavar="NAME", help="The repository's folder in the task.")
    ] = None,
    tasks_dir: Annotated[Path, typer.Option(help="The folder that holds the tasks.")] = Path("tasks"),
    skip_submodules: Annotated[
        bool, typer.Option("--skip-submodules", help="Leave out the repository's submodules.")
    ] = False,
    skip_lfs: Annotated[
        bool, typer.Option("--skip-lfs", help="Leave Git LFS pointers in place of their files.")
    ] = False,
    offline: Annotated[
        bool, typer.Option("--offline", help="Pin requirements without the package index.")
    ] = False,
    vetting: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The file of `lmr-author vet`; kept with the task.")
    ] = None,
    no_input: NoInputOption = False,
) -> int:
    """Make a task folder from a paper and its repository, pinned at a commit."""
    from lmr_author.cli import new_task_wizard as wizard
    from lmr_author.new_task.new_task import NewTaskOptions
    from lmr_author.new_task.new_task import new_task as make_task

    asking = ui.can_ask(no_input)
    if not asking and (not paper or not repo):
        missing = "no PAPER" if not paper else "no --repo URL"
        raise UsageError(f"{missing} given", "lmr-author new-task PAPER --repo URL")
    if asking and not paper:
        paper, repo = wizard.ask_paper(tasks_dir, repo)
    options = NewTaskOptions(
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
    with ui.progress("starting") as progress:
        result = make_task(options, progress, wizard.AtTerminal(progress) if asking else None)
    show(result)
    return 0


def show(result: NewTaskResult) -> None:
    """Print the new task, notes about it, and the next command."""
    info = result.info
    ui.say(f"{result.task.root}/", "made", "green")
    rows = {
        "paper": f"{info.paper_name} ({info.year})",
        "repository": f"{info.repo_url} at {info.repo_commit[:12]}",
        "base image": result.base.reference,
        "": f"because {result.base.reason}",
    }
    for name, value in rows.items():
        ui.say(f"{name:<12} {value}" if name else f"{'':<12} {value}", indent=2, hang=15)
    for remark in result.notes:
        ui.note(remark)
    ui.say(f"next: cd {shlex.quote(str(result.task.root))} && lmr-author next", whole=True)
