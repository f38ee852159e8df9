"""Find what keeps a function of a repository from running in a test, by reading its file."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from lmr_author import code, files
from lmr_author.errors import LmrError
from lmr_author.indexing import Entry

NEEDS_GPU = "it moves data to a GPU, whatever the machine has"


def reader(repository: Path, instead: Mapping[str, bytes]) -> Callable[[Entry], str]:
    """Return a function that says why an entry cannot run, as a sentence; "" for nothing. Each file is read once.

    Args:
        instead: path → content of files that are not as they were, such as masked ones.
    """

    @cache
    def module(path: str) -> code.Module | None:
        try:
            data = instead.get(path) or files.inside(repository, path).read_bytes()
            return code.Module.parse(data, path)
        except (LmrError, OSError):
            return None

    @cache
    def demanded(path: str) -> str:
        parsed = module(path)
        demand = code.demanded(parsed.tree) if parsed else ""
        return f"no test can import it: the file {demand}" if demand else ""

    def obstacle(entry: Entry) -> str:
        parsed = module(entry.path)
        if parsed is None or demanded(entry.path):
            return demanded(entry.path)
        own = (
            item for item in parsed.definitions if (item.qualname, item.nth) == (entry.qualname, entry.nth)
        )
        found = next(own, None)
        gone = code.python_2_names(parsed.tree, found.node) if found else ()
        if gone:
            return f"it, or what it calls of its file, uses {', '.join(gone)}, which Python 3 does not have"
        return NEEDS_GPU if found and _needs_gpu(found.node) else ""

    return obstacle


def _needs_gpu(function: ast.AST) -> bool:
    """Recognize ``x.cuda()``, ``x.to("cuda")`` and ``device="cuda"`` where nothing asks whether there is a GPU."""
    nodes = list(ast.walk(function))
    if any(isinstance(node, ast.Attribute) and node.attr == "is_available" for node in nodes):
        return False
    for call in (node for node in nodes if isinstance(node, ast.Call)):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        devices = [keyword.value for keyword in call.keywords if keyword.arg == "device"]
        devices += call.args if name in ("to", "device") else []
        texts = [item.value for item in devices if isinstance(item, ast.Constant)]
        if name == "cuda" or any(isinstance(text, str) and text.startswith("cuda") for text in texts):
            return True
    return False
