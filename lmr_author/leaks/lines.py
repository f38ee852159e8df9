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


def added_comments(module: Module, original: Module) -> set[str]:
    """The lines of a module's comments and texts, without blanks, that those of another one have not."""
    known = _comments(original)
    new = _comments(module) - known
    return {squeezed(line) for line in new} - {squeezed(line) for line in known} if new else set()


def _comments(module: Module) -> set[str]:
    """The lines of a module's comments and of its texts of several lines, and its bare texts."""
    lines = {line for line in module.text.splitlines() if is_comment(line)}
    for node in each(module.tree, ast.Constant):
        if isinstance(node.value, str) and "\n" in node.value:
            lines.update(node.value.splitlines())
    for bare in each(module.tree, ast.Expr):
        if isinstance(bare.value, ast.Constant) and isinstance(bare.value.value, str):
            lines.add(bare.value.value)
    return lines
