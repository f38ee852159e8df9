"""Calls written by the annotator, as what drives the target: ``python -m lmr_probe.examples REQUEST``.

Request: ``{"goal_file", "examples": [Python text, …], "fixtures": path or absent}``; run from the repository's root.
Each example sees the names of the goal file, the functions that build fixtures, and ``torch``, ``np``, ``pd``, ``math``
and ``random`` where they are installed.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import inspect
import itertools
import json
import os
import random
import sys
import traceback
from typing import Any, Dict, List

from .fixtures import Fixtures
from .importing import ways

LIBRARIES = (("torch", "torch"), ("np", "numpy"), ("numpy", "numpy"), ("pd", "pandas"))
"""Name in an example → module; those that are installed."""
MOST_ITEMS = 1000
"""Items taken of a generator at most."""


def main(path: str) -> int:
    """Run the examples; returns the exit code, 1 when one of them raised."""
    with open(path, encoding="utf-8") as file:
        request = json.load(file)
    # A file that parses the command line when it is imported sees none, as where the calls are replayed.
    sys.argv[:] = [request["goal_file"]]
    known = names(import_goal(os.getcwd(), request["goal_file"]))
    if request.get("fixtures"):
        place = os.path.join(os.path.dirname(os.path.abspath(path)), request["fixtures"])
        known.update(Fixtures(path=place).functions())
    failed = 0
    for number, text in enumerate(request["examples"]):
        seed(number)
        try:
            run(text, dict(known))
        except Exception:
            failed += 1
            print("example %d: %s\n%s" % (number + 1, text, traceback.format_exc()), file=sys.stderr)
    return 1 if failed else 0


def import_goal(tree: str, goal_file: str) -> Any:
    """The goal file as a module, the first way that works. Raises what the likeliest way raised."""
    problem: Any = None
    for way in ways(tree, goal_file):
        before = list(sys.path)
        # In this order: below its own folder, a package of the same name as the file would not be found.
        sys.path[:] = way.path + [place for place in before if place not in way.path]
        try:
            if way.module:
                return importlib.import_module(way.module)
            spec: Any = importlib.util.spec_from_file_location("lmr_goal", os.path.join(tree, goal_file))
            module = importlib.util.module_from_spec(spec)
            sys.modules["lmr_goal"] = module
            spec.loader.exec_module(module)
            return module
        except Exception as error:
            if problem is None or isinstance(problem, ImportError):
                problem = error
            sys.path[:] = before
    raise problem


def names(module: Any) -> Dict[str, Any]:
    """What an example can name. What the goal file calls so comes first."""
    known: Dict[str, Any] = {"math": importlib.import_module("math"), "random": random}
    for name, library in LIBRARIES:
        if importlib.util.find_spec(library) is not None:
            known[name] = importlib.import_module(library)
    known.update((name, value) for name, value in vars(module).items() if not name.startswith("__"))
    return known


def seed(number: int) -> None:
    """Make an example's random numbers its own, and the same each time."""
    random.seed(number)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(number)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(number)


def run(text: str, known: Dict[str, Any]) -> None:
    """Run an example: an expression, whose result is used up, or statements."""
    try:
        code = compile(text.strip(), "<example>", "eval")
    except SyntaxError:
        exec(compile(text, "<example>", "exec"), known)
        return
    use_up(eval(code, known))


def use_up(value: Any) -> None:
    """Take the items of a generator, and wait for a coroutine: before that, nothing of them has run."""
    if inspect.isgenerator(value):
        for _ in itertools.islice(value, MOST_ITEMS):
            pass
    elif inspect.iscoroutine(value):
        asyncio.run(_awaited(value))
    elif inspect.isasyncgen(value):
        asyncio.run(_items(value))


async def _awaited(value: Any) -> Any:
    return await value


async def _items(value: Any) -> List[Any]:
    found: List[Any] = []
    async for item in value:
        found.append(item)
        if len(found) >= MOST_ITEMS:
            break
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
