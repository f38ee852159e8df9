"""What an expression of a test says about a path, without running it."""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass

from lmr_author.checks.syntax import dotted

HOME = "@"
"""Stands for the repository's folder in the paths below: tests run there."""

_PATH_FUNCTIONS = frozenset(
    {
        "abspath",
        "realpath",
        "normpath",
        "expanduser",
        "Path",
        "PurePath",
        "str",
        "resolve",
        "absolute",
        "fspath",
    }
)

_NAMED = {"os.pardir": "..", "os.path.pardir": "..", "os.curdir": ".", "os.path.curdir": ".", "os.sep": "/"}


@dataclass(frozen=True)
class PathTexts:
    """Reads path expressions of one test.

    Attributes:
        relative: the test's own path, relative to the repository: what ``__file__`` is.
        environment: names that are assigned exactly once, with what they are set to.
    """

    relative: str
    environment: Mapping[str, ast.expr]

    def of(self, node: ast.expr | None) -> str | None:
        """What a path expression says, in the form of ``FileUse.path``; None when nothing of it is known."""
        text = self._path(node, 0)
        if text is None or not text.strip("?/"):
            return None
        if not text.startswith(("@", "?", "/")):
            text = f"{HOME}/{text}"
        return posixpath.normpath(text.replace("\\", "/"))

    def _path(self, node: ast.expr | None, depth: int) -> str | None:
        if node is None or depth > 12:
            return None
        match node:
            case ast.Constant(value=str(text)):
                return text
            case ast.Name(id="__file__"):
                return f"{HOME}/{self.relative}"
            case ast.Name(id=name):
                return self._path(self.environment.get(name), depth + 1)
            case ast.BinOp(left=template, op=ast.Mod(), right=right):
                return self._filled(
                    template, r"%[sd]", right.elts if isinstance(right, ast.Tuple) else [right], depth
                )
            case ast.BinOp(op=ast.Div() | ast.Add()):
                return self._joined(node, depth)
            case ast.JoinedStr():
                return self._formatted(node, depth)
            case ast.Attribute() if dotted(node) in _NAMED:
                return _NAMED[dotted(node)]
            case ast.Attribute(value=below, attr="parent" | "parents"):
                inner = self._path(below, depth + 1)
                return posixpath.dirname(inner) if inner else None
            case ast.Subscript(
                value=ast.Attribute(value=below, attr="parents"), slice=ast.Constant(value=int(up))
            ):
                return self._above(self._path(below, depth + 1), up)
            case ast.Call():
                return self._path_call(node, depth)
        return None

    def _joined(self, node: ast.BinOp, depth: int) -> str | None:
        """Two parts of a path, put together by ``/`` or ``+``."""
        left, right = self._path(node.left, depth + 1), self._path(node.right, depth + 1)
        if right is None:
            return None
        if isinstance(node.op, ast.Div):
            return posixpath.join(left or "?", right)
        # A name without its ending, or a folder.
        unknown = "*" if right.startswith((".", "_", "-")) else "?/"
        return (left or unknown) + right

    def _formatted(self, node: ast.JoinedStr, depth: int) -> str | None:
        text = ""
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                known = self._path(part.value, depth + 1)
                text += known if known is not None else "*"
            elif isinstance(part, ast.Constant):
                text += str(part.value)
        return text

    def _filled(self, template: ast.expr, hole: str, values: list[ast.expr], depth: int) -> str | None:
        """A text with its holes, ``{}`` or ``%s``, filled in order; ``*`` for what is not known."""
        if not isinstance(template, ast.Constant) or not isinstance(template.value, str):
            return None
        pieces = re.split(hole, template.value)
        if len(pieces) != len(values) + 1:
            return None
        known = [self._path(value, depth + 1) or "*" for value in values]
        return pieces[0] + "".join(value + piece for value, piece in zip(known, pieces[1:], strict=True))

    @staticmethod
    def _above(text: str | None, up: int) -> str | None:
        for _ in range(min(up, 20) + 1):
            text = posixpath.dirname(text) if text is not None else None
        return text

    def _path_call(self, node: ast.Call, depth: int) -> str | None:
        name = dotted(node.func).rpartition(".")[2]
        inner = node.func.value if isinstance(node.func, ast.Attribute) else None
        if name == "format" and inner is not None and not node.keywords:
            return self._filled(inner, r"\{\d?\}", node.args, depth)
        if name == "getcwd" or (name == "cwd" and not node.args):
            return HOME
        if name == "dirname" and node.args:
            text = self._path(node.args[0], depth + 1)
            return posixpath.dirname(text) if text else None
        if name in ("join", "joinpath") and node.args:
            first = [inner] if name == "joinpath" and inner is not None else []
            parts = [self._path(item, depth + 1) for item in [*first, *node.args]]
            if parts[-1] is None:
                return None
            known = [part if part is not None else "?" for part in parts]
            return "?/" + str(known[-1]) if "?" in known[:-1] else posixpath.join(*known)
        if name == "getenv" or dotted(node.func).endswith("environ.get"):  # as where nobody sets it
            return self._path(node.args[1], depth + 1) if len(node.args) > 1 else None
        if name in _PATH_FUNCTIONS:
            return self._path(node.args[0] if node.args else inner, depth + 1)
        return None
