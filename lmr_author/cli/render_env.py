"""Show the results of ``env detect``, ``env lock`` and ``env dockerfile``."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from lmr_author.cli.render import console
from lmr_author.cli.render_text import escape

if TYPE_CHECKING:
    from lmr_author.environment import BaseImage, Recipe
    from lmr_author.environment.place import Detected, Written

SHOWN = 12
"""So many lines of what can be long; JSON has all of them."""
_WIDTH = 12


def detected(found: Detected) -> None:
    """Everything that was detected, on stdout: a line for each fact, with its origin."""
    recipe, base = found.recipe, found.base
    when = f", as of {recipe.date.date()}" if recipe.date else ", of an unknown date"
    _row("repository", [f"{found.place.name}{f' ({recipe.project})' if recipe.project else ''}{when}"])
    _row("read", [", ".join(recipe.sources) or "nothing is declared; the imports were read"])
    _row("base image", [base.reference, base.reason])
    _row("python", _python(recipe, base))
    _row("torch", map(str, recipe.torch))
    _row("requires", map(str, recipe.requirements))
    _row("if needed", map(str, recipe.constraints), SHOWN)
    _row("mentioned", map(str, recipe.suggested), SHOWN)
    _row("system", map(str, recipe.system))
    compiler = [f"compiler: {recipe.devel}"] if recipe.devel else []
    _row("cuda", [*compiler, *map(str, recipe.cuda)], SHOWN)
    _row("downloads", map(str, sorted(recipe.downloads, key=lambda item: not item.at_import)), SHOWN)
    _row("note", found.problems)


def _python(recipe: Recipe, base: BaseImage) -> list[str]:
    sure = "" if base.python_certain else ", as far as known: a build tells"
    lines = [f"{base.python} (the image's{sure})"]
    if recipe.python:
        lines.append(f"the repository asks for {recipe.python} ({recipe.python_origin})")
    others = [item for item in recipe.pythons if item.origin != recipe.python_origin]
    return lines + [f"also mentioned: {item}" for item in others[:SHOWN]]


def _row(name: str, lines: Iterable[str], limit: int | None = None) -> None:
    """A name, and lines beside it; nothing when there are none."""
    listed = list(lines)
    screen = console(stderr=False)
    for number, line in enumerate(listed[:limit]):
        screen.print(f"{name if number == 0 else '':<{_WIDTH}}{line}", markup=False)
    if limit is not None and len(listed) > limit:
        screen.print(f"{'':<{_WIDTH}}and {len(listed) - limit} more (--format json)", markup=False)


def locked(made: Written, *, relaxed: bool) -> None:
    """Show a lock: the file on stdout when none is written, what was changed on stderr."""
    _file(made)
    screen = console()
    lock = made.lock
    if lock is None:
        return
    for change in lock.changes:
        screen.print(f"[yellow]changed:[/] {escape(change)}")
    problems = made.detected.problems
    more = [f"and {len(problems) - SHOWN} more (lmr-author env detect)"] if len(problems) > SHOWN else []
    for each in (*problems[:SHOWN], *more, *lock.left_out, *lock.yanked, *lock.old):
        screen.print(f"[yellow]note:[/] {escape(each)}")
    relaxing = "" if relaxed else "; --relax takes versions with a wheel, where there are any"
    compiled = [f"compiled when installed: {', '.join(lock.compiled)}{relaxing}"] if lock.compiled else []
    for line in (*lock.remarks, *compiled):
        screen.print(line, markup=False)
    if made.path is not None:
        screen.print("next: lmr-author env build", markup=False)


def dockerfile(made: Written) -> None:
    """Show a Dockerfile that was made."""
    _file(made)
    base = made.detected.base
    screen = console()
    screen.print(f"base image {base.reference}: {base.reason}", markup=False)
    known = made.detected.recipe.problems
    for each in (item for item in made.detected.problems if item not in known):
        screen.print(f"[yellow]note:[/] {escape(each)}")


def _file(made: Written) -> None:
    if made.path is None:
        sys.stdout.write(made.text)
        return
    screen = console()
    verb = "wrote" if made.changed else "unchanged:"
    screen.print(f"{verb} {made.path}", markup=False)
    if made.kept:
        screen.print(f"  a copy of the {made.kept} before it is in authoring/removed/", markup=False)
