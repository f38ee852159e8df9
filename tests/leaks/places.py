"""Put a function's source where annotators forget it: files of every kind. Source -> (path, bytes)."""

from __future__ import annotations

import ast
import copy
import json
import textwrap
from collections.abc import Callable

Planted = tuple[str, bytes]


def _text(path: str, text: str) -> Planted:
    return path, text.encode()


def as_module(source: str) -> Planted:
    """A function of another module."""
    return _text("upstream/ops.py", f"import math\n\n\n{source}\n\ndef other(x):\n    return x\n")


def inlined(source: str) -> Planted:
    """Its body at the top level of a script."""
    node = copy.deepcopy(ast.parse(source).body[0])
    assert isinstance(node, ast.FunctionDef)
    lines = "\n".join(ast.unparse(item) for item in node.body).replace("return ", "result = ")
    return _text("scripts/run.py", f"import math\n\ndata = list(range(10))\n{lines}\nprint(data)\n")


def commented_out(source: str) -> Planted:
    """Commented out in another module."""
    lines = "".join(f"# {line}\n" for line in source.splitlines())
    return _text("pkg/old.py", f"import math\n\n{lines}\nx = 1\n")


def in_docstring(source: str) -> Planted:
    """An example in a docstring."""
    text = textwrap.indent(f"Example::\n\n{textwrap.indent(source, '    ')}", "    ")
    return _text("pkg/doc.py", f"def f():\n    r'''Something.\n\n{text}\n    '''\n    return 1\n")


def in_notebook(source: str) -> Planted:
    """A cell of a notebook, magics around it."""
    text = f"%matplotlib inline\n!pip install torch\n{source}\n%timeit f()\n"
    markdown = {"cell_type": "markdown", "source": ["# Analysis\n"]}
    cell = {"cell_type": "code", "source": text.splitlines(keepends=True), "outputs": []}
    return _text("notebooks/analysis.ipynb", json.dumps({"cells": [markdown, cell], "nbformat": 4}, indent=1))


def in_markdown(source: str) -> Planted:
    """A fence of a README."""
    return _text(
        "README.md", f"# A project\n\nUse it (as in the paper):\n\n```python\n{source}```\n\nThat is all.\n"
    )


def as_patch(source: str) -> Planted:
    """Lines that a patch adds."""
    lines = "".join(f"+{line}\n" for line in source.splitlines())
    return _text("fix.patch", f"--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,30 @@\n import math\n-old = 1\n{lines}")


def as_backup(source: str) -> Planted:
    """What an editor kept."""
    return _text("pkg/losses.py.orig", f"import math\n\n{source}")


PLACES: dict[str, Callable[[str], Planted]] = {
    "module": as_module,
    "inlined": inlined,
    "comments": commented_out,
    "docstring": in_docstring,
    "notebook": in_notebook,
    "markdown": in_markdown,
    "patch, added": as_patch,
    "backup": as_backup,
}
