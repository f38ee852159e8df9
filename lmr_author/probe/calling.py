"""Calls from stored inputs, as what drives the target: ``python -m lmr_probe.calling REQUEST``.

Request: ``{"tree", "goal_file", "qualname", "line", "module", "sys_path", "cases": [folder, …], "fixtures"}``; without
``sys_path`` the file is imported the first way that works. What is recorded is what the golden makes of them.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any, Dict, Iterator

from .importing import ways
from .storage import load
from .target import LoadError, Target


def main(path: str) -> int:
    """Make the calls; returns the exit code, 1 when the goal file cannot be imported."""
    with open(path, encoding="utf-8") as file:
        request = json.load(file)
    base = os.path.dirname(os.path.abspath(path))
    if request.get("fixtures"):
        request["fixtures"] = os.path.join(base, request["fixtures"])
    sys.argv[:] = [request["goal_file"]]
    problem = ""
    for target in targets(request):
        try:
            target.load()
        except LoadError as error:
            problem = str(error)
            continue
        for case in request["cases"]:
            target.call(load(os.path.join(base, case), "inputs"))
        return 0
    print("%s cannot be imported: %s" % (request["goal_file"], problem), file=sys.stderr)
    return 1


def targets(request: Dict[str, Any]) -> Iterator[Target]:
    """The target by each way that its file may be imported."""
    tree, goal_file = os.getcwd(), request["goal_file"]
    places = [(request.get("module"), request.get("sys_path"))]
    if places[0][1] is None:
        places = [
            (way.module, [os.path.relpath(item, tree) for item in way.path]) for way in ways(tree, goal_file)
        ]
    for module, path in places:
        folders = ["" if item == "." else item for item in path or [""]]
        line = request.get("line") or 0
        fixtures = request.get("fixtures")
        yield Target(tree, goal_file, request["qualname"], line, module or None, folders, fixtures=fixtures)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
