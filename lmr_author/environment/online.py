"""Ask the package index about requirements one by one: what it does not have, and what was withdrawn."""

from __future__ import annotations

import re
import time
from dataclasses import replace

from packaging.utils import canonicalize_name

from lmr_author.environment import resolver
from lmr_author.environment.base_images import BaseImage
from lmr_author.environment.recipe import Declared, Fact, Recipe
from lmr_author.environment.resolver import Attempt, compile_once
from lmr_author.errors import LmrError
from lmr_author.model import Progress
from lmr_author.texts import printable

_REASONS = (
    (r"Because ([\w.-]+) was not found in the package registry", "is not on the package index"),
    (r"there is no version of ([\w.-]+?)[=<>!~]", "has no such version on the package index"),
    (r"Because ([\w.-]+?)==\S+ has no wheels? with a matching", "has no wheel for this Python"),
    (r"only ([\w.-]+?)[=<>!~]\S* is available", "has no such version on the package index"),
    (r"Wheels are required for `([\w.-]+)`", ""),
)
"""uv's words → what is said; "" for nothing wrong: there is a source."""

MANY = 200
"""How many requirements are put aside at most."""


def dead(
    recipe: Recipe, base: BaseImage, *, seconds: float, progress: Progress | None = None
) -> tuple[Fact, ...]:
    """Requirements that cannot be had, or whose version was withdrawn, each with its origin.

    Dates are not looked at. Raises LmrError when the index does not answer, or not within ``seconds``.
    """
    attempt = Attempt(recipe.requirements, resolve=False)
    timeless = replace(recipe, date=None)
    found: list[Fact] = []
    deadline = time.monotonic() + seconds
    for _ in range(MANY):
        left = deadline - time.monotonic()
        done = compile_once(attempt, timeless, base, left) if left > 1 and attempt.declared else None
        if not attempt.declared:
            break
        if done is None or done.timed_out:
            raise LmrError(
                f"the package index took longer than {seconds:.0f} s", "run it again: answers are kept"
            )
        if done.exit_code == 0:
            return (*found, *_withdrawn(done.stderr, recipe))
        name, reason = _reason(done.stderr)
        item = next((item for item in attempt.declared if item.name == name), None)
        if item is None:
            raise LmrError(
                f"the package index cannot be asked: {resolver.cause(done.stderr)}", "check the network"
            )
        if reason:
            found.append(Fact(f"{item.text} {reason}", item.origin))
        if progress is not None:
            progress(f"asked about {item.name}")
        attempt = replace(attempt, declared=tuple(one for one in attempt.declared if one.name != name))
    return tuple(found)


def _reason(stderr: str) -> tuple[str, str]:
    text = " ".join(resolver.said(stderr).split())
    failure = resolver.index_failure(text)
    if failure:
        raise LmrError(failure, "check the network, or leave out --online")
    for pattern, reason in _REASONS:
        match = re.search(pattern, text)
        if match:
            return canonicalize_name(match[1]), reason
    match = re.search(r"Failed to (?:build|download and build|prepare)[^`]*`([\w.-]+?)(?:==|@|`)", text)
    if match:
        return canonicalize_name(match[1]), "cannot be built"
    return "", printable(text)


def _withdrawn(stderr: str, recipe: Recipe) -> list[Fact]:
    by_name: dict[str, Declared] = {item.name: item for item in recipe.requirements}
    found = []
    for text in resolver.yanked(stderr):
        item = by_name.get(canonicalize_name(text.partition("==")[0]))
        found.append(Fact(text, item.origin if item else ""))
    return found
