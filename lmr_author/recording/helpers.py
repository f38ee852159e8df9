"""What the annotator wrote beside the tests: functions that build objects, and functions that compare.

They are read here and run in a sandbox only.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lmr_author import code, files
from lmr_author.errors import LmrError
from lmr_author.judging import functions_of
from lmr_author.probe.document import Document, walk
from lmr_author.probe.outcome import as_written
from lmr_author.task.recording import CHECKERS, FIXTURES

_STEPS = re.compile(r"\w+(?:\.\w+)*")


@dataclass(frozen=True)
class Helpers:
    """The annotator's files beside the tests.

    Attributes:
        fixtures: ``unit_test/fixtures.py``, None where there is none.
        fixture_names: the objects that it builds.
        checkers: ``unit_test/checkers.py``, None where there is none.
        checker_names: its functions.
    """

    fixtures: Path | None = None
    fixture_names: tuple[str, ...] = ()
    checkers: Path | None = None
    checker_names: tuple[str, ...] = ()


NO_HELPERS = Helpers()


def read(folder: Path) -> Helpers:
    """The helpers in a task's ``unit_test/``.

    Raises:
        LmrError: one cannot be read, or a fixture needs arguments.
    """
    fixtures, checkers = _functions(folder / FIXTURES), _functions(folder / CHECKERS)
    for name, function in fixtures.items():
        arguments = function.args
        needed = len(arguments.posonlyargs) + len(arguments.args) - len(arguments.defaults)
        if needed or any(default is None for default in arguments.kw_defaults):
            raise LmrError(
                f"{FIXTURES}: {name} needs arguments (line {function.lineno})",
                "a fixture is called without any; begin the name of what is no fixture with _",
            )
    return Helpers(
        folder / FIXTURES if fixtures else None,
        tuple(fixtures),
        folder / CHECKERS if checkers else None,
        tuple(checkers),
    )


def _functions(path: Path) -> dict[str, ast.FunctionDef]:
    if not path.is_file() or path.is_symlink():
        return {}
    try:
        tree = code.parse(path.read_bytes(), path.name)
    except (SyntaxError, ValueError) as error:
        raise LmrError(f"unit_test/{path.name} is no Python: {error}", "correct it") from error
    return {
        item.name: item
        for item in tree.body
        if isinstance(item, ast.FunctionDef) and not item.name.startswith("_")
    }


def check_functions(checks: Mapping[str, Mapping[str, Any]], helpers: Helpers) -> None:
    """Every function that a check names is there. Raises LmrError."""
    for path, name in functions_of(checks).items():
        if name not in helpers.checker_names:
            known = ", ".join(helpers.checker_names) or "none"
            raise LmrError(
                f"unit_test/{CHECKERS} has no function {name}, which is to compare {path} (it has: {known})",
                f"write it: def {name}(expected, actual): return True where they agree, else False or a text",
            )


def digests(
    helpers: Helpers, documents: Iterable[Document], checkers: Iterable[Mapping[str, Mapping[str, Any]]]
) -> dict[str, str]:
    """File → SHA-256, for the helpers that some cases need.

    Args:
        documents: the cases' inputs.
        checkers: the cases' checkers.
    """
    needed = {}
    if helpers.fixtures and any(uses_fixtures(item) for item in documents):
        needed[FIXTURES] = files.sha256_file(helpers.fixtures)
    if helpers.checkers and any(functions_of(item) for item in checkers):
        needed[CHECKERS] = files.sha256_file(helpers.checkers)
    return needed


def uses_fixtures(document: Document) -> bool:
    """Whether a document names a fixture."""
    return any(isinstance(node, dict) and node.get("$") == "fixture" for _, node in walk(document.tree))


def fixture_name(place: str) -> str | None:
    """The fixture that would provide what is at a place, by its path or a text that begins with it; None for none.

    It has the name of the last public step: for ``tokenizer._lock`` that is ``tokenizer``.
    """
    match = _STEPS.match(as_written(place))
    steps = [step for step in match.group().split(".") if step and not step.startswith("_")] if match else []
    return steps[-1] if steps and steps[-1] not in ("self", "value") else None


def fixture_advice(places: Iterable[str]) -> str:
    """How to provide what could not be stored; "" for no advice."""
    names = dict.fromkeys(name for name in map(fixture_name, places) if name)
    if not names:
        return ""
    functions = ", ".join(f"`def {name}(): …`" for name in list(names)[:3])
    return (
        f"have it built instead: write {functions}, which returns such an object, into unit_test/{FIXTURES} "
        "and record again; or drive the function with values that can be stored"
    )
