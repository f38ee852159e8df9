"""What a repository imports, where nothing is declared.

Imports are read with ``ast``: unlike fawltydeps' own extraction this tells optional imports
(``try: … except ImportError``, ``if TYPE_CHECKING``) from needed ones, and says nothing on stderr.
"""

from __future__ import annotations

import ast
import json
import re
import sys
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from packaging.utils import canonicalize_name

from lmr_author import files
from lmr_author.environment.recipe import Declared
from lmr_author.environment.requirements import read_text
from lmr_author.errors import LmrError
from lmr_author.processes import printable

MAX_FILES = 5000
_SKIPPED = re.compile(r"(^|/)(tests?|docs?|\.[^/]*)/|(^|/)(setup|conftest|test_[^/]*|[^/]*_test)\.py$", re.I)
_ASIDE = re.compile(
    r"(^|/)(examples?|bench[^/]*|demos?|scripts?|notebooks?|tools?|util(s|ity|ities)?|[^/]*comparison)/", re.I
)
_OLD_STANDARD = {
    "distutils",
    "imp",
    "asyncore",
    "cgi",
    "crypt",
    "telnetlib",
    "pipes",
    "nntplib",
    "pkg_resources",
}


@cache
def package_names() -> dict[str, str]:
    """Import name → package, where they differ; "" for a package that the index does not have."""
    data: dict[str, str] = json.loads(Path(__file__).with_name("import_names.json").read_text("utf-8"))
    return data


@dataclass(frozen=True)
class _Import:
    """An import: dotted name, line (notebook: cell), and whether it runs when the module is imported."""

    name: str
    line: int
    at_once: bool


def imported_packages(root: Path, *, at_once: bool = False) -> list[Declared]:
    """The packages that a repository's code needs, by their names on the package index, sorted.

    Args:
        at_once: only what the main code (no examples, scripts, notebooks) needs to be importable at all,
            and only packages whose name is sure.
    """
    sources = [path for path in files.walk(root) if path.suffix in (".py", ".ipynb")][:MAX_FILES]
    local = local_names(root, sources)
    found: dict[str, Declared] = {}
    for path in sources:
        relative = path.relative_to(root).as_posix()
        if _SKIPPED.search(relative) or (at_once and (path.suffix != ".py" or _ASIDE.search(relative))):
            continue
        for item in _imports(path):
            top = item.name.partition(".")[0]
            if top in found or top in local or _standard(top) or (at_once and not item.at_once):
                continue
            package = _package(item.name)
            sure = top in package_names()
            if package and (sure or not at_once):
                origin = f"import {top} in {printable(relative)}:{item.line}"
                found[top] = Declared(
                    canonicalize_name(package), package, origin, guessed=at_once or not sure
                )
    unique = {item.name: item for item in sorted(found.values(), key=lambda item: item.guessed, reverse=True)}
    return sorted(unique.values(), key=lambda item: item.name)


def local_names(root: Path, sources: list[Path]) -> set[str]:
    """Names that the repository itself can mean: every module and every folder of one, wherever it lies.

    Research code extends ``sys.path`` freely, so the place says little.
    """
    names = {path.stem for path in sources}
    for path in sources:
        names.update(path.relative_to(root).parts[:-1])
    return names


def _standard(name: str) -> bool:
    return name in sys.stdlib_module_names or name in _OLD_STANDARD


def _package(name: str) -> str:
    """The package of a module: by its longest known prefix (``google.protobuf``), else its first name."""
    parts = name.removesuffix(".*").split(".")
    for length in range(len(parts), 0, -1):
        known = package_names().get(".".join(parts[:length]))
        if known is not None:
            return known
    return parts[0] if re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", parts[0]) else ""


def _imports(path: Path) -> Iterator[_Import]:
    try:
        text = read_text(path)
        yield from _notebook(text) if path.suffix == ".ipynb" else _code(text)
    except (LmrError, SyntaxError, ValueError, RecursionError, MemoryError):
        return


def _notebook(text: str) -> Iterator[_Import]:
    data = json.loads(text)
    cells = data.get("cells", []) if isinstance(data, dict) else []
    for number, cell in enumerate(cells if isinstance(cells, list) else [], 1):
        if not isinstance(cell, dict) or cell.get("cell_type") != "code":
            continue
        source = cell.get("source", "")
        lines = ("".join(map(str, source)) if isinstance(source, list) else str(source)).splitlines()
        code = "\n".join("" if line.lstrip().startswith(("!", "%", "?")) else line for line in lines)
        try:
            yield from (replace(item, line=number) for item in _code(code))
        except (SyntaxError, ValueError):
            continue


def _code(text: str) -> Iterator[_Import]:
    """The imports of some code that must succeed: none under ``except ImportError`` or ``TYPE_CHECKING``."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # foreign code's invalid escapes are not our reader's business
        tree = ast.parse(text)
    stack: list[tuple[ast.AST, bool]] = [(tree, True)]
    while stack:
        node, at_once = stack.pop()
        below: Iterable[ast.AST] = ()
        if isinstance(node, ast.Import):
            yield from (_Import(alias.name, node.lineno, at_once) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level == 0 and node.module:
                # `from google.cloud import storage`: only the whole name tells the package.
                yield from (
                    _Import(f"{node.module}.{alias.name}", node.lineno, at_once) for alias in node.names
                )
        elif isinstance(node, ast.Try) and _handles_import_error(node):
            below = [*node.orelse, *node.finalbody]
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            below = node.orelse
        else:
            below = ast.iter_child_nodes(node)
            at_once = at_once and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        stack.extend((child, at_once) for child in below)


def _handles_import_error(node: ast.Try) -> bool:
    for handler in node.handlers:
        if handler.type is None:
            return True
        caught = {item.id for item in ast.walk(handler.type) if isinstance(item, ast.Name)}
        if caught & {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}:
            return True
    return False
