"""The text of a lock: the requirements that uv printed, and the comments that say what it is."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import replace

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from lmr_author.environment import other_python, resolver
from lmr_author.environment.base_images import BaseImage
from lmr_author.environment.locked import Lock
from lmr_author.environment.recipe import Recipe
from lmr_author.environment.resolver import Attempt
from lmr_author.environment.stamp import stamped
from lmr_author.errors import LmrError
from lmr_author.texts import printable

LONGEST = 600
"""Characters of a comment in a lock."""
REPORT = "this uv prints what lmr-author does not know: report it, with `uv --version`"


def pinned(attempt: Attempt, output: str, recipe: Recipe, stderr: str) -> Lock:
    """The lock of a resolution that succeeded: what uv printed, with what was put aside on the way.

    Raises LmrError where uv printed something else than requirements.
    """
    found = dict(_requirements(output))
    needed_by = _needed_by(output)
    hashes = attempt.hashes and not attempt.as_is
    newer = ", ".join(
        item.partition("=")[0] for item in attempt.later if item.endswith(f"={attempt.wheels_from}")
    )
    remarks = list(attempt.remarks)
    if attempt.hashes and not hashes:
        remarks.append(f"without hashes: {attempt.as_is[0].name} has no wheel whose hash could be asked for")
    found |= {_checked(item.text): [] for item in attempt.as_is}
    # A package that was read to learn what it needs may have been left out since.
    names = {canonicalize_name(Requirement(text).name) for text in found}
    compiled = {canonicalize_name(name) for name in attempt.built} | {item.name for item in attempt.as_is}
    lines = [_line(text, digests if hashes else []) for text, digests in sorted(found.items())]
    how = f"pinned as of {recipe.date.date().isoformat()}" if recipe.date else "pinned"
    return Lock(
        "".join(f"{line}\n" for line in lines),
        all("==" in text and ".*" not in text for text in found),
        "; ".join((how, *remarks)),
        attempt.left_out,
        resolver.yanked(stderr),
        tuple(sorted(compiled & names)),
        hashes,
        changes=(*([f"{newer}: {attempt.why_later}"] if newer else []), *attempt.changes),
        needed_by=needed_by,
    )


def _requirements(output: str) -> Iterator[tuple[str, list[str]]]:
    """uv's lines, joined, as requirements with their hashes."""
    for line in output.replace("\\\n", " ").splitlines():
        words = line.partition(" # via ")[0].split(" --hash=")
        if words[0].strip() and not words[0].startswith("#"):
            digests = [word.strip() for word in words[1:]]
            if not all(re.fullmatch(r"sha256:[0-9a-f]{64}", digest) for digest in digests):
                raise LmrError(f"uv wrote a hash that is none: {printable(line)}", REPORT)
            yield _checked(words[0].strip()), digests


def _needed_by(output: str) -> dict[str, tuple[str, ...]]:
    """uv's annotations, ``numpy==1.24.3  # via scipy, pandas``: beside a line, or below it where it has hashes."""
    found: dict[str, tuple[str, ...]] = {}
    name = ""
    for line in output.splitlines():
        plain, _, needing = line.partition("# via ")
        if "==" in plain and not plain.startswith(" "):
            name = canonicalize_name(re.split(r"[\[=]", plain)[0])
        if needing:
            words = (word.strip() for word in needing.split(","))
            found[name] = tuple(
                canonicalize_name(word) for word in words if word and not word.startswith("-")
            )
    return found


def _line(text: str, digests: list[str]) -> str:
    return " \\\n".join([text, *(f"    --hash={digest}" for digest in digests)])


def _checked(line: str) -> str:
    """A line of uv's output as a plain requirement; anything else is a bug worth hearing of."""
    try:
        requirement = Requirement(line)
    except InvalidRequirement as error:
        raise LmrError(f"uv wrote a line that is no requirement: {printable(line)}", REPORT) from error
    if requirement.url:
        raise LmrError(f"uv wrote an address: {printable(line)}", REPORT)
    return str(requirement)


def _shortened(comment: str) -> str:
    """A comment on one line; of a longer one the beginning, and how many characters are not there."""
    comment = printable(comment, sys.maxsize)
    if len(comment) <= LONGEST:
        return comment
    kept = comment[:LONGEST].rpartition(" ")[0] or comment[:LONGEST]
    return f"{kept} … (and {len(comment) - len(kept)} more characters)"


def written(made: Lock, recipe: Recipe, base: BaseImage) -> Lock:
    """The lock with the comments that say what it is."""
    comments = [f"CHANGED: {change}" for change in made.changes]
    comments += [*made.told, f"for Python {base.python}; PyTorch and CUDA are the base image's"]
    comments += [*filter(None, [other_python.short(recipe, base.python)]), *made.left_out, *made.yanked]
    compiled: tuple[str, ...] = ()
    if made.compiled:
        # Whole, however long: what reads a lock takes the names from here.
        compiled = (f"compiled when installed, there is no wheel: {', '.join(made.compiled)}",)
    head = "".join(f"# {comment}\n" for comment in (*map(_shortened, comments), *compiled))
    return replace(made, text=stamped(head + made.text, before="(?=[^#])"))
