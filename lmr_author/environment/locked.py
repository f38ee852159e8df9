"""What a lock is, and why there is none."""

from __future__ import annotations

from dataclasses import dataclass

from lmr_author.environment.recipe import Declared
from lmr_author.environment.resolver import Attempt


@dataclass(frozen=True)
class Conflict:
    """Why no versions fit together.

    Attributes:
        cause: the resolver's reason, on one line.
        blamed: the requirements that it names, with their origins.
    """

    cause: str
    blamed: tuple[Declared, ...]


@dataclass(frozen=True)
class Lock:
    """What ``requirements.lock`` holds.

    Attributes:
        text: the file: comments, and one requirement a line; never an option or an address.
        pinned: every package, also indirect ones, has one exact version.
        note: how it was made, or why it is not pinned.
        left_out: requirements that were put aside, each with the reason.
        yanked: versions in it that were withdrawn from the index.
        compiled: packages without a wheel, which are compiled when they are installed.
        hashes: every line has its hashes.
        conflict: why no versions fit together; None when that is not the reason.
        changes: what was changed of what the repository asks for; only ``env lock`` does, and says so.
    """

    text: str
    pinned: bool
    note: str
    left_out: tuple[str, ...] = ()
    yanked: tuple[str, ...] = ()
    compiled: tuple[str, ...] = ()
    hashes: bool = False
    conflict: Conflict | None = None
    changes: tuple[str, ...] = ()


def unpinned(attempt: Attempt, cause: str) -> Lock:
    """The requirements as they are declared, with the reason why they are not pinned."""
    declared = sorted([*attempt.declared, *attempt.as_is], key=lambda item: item.name)
    lines = "".join(f"{item.text}\n" for item in declared)
    note = f"NOT pinned: {cause}"
    return Lock(lines, False, "; ".join((note, *attempt.remarks)), attempt.left_out)
