"""Judging outcomes with the annotator's checkers: the process that runs in a sandbox of its own."""

from __future__ import annotations

from typing import Any, Dict

from .checking import from_bytes, load
from .custom import load_checkers, verdict
from .document import BadDocument
from .replayer import take_stdout
from .target import send


def judge(request: Dict[str, Any]) -> int:
    """Judge ``{"checkers": path, "items": [{"expected": folder, "actual": path, "paths": {path: function}}]}``."""
    out = take_stdout()
    functions, problem = {}, ""
    try:
        functions = load_checkers(request["checkers"])
    except Exception as error:
        problem = "unit_test/checkers.py cannot be imported: %s: %s" % (type(error).__name__, error)
    for number, outcome in enumerate(request["items"]):
        for path, name in outcome["paths"].items():
            message = problem
            if not message:
                try:
                    with open(outcome["actual"], "rb") as file:
                        actual = from_bytes(file.read())
                    message = verdict(functions, name, load(outcome["expected"], "expected"), actual, path)
                except (BadDocument, OSError) as error:
                    message = str(error)
            send(out, {"kind": "judged", "item": number, "path": path, "message": message})
    send(out, {"kind": "end"})
    return 0
