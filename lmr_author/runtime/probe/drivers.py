"""Importing the goal file where there is no command that does: the smoke test, and drivers that need no command.

``python -m lmr_probe.drivers suite FILES… [OPTIONS…]`` runs the repository's own tests, by pytest where it is
installed, else by unittest. ``… examples REQUEST`` makes calls written by the annotator: ``{"goal_file", "examples":
[Python text, …], "fixtures"}``. Each sees the names of the goal file, the functions that build fixtures, and ``torch``,
``np``, ``pd``, ``math`` and ``random``. Paths are relative to the request; all run from the repository's root.
"""

from __future__ import annotations

import ast
import faulthandler
import importlib
import importlib.util
import json
import math
import os
import random
import re
import sys
import time
import traceback
from typing import Any, Dict, Iterator, List, NamedTuple, NoReturn, Set

from .calling import ITEM_LIMIT, call
from .effects import Fixtures
from .objects import MAIN, aliases, load_file

OPTIONS = "-q -p no:cacheprovider -p no:xdist -o addopts= --continue-on-collection-errors".split()
"""All in this process, and without options that the repository's configuration adds."""
LIBRARIES = (("torch", "torch"), ("np", "numpy"), ("numpy", "numpy"), ("pd", "pandas"))
"""Name in an example → module, of those that are installed."""
MAX_TEXT = 8000


class ImportRoute(NamedTuple):
    """A way to import a file: the module's name, and the folders that come first on ``sys.path``."""

    module: str
    path: List[str]


def ways(tree: str, file: str) -> List[ImportRoute]:
    """List the ways to import a file: as a module of its package, as one below the root, by its own folder."""
    folder, name = os.path.split(os.path.join(tree, *file.split("/")))
    parts = [] if name == "__init__.py" else [os.path.splitext(name)[0]]
    base = folder
    while os.path.isfile(os.path.join(base, "__init__.py")) and base != os.path.dirname(base):
        base, package = os.path.split(base)
        parts.insert(0, package)
    whole = os.path.splitext(file)[0].split("/")
    whole = whole[:-1] if whole[-1] == "__init__" else whole
    # The file's own folder comes last: `pkg/logging/` would hide Python's own.
    listed = (
        ImportRoute(".".join(parts), list(dict.fromkeys([base, tree]))),
        ImportRoute(".".join(whole), [tree, folder]),
    )
    usable: List[ImportRoute] = []
    for way in listed:
        if way.module and all(part.isidentifier() for part in way.module.split(".")) and way not in usable:
            usable.append(way)
    # A file whose name is no identifier (`train-model.py`) can only be run.
    return usable or [ImportRoute("", [folder, tree])]


def import_goal(tree: str, goal_file: str) -> Any:
    """Import the goal file, the first way that works. Raises the problem of the likeliest way."""
    problems: List[BaseException] = []
    for way in ways(tree, goal_file):
        before = list(sys.path)
        # In this order: below its own folder, a package of the same name as the file would not be found.
        sys.path[:] = way.path + [entry for entry in before if entry not in way.path]
        try:
            if way.module:
                return importlib.import_module(way.module)
            aliases["lmr_goal"] = MAIN  # nobody else can import it by that name
            return load_file("lmr_goal", os.path.join(tree, *goal_file.split("/")))
        except (Exception, SystemExit) as error:
            problems.append(error)
            sys.path[:] = before
    own = _own_names(tree)
    raise next((error for error in problems if not _is_about(error, own)), problems[0])


def _is_about(error: BaseException, own: Set[str]) -> bool:
    """Tell whether a way of importing failed only as it does not lead to the repository's own modules."""
    if not isinstance(error, ImportError):
        return False
    return "relative import" in str(error) or (error.name or "").split(".")[0] in own


def try_import(tree: str, file: str, seconds: float) -> NoReturn:
    """Import a file and print one JSON line about it: ``{"file", "ok", "module", "error", "missing", "seconds"}``.

    ``error`` is the end of the traceback, "" when it is imported; ``missing`` are all absent modules that the code
    which was reached imports at its top. The code's own output goes to standard error. Exits with 0, whatever happens.
    """
    out = os.dup(1)
    os.dup2(2, 1)
    tree, sys.argv = os.path.abspath(tree), [file]
    # Show where it hangs, before the sandbox kills it.
    faulthandler.enable()
    faulthandler.dump_traceback_later(max(1.0, seconds - 2.0), exit=False)
    began = time.monotonic()
    report: Dict[str, Any] = {"file": file, "ok": True, "module": "", "error": "", "missing": []}
    try:
        report["module"] = import_goal(tree, file).__name__
    except BaseException as error:
        shown = traceback.TracebackException(type(error), error, error.__traceback__)
        own = os.path.dirname(os.path.abspath(__file__)) + os.sep
        ours = (own, "<frozen importlib", importlib.__path__[0])
        frames = [frame for frame in shown.stack if not frame.filename.startswith(ours)]
        shown.stack = traceback.StackSummary.from_list(frames)
        goal = os.path.join(tree, *file.split("/"))
        report.update(
            ok=False, error="".join(shown.format())[-MAX_TEXT:], missing=_missing(tree, goal, error)
        )
    report["seconds"] = time.monotonic() - began
    os.write(out, (json.dumps(report) + "\n").encode())
    sys.stdout.flush()
    os._exit(0)  # the code may have left threads behind


def _own_names(tree: str) -> Set[str]:
    """Return names that the repository itself may mean: of its modules and folders, wherever they lie."""
    names = set()
    for _, folders, files in os.walk(tree):
        folders[:] = [name for name in folders if not name.startswith(".")]
        names.update(folders)
        names.update(os.path.splitext(name)[0] for name in files if name.endswith(".py"))
        if len(names) > 50000:
            break
    return names


def _missing(tree: str, goal: str, error: BaseException) -> List[str]:
    """List absent modules that the goal file, and loaded files of the repository, import at their top.

    The one that the error names is first, though a package asked for it.
    """
    own = _own_names(tree)
    base = os.path.realpath(tree) + os.sep
    modules = list(sys.modules.values())
    loaded = {os.path.realpath(getattr(module, "__file__", None) or os.devnull) for module in modules}
    named = getattr(error, "name", None) if isinstance(error, ModuleNotFoundError) else None
    absent = [named] if named and "." not in named and named not in own else []
    for path in sorted({file for file in loaded if file.startswith(base)} | {goal}):
        for name in _top_imports(path):
            if name not in own and name not in absent and not _is_installed(name):
                absent.append(name)
    return absent


def _top_imports(path: str) -> Iterator[str]:
    """Yield the first names of the modules that a file imports unconditionally."""
    try:
        with open(path, "rb") as file:
            body = ast.parse(file.read()).body
    except (OSError, SyntaxError, ValueError):
        return
    for node in body:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name.split(".")[0]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module.split(".")[0]


def _is_installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except Exception:  # a half-loaded module has no spec
        return name in sys.modules


def suite(arguments: List[str]) -> int:
    if importlib.util.find_spec("pytest") is not None:
        return int(importlib.import_module("pytest").main([*OPTIONS, *arguments]))
    print(
        "pytest is not installed here: running unittest, which finds TestCase classes only", file=sys.stderr
    )
    files = [word for word in arguments if word.endswith(".py")]
    program = importlib.import_module("unittest").main(
        module=None, argv=["python -m unittest", *files], exit=False
    )
    return 0 if program.result.wasSuccessful() else 1


def examples(request: Dict[str, Any]) -> int:
    """Run the examples; returns 1 when one of them raised."""
    names: Dict[str, Any] = {"math": math, "random": random}
    module = import_goal(os.getcwd(), request["goal_file"])
    words = set(re.findall(r"\w+", " ".join(request["examples"])))
    for name, library in LIBRARIES:
        if name in words and importlib.util.find_spec(library) is not None:
            names[name] = importlib.import_module(library)
    names.update((name, value) for name, value in vars(module).items() if not name.startswith("__"))
    if request.get("fixtures"):
        names.update(Fixtures(path=request["fixtures"]).functions())
    failed = 0
    for number, text in enumerate(request["examples"]):
        _seed(number)
        try:
            _run_example(text, dict(names))
        except Exception:
            failed += 1
            print("example %d: %s\n%s" % (number + 1, text, traceback.format_exc()), file=sys.stderr)
    return 1 if failed else 0


def _seed(number: int) -> None:
    """Make an example's random numbers its own, and the same each time."""
    random.seed(number)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(number)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(number)


def _run_example(text: str, names: Dict[str, Any]) -> None:
    """Run an expression, whose result is used up as nothing of a generator or coroutine runs before, or statements."""
    try:
        code = compile(text.strip(), "<example>", "eval")
    except SyntaxError:
        exec(compile(text, "<example>", "exec"), names)
        return
    call(eval, (code, names), {}, ITEM_LIMIT, lambda value: None)


def main(arguments: List[str]) -> int:
    if arguments[0] == "suite":
        return suite(arguments[1:])
    with open(arguments[1], encoding="utf-8") as file:
        request = json.load(file)
    base = os.path.dirname(os.path.abspath(arguments[1]))
    if request.get("fixtures"):
        request["fixtures"] = os.path.join(base, request["fixtures"])
    # A file that parses the command line when it is imported sees none, as where the calls are replayed.
    sys.argv[:] = [request["goal_file"]]
    return examples(request)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
