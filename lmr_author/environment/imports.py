"""Imports, and the packages that they need.

Imports are read with ``ast``: unlike fawltydeps' own extraction this tells optional imports
(``try: … except ImportError``, ``if TYPE_CHECKING``) from needed ones, and says nothing on stderr.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from lmr_author.environment.recipe import Declared, Unused
from lmr_author.source import is_main_guard
from lmr_author.texts import printable

if TYPE_CHECKING:
    from lmr_author.environment.code import Code, SourceFile

_EXAMPLES = re.compile(
    r"(^|/)(examples?|bench[^/]*|demos?|notebooks?|experiments?/notebooks?)/|\.ipynb$", re.I
)
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


SAME_MODULE = {
    "opencv-python-headless": ("opencv-python", "opencv-contrib-python", "opencv-contrib-python-headless"),
    "faiss-cpu": ("faiss-gpu", "faiss"),
    "tensorflow": ("tensorflow-gpu", "tensorflow-cpu", "tf-nightly"),
    "pytorch-lightning": ("lightning",),
    "pillow": ("pillow-simd",),
    "onnxruntime": ("onnxruntime-gpu",),
    "python-levenshtein": ("levenshtein",),
    "psycopg2": ("psycopg2-binary",),
    "cupy-cuda12x": ("cupy", "cupy-cuda11x", "cupy-cuda102", "cupy-cuda110", "cupy-cuda111", "cupy-cuda113"),
    "triton": ("pytorch-triton",),
    "pycryptodome": ("pycrypto",),
    "mecab-python3": ("mecab-python", "mecab"),
    "umap-learn": ("umap",),
    "fschat": ("fastchat",),
}
"""Package → others that bring a module of the same name: one of them is enough."""


_SHORT = 3
"""Names of so many letters are in others by chance."""

_ELSEWHERE = frozenset({"google", "smdistributed", "torch_xla", "xla_bridge"})
"""Modules of other platforms: they are there where they can be used."""


@cache
def package_names() -> dict[str, str]:
    """Import name → package, where they differ; "" for a package that the index does not have."""
    data: dict[str, str] = json.loads(Path(__file__).with_name("import_names.json").read_text("utf-8"))
    return data


@dataclass(frozen=True)
class Import:
    """An import: dotted name, line (notebook: cell), and whether it runs when the module is imported."""

    name: str
    line: int
    at_once: bool


def imported_packages(code: Code, *, at_once: bool = False, parts: Sequence[str] = ()) -> list[Declared]:
    """The packages that a repository's code needs, by their names on the package index, sorted.

    What only examples and notebooks import counts when there is nothing else.

    Args:
        at_once: only what the main code (no examples, scripts, notebooks) needs to be importable at all,
            and only packages whose name is sure.
        parts: folders with requirements of their own, which count as examples do.
    """
    chosen = _main(code, parts)
    if at_once:
        chosen = [item for item in chosen if not _EXAMPLES.search(item.path) and not _ASIDE.search(item.path)]
    found: dict[str, Declared] = {}
    for item in chosen:
        for declared in _packages(item, code.local, at_once=at_once):
            known = found.get(declared.name)
            if known is None or (known.guessed and not declared.guessed):
                found[declared.name] = declared
    return sorted(found.values(), key=lambda item: item.name)


def imported_names(
    code: Code, parts: Sequence[str] = (), declared: Iterable[Declared] = ()
) -> frozenset[str]:
    """The packages without which some file of the main code cannot be imported, with those that can replace them.

    Of a module that is nobody's as far as we know, what is declared under a name like it may be the package:
    ``trak`` is traker's.
    """
    found: set[str] = set()
    unknown: set[str] = set()
    for source in _main(code, parts):
        for item in source.imports:
            top = item.name.partition(".")[0]
            if item.at_once and top not in code.local and not _standard(top):
                name = canonicalize_name(_package(item.name) or top)
                found |= {name, *SAME_MODULE.get(name, ())}
                if top not in package_names():
                    unknown.add(name)
    names = {item.name for item in declared}
    return frozenset(found | {name for name in names for one in unknown - names if _alike(one, name)})


def _alike(module: str, package: str) -> bool:
    """Whether a module's name is in a package's, or the other way round."""
    short, long = sorted((module.replace("-", ""), package.replace("-", "")), key=len)
    return len(short) > _SHORT and short in long


def _main(code: Code, parts: Sequence[str]) -> list[SourceFile]:
    """The code without examples, notebooks and parts with an environment of their own; all when nothing is left."""
    main = [item for item in code.files if not _is_aside(item.path, parts)]
    return main if any(item.imports for item in main) else list(code.files)


def _is_aside(path: str, parts: Sequence[str]) -> bool:
    return bool(_EXAMPLES.search(path)) or any(path.startswith(f"{part}/") for part in parts)


def is_example(path: str) -> bool:
    """Whether a path (or an origin, ``path:line``) lies among examples and notebooks."""
    return bool(_EXAMPLES.search(path.partition(":")[0]))


def unavailable(code: Code, parts: Sequence[str] = ()) -> list[Unused]:
    """Imports of the main code that no package on the index brings: installed from a repository, or compiled."""
    found: dict[str, Unused] = {}
    for source in _main(code, parts):
        for item in source.imports:
            top = item.name.partition(".")[0]
            known = top in package_names() and not _package(item.name) and top not in _ELSEWHERE
            if item.at_once and known and top not in code.local:
                origin = f"{printable(source.path)}:{item.line}"
                found.setdefault(
                    top,
                    Unused(
                        f"import {top}",
                        origin,
                        "unavailable",
                        "it is not on the package index",
                        canonicalize_name(top),
                    ),
                )
    return list(found.values())


def example_packages(code: Code, parts: Sequence[str] = ()) -> list[Declared]:
    """The packages that only examples, notebooks and parts of their own import, sorted: not installed."""
    main = {item.name for item in imported_packages(code, parts=parts)}
    aside = [item for item in code.files if _is_aside(item.path, parts)]
    found = {one.name: one for item in aside for one in _packages(item, code.local, at_once=False)}
    return sorted((one for name, one in found.items() if name not in main), key=lambda one: one.name)


def _packages(source: SourceFile, local: frozenset[str], *, at_once: bool) -> Iterator[Declared]:
    for item in source.imports:
        top = item.name.partition(".")[0]
        if top in local or _standard(top) or (at_once and not item.at_once):
            continue
        package = _package(item.name)
        sure = top in package_names()
        if package and (sure or not at_once):
            origin = f"import {top} in {printable(source.path)}:{item.line}"
            yield Declared(canonicalize_name(package), package, origin, guessed=at_once or not sure)


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


def imports_in(tree: ast.Module) -> Iterator[Import]:
    """The imports of some code that must succeed: none under ``except ImportError`` or ``TYPE_CHECKING``."""
    stack: list[tuple[ast.AST, bool]] = [(tree, True)]
    while stack:
        node, at_once = stack.pop()
        below: Iterable[ast.AST] = ()
        if isinstance(node, ast.Import):
            yield from (Import(alias.name, node.lineno, at_once) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level == 0 and node.module:
                # `from google.cloud import storage`: only the whole name tells the package.
                yield from (
                    Import(f"{node.module}.{alias.name}", node.lineno, at_once) for alias in node.names
                )
        elif isinstance(node, ast.Try) and _handles_import_error(node):
            below = [*node.orelse, *node.finalbody]
        elif isinstance(node, ast.If) and _never_at_run_time(node.test):
            below = node.orelse
        elif is_main_guard(node):
            below, at_once = [*node.body, *node.orelse], False
        else:
            below = ast.iter_child_nodes(node)
            at_once = at_once and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        stack.extend((child, at_once) for child in below)


def _never_at_run_time(test: ast.expr) -> bool:
    """``if TYPE_CHECKING:`` and ``if is_x_available():``, which guards an optional package."""
    for node in ast.walk(test):
        name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
        if name == "TYPE_CHECKING" or re.fullmatch(r"_?(is|has|have)_\w+_(available|installed)", name):
            return True
    return False


def _handles_import_error(node: ast.Try) -> bool:
    for handler in node.handlers:
        if handler.type is None:
            return True
        caught = {item.id for item in ast.walk(handler.type) if isinstance(item, ast.Name)}
        if caught & {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}:
            return True
    return False
