"""Ask jedi what only the type of an object tells: in a process of its own, with a time limit."""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from lmr_author import processes, source
from lmr_author.errors import LmrError
from lmr_author.masking import locate
from lmr_author.masking.dotted import Use
from lmr_author.masking.imports import Found, Imports

SECONDS = 15.0
"""For all names of one target; what is not answered by then stays open."""

SECONDS_PER_NAME = 2.0

MAX_NAMES = 100
WORKER = Path(__file__).with_name("jedi_worker.py")

_BINDS = re.compile(rb"\b(?:def|class)\s+(\w+)|^[ \t]*(?:self\.)?(\w+)\s*[:=]", re.MULTILINE)


def ask_jedi(repository: Path, module: source.Module, uses: Sequence[Use]) -> Iterator[tuple[Use, Found]]:
    """Where names are defined, as far as jedi can tell: definitions in other files of the repository only.

    Only names that some file of the repository binds are asked about: nobody else's ``tensor.view``.
    """
    asked = [use for use in uses if isinstance(use.node, ast.Attribute)]
    if asked:
        known = bound_anywhere(repository)
        asked = [use for use in asked if use.parts[-1].rpartition(".")[2] in known][:MAX_NAMES]
    if not asked:
        return
    root = repository.resolve()
    for number, found in _answers(_run(root, module, asked)):
        for path, name, kind, line in found:
            place = Path(path)
            if kind in ("function", "class", "statement", "property") and place.is_relative_to(root):
                relative = place.relative_to(root).as_posix()
                node = _statement_at(repository, relative, line) if relative != module.name else None
                if node is not None:
                    yield asked[number], Found(relative, name, node)


def bound_anywhere(repository: Path) -> set[str]:
    """Every name that a function, class, assignment or ``self.name =`` of the repository binds."""
    names: set[str] = set()
    for path in locate.python_files(repository):
        try:
            found = _BINDS.findall(path.read_bytes())
        except OSError:
            continue
        names |= {(one or other).decode() for one, other in found if (one or other).isascii()}
    return names


def _run(root: Path, module: source.Module, uses: Sequence[Use]) -> bytes:
    request = {
        "repository": str(root),
        "path": str(root / module.name),
        "code": module.text,
        "roots": [str(root / folder) for folder in Imports(root).roots(module.name)],
        "positions": [_position(module, use.node) for use in uses],
        "seconds": SECONDS_PER_NAME,
        # The interpreter's own packages, to find jedi in; never a folder of the repository.
        "sys_path": [
            item for item in sys.path if Path(item).is_absolute() and not Path(item).is_relative_to(root)
        ],
    }
    argv = [sys.executable, "-I", str(WORKER)]
    try:
        done = processes.run(argv, cwd=root, seconds=SECONDS, stdin=json.dumps(request).encode())
    except LmrError:
        return b""
    return done.stdout


def _answers(output: bytes) -> Iterator[tuple[int, list[Any]]]:
    for line in output.splitlines():
        try:
            number, found = json.loads(line)
        except ValueError:
            continue  # the last line of a worker that was stopped
        yield number, found


def _statement_at(repository: Path, path: str, line: int) -> ast.stmt | None:
    try:
        module = source.Module.parse((repository / path).read_bytes(), path)
    except (LmrError, OSError):
        return None
    return next(
        (node for node in ast.walk(module.tree) if isinstance(node, ast.stmt) and node.lineno == line), None
    )


def _position(module: source.Module, node: ast.expr) -> tuple[int, int]:
    """Line and column, in characters, at which the last name of a dotted expression starts."""
    line, column = node.end_lineno or node.lineno, node.end_col_offset or 0
    end = module.offset(line, column) - module.line_start(line)
    name = node.attr if isinstance(node, ast.Attribute) else ""
    return line, max(0, end - len(name))
