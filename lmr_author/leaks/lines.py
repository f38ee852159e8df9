"""Lines of code without their blanks: how text is compared that cannot be taken apart as statements."""

from __future__ import annotations

import ast
import re

from lmr_author.source import Module, each

_PREFIX = re.compile(r"^[\s#>+\-*/|;!\"']+")


def squeezed(line: str) -> str:
    """A line of code without blanks, and without what a comment, quote or patch puts in front of it."""
    return "".join(_PREFIX.sub("", line, count=1).split())


def tells(line: str) -> bool:
    """Whether a line without blanks is telling: long enough, and a computation."""
    return len(line) >= 10 and bool(re.search(r"[=(\[.]", line)) and bool(re.search(r"[A-Za-z_]{2}", line))


def is_comment(line: str) -> bool:
    """Whether a line is nothing but a comment."""
    return line.lstrip().startswith("#")


def comment_lines(module: Module) -> set[str]:
    """The lines of a module's comments and of its texts of several lines, without blanks."""
    lines = {squeezed(line) for line in module.text.splitlines() if is_comment(line)}
    for node in each(module.tree, ast.Constant, ast.Expr):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "\n" in node.value:
            lines |= {squeezed(line) for line in node.value.splitlines()}
        elif (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            lines.add(squeezed(node.value.value))
    return lines
