"""``lmr-author env detect``."""

from __future__ import annotations

from lmr_author.cli.common import (
    Format,
    FormatOption,
    ImageOption,
    RepoOption,
    TaskOption,
    VersionOption,
    place,
    print_json,
)


def env_detect(
    repo: RepoOption = None,
    base_image: ImageOption = None,
    python: VersionOption = None,
    task: TaskOption = None,
    output: FormatOption = Format.text,
) -> int:
    """Say what the repository needs, each fact with the place it was read from. Nothing is run or written."""
    from lmr_author.cli import render_env
    from lmr_author.cli.render import progress
    from lmr_author.environment.place import detect
    from lmr_author.environment.recipe import to_json

    where = place(task, repo)
    with progress("reading the repository"):
        found = detect(where, base_image=base_image, python=python)
    if output is Format.json:
        print_json(to_json(found.recipe, found.base.to_json(), found.problems))
    else:
        render_env.detected(found)
    return 0
