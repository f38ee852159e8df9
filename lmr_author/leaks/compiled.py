"""Find solutions in compiled Python files by the names and texts in their bytes.

A ``.pyc`` stores every name behind its length, in all versions of Python, damaged files included; nothing is
unmarshalled, which would not be safe (``marshal.loads`` can crash the interpreter on hostile data).
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import PurePosixPath

from lmr_author.code import FunctionNode, Module

SHARE = 0.6
"""Share of the telling names that makes a compiled file of the goal file the golden's."""
SHARE_ELSEWHERE = 0.9
"""The same for files of another name, and their share of all names: a library's plain version lacks the new ones."""
LEAST_ELSEWHERE = 6
"""Telling names that a golden needs to be known in a file of another name."""
MASKED = b"NotImplementedError"


@dataclass(frozen=True)
class Names:
    """The names and texts of a golden function.

    Attributes:
        stems: names of the golden and the goal file, without suffix.
        every: all of them.
        telling: those that nothing in the masked file has.
        raises: the masked file names ``NotImplementedError``, and the golden file does not.
    """

    stems: frozenset[str]
    every: frozenset[bytes]
    telling: frozenset[bytes]
    raises: bool

    def share_in(self, path: str, data: bytes) -> float:
        """Return the share of the names in a compiled file, 0 if it is not the golden's."""
        own = PurePosixPath(path).name.partition(".")[0] in self.stems
        found = _share(self.telling, data)
        if own and len(self.telling) >= 2:
            return found if found >= SHARE else 0.0
        if own:  # the masked file has all of its names too, but not without the exception
            return float(self.raises and not _holds(data, MASKED) and _share(self.every, data) == 1.0)
        if len(self.telling) < LEAST_ELSEWHERE or found < SHARE_ELSEWHERE:
            return 0.0
        return found if _share(self.every, data) >= SHARE_ELSEWHERE else 0.0


def names(golden: Module, node: FunctionNode, goal: Module | None) -> Names:
    """Return the names by which a compiled golden function is known.

    Args:
        golden: the golden file.
        node: the function in it.
        goal: the masked file; None when there is none, or the function is not masked in it.
    """
    every = _names(node) - {node.name.encode()}
    left = _names(goal.tree) if goal is not None else frozenset[bytes]()
    stems = {PurePosixPath(one.name).stem for one in (golden, goal) if one is not None}
    return Names(frozenset(stems), every, every - left, MASKED in left and MASKED not in golden.data)


def _names(tree: ast.AST) -> frozenset[bytes]:
    """Return the names, and the short texts, that a compiled file keeps of some code; annotations left out."""
    found: set[str] = set()
    stack: list[ast.AST] = [tree]
    while stack:
        node = stack.pop()
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
                found.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.keyword(arg=str(name)):
                found.add(name)
            case ast.Constant(value=str(text)) if 3 <= len(text) < 256:
                found.add(text)
        kept_out = {getattr(node, "annotation", None), getattr(node, "returns", None)}
        stack += [child for child in ast.iter_child_nodes(node) if child not in kept_out]
    return frozenset(name.encode() for name in found if name.isascii() and len(name) >= 3)


def _share(wanted: frozenset[bytes], data: bytes) -> float:
    return sum(_holds(data, name) for name in wanted) / len(wanted) if wanted else 0.0


def _holds(data: bytes, name: bytes) -> bool:
    """Find a name behind its length: of one byte, or of four in Python 2 and for long texts."""
    return bytes([len(name)]) + name in data or len(name).to_bytes(4, "little") + name in data
