"""Search a file of any kind for solutions, and decide whether a place is the solution or a look-alike.

The thresholds were chosen by reading several hundred pairs of functions of public research repositories.
"""

from __future__ import annotations

import difflib
import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from lmr_author.core import files
from lmr_author.proof.leaks.fragments import Fragment, fragments, squeezed
from lmr_author.proof.leaks.solution import Solution
from lmr_author.proof.leaks.statements import StatementMatch, compare

LITTLE = 8.0
"""Solutions that weigh less are found only whole: their few statements occur in many places."""
MUCH = 15.0
"""From this weight on a copy whose names all differ is believed."""
LINES, LINES_SURE = 0.6, 0.75
"""Share of the telling lines that makes a text a look-alike, or a copy."""
_VERSION = {"same": 0.35, "extended": 0.5}
"""Likeness from which a method is another version of the solution, by the names of the classes. The ``step`` of a
paper's optimizer, written for another harness or as a plain reference, had 0.36 to 0.61."""
BLOCK = 500
"""Lines of a long text that are compared at a time; blocks overlap by half."""


@dataclass(frozen=True)
class Leak:
    """A place in the agent's tree where a solution, or a look-alike, can be read.

    Attributes:
        kind: ``code`` (a function or the top level of a Python file), ``comments``, ``notebook``, ``patch``,
            ``text``, ``compiled`` or ``history``.
        path: the file (for a history the folder), relative to the repository.
        solution: the one that can be read there; None for a history.
        similarity: how much of it can be read, 0 to 1.
        sure: it is the solution; if not, it is a look-alike.
        generated: the file was made by running, building or editing.
        line: from 1; 0 when unknown.
        where: the function, or the cell of a notebook; "" for the top level or a text.
        found: the text of the place.
        nth: 2 for the second definition of that name in a Python file…
    """

    kind: str
    path: str
    solution: Solution | None
    similarity: float
    sure: bool
    generated: bool
    line: int = 0
    where: str = ""
    found: str = ""
    nth: int = 1

    @property
    def node(self) -> str:
        """``path::qualname`` when the place is a function that could itself be masked; else ""."""
        if self.kind != "code" or not self.where or not self.path.endswith(".py"):
            return ""
        return f"{self.path}::{self.where}" + (f"#{self.nth}" if self.nth > 1 else "")

    @property
    def place(self) -> str:
        """The place in words: "in Old.forward", "in comments"."""
        if self.kind == "code":
            return f"in {self.where}" if self.where else "in the top-level code"
        named = {"comments": "in comments", "notebook": "in this notebook", "patch": "in this patch"}
        text = named.get(self.kind, "in this text")
        return text + (f" ({self.where})" if self.where else "")

    @cached_property
    def diff(self) -> str:
        """A unified diff from the solution's source to the place, indented alike; "" where there is no text."""
        if self.solution is None or not self.found:
            return ""
        found = textwrap.dedent(self.found)
        if not re.match(r"(?:@|(?:async )?def |class )", found):
            found = textwrap.indent(found, "    ")  # a body alone
        lines = difflib.unified_diff(
            textwrap.dedent(self.solution.source).splitlines(),
            found.splitlines(),
            f"golden {self.solution.qualname}",
            self.path,
            lineterm="",
        )
        return "\n".join(lines)


def in_file(
    path: str, data: bytes, solutions: Sequence[Solution], targets: frozenset[str] = frozenset()
) -> list[Leak]:
    """Return every place in a file where a solution, or a look-alike, can be read.

    Args:
        path: the file, relative to the repository, with ``/``.
        data: its bytes.
        targets: names of functions of this file that are masked: these, and their docstrings, are left out.
    """
    if path.endswith((".pyc", ".pyo")):
        shares = ((one, one.compiled.share_in(path, data)) for one in solutions)
        return [
            Leak("compiled", path, one, share, True, True, where=one.qualname)
            for one, share in shares
            if share
        ]
    possible = [one for one in solutions if one.may_be_in(data)]
    if not possible:
        return []
    pieces = [piece for piece in fragments(path.rpartition("/")[2], data) if piece.where not in targets]
    return [leak for one in possible for leak in _of_one(path, one, pieces)]


def _of_one(path: str, solution: Solution, pieces: Iterable[Fragment]) -> Iterator[Leak]:
    """Yield the places for one solution: every function, and the best of the rest if none is surer."""
    blocks = (block for piece in pieces for block in _blocks(piece))
    found = [leak for block in blocks for leak in [_judged(path, solution, block)] if leak is not None]
    code = _innermost([leak for leak in found if leak.kind == "code"])
    rest = [leak for leak in found if leak.kind != "code"]
    yield from code
    if rest:
        best = max(rest, key=lambda leak: (leak.sure, leak.similarity, bool(leak.where)))
        if not code or best.sure > max(leak.sure for leak in code):
            yield best


def _blocks(piece: Fragment) -> Iterator[Fragment]:
    """Cut a long text, most of which will be ruled out by its words, into overlapping blocks."""
    lines = piece.text.splitlines(keepends=True) if piece.kind == "text" else []
    if len(lines) <= 2 * BLOCK:
        yield piece
        return
    for start in range(0, len(lines), BLOCK // 2):
        line = piece.line + start if piece.line else 0
        yield Fragment(piece.kind, piece.where, line, "".join(lines[start : start + BLOCK]))


def _innermost(leaks: list[Leak]) -> list[Leak]:
    """Leave out functions around, or inside, one that is the better place."""
    kept: list[Leak] = []
    for leak in sorted(leaks, key=lambda item: (-item.sure, -item.similarity, -item.where.count("."))):
        if not any(_is_in(leak.where, other.where) or _is_in(other.where, leak.where) for other in kept):
            kept.append(leak)
    return sorted(kept, key=lambda item: item.line)


def _is_in(inner: str, outer: str) -> bool:
    return not outer or inner.startswith(outer + ".")


def _judged(path: str, solution: Solution, piece: Fragment) -> Leak | None:
    if not solution.may_be_in(piece.data):
        return None
    match = compare(solution.statements, piece.statements)
    sure, share, by_lines = _judge(solution, piece, match), match.similarity, False
    if not sure and piece.kind != "code" and solution.weight >= LITTLE and len(solution.lines) >= 3:
        # Text that is no Python, such as a template: its lines tell more than the few that are statements.
        lines = len(solution.lines & piece.lines) / len(solution.lines)
        if lines >= LINES_SURE or (lines >= LINES and sure is None):
            sure, share, by_lines = lines >= LINES_SURE, lines, True
    if sure is None:
        return None
    line, text = _excerpt(solution, piece, match, by_lines)
    nth = piece.definition.nth if piece.definition else 1
    return Leak(
        piece.kind, path, solution, share, sure, is_generated(path), line, piece.where, found=text, nth=nth
    )


def _judge(solution: Solution, piece: Fragment, match: StatementMatch) -> bool | None:
    """Return True for the solution, False for a look-alike, None for neither."""
    named = _same_name(solution, piece)
    likeness, exact = match.similarity, match.exact
    density = match.density if piece.kind == "code" else 1.0
    if solution.weight < LITTLE:
        if named and likeness >= 0.9 and exact >= 0.5 and match.density >= 0.5:
            return True
        whole = exact >= 0.95 and match.density >= 0.6
        return False if whole and solution.weight >= LITTLE / 2 and solution.name != "__init__" else None
    if (
        (named and likeness >= 0.75 and exact >= 0.5)
        or (likeness >= 0.9 and exact >= 0.7 and density >= 0.5)
        or (likeness >= 0.96 and density >= 0.6 and solution.weight >= MUCH)
    ):
        return True
    alike = (
        (likeness >= 0.7 and exact >= 0.5 and density >= 0.4)
        or (likeness >= 0.8 and density >= 0.6 and (exact >= 0.3 or solution.weight >= MUCH))
        or (likeness >= 0.95 and density >= 0.8)
        or (named and likeness >= 0.6 and exact >= 0.35)
        or likeness >= _VERSION.get(_relation(solution, piece), 1.0)
    )
    return False if alike else None


def _same_name(solution: Solution, piece: Fragment) -> bool:
    """Recognize a function of the same, telling name; for two methods, of the same class, too.

    A method of the same name in another class is an override: another function on purpose.
    """
    if piece.definition is None:
        return False
    mine, theirs = solution.qualname.split("."), piece.definition.qualname.split(".")
    if len(mine) > 1 and len(theirs) > 1:
        return mine[-2:] == theirs[-2:]
    return solution.has_telling_name and mine[-1] == theirs[-1]


def _relation(solution: Solution, piece: Fragment) -> str:
    """Return how the class of a method of the same name is called: "same", "extended" (``…Reference``), or "".

    Only names of two words or more tell: ``Model.forward`` and ``Net.step`` are in every second file.
    """
    if piece.definition is None or solution.name.startswith("__"):
        return ""
    mine, theirs = solution.qualname.split("."), piece.definition.qualname.split(".")
    if len(mine) < 2 or len(theirs) < 2 or mine[-1] != theirs[-1]:
        return ""
    short, long = sorted((mine[-2], theirs[-2]), key=len)
    if len(re.findall("[A-Z][a-z0-9]+", short)) < 2 or not long.startswith(short):
        return ""
    return "same" if short == long else "extended"


def _excerpt(solution: Solution, piece: Fragment, match: StatementMatch, by_lines: bool) -> tuple[int, str]:
    """Return (line of the file or 0, text) of the part of a fragment in which the solution was found."""
    start = piece.line or 1
    lines = piece.text.splitlines()
    if piece.definition is not None and len(lines) <= 2 * solution.source.count("\n") + 10:
        return (piece.line if piece.kind == "code" else 0), piece.text
    first, last = max(0, match.first - start), min(len(lines) - 1, match.last - start)
    if by_lines:
        hits = [number for number, line in enumerate(lines) if squeezed(line) in solution.lines]
        first, last = hits[0], hits[-1]
    known = piece.line and piece.kind != "notebook"
    return (start + first if known else 0), "\n".join(lines[first : last + 1])


# generated files

GENERATED_FOLDERS = files.CACHE_FOLDERS | {
    ".ipynb_checkpoints", ".nox", ".cache", "htmlcov", "site-packages", "dist-packages", "wandb", "mlruns",
    "lightning_logs", "__pypackages__", ".venv", "pip-wheel-metadata",
}  # fmt: skip
"""Folders that a run, a build or an editor makes."""
BACKUP_SUFFIXES = (".orig", ".bak", ".old", ".swp", ".swo", ".rej", "~", ".save", ".backup", ".tmp")
_BUILD = re.compile(r"(?:^|/)(?:build/(?:lib|bdist|temp)[^/]*|dist|[^/]+\.egg-info|[^/]+\.egg|_build)(?:/|$)")


def is_generated(path: str) -> bool:
    """Recognize a file that was made by running, building or editing, not written.

    Args:
        path: path in the repository, with ``/``.
    """
    pure = PurePosixPath(path)
    return (
        not GENERATED_FOLDERS.isdisjoint(pure.parts[:-1])
        or path.endswith((".pyc", ".pyo", ".whl", ".egg", *BACKUP_SUFFIXES))
        or _BUILD.search(path) is not None
    )
