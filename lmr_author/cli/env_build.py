"""``lmr-author env build``."""

from __future__ import annotations

from typing import Annotated

import typer

from lmr_author.cli.common import (
    BaseImageOption,
    Format,
    FormatOption,
    TaskOption,
    current_task,
    print_json,
)


def env_build(
    base_image: BaseImageOption = None,
    fix: Annotated[
        bool, typer.Option("--fix", help="Put right what can safely be put right, and build again.")
    ] = False,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Make every layer anew.")] = False,
    files: Annotated[
        list[str] | None,
        typer.Option("--file", metavar="PATH", help="Import this instead of the goal files; repeatable."),
    ] = None,
    timeout: Annotated[float, typer.Option("--timeout", min=1, help="Seconds one import may take.")] = 120.0,
    no_disk_check: Annotated[
        bool, typer.Option("--no-disk-check", help="Start although the disk seems too small.")
    ] = False,
    task: TaskOption = None,
    output: FormatOption = Format.text,
) -> int:
    """Build the task's image, record what it holds, and import the goal file in it; explain what fails."""
    from lmr_author.cli import render_env_build as render
    from lmr_author.environment.build import BuildOptions, build
    from lmr_author.errors import EXIT_CLEAN, EXIT_FINDINGS

    options = BuildOptions(base_image, fix, no_cache, tuple(files or ()), timeout, not no_disk_check)
    folder = current_task(task)
    with render.build_screen() as screen:
        found = build(folder, options, screen.hooks())
    if output is Format.json:
        print_json(render.document(found))
    else:
        render.result(found, fixing=fix)
    return EXIT_CLEAN if found.passed else EXIT_FINDINGS
