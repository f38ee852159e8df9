"""Look for solutions in the content of one file, whatever kind of file it is."""

from __future__ import annotations

import difflib
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from lmr_author.leaks import archives, compiled, tokens
from lmr_author.leaks.compare import Match, compare
from lmr_author.leaks.fragments import Fragment, fragments, passages
from lmr_author.leaks.generated import is_generated
from lmr_author.leaks.judge import Level, is_namesake, level, level_of_lines, level_of_tokens
from lmr_author.leaks.lines import squeezed
from lmr_author.leaks.solution import Glance, Solution, Trace
from lmr_author.leaks.words import searched


@dataclass(frozen=True)
class Leak:
    """A place in the agent's tree where a solution, or something like it, can be read.

    Attributes:
        kind: ``code`` (a function or the top level of a Python file), ``comments``, ``notebook``, ``patch``,
            ``text``, ``compiled`` or ``history``.
        path: the file (for a history the folder), relative to the repository.
        solution: what can be read there; None for a history.
        similarity: how much of it, 0 to 1.
        sure: whether it is the solution; if not, it is something that looks like it.
        generated: whether the file was made by running, building or editing.
        line: where, from 1; 0 when unknown.
        where: the function, or the cell of a notebook; "" for the top level or a text.
        member: the file in an archive; "" for a plain file.
        found: the text of the place.
        nth: which definition of that name in the file, when it is a function of a Python file.
    """

    kind: str
    path: str
    solution: Solution | None
    similarity: float
    sure: bool
    generated: bool
    line: int = 0
    where: str = ""
    member: str = ""
    found: str = ""
    nth: int = 1

    @property
    def node(self) -> str:
        """``path::qualname`` when the place is a function that could itself be masked; else ""."""
        if self.kind != "code" or not self.where or self.member or not self.path.endswith(".py"):
            return ""
        return f"{self.path}::{self.where}" + (f"#{self.nth}" if self.nth > 1 else "")

    @property
    def place(self) -> str:
        """The place in words, for messages: "in Old.forward", "in comments"."""
        inside = f"in {self.member}, " if self.member else ""
        if self.kind == "code":
            return f"{inside}in {self.where}" if self.where else f"{inside}in the top-level code"
        named = {"comments": "in comments", "notebook": "in this notebook", "patch": "in this patch"}
        text = named.get(self.kind, "in this text")
        return f"{inside}{text}" + (f" ({self.where})" if self.where else "")

    @cached_property
    def diff(self) -> str:
        """A unified diff from the solution's source to the place, indented alike; "" where there is no text."""
        if self.solution is None or not self.found:
            return ""
        golden = textwrap.dedent(self.solution.source).splitlines()
        lines = difflib.unified_diff(
            golden,
            _indented_as(golden, textwrap.dedent(self.found).splitlines()),
            f"golden {self.solution.qualname}",
            f"{self.path} {self.member}".strip(),
            lineterm="",
        )
        return "\n".join(lines)


def _indented_as(golden: Sequence[str], found: Sequence[str]) -> Sequence[str]:
    """A place with its lines moved in as far as those of the golden mostly are: a body alone stands further out."""
    indents: dict[str, int] = {}
    for line in golden:
        indents.setdefault(line.strip(), len(line) - len(line.lstrip()))
    moves = Counter(
        indents[line.strip()] - len(line) + len(line.lstrip()) for line in found if line.strip() in indents
    )
    by = moves.most_common(1)[0][0] if moves else 0
    return [" " * by + line if line.strip() else line for line in found] if by > 0 else found


def in_file(
    path: str,
    data: bytes,
    solutions: Sequence[Solution],
    *,
    targets: frozenset[str] = frozenset(),
    bytecode: Callable[[], Sequence[compiled.Features]] = tuple,
) -> list[Leak]:
    """Every place in a file where a solution, or something like it, stands.

    Args:
        path: the file, relative to the repository, with ``/``.
        data: its bytes.
        solutions: what is looked for.
        targets: names of functions of this file that are masked: these, and their docstrings, are left out.
        bytecode: gives what is looked for in compiled files; asked only where there is one.
    """
    if archives.is_archive(path):
        return _in_archive(path, data, solutions, bytecode)
    if path.endswith((".pyc", ".pyo")):
        return [
            Leak("compiled", path, found, share, True, True, where=name)
            for found, share, name in compiled.copies(data, bytecode())
        ]
    glance = Glance(solutions)
    return in_text(path, data, glance.left(data, glance.words(data)), targets)


def in_text(
    path: str, data: bytes, found: Sequence[tuple[Solution, Trace]], targets: frozenset[str] = frozenset()
) -> list[Leak]:
    """The same for a file that is neither an archive nor compiled, after a first look.

    Args:
        path: the file, relative to the repository, with ``/``.
        data: its bytes.
        found: what :class:`~lmr_author.leaks.solution.Glance` left to be looked for.
        targets: as for :func:`in_file`.
    """
    if not found:
        return []
    possible = list({id(one): one for one, _ in found}.values())
    traces = [trace for _, trace in found]
    words = searched(*[trace.names for trace in traces])

    def worth(part: bytes) -> bool:
        if not any(trace.may_be_in(part) for trace in traces):
            return False
        there = words.within(part)
        return any(trace.within(part, there) is not None for trace in traces)

    lines = max(4 * max(one.source.count("\n") for one in possible), 120)
    pieces = [
        part
        for piece in fragments(path.rpartition("/")[2], data, worth)
        if piece.where not in targets
        for part in passages(piece, lines, worth)
    ]
    return [leak for one in possible for leak in _of_one(path, one, pieces)]


def _in_archive(
    path: str, data: bytes, solutions: Sequence[Solution], bytecode: Callable[[], Sequence[compiled.Features]]
) -> list[Leak]:
    best: dict[Solution, Leak] = {}
    for inner, content in archives.members(path, data):
        for leak in in_file(inner, content, solutions, bytecode=bytecode):
            assert leak.solution is not None
            known = best.get(leak.solution)
            if known is None or _rank(leak) > _rank(known):
                best[leak.solution] = replace(leak, path=path, member=inner, generated=is_generated(path))
    return list(best.values())


def _rank(leak: Leak) -> tuple[bool, float]:
    return leak.sure, leak.similarity


def _of_one(path: str, solution: Solution, pieces: Iterable[Fragment]) -> Iterator[Leak]:
    """The places in a file for one solution: every function, and the best of the rest if none is surer."""
    found = [leak for piece in pieces for leak in [_judged(path, solution, piece)] if leak is not None]
    code = _innermost([leak for leak in found if leak.kind == "code"])
    rest = [leak for leak in found if leak.kind != "code"]
    yield from code
    if rest:
        best = max(rest, key=lambda leak: (_rank(leak), bool(leak.where)))
        if not code or best.sure > max(leak.sure for leak in code):
            yield best


def _innermost(leaks: list[Leak]) -> list[Leak]:
    """Without functions around, or inside, one that is the better place."""
    kept: list[Leak] = []
    for leak in sorted(leaks, key=lambda item: (-item.sure, -item.similarity, -item.where.count("."))):
        around = [other.where for other in kept]
        nested = any(_nested(leak.where, other) or _nested(other, leak.where) for other in around)
        if not nested:
            kept.append(leak)
    return sorted(kept, key=lambda item: item.line)


def _nested(inner: str, outer: str) -> bool:
    return not outer or inner.startswith(outer + ".")


def _judged(path: str, solution: Solution, piece: Fragment) -> Leak | None:
    if not (is_namesake(solution, piece) or solution.may_be_in(piece.data)):
        return None
    match = compare(solution.statements, piece.statements)
    verdict, share = level(solution, piece, match), match.similarity
    by_lines = False
    if piece.kind != "code" and verdict < Level.SURE:
        lines = solution.share_of_lines(piece.lines)
        other = level_of_lines(solution, lines)
        if other > verdict:
            verdict, share, by_lines = other, lines, True
    if verdict is Level.NO:
        share = tokens.likeness(solution.tokens, tokens.profile(piece.statements))
        verdict = level_of_tokens(solution, piece, share)
        first = piece.line or 1
        match = replace(match, first=first, last=first + piece.text.count("\n"))  # all of the piece
    if verdict is Level.NO:
        return None
    line, text = _excerpt(solution, piece, match, by_lines)
    return Leak(
        piece.kind,
        path,
        solution,
        share,
        verdict is Level.SURE,
        is_generated(path),
        line,
        piece.where,
        found=text,
        nth=piece.definition.nth if piece.definition else 1,
    )


def _excerpt(solution: Solution, piece: Fragment, match: Match, by_lines: bool) -> tuple[int, str]:
    """(line of the file or 0, text) of the part of a fragment in which the solution was found."""
    start = piece.line or 1
    lines = piece.text.splitlines()
    if piece.definition is not None and len(lines) <= 2 * solution.source.count("\n") + 10:
        return (piece.line if piece.kind in ("code", "text") else 0), piece.text
    if by_lines:
        hits = [number for number, line in enumerate(lines) if squeezed(line) in solution.lines]
        first, last = hits[0], hits[-1]
    else:
        first, last = match.first - start, match.last - start
    first, last = max(0, first), min(len(lines) - 1, last)
    known = piece.line and piece.kind != "notebook"
    return (start + first if known else 0), "\n".join(lines[first : last + 1])
