"""``lmr-author env dockerfile``."""

from __future__ import annotations

from typing import Annotated

import typer

from lmr_author.cli.common import ImageOption, RepoOption, TaskOption, VersionOption, place


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
    from lmr_author.cli import render_env
    from lmr_author.cli.render import progress
    from lmr_author.environment.dockerfile import write_dockerfile

    where = place(task, repo)
    with progress("reading the repository"):
        made = write_dockerfile(where, base_image=base_image, python=python, force=force, dry_run=dry_run)
    render_env.dockerfile(made)
    return 0
