"""Where code cannot do without a GPU, and where it compiles for one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from lmr_author import files
from lmr_author.environment.recipe import Fact
from lmr_author.environment.requirements import read_text
from lmr_author.errors import LmrError
from lmr_author.source import is_main_guard
from lmr_author.texts import printable

_GUARD = re.compile(r"cuda|gpu|device", re.I)
COMPILES = "compiles CUDA code when run (torch.utils.cpp_extension)"
"""How a use is worded for which the image must have nvcc."""


def uses_in(tree: ast.Module, path: str) -> Iterator[Fact]:
    """Unconditional uses of a GPU: the first of each kind in a file.

    A use is conditional when an ``if`` around it asks for a device.
    """
    seen = set()
    stack: list[tuple[ast.AST, bool]] = [(tree, True)]
    while stack:
        node, at_import = stack.pop()
        test = ast.unparse(node.test) if isinstance(node, ast.If | ast.IfExp) else ""
        if _GUARD.search(test):
            continue
        what = _use(node)
        if what:
            text = f"{what}, {'when imported' if at_import else 'when run'}"
            if text not in seen:
                seen.add(text)
                yield Fact(text, f"{path}:{getattr(node, 'lineno', 1)}")
        inside = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        inside = inside or is_main_guard(node)
        stack.extend(
            (child, at_import and not inside) for child in reversed(list(ast.iter_child_nodes(node)))
        )


def _use(node: ast.AST) -> str:
    if not isinstance(node, ast.Call):
        return ""
    function = node.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    owner = _last(function.value) if isinstance(function, ast.Attribute) else ""
    if name == "cuda" and isinstance(function, ast.Attribute) and owner != "torch":
        return ".cuda()"
    if name == "to" and node.args and _cuda(node.args[0]):
        return '.to("cuda")'
    if name == "device" and owner == "torch" and node.args and _cuda(node.args[0]):
        return 'torch.device("cuda")'
    if any(word.arg in ("device", "map_location") and _cuda(word.value) for word in node.keywords):
        return 'device="cuda"'
    if name in ("load", "load_inline") and (owner == "cpp_extension" or _has_sources(node)):
        return COMPILES
    return ""


def _last(node: ast.expr) -> str:
    """``a.b.c`` → ``c``."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _has_sources(node: ast.Call) -> bool:
    """``load`` imported by its bare name, with arguments that only PyTorch's has."""
    words = {word.arg for word in node.keywords}
    return bool(words & {"cuda_sources", "cpp_sources", "extra_cuda_cflags", "extra_cflags"}) or words >= {
        "name",
        "sources",
    }


def _cuda(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("cuda")


def extensions(root: Path) -> list[Fact]:
    """CUDA extensions that a ``setup*.py`` builds; the package is not installed, so they are not compiled."""
    found = []
    for path in sorted(root.glob("setup*.py")):
        try:
            lines = read_text(files.inside(root, path.name)).splitlines()
        except LmrError:
            continue
        number = next((n for n, line in enumerate(lines, 1) if re.search(r"\bCUDAExtension\s*\(", line)), 0)
        if number:
            found.append(Fact("builds a CUDA extension", f"{printable(path.name)}:{number}"))
    return found
