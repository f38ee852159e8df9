"""``lmr-author env lock``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lmr_author.cli.common import (
    ImageOption,
    NoInputOption,
    RepoOption,
    TaskOption,
    VersionOption,
    can_ask,
    place,
)


def env_lock(
    date: Annotated[
        str | None,
        typer.Option("--date", metavar="DATE", help="Versions as of this day, rather than the commit's."),
    ] = None,
    repo: RepoOption = None,
    base_image: ImageOption = None,
    python: VersionOption = None,
    hashes: Annotated[
        bool, typer.Option("--hashes", help="Write the hashes of every version's files.")
    ] = False,
    relax: Annotated[
        bool,
        typer.Option("--relax", help="Where no versions fit together, loosen what conflicts."),
    ] = False,
    offline: Annotated[bool, typer.Option("--offline", help="Use only what was asked before.")] = False,
    timeout: Annotated[float, typer.Option("--timeout", min=1, help="Seconds that it may take.")] = 300.0,
    without: Annotated[
        list[str] | None,
        typer.Option(
            "--without", metavar="NAME", help="Leave this package out, whoever needs it; repeatable."
        ),
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
    from lmr_author.cli import ask, render_env
    from lmr_author.cli.render import progress
    from lmr_author.environment.lock import lock
    from lmr_author.environment.lock_file import LockOptions

    where = place(task, repo)
    options = LockOptions(
        date,
        python,
        base_image,
        hashes,
        relax,
        offline,
        force,
        dry_run,
        timeout,
        tuple(without or ()),
        only_goal,
        from_python,
    )
    with progress("reading the repository") as say:

        def agree(question: str) -> bool:
            say.pause()
            return ask.confirm(question, default=False)

        made = lock(where, options, say, agree if can_ask(no_input) else None)
    render_env.locked(made, relaxed=relax)
    return 0
