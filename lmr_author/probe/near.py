"""Which functions that name the target ran: what tells why it was never called.

Only files of the repository that contain the target's name are compiled here, and only functions that name it get
a call at their start; they are what would have called it, so its cost is theirs.
"""

from __future__ import annotations

import ast
import builtins
import importlib.machinery
import os
from types import CodeType
from typing import Any, Dict, Iterator, List, Optional, Set, Tuple

MARK = "__lmr_near__"
"""Name in ``builtins`` of the function that notes a call, by number."""
_GENERAL = ("forward", "step", "run", "main", "fit", "train", "get", "update")
"""Method names that say nothing; the class's is looked for in their place."""


class Near:
    """Marks functions that name the target, while their files are imported.

    Attributes: ``functions`` (number → file, qualified name, line), ``hits`` (numbers of those that ran).
    """

    def __init__(self, tree: str, goal_file: str, qualname: str) -> None:
        self.tree, self.goal = tree + os.sep, os.path.realpath(goal_file)
        parts = qualname.split(".")
        general = parts[-1].startswith("__") or parts[-1] in _GENERAL
        self.name = parts[-2] if general and len(parts) > 1 else parts[-1]
        self.functions: Dict[int, Tuple[str, str, int]] = {}
        self.hits: Set[int] = set()

    def install(self) -> None:
        """Start watching imports."""
        setattr(builtins, MARK, self.hits.add)
        loader: Any = importlib.machinery.SourceFileLoader
        original = loader.get_code

        def get_code(own: Any, fullname: str) -> Any:
            code = self.code(own.path)
            return original(own, fullname) if code is None else code

        loader.get_code = get_code

    def code(self, path: str) -> Optional[CodeType]:
        """A file's code with marks; None for one that is none of ours, or does not name the target."""
        real = os.path.realpath(path)
        if not real.startswith(self.tree) or real == self.goal:
            return None
        try:
            with open(real, "rb") as file:
                source = file.read()
            if self.name.encode() not in source:
                return None
            tree = ast.parse(source, path)
            before = len(self.functions)
            place = os.path.relpath(real, self.tree).replace(os.sep, "/")
            for function, qualname in _functions(tree.body, ""):
                self._mark(function, qualname, place)
            return compile(tree, path, "exec", dont_inherit=True) if len(self.functions) > before else None
        except (OSError, SyntaxError, ValueError, RecursionError):
            return None

    def _mark(self, function: Any, qualname: str, place: str) -> None:
        if not any(self._names(node) for statement in function.body for node in ast.walk(statement)):
            return
        number = len(self.functions)
        self.functions[number] = (place, qualname, function.lineno)
        call = ast.parse("%s(%d)" % (MARK, number)).body[0]
        for node in ast.walk(call):
            ast.copy_location(node, function.body[0])
        function.body.insert(0 if ast.get_docstring(function, clean=False) is None else 1, call)

    def _names(self, node: ast.AST) -> bool:
        return getattr(node, "id", None) == self.name or getattr(node, "attr", None) == self.name

    def report(self) -> List[Dict[str, Any]]:
        """The functions that name the target, those that ran first."""
        listed = [
            {"file": file, "function": name, "line": line, "ran": number in self.hits}
            for number, (file, name, line) in self.functions.items()
        ]
        return sorted(listed, key=lambda item: not item["ran"])


def _functions(body: List[ast.stmt], above: str) -> Iterator[Tuple[Any, str]]:
    """Functions and methods, not those inside functions."""
    for statement in body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield statement, above + statement.name
        elif isinstance(statement, ast.ClassDef):
            yield from _functions(statement.body, above + statement.name + ".")
