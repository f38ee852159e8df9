"""What a lock is, and why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lmr_author.environment.recipe import Declared
from lmr_author.environment.resolver import Attempt


@dataclass(frozen=True)
class Conflict:
    """Why no versions fit together.

    Attributes:
        cause: the resolver's reason, on one line.
        blamed: the requirements that it names, with their origins.
        certain: those of them that are in the way whatever the others are: a version without a wheel for this Python,
            or one that the index does not have.
        reached: the attempt that met it, so that a search can go on there; None when it cannot.
    """

    cause: str
    blamed: tuple[Declared, ...]
    certain: tuple[Declared, ...] = ()
    reached: Attempt | None = None


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
        needed_by: package → the packages that need it, where that is known.
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
    needed_by: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def pins(self) -> list[str]:
        """Its requirements, without comments and hashes."""
        lines = (line.rstrip(" \\") for line in self.text.splitlines())
        return [line for line in lines if line and not line.startswith(("#", " "))]

    @property
    def told(self) -> tuple[str, ...]:
        """The note, a sentence each, without what ``left_out`` says."""
        return tuple(part for part in self.note.split("; ") if part not in self.left_out)

    def roots(self, name: str) -> list[str]:
        """The packages that lead to one: those that need it, those that need these, and so on."""
        found = [name]
        for one in found:
            found += [other for other in self.needed_by.get(one, ()) if other not in found]
        return found[1:]


def unpinned(attempt: Attempt, cause: str) -> Lock:
    """The requirements as they are declared, with the reason why they are not pinned."""
    declared = sorted([*attempt.declared, *attempt.as_is], key=lambda item: item.name)
    lines = "".join(f"{item.text}\n" for item in declared)
    note = f"NOT pinned: {cause}"
    return Lock(lines, False, "; ".join((note, *attempt.remarks)), attempt.left_out)
