"""A golden function in the forms in which it is searched for."""

from __future__ import annotations

import ast
import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property, lru_cache

from lmr_author.code import FunctionNode, Module, first_line, walk
from lmr_author.leaks import compiled
from lmr_author.leaks import lines as text_lines
from lmr_author.leaks.statements import Statement, of_function, token_weight
from lmr_author.task import Implementation

LEAST_WEIGHT = 2.5
"""Functions that tell less than this (``return self.x``) are no solution that could leak."""

COMMON_NAMES = frozenset(
    """
    forward backward step loss main run train test update call get set init reset build load save create
    make fit predict evaluate encode decode process compute apply collate collate_fn setup validate
    sample generate
    """.split()  # noqa: SIM905
)
"""Names of functions that do not identify one."""

MISSING = 0.4
"""Share of the names a solution needs, by weight, that may be missing from a copy of it."""

WINDOW = 6_000
"""Bytes of a long file that are looked at together."""

SHORT = 4
"""Words up to this length occur in many others, and count only where they stand alone."""

_WORD = re.compile(r"[A-Za-z_]\w{2,}")


@dataclass(frozen=True)
class Solution:
    """A golden function.

    Attributes:
        source: its lines, as they stand in the golden file.
        statements: its statements, without those that the masked function still has.
        lines: its telling lines without blanks, comments left out.
        outer: names that a copy needs (functions, attributes, keywords), each with its weight, the heaviest first.
        local: names of its variables, likewise.
        compiled: its names in a compiled file.
    """

    implementation: Implementation
    qualname: str
    source: str
    statements: tuple[Statement, ...]
    lines: frozenset[str]
    outer: tuple[tuple[bytes, float], ...]
    local: tuple[tuple[bytes, float], ...]
    compiled: compiled.Names

    @property
    def name(self) -> str:
        """Last part of the qualified name."""
        return self.qualname.rpartition(".")[2]

    @property
    def has_telling_name(self) -> bool:
        """Tell a name that identifies the function from a common one."""
        return self.name not in COMMON_NAMES and not self.name.startswith("__")

    @cached_property
    def weight(self) -> float:
        """The sum of its statements' weights."""
        return sum(item.weight for item in self.statements)

    def may_be_in(self, data: bytes) -> bool:
        """Rule most places out quickly: a copy has most of the names it needs, or most of the variables."""
        missing = MISSING if len(self.outer) >= 3 else 0.0
        return _has_most(data, self.outer, missing) or (
            len(self.local) >= 3 and _has_most(data, self.local, MISSING)
        )

    def may_be_in_window(self, data: bytes) -> bool:
        """Rule out a long file in which the names occur, but nowhere near each other.

        A copy is about as long as the original; comments and blank lines may triple it.
        """
        size = max(WINDOW, 3 * len(self.source))
        return any(self.may_be_in(data[start : start + size]) for start in range(0, len(data), size // 2))


def _has_most(data: bytes, words: tuple[tuple[bytes, float], ...], missing: float) -> bool:
    room = missing * sum(weight for _, weight in words) + 1e-6
    short = []
    for word, weight in words:
        if word not in data:
            room -= weight
            if room < 0:
                return False
        elif len(word) <= SHORT:
            short.append((word, weight))
    for word, weight in short:  # last: a pattern takes longest
        if not _alone(word).search(data):
            room -= weight
            if room < 0:
                return False
    return True


@lru_cache(maxsize=1024)
def _alone(word: bytes) -> re.Pattern[bytes]:
    """Match a word by itself, also behind the ``\\n`` of a text in JSON."""
    return re.compile(rb"(?:(?<!\w)|(?<=\\[nt]))%s(?!\w)" % re.escape(word))


def solution(
    implementation: Implementation,
    qualname: str,
    golden: Module,
    node: FunctionNode,
    masked: FunctionNode | None,
    goal: Module | None,
) -> Solution | None:
    """Return the golden function in comparable forms; None when it is too small to be recognized.

    Args:
        golden, node: the golden file, and the function in it.
        masked: the masked function; None when it is not masked.
        goal: the masked file; None when there is none.
    """
    kept = Counter(item.exact for item in of_function(masked)) if masked is not None else Counter()
    statements = []
    for item in of_function(node):
        if kept[item.exact] > 0:
            kept[item.exact] -= 1
        else:
            statements.append(item)
    if sum(item.weight for item in statements) < LEAST_WEIGHT:
        return None
    outer = {token for item in statements for token in item.shape if token[0] in ".@"}
    rare = {token for token in outer if token_weight(token) == 1.0}
    own = {item.name for item in walk(node) if isinstance(item, ast.FunctionDef | ast.ClassDef)}
    needed = {
        token[1:] for token in (rare if len(rare) >= 4 else outer)
    } - own  # a copy may rename inner ones
    local = {name for item in statements for name in item.names} - {"self", "cls"}
    last = node.end_lineno or node.lineno
    return Solution(
        implementation,
        qualname,
        "\n".join(golden.line_text(number) for number in range(first_line(node), last + 1)),
        tuple(statements),
        frozenset(_telling_lines(golden, node)),
        _words(needed),
        _words(local),
        compiled.names(golden, node, goal),
    )


def _words(names: set[str]) -> tuple[tuple[bytes, float], ...]:
    """Return the longest words of some names, those that tell most first."""
    words = {word for name in names for word in _WORD.findall(name)}
    longest = sorted(words, key=lambda word: (-len(word), word))[:14]
    weighed = [(word.encode(), token_weight("." + word)) for word in longest]
    return tuple(sorted(weighed, key=lambda item: -item[1]))


def _telling_lines(golden: Module, node: FunctionNode) -> set[str]:
    """Return the lines of the body behind the docstring that compute something."""
    first = node.body[0]
    documented = ast.get_docstring(node, clean=False) is not None
    start = (first.end_lineno or first.lineno) + 1 if documented else first.lineno
    texts = (golden.line_text(number) for number in range(start, (node.end_lineno or node.lineno) + 1))
    found = (text_lines.squeezed(text) for text in texts if not text_lines.is_comment(text))
    return {line for line in found if text_lines.tells(line)}
