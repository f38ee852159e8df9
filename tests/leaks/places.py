"""Put a function's source where annotators forget it: files of every kind."""

from __future__ import annotations

import ast
import json
import textwrap

TEXTS = {
    # name of the place: path, mark before each line of the source, text around it
    "module": ("upstream/ops.py", "", "import math\n\n\nSOURCE\n\ndef other(x):\n    return x\n"),
    "comments": ("pkg/old.py", "# ", "import math\n\nSOURCE\nx = 1\n"),
    "docstring": ("pkg/doc.py", " " * 8, "def f():\n    r'''Example::\n\nSOURCE\n    '''\n    return 1\n"),
    "markdown": (
        "README.md",
        "",
        "# A project\n\nUse it (as in the paper):\n\n```python\nSOURCE```\n\nThat's all.\n",
    ),
    "patch, added": (
        "fix.patch",
        "+",
        "--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,30 @@\n import math\n-old = 1\nSOURCE",
    ),
    "backup": ("pkg/losses.py.orig", "", "import math\n\nSOURCE"),
}
PLACES = (*TEXTS, "inlined", "notebook")


def planted(place: str, source: str) -> tuple[str, bytes]:
    """Return the path and content of a file that has a function's source in some place."""
    if place == "notebook":
        text = f"%matplotlib inline\n!pip install torch\n{source}\n%timeit f()\n"
        markdown = {"cell_type": "markdown", "source": ["# Analysis\n"]}
        cell = {"cell_type": "code", "source": text.splitlines(keepends=True), "outputs": []}
        return "notebooks/analysis.ipynb", json.dumps({"cells": [markdown, cell], "nbformat": 4}).encode()
    if place == "inlined":  # its body at the top level of a script
        (node,) = ast.parse(source).body
        assert isinstance(node, ast.FunctionDef)
        lines = "\n".join(map(ast.unparse, node.body)).replace("return ", "result = ")
        return "scripts/run.py", f"import math\n\ndata = list(range(10))\n{lines}\nprint(data)\n".encode()
    path, mark, around = TEXTS[place]
    return path, around.replace("SOURCE", textwrap.indent(source, mark, lambda line: True)).encode()
