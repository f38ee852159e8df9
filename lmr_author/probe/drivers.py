"""Drives the target where there is no command: ``python -m lmr_probe.drivers suite|examples|calls …``.

``suite FILES… [OPTIONS…]`` runs the repository's own tests, by pytest where it is installed, else by unittest.
``examples REQUEST`` makes calls written by the annotator: ``{"goal_file", "examples": [Python text, …], "fixtures"}``.
Each sees the names of the goal file, the functions that build fixtures, and ``torch``, ``np``, ``pd``, ``math`` and
``random``. ``calls REQUEST`` makes calls from stored inputs: ``{"goal_file", "qualname", "nth", "module", "sys_path",
"cases": [folder, …], "fixtures"}``. Paths are relative to the request; all run from the repository's root.
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
import unittest
from typing import Any, Dict, List

from .checking import load
from .decoding import decode
from .fixtures import Fixtures
from .importing import ways
from .shipped import Target

OPTIONS = [
    "-q",
    "-p",
    "no:cacheprovider",
    "-p",
    "no:xdist",
    "-o",
    "addopts=",
    "--continue-on-collection-errors",
]
"""All in this process, and without options that the repository's configuration adds."""
LIBRARIES = (("torch", "torch"), ("np", "numpy"), ("numpy", "numpy"), ("pd", "pandas"))
"""Name in an example → module; those that are installed."""
MOST_ITEMS = 1000
"""Items taken of a generator at most."""


def suite(arguments: List[str]) -> int:
    """Run tests; returns the exit code."""
    if importlib.util.find_spec("pytest") is not None:
        return int(importlib.import_module("pytest").main([*OPTIONS, *arguments]))
    print(
        "pytest is not installed here: running unittest, which finds TestCase classes only", file=sys.stderr
    )
    files = [word for word in arguments if word.endswith(".py")]
    program = unittest.main(module=None, argv=["python -m unittest", *files], exit=False)
    return 0 if program.result.wasSuccessful() else 1


def examples(request: Dict[str, Any]) -> int:
    """Run the examples; returns 1 when one of them raised."""
    known: Dict[str, Any] = {"math": importlib.import_module("math"), "random": random}
    module = import_goal(os.getcwd(), request["goal_file"])
    for name, library in LIBRARIES:
        if importlib.util.find_spec(library) is not None:
            known[name] = importlib.import_module(library)
    known.update((name, value) for name, value in vars(module).items() if not name.startswith("__"))
    if request.get("fixtures"):
        known.update(Fixtures(path=request["fixtures"]).functions())
    failed = 0
    for number, text in enumerate(request["examples"]):
        seed(number)
        try:
            _run(text, dict(known))
        except Exception:
            failed += 1
            print("example %d: %s\n%s" % (number + 1, text, traceback.format_exc()), file=sys.stderr)
    return 1 if failed else 0


def import_goal(tree: str, goal_file: str) -> Any:
    """Import the goal file, the first way that works. Raises what the likeliest way raised."""
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


def seed(number: int) -> None:
    """Make an example's random numbers its own, and the same each time."""
    random.seed(number)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(number)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(number)


def _run(text: str, known: Dict[str, Any]) -> None:
    """Run an example: an expression, whose result is used up, or statements."""
    try:
        code = compile(text.strip(), "<example>", "eval")
    except SyntaxError:
        exec(compile(text, "<example>", "exec"), known)
        return
    value = eval(code, known)
    # Before its items are taken, or it is waited for, nothing of a generator or coroutine has run.
    if inspect.isgenerator(value):
        for _ in itertools.islice(value, MOST_ITEMS):
            pass
    elif inspect.iscoroutine(value) or inspect.isasyncgen(value):
        asyncio.run(_finish(value))


async def _finish(value: Any) -> None:
    if inspect.iscoroutine(value):
        await value
        return
    count = 0
    async for _ in value:
        count += 1
        if count >= MOST_ITEMS:
            break


def calls(request: Dict[str, Any]) -> int:
    """Make calls from stored inputs, whatever they come to; returns 1 when the goal file cannot be imported."""
    sys_path = ["" if item == "." else item for item in request["sys_path"] or [""]]
    try:
        target = Target(
            os.getcwd(),
            request["goal_file"],
            request["qualname"],
            request["module"],
            sys_path,
            request["nth"],
        )
    except Exception as error:
        print("%s cannot be imported: %s" % (request["goal_file"], error), file=sys.stderr)
        return 1
    for case in request["cases"]:
        seed(0)
        fixtures = Fixtures(path=request.get("fixtures"))
        try:
            target.outcome(decode(load(case, "inputs"), fixtures.build))
        except Exception:
            traceback.print_exc()
    return 0


def main(arguments: List[str]) -> int:
    """Drive the target; returns the exit code."""
    if arguments[0] == "suite":
        return suite(arguments[1:])
    with open(arguments[1], encoding="utf-8") as file:
        request = json.load(file)
    base = os.path.dirname(os.path.abspath(arguments[1]))
    if request.get("fixtures"):
        request["fixtures"] = os.path.join(base, request["fixtures"])
    request["cases"] = [os.path.join(base, case) for case in request.get("cases", ())]
    # A file that parses the command line when it is imported sees none, as where the calls are replayed.
    sys.argv[:] = [request["goal_file"]]
    return examples(request) if arguments[0] == "examples" else calls(request)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
