"""A golden function in the forms it is looked for."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate

from lmr_author.leaks import lines as text_lines
from lmr_author.leaks import tokens
from lmr_author.leaks.statements import Statement, of_function, token_weight
from lmr_author.leaks.words import searched
from lmr_author.model import Implementation
from lmr_author.source import FunctionNode, Module, first_line, walk

LEAST_WEIGHT = 2.5
"""Functions that tell less than this (``return self.x``) are no solution that could leak."""

COMMON_NAMES = frozenset(
    """
    forward backward step loss main run train test update call get set init reset build load save create
    make fit predict evaluate encode decode process compute apply collate collate_fn setup validate
    sample generate
    """.split()  # noqa: SIM905
)
"""Names of functions that say nothing about which one it is."""

_WORD = re.compile(r"[A-Za-z_]\w{2,}")


@dataclass(frozen=True)
class Trace:
    """Words of which some may be missing.

    Attributes:
        words: each with how much it tells; those that tell most first, the longest of them first.
        missing: how much may be missing.
    """

    words: tuple[tuple[bytes, float], ...]
    missing: float

    @classmethod
    def of(cls, words: Sequence[bytes], share: float) -> Trace:
        """A trace of which a share may be missing."""
        weighed = [(word, token_weight("." + word.decode())) for word in words]
        weighed.sort(key=lambda item: -item[1])  # so that what is missing is soon too much
        return cls(tuple(weighed), share * sum(weight for _, weight in weighed))

    @cached_property
    def names(self) -> frozenset[bytes]:
        """The words alone."""
        return frozenset(word for word, _ in self.words)

    @cached_property
    def least(self) -> int:
        """How many words are needed, were it those that tell most."""
        told = accumulate(weight for _, weight in self.words)
        needed = sum(weight for _, weight in self.words) - self.missing - 1e-6
        return sum(so_far < needed for so_far in (0, *told))

    @cached_property
    def _anchors(self) -> tuple[bytes, ...]:
        """Words of which one is there, or too much is missing; none where all may be missing."""
        told = 0.0
        for number, (_, weight) in enumerate(self.words, 1):
            told += weight
            if told > self.missing + 1e-6:
                return tuple(word for word, _ in self.words[:number])
        return ()

    def may_be_in(self, data: bytes) -> bool:
        """Whether it is worth asking which of the words stand in some bytes: not so for most functions of a file."""
        for word in self._anchors:
            if word in data:
                return True
        return not self._anchors

    def within(self, data: bytes, there: Set[bytes]) -> Trace | None:
        """What is left to be looked for in the parts of some bytes; None when too much is missing.

        Args:
            there: those of the words that stand in the bytes, by themselves or in longer words.
        """
        if len(self.names & there) < self.least:
            return None
        found, missing = [], self.missing
        for word in self.words:
            if word[0] in there:
                found.append(word)
                continue
            missing -= word[1]
            if missing < 0:
                return None
        for word in [word for word in found if len(word[0]) <= SHORT]:  # last: it takes longest
            if not _stands_alone(word[0], data):
                found.remove(word)
                missing -= word[1]
                if missing < 0:
                    return None
        return Trace(tuple(found), missing)


SHORT = 4
"""So short words stand in many others, and count only where they stand alone."""


_LETTERS = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")


def _stands_alone(word: bytes, data: bytes) -> bool:
    """Whether a word stands somewhere by itself, also behind the ``\\n`` of a text in JSON."""
    for match in _ending(word).finditer(data):
        before = data[max(match.start() - 2, 0) : match.start()]
        if not before or before[-1] not in _LETTERS or before in (b"\\n", b"\\t"):
            return True
    return False


@lru_cache(maxsize=1024)
def _ending(word: bytes) -> re.Pattern[bytes]:
    """Where a word stands, by itself or at the end of a longer one."""
    return re.compile(re.escape(word) + rb"(?![A-Za-z0-9_])")


@dataclass(frozen=True)
class Solution:
    """A golden function.

    Attributes:
        source: its lines, as they stand in the golden file.
        statements: its statements, without those that the masked function still has.
        lines: its telling lines without blanks, comments left out.
        outer: names that a copy needs (functions, attributes, keywords), the longest first.
        local: names of its variables, the longest first.
    """

    implementation: Implementation
    qualname: str
    source: str
    statements: tuple[Statement, ...]
    lines: frozenset[str]
    outer: tuple[bytes, ...]
    local: tuple[bytes, ...]

    @property
    def name(self) -> str:
        """Last part of the qualified name."""
        return self.qualname.rpartition(".")[2]

    @property
    def has_telling_name(self) -> bool:
        """Whether a function of the same name is probably the same function."""
        return self.name not in COMMON_NAMES and not self.name.startswith("__")

    @cached_property
    def weight(self) -> float:
        """How much its statements tell."""
        return sum(item.weight for item in self.statements)

    @cached_property
    def traces(self) -> tuple[Trace, ...]:
        """What a copy leaves in any case: most of the names it needs, or of the variables."""
        outer = Trace.of(self.outer, 0.4 if len(self.outer) >= 3 else 0.0)
        local = Trace.of(self.local, 0.4)
        return (outer, local) if len(self.local) >= 3 else (outer,)

    @cached_property
    def words(self) -> frozenset[bytes]:
        """The words of all traces."""
        return frozenset().union(*[trace.names for trace in self.traces])

    @cached_property
    def least(self) -> int:
        """How many words are needed to leave any trace."""
        return min(trace.least for trace in self.traces)

    @cached_property
    def tokens(self) -> Counter[str]:
        """What its statements use, in whatever order."""
        return tokens.profile(self.statements)

    def may_be_in(self, data: bytes) -> bool:
        """A quick look that rules most places out."""
        return bool(self._glance.left(data, self._glance.words(data)))

    @cached_property
    def _glance(self) -> Glance:
        return Glance([self])

    def share_of_lines(self, found: set[str]) -> float:
        """Share of the telling lines that a text has."""
        return len(self.lines & found) / len(self.lines) if self.lines else 0.0


class Glance:
    """A first look at files, in one pass over each.

    Args:
        solutions: what is looked for.
        more: words that are looked for in the same pass.
    """

    def __init__(self, solutions: Sequence[Solution], more: frozenset[bytes] = frozenset()) -> None:
        self._solutions = solutions
        self._search = searched(*[one.words for one in solutions], more)
        self._least = min((one.least for one in solutions), default=0)

    def words(self, data: bytes) -> set[bytes]:
        """Which words stand in some bytes, by themselves or in longer ones."""
        return self._search.within(data)

    def left(self, data: bytes, words: Set[bytes]) -> list[tuple[Solution, Trace]]:
        """The solutions that may stand in some bytes, each with the traces that are left of it there.

        Args:
            words: what :meth:`words` found.
        """
        if len(words) < self._least:  # so with most of all files
            return []
        found = []
        for one in self._solutions:
            parts = [trace.within(data, words) for trace in one.traces]
            found += [(one, part) for part in parts if part is not None]
        return found


def solution(
    implementation: Implementation,
    qualname: str,
    golden: Module,
    node: FunctionNode,
    masked: FunctionNode | None,
) -> Solution | None:
    """The golden function in comparable forms; None when it has nothing that tells anything."""
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
    outer = {
        token[1:] for token in (rare if len(rare) >= 4 else outer)
    } - own  # a copy may call these otherwise
    local = {name for item in statements for name in item.names}
    last = node.end_lineno or node.lineno
    return Solution(
        implementation,
        qualname,
        "\n".join(golden.line_text(number) for number in range(first_line(node), last + 1)),
        tuple(statements),
        frozenset(_telling_lines(golden, node)),
        _words(outer),
        _words(local - {"self", "cls"}),
    )


def _words(names: set[str]) -> tuple[bytes, ...]:
    words = {word for name in names for word in _WORD.findall(name)}
    return tuple(word.encode() for word in sorted(words, key=lambda word: (-len(word), word))[:14])


def _telling_lines(golden: Module, node: FunctionNode) -> set[str]:
    """The lines of the body behind the docstring that compute something."""
    first = node.body[0]
    is_text = (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    )
    start = (first.end_lineno or first.lineno) + 1 if is_text else first.lineno
    texts = (golden.line_text(number) for number in range(start, (node.end_lineno or node.lineno) + 1))
    found = (text_lines.squeezed(text) for text in texts if not text_lines.is_comment(text))
    return {line for line in found if text_lines.tells(line)}
