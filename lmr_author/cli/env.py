"""``lmr-author env``: detect, lock, dockerfile, local and prune. ``env build`` has a file of its own."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lmr_author.cli import ui
from lmr_author.cli.options import (
    Format,
    FormatOption,
    ImageOption,
    NoInputOption,
    RepoOption,
    TaskOption,
    VersionOption,
    current_task,
    place,
)
from lmr_author.errors import EXIT_CLEAN, EXIT_FINDINGS, UsageError
from lmr_author.texts import size_text

if TYPE_CHECKING:
    from lmr_author.environment import BaseImage, Recipe
    from lmr_author.environment.place import Detected, Written
    from lmr_author.environment.prune import PrunePlan

SHOWN = 12
"""Lines of a long list that are shown; JSON has all of them."""


def env_detect(
    repo: RepoOption = None,
    base_image: ImageOption = None,
    python: VersionOption = None,
    task: TaskOption = None,
    output: FormatOption = Format.text,
) -> int:
    """List what the repository needs, each fact with its origin. Nothing is run or written."""
    from lmr_author.environment.place import detect
    from lmr_author.environment.recipe import to_json

    where = place(task, repo)
    with ui.progress("reading the repository"):
        found = detect(where, base_image=base_image, python=python)
    if output is Format.json:
        ui.print_json(to_json(found.recipe, found.base.to_json(), found.problems))
    else:
        _show_detected(found)
    return EXIT_CLEAN


def _show_detected(found: Detected) -> None:
    """Print the facts on stdout, each with its origin."""
    recipe, base = found.recipe, found.base
    when = f", as of {recipe.date.date()}" if recipe.date else ", of an unknown date"
    _show_row("repository", [f"{found.place.name}{f' ({recipe.project})' if recipe.project else ''}{when}"])
    _show_row("read", [", ".join(recipe.sources) or "nothing is declared; the imports were read"])
    _show_row("base image", [base.reference, base.reason])
    _show_row("python", _python(recipe, base))
    _show_row("torch", map(str, recipe.torch))
    _show_row("requires", map(str, recipe.requirements))
    _show_row("if needed", map(str, recipe.constraints), SHOWN)
    _show_row("system", map(str, recipe.system))
    _show_row("compiler", filter(None, [recipe.devel]))
    _show_row("nltk data", filter(None, [", ".join(recipe.nltk)]))
    _show_row("note", found.problems)


def _python(recipe: Recipe, base: BaseImage) -> list[str]:
    sure = "" if base.python_certain else ", probably: a build shows it"
    lines = [f"{base.python} (the image's{sure})"]
    if recipe.python:
        lines.append(f"the repository asks for {recipe.python} ({recipe.python_origin})")
    return lines


def _show_row(name: str, lines: Iterable[str], limit: int | None = None) -> None:
    """Print a name with lines beside it; nothing when there are none."""
    listed = list(lines)
    shown = listed[:limit]
    if len(listed) > len(shown):
        shown.append(f"and {len(listed) - len(shown)} more (--format json)")
    for number, line in enumerate(shown):
        ui.say(f"{name if number == 0 else '':<12}{line}", hang=14, stderr=False)


def env_lock(
    date: Annotated[
        str | None, typer.Option(metavar="DATE", help="Versions as of this day, not of the commit's.")
    ] = None,
    repo: RepoOption = None,
    base_image: ImageOption = None,
    python: VersionOption = None,
    relax: Annotated[
        bool,
        typer.Option("--relax", help="If no versions fit together, loosen what conflicts."),
    ] = False,
    timeout: Annotated[float, typer.Option(min=1, help="Time limit, in seconds.")] = 300.0,
    extra: Annotated[
        list[str] | None,
        typer.Option(
            "--with",
            metavar="REQUIREMENT",
            help="Also pin this, or in place of the repository's; repeatable.",
        ),
    ] = None,
    without: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Leave this package out, whoever needs it; repeatable."),
    ] = None,
    only_goal: Annotated[
        bool,
        typer.Option("--only-goal", help="Pin only what the goal files import, for huge requirement lists."),
    ] = False,
    from_python: Annotated[
        Path | None,
        typer.Option(
            "--from-python",
            metavar="PYTHON",
            help="Take the versions of an environment in which the code runs, by its interpreter.",
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite a lock that was edited; a copy of it is kept.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the lock, write nothing.")] = False,
    no_input: NoInputOption = False,
    task: TaskOption = None,
) -> int:
    """Pin what the repository needs as of its commit's date, for the image's Python."""
    from lmr_author.environment.lock import lock
    from lmr_author.environment.lock_file import LockOptions

    where = place(task, repo)
    options = LockOptions(
        date, python, base_image, relax, force, dry_run, timeout,
        tuple(extra or ()), tuple(without or ()), only_goal, from_python,
    )  # fmt: skip
    with ui.progress("reading the repository") as progress:

        def agree(question: str) -> bool:
            with progress.paused():
                return ui.confirm(question, default=False)

        made = lock(where, options, progress, agree if ui.can_ask(no_input) else None)
    _show_file(made)
    if made.lock is None:
        return EXIT_CLEAN
    for change in made.lock.changes:
        ui.say(change, "changed:", "yellow")
    problems = made.detected.problems
    more = [f"and {len(problems) - SHOWN} more (lmr-author env detect)"] if len(problems) > SHOWN else []
    for remark in (*problems[:SHOWN], *more, *made.lock.left_out, *made.lock.old):
        ui.note(remark)
    for line in made.lock.remarks:
        ui.say(line)
    if made.lock.compiled:
        ui.say(f"compiled when installed: {', '.join(made.lock.compiled)}")
    if made.path is not None:
        ui.then("env", "build", *(["--task", task] if task else []))
    return EXIT_CLEAN


def env_dockerfile(
    repo: RepoOption = None,
    base_image: ImageOption = None,
    python: VersionOption = None,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite a Dockerfile that was edited; a copy of it is kept.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the Dockerfile, write nothing.")] = False,
    task: TaskOption = None,
) -> int:
    """Write the Dockerfile and .dockerignore for what the repository needs."""
    from lmr_author.environment.dockerfile import write_dockerfile

    where = place(task, repo)
    with ui.progress("reading the repository"):
        made = write_dockerfile(where, base_image=base_image, python=python, force=force, dry_run=dry_run)
    _show_file(made)
    base = made.detected.base
    ui.say(f"base image {base.reference}: {base.reason}")
    known = made.detected.recipe.problems
    for problem in (item for item in made.detected.problems if item not in known):
        ui.note(problem)
    return EXIT_CLEAN


def _show_file(made: Written) -> None:
    """Print what was written, or on stdout the file that was not."""
    if made.path is None:
        sys.stdout.write(made.text)
        return
    ui.say(f"{'wrote' if made.changed else 'unchanged:'} {made.path}")
    if made.kept:
        ui.say(f"a copy of the earlier {made.kept} is in authoring/removed/", indent=2)


def env_local(
    python: Annotated[
        str | None, typer.Option(metavar="X.Y|PATH", help="This Python, not the lock's.")
    ] = None,
    extra: Annotated[
        list[str] | None,
        typer.Option(
            "--with", metavar="REQUIREMENT", help="Also install this, as in torch==2.6.0; repeatable."
        ),
    ] = None,
    cuda: Annotated[
        bool,
        typer.Option("--cuda", help="Take PyTorch's CUDA build (gigabytes) although there is no GPU here."),
    ] = False,
    task: TaskOption = None,
) -> int:
    """Make a virtual environment from the task's lock, for the local sandbox; print its interpreter."""
    from lmr_author.environment.local import LocalOptions, make_local

    folder = current_task(task)
    with ui.progress("searching for a Python") as progress:
        result = make_local(folder, LocalOptions(python, tuple(extra or ()), cuda), progress)
    for remark in result.remarks:
        ui.note(remark)
    how = "made" if result.local.made else "found"
    ui.say(f"{how} {result.local.path.name}: Python {result.local.python}")
    ui.say("`record` and `evaluate --sandbox local` use it for this task")
    print(result.local.interpreter)
    return EXIT_CLEAN


def env_prune(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list what would be removed.")] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="Also images and environments that were used lately.")
    ] = False,
    older_than: Annotated[
        float, typer.Option(min=0, metavar="DAYS", help="Remove what was not used for this time.")
    ] = 30.0,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    no_input: NoInputOption = False,
) -> int:
    """Remove images, containers and local environments of ours that are unused."""
    from lmr_author.environment.prune import PruneOptions, plan, prune

    planned = plan(PruneOptions(older_than, everything))
    _show_plan(planned)
    if planned.empty or dry_run:
        return EXIT_CLEAN
    if not yes and not ui.can_ask(no_input):
        raise UsageError("env prune removes what it lists above", "add --yes, or --dry-run to only see it")
    if not yes and not ui.confirm("Remove all of it?", default=False):
        return EXIT_CLEAN
    with ui.progress("removing") as progress:
        done = prune(planned, progress)
    ui.say(f"freed {size_text(done.bytes)}")
    for failure in done.failed:
        ui.say(f"not removed: {failure}")
    return EXIT_FINDINGS if done.failed else EXIT_CLEAN


def _show_plan(plan: PrunePlan) -> None:
    from lmr_author.sandbox.docker_engine import ago

    if plan.engine is None:
        ui.note(f"{plan.no_engine}, so only local environments are listed")
    for item in plan.engine.remove if plan.engine else ():
        room = f", {size_text(item.bytes)}" if item.bytes else ""
        ui.say(f"{item.kind:<11} {item.name} ({item.why}{room})", indent=2, hang=14)
    for one in plan.locals:
        used = f"used {ago(one.days)}, {size_text(one.bytes)}"
        ui.say(f"environment {one.path.name} ({used})", indent=2, hang=14)
    kept = plan.engine.keep if plan.engine else ()
    if kept:
        ui.say(f"kept: {'; '.join(f'{item.name} ({item.why})' for item in kept)}")
    ui.say("nothing to remove" if plan.empty else f"to be freed: at least {size_text(plan.bytes)}")
