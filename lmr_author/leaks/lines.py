"""Compare lines of code without their blanks, for text that cannot be parsed as statements."""

from __future__ import annotations

import ast
import re

from lmr_author.code import Module, each

_PREFIX = re.compile(r"^[\s#>+\-*/|;!\"']+")


def squeezed(line: str) -> str:
    """Return a line of code without blanks and without the marks of a comment, quote or patch before it."""
    return "".join(_PREFIX.sub("", line, count=1).split())


def tells(line: str) -> bool:
    """Recognize a telling line (without blanks): long enough, and a computation."""
    return len(line) >= 10 and bool(re.search(r"[=(\[.]", line)) and bool(re.search(r"[A-Za-z_]{2}", line))


def is_comment(line: str) -> bool:
    """Recognize a line that is nothing but a comment."""
    return line.lstrip().startswith("#")


def added_comments(module: Module, original: Module) -> set[str]:
    """Return the lines of a module's comments and texts, without blanks, that another one does not have."""
    known = _comments(original)
    new = _comments(module) - known
    return {squeezed(line) for line in new} - {squeezed(line) for line in known} if new else set()


def _comments(module: Module) -> set[str]:
    """Return the lines of a module's comments and multi-line texts, and its bare texts."""
    lines = {line for line in module.text.splitlines() if is_comment(line)}
    for node in each(module.tree, ast.Constant):
        if isinstance(node.value, str) and "\n" in node.value:
            lines.update(node.value.splitlines())
    for bare in each(module.tree, ast.Expr):
        if isinstance(bare.value, ast.Constant) and isinstance(bare.value.value, str):
            lines.add(bare.value.value)
    return lines
