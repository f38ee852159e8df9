"""Where the solution's code stands a second time: by structure in Python, by lines in any text."""

from __future__ import annotations

import ast
import copy
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from lmr_author.checks import bodies
from lmr_author.model import Implementation
from lmr_author.source import FunctionNode, Module

EXACT_ANY_NAME = 0.7
"""Share of the solution's statements that make any piece of code a copy."""
EXACT_SAME_NAME = 0.5
"""The same for a function of the same, telling name."""
RENAMED = 0.85
"""The same with all local names blanked out."""
LINES = 0.6
"""Share of the solution's telling lines that make a text a copy."""

COMMON_NAMES = frozenset(
    [
        "forward",
        "backward",
        "step",
        "loss",
        "main",
        "run",
        "train",
        "test",
        "update",
        "call",
        "get",
        "set",
        "init",
        "reset",
        "__init__",
        "__call__",
        "__getitem__",
        "__len__",
    ]
)
_WORD = re.compile(r"[A-Za-z_]\w{2,}")
_PREFIX = re.compile(r"^[\s#>+\-*/|;!\"']+")


@dataclass(frozen=True)
class Solution:
    """A golden function, in the forms it is looked for.

    Attributes:
        exact, renamed: statement forms with their number; ``renamed`` has local names blanked.
        lines: telling source lines without blanks.
        outer_tokens, local_tokens: identifiers that a copy would contain, longest first.
    """

    implementation: Implementation
    qualname: str
    exact: Counter[str]
    renamed: Counter[str]
    lines: frozenset[str]
    outer_tokens: tuple[bytes, ...]
    local_tokens: tuple[bytes, ...]

    @property
    def name(self) -> str:
        """Last part of the qualified name."""
        return self.qualname.rpartition(".")[2]

    @cached_property
    def size(self) -> int:
        """Number of statements."""
        return sum(self.exact.values())

    def may_be_in(self, data: bytes) -> bool:
        """A quick look that rules most files out: enough of the identifiers occur."""
        for tokens, share in ((self.outer_tokens, 0.6), (self.local_tokens, 0.6)):
            if len(tokens) >= 3 and sum(token in data for token in tokens) >= share * len(tokens):
                return True
        both = self.outer_tokens + self.local_tokens
        few = len(self.outer_tokens) < 3 and len(self.local_tokens) < 3
        return few and bool(both) and all(token in data for token in both)

    def share_of(self, forms: Counter[str], *, renamed: bool = False) -> float:
        """How much of the solution occurs in some code, weighted by the length of statements, 0 to 1."""
        own = self.renamed if renamed else self.exact
        total = sum(len(form) * count for form, count in own.items())
        matched = sum(len(form) * min(count, forms[form]) for form, count in own.items() if form in forms)
        return matched / total if total else 0.0

    def is_copied_in(self, node: FunctionNode | ast.Module) -> float:
        """Share of the solution in a function or a module's top level when that makes it a copy, else 0."""
        name = getattr(node, "name", "")
        exact = self.share_of(_forms(node))
        if self.size < 3:
            same = name == self.name and self.name not in COMMON_NAMES
            long = sum(map(len, self.exact)) >= 60
            return exact if exact == 1.0 and (same or long) else 0.0
        telling = name == self.name and self.name not in COMMON_NAMES
        if exact >= (EXACT_SAME_NAME if telling else EXACT_ANY_NAME):
            return exact
        if self.size >= 4:
            renamed = self.share_of(_forms(node, blank_locals=True), renamed=True)
            if renamed >= RENAMED:
                return renamed
        return 0.0

    def share_of_lines(self, lines: Iterable[str]) -> float:
        """Share of the solution's telling lines that a text has."""
        if not self.lines:
            return 0.0
        return len(self.lines.intersection(lines)) / len(self.lines)


def solution(
    implementation: Implementation,
    qualname: str,
    golden: Module,
    node: FunctionNode,
    masked: FunctionNode | None,
) -> Solution | None:
    """The golden function in comparable forms; None when it has no statement that tells anything."""
    exact = _forms(node)
    if masked is not None:
        exact -= _forms(masked)
    if not exact:
        return None
    first, last = node.body[0].lineno, node.end_lineno or node.lineno
    lines = {squeezed(golden.line_text(number)) for number in range(first, last + 1)}
    docstring = node.body[0] if bodies.is_text(node.body[0]) else None
    if docstring is not None:
        code_lines = range((docstring.end_lineno or docstring.lineno) + 1, last + 1)
        lines = {
            squeezed(golden.line_text(number))
            for number in code_lines
            if not _is_comment(golden.line_text(number))
        }
    else:
        lines = {
            squeezed(golden.line_text(number))
            for number in range(first, last + 1)
            if not _is_comment(golden.line_text(number))
        }
    local = bodies.bound_names(node)
    words = set(_WORD.findall("\n".join(exact)))
    outer = sorted(
        words - local - {"self", "None", "True", "False"} - _KEYWORDS, key=lambda word: (-len(word), word)
    )
    inner = sorted((words & local) - {"self"}, key=lambda word: (-len(word), word))
    return Solution(
        implementation,
        qualname,
        exact,
        _forms(node, blank_locals=True),
        frozenset(line for line in lines if _tells(line)),
        tuple(word.encode() for word in outer[:12]),
        tuple(word.encode() for word in inner[:12]),
    )


_KEYWORDS = frozenset(
    [
        "for",
        "not",
        "and",
        "with",
        "return",
        "def",
        "class",
        "elif",
        "else",
        "import",
        "from",
        "while",
        "lambda",
        "yield",
        "try",
        "except",
        "raise",
    ]
)


def _is_comment(line: str) -> bool:
    return line.lstrip().startswith("#")


def _tells(line: str) -> bool:
    """Whether a line without blanks is telling: long enough, and a computation."""
    return len(line) >= 10 and bool(re.search(r"[=(\[.]", line)) and bool(re.search(r"[A-Za-z_]{2}", line))


def squeezed(line: str) -> str:
    """A line of code without blanks, and without what a comment, quote or patch puts in front of it."""
    return "".join(_PREFIX.sub("", line, count=1).split())


def _forms(node: FunctionNode | ast.Module, *, blank_locals: bool = False) -> Counter[str]:
    """Source forms of the statements of a function, or of a module's top level, that compute something."""
    body = node.body if isinstance(node, ast.Module) else bodies.statements(node)
    if isinstance(node, ast.Module):
        body = [
            item
            for item in body
            if not isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        ]
    names = bodies.bound_names(node) if blank_locals and not isinstance(node, ast.Module) else set()
    if blank_locals and isinstance(node, ast.Module):
        names = {
            item.id
            for item in ast.walk(node)
            if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store)
        }
    found: Counter[str] = Counter()
    for _, item in bodies.pieces(body):
        if bodies.is_trivial(item) or isinstance(item, ast.Raise):
            continue
        text = _source(_blank(item, names) if names else item)
        if text and not (isinstance(item, ast.Return) and len(text) < 10):
            found[text] += 1
    return found


def _blank(node: ast.AST, names: set[str]) -> ast.AST:
    new = copy.deepcopy(_head(node))
    for item in ast.walk(new):
        if isinstance(item, ast.Name) and item.id in names and item.id != "self":
            item.id = "_"
        elif isinstance(item, ast.arg) and item.arg in names:
            item.arg = "_"
    return new


def _head(node: ast.AST) -> ast.AST:
    """A compound statement without its blocks; anything else as it is."""
    if isinstance(node, ast.If | ast.While):
        return node.test
    if isinstance(node, ast.For | ast.AsyncFor):
        return ast.Tuple(elts=[node.target, node.iter], ctx=ast.Load())
    if isinstance(node, ast.With | ast.AsyncWith):
        return ast.Tuple(elts=[item.context_expr for item in node.items], ctx=ast.Load())
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return node.args
    if isinstance(node, ast.ClassDef):
        return ast.Name(id=node.name, ctx=ast.Load())
    return node


def _source(node: ast.AST) -> str:
    kind = (
        type(node).__name__
        if isinstance(node, ast.If | ast.While | ast.For | ast.AsyncFor | ast.With | ast.AsyncWith)
        else ""
    )
    return f"{kind} {ast.unparse(_head(node))}".strip()


def functions(tree: ast.Module) -> Iterator[FunctionNode | ast.Module]:
    """Every function of a module, however nested, and the module's own top level."""
    yield tree
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def comment_lines(module: Module) -> set[str]:
    """The lines of a module's comments and of its texts of several lines, without blanks."""
    lines = {squeezed(line) for line in module.text.splitlines() if _is_comment(line)}
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "\n" in node.value:
            lines |= {squeezed(line) for line in node.value.splitlines()}
        elif (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            lines.add(squeezed(node.value.value))
    return lines


def notebook_source(data: bytes) -> str:
    """The cells of a Jupyter notebook as text; "" when it is none."""
    try:
        cells = json.loads(data).get("cells", [])
        sources = [cell.get("source", "") for cell in cells if isinstance(cell, dict)]
    except (ValueError, AttributeError, RecursionError):
        return ""
    joined = ["".join(map(str, source)) if isinstance(source, list) else str(source) for source in sources]
    return "\n".join(joined)
