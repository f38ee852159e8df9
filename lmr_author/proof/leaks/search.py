"""Search a file of any kind for solutions and look-alikes.

The thresholds were chosen by reading several hundred pairs of functions of public research repositories.
"""

from __future__ import annotations

import difflib
import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import ge
from pathlib import PurePosixPath

from lmr_author.core import files
from lmr_author.proof.leaks.fragments import Fragment, fragments, squeezed
from lmr_author.proof.leaks.solution import Solution
from lmr_author.proof.leaks.statements import StatementMatch, compare

LITTLE = 8.0
"""Lighter solutions are reported only as a whole: their few statements occur in many places."""
MUCH = 15.0
"""From this weight on, a copy may have entirely different names."""
LINES, LINES_SURE = 0.6, 0.75
"""Share of the distinctive lines that makes a text a look-alike, or a copy."""
_VERSION = {"same": 0.35, "extended": 0.5}
"""Similarity above which a method is a version of the solution, by relation of the class names. The ``step`` of a
paper's optimizer, rewritten for another harness or as a plain reference, had 0.36 to 0.61."""
BLOCK = 500
"""Lines of a long text compared at a time; blocks overlap by half."""


@dataclass(frozen=True)
class Leak:
    """A place in the agent's tree with a solution or a look-alike.

    Attributes:
        kind: ``code`` (a function or the top level of a Python file), ``comments``, ``notebook``, ``patch``,
            ``text``, ``compiled`` or ``history``.
        solution: the leaked solution; None for a history.
        similarity: share of the solution, 0 to 1.
        sure: True for the solution, False for a look-alike.
        generated: a run, a build or an editor created the file.
        line: from 1; 0 if unknown.
        where: the function, or the cell of a notebook; "" for the top level or a text.
        nth: 2 for the second definition of that name in a Python file, and so on.
    """

    kind: str
    path: str
    solution: Solution | None
    similarity: float
    sure: bool
    generated: bool
    line: int = 0
    where: str = ""
    excerpt: str = ""
    nth: int = 1

    @property
    def node(self) -> str:
        if self.kind != "code" or not self.where or not self.path.endswith(".py"):
            return ""
        return f"{self.path}::{self.where}" + (f"#{self.nth}" if self.nth > 1 else "")

    @property
    def location(self) -> str:
        if self.kind == "code":
            return f"in {self.where}" if self.where else "in the top-level code"
        named = {"comments": "in comments", "notebook": "in this notebook", "patch": "in this patch"}
        text = named.get(self.kind, "in this text")
        return text + (f" ({self.where})" if self.where else "")

    @cached_property
    def diff(self) -> str:
        if self.solution is None or not self.excerpt:
            return ""
        excerpt = textwrap.dedent(self.excerpt)
        if not re.match(r"(?:@|(?:async )?def |class )", excerpt):
            excerpt = textwrap.indent(excerpt, "    ")  # a body alone
        lines = difflib.unified_diff(
            textwrap.dedent(self.solution.source).splitlines(),
            excerpt.splitlines(),
            f"golden {self.solution.qualname}",
            self.path,
            lineterm="",
        )
        return "\n".join(lines)


def in_file(
    path: str, data: bytes, solutions: Sequence[Solution], targets: frozenset[str] = frozenset()
) -> list[Leak]:
    """Return every place in a file with a solution or a look-alike.

    Args:
        targets: names of masked functions of this file, which are skipped with their docstrings.
    """
    leaks: list[Leak] = []
    if path.endswith((".pyc", ".pyo")):
        for solution in solutions:
            if share := solution.compiled.share_in(path, data):
                leaks.append(Leak("compiled", path, solution, share, True, True, where=solution.qualname))
        return leaks
    possible = [solution for solution in solutions if solution.may_be_in(data)]
    if possible:
        pieces = [piece for piece in fragments(PurePosixPath(path).name, data) if piece.where not in targets]
        for solution in possible:
            leaks += _leaks_of(path, solution, pieces)
    return leaks


def _leaks_of(path: str, solution: Solution, pieces: Iterable[Fragment]) -> list[Leak]:
    leaks = []
    for piece in pieces:
        for block in _blocks(piece):
            leak = _judged(path, solution, block)
            if leak is not None:
                leaks.append(leak)
    functions = _innermost([leak for leak in leaks if leak.kind == "code"])
    others = [leak for leak in leaks if leak.kind != "code"]
    best = max(others, key=lambda leak: (leak.sure, leak.similarity, bool(leak.where)), default=None)
    surest = max((leak.sure for leak in functions), default=-1)
    return [*functions, best] if best and best.sure > surest else functions


def _blocks(piece: Fragment) -> Iterator[Fragment]:
    lines = piece.text.splitlines(keepends=True) if piece.kind == "text" else []
    if len(lines) <= 2 * BLOCK:
        yield piece
        return
    for start in range(0, len(lines), BLOCK // 2):
        line = piece.line + start if piece.line else 0
        yield Fragment(piece.kind, piece.where, line, "".join(lines[start : start + BLOCK]))


def _innermost(leaks: list[Leak]) -> list[Leak]:
    """Drop functions around or inside a better match."""
    chosen: list[Leak] = []
    for leak in sorted(leaks, key=lambda leak: (-leak.sure, -leak.similarity, -leak.where.count("."))):
        if not any(_overlap(leak.where, better.where) for better in chosen):
            chosen.append(leak)
    return sorted(chosen, key=lambda leak: leak.line)


def _overlap(first: str, second: str) -> bool:
    outer, inner = sorted((first, second), key=len)
    return not outer or inner.startswith(outer + ".")


def _judged(path: str, solution: Solution, piece: Fragment) -> Leak | None:
    if not solution.may_be_in(piece.data):
        return None
    match = compare(solution.statements, piece.statements)
    sure, share, by_lines = _judge(solution, piece, match), match.similarity, False
    if not sure and piece.kind != "code" and solution.weight >= LITTLE and len(solution.lines) >= 3:
        # In text that is not Python, such as a template, lines are better evidence than the few parsable statements.
        lines = len(solution.lines & piece.lines) / len(solution.lines)
        if lines >= LINES_SURE or (lines >= LINES and sure is None):
            sure, share, by_lines = lines >= LINES_SURE, lines, True
    if sure is None:
        return None
    line, text = _excerpt(solution, piece, match, by_lines)
    nth = piece.definition.nth if piece.definition else 1
    return Leak(piece.kind, path, solution, share, sure, is_generated(path), line, piece.where, text, nth)


@dataclass(frozen=True)
class _Threshold:
    """The minimum for a match: the fewer names agree, the more statements must."""

    similarity: float
    exact: float = 0.0
    density: float = 0.0
    weight: float = 0.0
    is_named: bool = False

    @property
    def needed(self) -> tuple[float, ...]:
        return self.similarity, self.exact, self.density, self.weight, self.is_named


def _reaches(reached: Sequence[float], levels: Iterable[_Threshold]) -> bool:
    return any(all(map(ge, reached, level.needed)) for level in levels)


_COPY = (
    _Threshold(0.75, exact=0.5, is_named=True),
    _Threshold(0.9, exact=0.7, density=0.5),
    _Threshold(0.96, density=0.6, weight=MUCH),
)
_LOOK_ALIKE = (
    _Threshold(0.6, exact=0.35, is_named=True),
    _Threshold(0.7, exact=0.5, density=0.4),
    _Threshold(0.8, exact=0.3, density=0.6),
    _Threshold(0.8, density=0.6, weight=MUCH),
    _Threshold(0.95, density=0.8),
)
_LITTLE_COPY = (_Threshold(0.9, exact=0.5, density=0.5, is_named=True),)
_LITTLE_LOOK_ALIKE = (_Threshold(0.0, exact=0.95, density=0.6, weight=LITTLE / 2),)


def _judge(solution: Solution, piece: Fragment, match: StatementMatch) -> bool | None:
    is_little = solution.weight < LITTLE
    # The density counts only for small solutions: a long text around a complete one is harmless.
    density = match.density if piece.kind == "code" or is_little else 1.0
    reached = (match.similarity, match.exact, density, solution.weight, _same_name(solution, piece))
    if _reaches(reached, _LITTLE_COPY if is_little else _COPY):
        return True
    if is_little:
        is_alike = solution.name != "__init__" and _reaches(reached, _LITTLE_LOOK_ALIKE)
    else:
        is_version = match.similarity >= _VERSION.get(_relation(solution, piece), 1.0)
        is_alike = is_version or _reaches(reached, _LOOK_ALIKE)
    return False if is_alike else None


def _same_name(solution: Solution, piece: Fragment) -> bool:
    """Return whether a function has the same distinctive name, and for methods the same class.

    A method of the same name in another class is an override, intentionally different.
    """
    if piece.name != solution.name:
        return False
    if piece.owner and solution.owner:
        return piece.owner == solution.owner
    return solution.has_telling_name


def _relation(solution: Solution, piece: Fragment) -> str:
    """Return the relation of the class names of two methods of one name: "same", "extended" (``…Reference``), or "".

    Only names of two words or more count: ``Model.forward`` and ``Net.step`` are too common.
    """
    if piece.name != solution.name or solution.name.startswith("__"):
        return ""
    short, long = sorted((solution.owner, piece.owner), key=len)
    if len(re.findall("[A-Z][a-z0-9]+", short)) < 2 or not long.startswith(short):
        return ""
    return "same" if short == long else "extended"


def _excerpt(solution: Solution, piece: Fragment, match: StatementMatch, by_lines: bool) -> tuple[int, str]:
    start = piece.line or 1
    lines = piece.text.splitlines()
    if piece.definition is not None and len(lines) <= 2 * solution.source.count("\n") + 10:
        return (piece.line if piece.kind == "code" else 0), piece.text
    first, last = max(0, match.first - start), min(len(lines) - 1, match.last - start)
    if by_lines:
        hits = [number for number, line in enumerate(lines) if squeezed(line) in solution.lines]
        first, last = hits[0], hits[-1]
    has_line = piece.line and piece.kind != "notebook"
    return (start + first if has_line else 0), "\n".join(lines[first : last + 1])


# generated files

GENERATED_FOLDERS = files.CACHE_FOLDERS | {
    ".ipynb_checkpoints", ".nox", ".cache", "htmlcov", "site-packages", "dist-packages", "wandb", "mlruns",
    "lightning_logs", "__pypackages__", ".venv", "pip-wheel-metadata",
}  # fmt: skip
"""Folders created by a run, a build or an editor."""
BACKUP_SUFFIXES = (".orig", ".bak", ".old", ".swp", ".swo", ".rej", "~", ".save", ".backup", ".tmp")
_BUILD = re.compile(r"(?:^|/)(?:build/(?:lib|bdist|temp)[^/]*|dist|[^/]+\.egg-info|[^/]+\.egg|_build)(?:/|$)")


def is_generated(path: str) -> bool:
    pure = PurePosixPath(path)
    return (
        not GENERATED_FOLDERS.isdisjoint(pure.parts[:-1])
        or path.endswith((".pyc", ".pyo", ".whl", ".egg", *BACKUP_SUFFIXES))
        or _BUILD.search(path) is not None
    )
