"""Ask the package index about requirements one by one: which it does not have, and which were withdrawn."""

from __future__ import annotations

import re
import time

from packaging.utils import canonicalize_name

from lmr_author.environment import resolver
from lmr_author.environment.base_images import BaseImage
from lmr_author.environment.recipe import Fact, Recipe
from lmr_author.environment.resolver import Question
from lmr_author.errors import LmrError
from lmr_author.task import Progress

_REASONS = (
    (r"Because ([\w.-]+) was not found in the package registry", "is not on the package index"),
    (r"there is no version of ([\w.-]+?)[=<>!~]", "has no such version on the package index"),
    (r"Because ([\w.-]+?)==\S+ has no (?:usable )?wheels?", "has no wheel for this Python"),
    (r"only ([\w.-]+?)[=<>!~]\S* is available", "has no such version on the package index"),
    (r"Wheels are required for `([\w.-]+)`", ""),
    (r"Failed to (?:build|download and build|prepare)[^`]*`([\w.-]+?)(?:==|@|`)", ""),
)
"""uv's words → the report; "" where there is a source, so that nothing is wrong."""


def dead(
    recipe: Recipe, base: BaseImage, *, seconds: float, progress: Progress | None = None
) -> tuple[Fact, ...]:
    """Return requirements that cannot be had, or whose version was withdrawn, each with its origin.

    Dates do not matter. Raises LmrError when the index does not answer, or not within ``seconds``.
    """
    left = {item.name: item for item in recipe.requirements}
    found: list[Fact] = []
    deadline = time.monotonic() + seconds
    while left:
        question = Question(tuple(item.text for item in left.values()), base, resolve=False)
        done = resolver.ask(question, max(deadline - time.monotonic(), 1))
        if done.timed_out:
            raise LmrError(
                f"the package index took longer than {seconds:.0f} s", "run it again: answers are kept"
            )
        if done.exit_code == 0:
            for text in resolver.yanked(done.stderr):
                item = left.get(canonicalize_name(text.partition("==")[0]))
                found.append(Fact(text, item.origin if item else ""))
            break
        text = resolver.message(done.stderr)
        if failure := resolver.index_failure(text):
            raise LmrError(failure, "check the network, or leave out --online")
        hits = ((re.search(pattern, text), reason) for pattern, reason in _REASONS)
        name, reason = next(((canonicalize_name(hit[1]), reason) for hit, reason in hits if hit), ("", ""))
        if name not in left:
            raise LmrError(
                f"the package index cannot be asked: {resolver.cause(done.stderr)}", "check the network"
            )
        item = left.pop(name)
        if reason:
            found.append(Fact(f"{item.text} {reason}", item.origin))
        if progress is not None:
            progress(f"asked about {item.name}")
    return tuple(found)
