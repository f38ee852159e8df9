"""Solutions in compiled Python files: names and constants of code objects, of any version."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from lmr_author.leaks import pyc
from lmr_author.leaks.solution import Solution
from lmr_author.source import Module

SHARE = 0.6
"""Share of what tells the golden from the masked function that makes a code object the golden's."""
SHARE_OTHER_NAME = 0.9
"""The same for a function of another name."""
SHARE_WITH_ARGUMENTS = 0.85
"""What such a function has of all of the golden, its arguments too: a library's plain version lacks the new ones."""
SHARE_OF_BYTES = 0.8
"""The same for names found in a file that cannot be taken apart."""


@dataclass(frozen=True)
class Features:
    """What a compiled solution looks like.

    Attributes:
        golden: names and constants of the golden function's code object.
        telling: those that neither the masked function has, nor anything else in the masked file.
        present: names of other functions of the masked file that have most of these all the same: look-alikes in the
            source, of which a compiled file tells nothing new.
    """

    solution: Solution
    golden: frozenset[str]
    telling: frozenset[str]
    only_golden: frozenset[str]
    present: frozenset[str] = frozenset()


def features(solution: Solution, golden: pyc.Code | None, masked: pyc.Code | None) -> Features | None:
    """What to look for; None when the golden's code object is not found.

    Args:
        solution: the golden function.
        golden, masked: the compiled golden file and goal file.
    """
    path = solution.qualname.split(".")
    original = next(pyc.named(golden, path), None) if golden else None
    if original is None:
        return None
    kept = next(pyc.named(masked, path), None) if masked else None
    same = kept is None or kept.features == original.features
    left = frozenset() if same or kept is None else kept.features
    elsewhere = frozenset() if same or masked is None else masked.features
    found = Features(solution, original.features, original.features - left, original.features - elsewhere)
    alike = [name for share, name in _renamed(found, masked) if share >= SHARE_OTHER_NAME] if masked else []
    return replace(found, present=frozenset(alike) if left else frozenset())


def code_of(module: Module | None) -> pyc.Code | None:
    """A module's code object as features; None when it cannot be compiled."""
    if module is None:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return pyc.from_code(compile(module.tree, module.name, "exec", dont_inherit=True))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def copies(data: bytes, wanted: Sequence[Features]) -> Iterator[tuple[Solution, float, str]]:
    """(solution, share, function) of each solution in a compiled file."""
    wanted = [one for one in wanted if _may_be_in(one, data)]
    if not wanted:
        return
    try:
        module = pyc.read(data)
    except pyc.NotCompiledPython:
        yield from _in_bytes(data, wanted)
        return
    for one in wanted:
        path = one.solution.qualname.split(".")
        found = [(_share(one, code), code.name) for code in pyc.named(module, path)]
        found = [item for item in found if item[0] >= SHARE] or [
            item for item in _renamed(one, module) if item[0] >= SHARE_OTHER_NAME
        ]
        if found:
            share, name = max(found)
            yield one.solution, share, name


def _may_be_in(one: Features, data: bytes) -> bool:
    """A quick look that rules most files out: names stand in compiled files as they are."""
    needed = one.telling if len(one.telling) >= 2 else one.golden
    least = SHARE if len(one.telling) >= 2 else 1.0
    missing = sum(item.startswith("n:") and item[2:].encode() not in data for item in needed)
    return len(needed) - missing >= least * len(needed) or any(_in_bytes(data, [one]))


def _share(one: Features, code: pyc.Code) -> float:
    if len(one.telling) >= 2:
        return len(one.telling & code.features) / len(one.telling)
    return 1.0 if one.golden <= code.features and "n:NotImplementedError" not in code.features else 0.0


def _renamed(one: Features, module: pyc.Code) -> Iterator[tuple[float, str]]:
    """Functions of another name, for solutions that have enough to be known by."""
    if len(one.telling) < 8:
        return
    stack = list(module.inner)
    while stack:
        code = stack.pop()
        stack.extend(code.inner)
        whole = len(one.golden & code.features) / len(one.golden)
        if code.name not in one.present and whole >= SHARE_WITH_ARGUMENTS:
            yield len(one.telling & code.features) / len(one.telling), code.name


def _in_bytes(data: bytes, wanted: list[Features]) -> Iterator[tuple[Solution, float, str]]:
    """For files of unknown versions and damaged ones: names and text constants stand in them as they are."""
    for one in wanted:
        words = {item[2:].strip("'\"") for item in one.only_golden if item.startswith(("n:", "c:'", 'c:"'))}
        words = {word for word in words if len(word) >= 3 and word.isprintable()}
        if len(words) < 4:
            continue
        share = sum(word.encode() in data for word in words) / len(words)
        if share >= SHARE_OF_BYTES:
            yield one.solution, share, ""
