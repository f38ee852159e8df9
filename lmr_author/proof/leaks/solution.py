"""A golden function in searchable forms: statements, lines, and names in compiled files."""

from __future__ import annotations

import ast
import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from lmr_author.core.code import FunctionNode, Module, each, first_line
from lmr_author.core.task import Implementation
from lmr_author.proof.leaks.fragments import is_comment, is_telling, squeezed
from lmr_author.proof.leaks.statements import Statement, of_function, token_weight

LEAST_WEIGHT = 2.5
"""Functions with a smaller weight (``return self.x``) are too trivial to leak."""

COMMON_NAMES = frozenset(
    """
    forward backward step loss main run train test update call get set init reset build load save create
    make fit predict evaluate encode decode process compute apply collate collate_fn setup validate
    sample generate
    """.split()  # noqa: SIM905
)
"""Names of functions that do not identify one."""

NEEDED = 0.6
"""Share of a solution's used names, or of its variables, that a copy has."""
COMPILED, COMPILED_ELSEWHERE = 0.6, 0.9
"""Share of the distinctive names that identifies a compiled golden: named like the goal file, and otherwise."""
_MASKED = b"NotImplementedError"
_WORD = re.compile(r"[A-Za-z_]\w{2,}")


@dataclass(frozen=True)
class Solution:
    """A golden function.

    Attributes:
        source: its lines in the golden file.
        statements: its statements, without those that the masked function still has.
        lines: its distinctive lines without spaces and comments.
        needed: names that a copy needs: functions, attributes, keywords.
        variables: names of its variables.
    """

    implementation: Implementation
    qualname: str
    source: str
    statements: tuple[Statement, ...]
    lines: frozenset[str]
    needed: tuple[bytes, ...]
    variables: tuple[bytes, ...]
    compiled: CompiledNames

    @property
    def name(self) -> str:
        return self.qualname.rpartition(".")[2]

    @property
    def owner(self) -> str:
        return f".{self.qualname}".split(".")[-2]

    @property
    def has_telling_name(self) -> bool:
        return self.name not in COMMON_NAMES and not self.name.startswith("__")

    @cached_property
    def weight(self) -> float:
        return sum(statement.weight for statement in self.statements)

    def may_be_in(self, data: bytes) -> bool:
        """Quickly rule out most places: a copy has most of the needed names, or most of the variables."""
        share = NEEDED if len(self.needed) >= 3 else 1.0
        if _count(self.needed, data) >= share * len(self.needed):
            return True
        return len(self.variables) >= 3 and _count(self.variables, data) >= NEEDED * len(self.variables)


def _count(words: tuple[bytes, ...], data: bytes) -> int:
    return sum(word in data for word in words)


def solution_of(
    implementation: Implementation,
    qualname: str,
    golden: Module,
    node: FunctionNode,
    masked: FunctionNode | None,
    goal: Module | None,
) -> Solution | None:
    """Return the golden function in searchable forms; None if it is too small to be recognized.

    Args:
        masked: the masked function; None if it is not masked.
    """
    statements = _removed(node, masked)
    if sum(statement.weight for statement in statements) < LEAST_WEIGHT:
        return None
    used, variables = set[str](), set[str]()
    for statement in statements:
        used.update(token for token in statement.shape if token[0] in ".@")
        variables.update(statement.names)
    rare = {token for token in used if token_weight(token) == 1.0}
    own = {inner.name for inner in each(node, ast.FunctionDef, ast.ClassDef)}
    needed = {token[1:] for token in (rare if len(rare) >= 4 else used)} - own  # a copy may rename inner ones
    last = node.end_lineno or node.lineno
    return Solution(
        implementation,
        qualname,
        "\n".join(golden.line_text(number) for number in range(first_line(node), last + 1)),
        tuple(statements),
        frozenset(_telling_lines(golden, node)),
        _words(needed),
        _words(variables - {"self", "cls"}),
        compiled_names(golden, node, goal),
    )


def _removed(golden: FunctionNode, masked: FunctionNode | None) -> list[Statement]:
    remaining = Counter(statement.exact for statement in (of_function(masked) if masked else ()))
    removed = []
    for statement in of_function(golden):
        if remaining[statement.exact] > 0:
            remaining[statement.exact] -= 1
        else:
            removed.append(statement)
    return removed


def _words(names: set[str]) -> tuple[bytes, ...]:
    words = {word for name in names for word in _WORD.findall(name)}
    return tuple(word.encode() for word in sorted(words, key=lambda word: (-len(word), word))[:14])


def _telling_lines(golden: Module, node: FunctionNode) -> set[str]:
    first = node.body[0]
    documented = ast.get_docstring(node, clean=False) is not None
    start = (first.end_lineno or first.lineno) + 1 if documented else first.lineno
    texts = (golden.line_text(number) for number in range(start, (node.end_lineno or node.lineno) + 1))
    lines = {squeezed(text) for text in texts if not is_comment(text)}
    return set(filter(is_telling, lines))


# compiled files


@dataclass(frozen=True)
class CompiledNames:
    """The names and strings that identify a compiled golden function.

    A ``.pyc`` stores every name after its length in all versions of Python, so damaged files work too. It is not
    unmarshalled: ``marshal.loads`` can crash the interpreter on hostile data.

    Attributes:
        stems: names of the golden and the goal file, without suffix.
        every: all names.
        telling: names that the masked file lacks.
        raises: the masked file names ``NotImplementedError``, and the golden file does not.
    """

    stems: frozenset[str]
    every: frozenset[bytes]
    telling: frozenset[bytes]
    raises: bool

    def share_in(self, path: str, data: bytes) -> float:
        """Return the share of the names in a compiled file; 0 if it is not the golden's."""
        share = _share(self.telling, data)
        if PurePosixPath(path).name.partition(".")[0] in self.stems:
            if len(self.telling) >= 2:
                return share if share >= COMPILED else 0.0
            # The compiled masked file can have all names too, but also contains the exception.
            return float(self.raises and not _holds(data, _MASKED) and _share(self.every, data) == 1.0)
        if len(self.telling) < 6 or share < COMPILED_ELSEWHERE:
            return 0.0
        # A library's original version has the distinctive names too, but not the new arguments.
        return share if _share(self.every, data) >= COMPILED_ELSEWHERE else 0.0


def compiled_names(golden: Module, node: FunctionNode, goal: Module | None) -> CompiledNames:
    every = _names(node) - {node.name.encode()}
    left = _names(goal.tree) if goal is not None else frozenset[bytes]()
    stems = {PurePosixPath(module.name).stem for module in (golden, goal) if module is not None}
    return CompiledNames(
        frozenset(stems), every, every - left, _MASKED in left and _MASKED not in golden.data
    )


def _names(tree: ast.AST) -> frozenset[bytes]:
    names: set[str] = set()
    stack: list[ast.AST] = [tree]
    while stack:
        node = stack.pop()
        match node:
            case (
                ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name) | ast.keyword(arg=str(name))
            ):
                names.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.Constant(value=str(text)) if 3 <= len(text) < 256:
                names.add(text)
        kept_out = {getattr(node, "annotation", None), getattr(node, "returns", None)}
        stack += [child for child in ast.iter_child_nodes(node) if child not in kept_out]
    return frozenset(name.encode() for name in names if name.isascii() and len(name) >= 3)


def _share(wanted: frozenset[bytes], data: bytes) -> float:
    return sum(_holds(data, name) for name in wanted) / len(wanted) if wanted else 0.0


def _holds(data: bytes, name: bytes) -> bool:
    """Find a name after its length: one byte, or four in Python 2 and for long strings."""
    return bytes([len(name)]) + name in data or len(name).to_bytes(4, "little") + name in data
