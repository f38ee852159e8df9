"""What functions of a test's own open, for each name that they are given: ``load("expected.json")``."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from lmr_author.checks.file_uses import FileUse, file_uses
from lmr_author.checks.path_texts import PathTexts
from lmr_author.checks.syntax import dotted, single_assignments
from lmr_author.source import each


@dataclass(frozen=True)
class Openers:
    """The functions of a test, by name; one that has a namesake is none of them.

    Attributes:
        functions: name → function or method.
        elsewhere: names of functions in its helper modules.
    """

    functions: Mapping[str, ast.FunctionDef]
    elsewhere: frozenset[str]

    @classmethod
    def of(cls, tree: ast.Module, helpers: Iterable[ast.Module]) -> Openers:
        """Those of a test, and the names of those of its helper modules."""
        own = each(tree, ast.FunctionDef)
        names = [item.name for item in own]
        return cls(
            {item.name: item for item in own if names.count(item.name) == 1},
            frozenset(item.name for module in helpers for item in each(module, ast.FunctionDef))
            | frozenset(names),
        )

    def defines(self, name: str) -> bool:
        """Whether what is called is a function of the test or of its helpers, whatever library has one of that name."""
        plain = name.removeprefix("self.").removeprefix("cls.")
        return "." not in plain and plain in self.elsewhere

    def uses(self, calls: Iterable[tuple[ast.Call, str]], texts: PathTexts) -> Iterator[FileUse]:
        """The files that these functions open where they are called with a name that is written down."""
        for node, name in calls:
            function = self.functions.get(name.removeprefix("self.").removeprefix("cls."))
            given = _given(node, function) if function is not None and self.defines(name) else {}
            if function is None or not given:
                continue
            inner = [(call, dotted(call.func)) for call in each(function, ast.Call)]
            inner = [(call, called) for call, called in inner if not self.defines(called)]
            own = {**texts.environment, **single_assignments(function)}
            open_anyway = {use.path for use in file_uses(inner, replace(texts, environment=own).of)}
            for use in file_uses(inner, replace(texts, environment={**own, **given}).of):
                if use.path not in open_anyway:
                    yield replace(use, line=node.lineno)


def _given(call: ast.Call, function: ast.FunctionDef) -> dict[str, ast.expr]:
    """Parameter → the text it is given."""
    parameters = [item.arg for item in function.args.args]
    if parameters[:1] in (["self"], ["cls"]):
        parameters = parameters[1:]
    pairs = [
        *zip(parameters, call.args, strict=False),
        *((item.arg, item.value) for item in call.keywords if item.arg in parameters),
    ]
    return {name: value for name, value in pairs if name and isinstance(value, ast.Constant | ast.JoinedStr)}
