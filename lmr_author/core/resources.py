"""Schemas and templates: beside the package in a checkout, inside it in an installed wheel."""

from __future__ import annotations

import ast
import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

from lmr_author.core.errors import LmrError

_PACKAGE = Path(__file__).resolve().parent.parent
_SUPPORT = (
    "document", "objects", "calling", "arrays", "closures", "decoding", "looking", "sides", "comparison",
    "effects", "repeating", "functions", "cuda_as_cpu", "shipped",
)  # fmt: skip
"""Modules of the probe that the support file consists of, each after those that it needs."""


def folder(name: str) -> Path:
    """Return the folder ``schemas`` or ``templates``. Raises LmrError in a broken installation."""
    for candidate in (_PACKAGE / name, _PACKAGE.parent / name):
        if candidate.is_dir():
            return candidate
    raise LmrError(f"the installation lacks its folder {name}/", "install lmr-author again")


@cache
def schema(name: str) -> dict[str, Any]:
    """Return a JSON schema by its short name: ``schema("info")`` is ``schemas/info.schema.json``."""
    data: dict[str, Any] = json.loads((folder("schemas") / f"{name}.schema.json").read_text("utf-8"))
    return data


def template(name: str) -> str:
    return (folder("templates") / name).read_text("utf-8")


def probe_folder() -> Path:
    return _PACKAGE / "runtime" / "probe"


@cache
def support_file() -> str:
    """Return the text of ``unit_test/lmr_support.py``: modules of the probe, one after another."""
    plain, grouped, bodies = set[str](), dict[str, set[str]](), []
    for name in _SUPPORT:
        source = (probe_folder() / f"{name}.py").read_text("utf-8")
        imports = [node for node in ast.parse(source).body if isinstance(node, ast.Import | ast.ImportFrom)]
        for node in imports:
            if isinstance(node, ast.Import):
                plain.add(ast.unparse(node))
            elif not node.level and node.module != "__future__":
                grouped.setdefault(str(node.module), set()).update(alias.name for alias in node.names)
        body = source.splitlines()[imports[-1].end_lineno :]
        bodies.append(f"# probe/{name}.py\n\n" + "\n".join(body).strip())
    froms = [f"from {module} import {', '.join(sorted(names))}" for module, names in sorted(grouped.items())]
    absolute = "\n".join([*sorted(plain), *froms])
    head = (
        '"""Makes recorded calls again and compares their outcomes, for tests that lmr-author wrote.\n\n'
        "Parts of its own probe, unchanged: the same file in every task, which `lmr-author validate` knows.\n"
        '"""'
    )
    future = "from __future__ import annotations"
    return "\n\n\n".join([f"{head}\n\n{future}\n\n{absolute}", *bodies]) + "\n"


@cache
def support_digest() -> str:
    return hashlib.sha256(support_file().encode()).hexdigest()


@cache
def is_known_support(digest: str) -> bool:
    """Return whether this version or one before wrote a support file of this SHA-256."""
    listed = (folder("schemas") / "support.sha256").read_text("utf-8").split()
    return digest in listed or digest == support_digest()
