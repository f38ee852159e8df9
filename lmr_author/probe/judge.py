"""Serves the annotator's checkers in a sandbox of their own, after the candidate's has ended.

Request: ``{"checkers": path, "items": [{"expected": folder, "actual": path, "paths": {path: function}}]}``, answered by
one frame per path on the original standard output.
"""

from __future__ import annotations

from typing import Any, Dict

from .buffers import BadDocument
from .child import send
from .custom import load_checkers, verdict
from .storage import from_bytes, load


def judge(request: Dict[str, Any], out: int) -> int:
    """Serve a request; the answers go to a file descriptor. Returns 0."""
    try:
        functions: Any = load_checkers(request["checkers"])
    except Exception as error:
        functions = {}
        problem = "unit_test/checkers.py cannot be imported: %s: %s" % (type(error).__name__, error)
    else:
        problem = ""
    for number, item in enumerate(request["items"]):
        for path, name in item["paths"].items():
            message = problem or _judged(functions, item, path, name)
            send(out, {"kind": "judged", "item": number, "path": path, "message": message})
    send(out, {"kind": "end"})
    return 0


def _judged(functions: Any, item: Dict[str, Any], path: str, name: str) -> str:
    try:
        with open(item["actual"], "rb") as file:
            actual = from_bytes(file.read())
        return verdict(functions, name, load(item["expected"], "expected"), actual, path)
    except (BadDocument, OSError) as error:
        return str(error)
