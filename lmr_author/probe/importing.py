"""Importing one file of the repository: what finds most broken environments.

It is imported the ways that it can be meant, each in a forked process of its own: as a module of the package
that it lies in, as one below the repository's root, and as a script is, by its own folder. The first that works
counts. What the code prints goes to standard error; the report is one JSON line on standard output.
"""

from __future__ import annotations

import ast
import faulthandler
import importlib
import importlib.util
import json
import os
import sys
import time
import traceback
from typing import Any, Dict, Iterator, List, NamedTuple, Set

MAX_TEXT = 8000


class Way(NamedTuple):
    """A way to import a file: the module's name, and the folders that come first on ``sys.path``."""

    module: str
    path: List[str]


def try_import(tree: str, file: str, seconds: float) -> int:
    """Report ``{"file", "ok", "module", "error", "missing", "seconds"}``. Returns 0, whatever it imports.

    ``error`` is the end of the traceback, "" when it is imported; ``missing`` are all modules that the code
    which was reached imports at its top, and that are not there.
    """
    out = os.dup(1)
    os.dup2(2, 1)
    tree = os.path.abspath(tree)
    reports = []
    for way in ways(tree, file):
        report = _in_child(tree, file, way, seconds)
        if report["ok"]:
            reports = [report]
            break
        reports.append(report)
    os.write(out, (json.dumps(dict(_best(reports, tree), file=file)) + "\n").encode())
    return 0


def ways(tree: str, file: str) -> List[Way]:
    """The ways to import a file, without repetition, the likeliest first."""
    folder, name = os.path.split(os.path.join(tree, *file.split("/")))
    parts = [] if name == "__init__.py" else [os.path.splitext(name)[0]]
    base = folder
    while os.path.isfile(os.path.join(base, "__init__.py")) and base != os.path.dirname(base):
        base, package = os.path.split(base)
        parts.insert(0, package)
    found = [Way(".".join(parts), list(dict.fromkeys([base, tree])))]
    whole = os.path.splitext(file)[0].split("/")
    whole = whole[:-1] if whole[-1] == "__init__" else whole
    # The folder is no place to look for as long as it can do without: `pkg/logging/` would hide Python's own.
    found.append(Way(".".join(whole), [tree, folder]))
    usable: List[Way] = []
    for way in found:
        if way.module and all(part.isidentifier() for part in way.module.split(".")) and way not in usable:
            usable.append(way)
    # A file whose name is no identifier (`train-model.py`) can only be run.
    return usable or [Way("", [folder, tree])]


def _in_child(tree: str, file: str, way: Way, seconds: float) -> Dict[str, Any]:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        report = _attempt(tree, file, way, seconds)
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(json.dumps(report).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        data = pipe.read()
    status = os.waitpid(child, 0)[1]
    if data:
        report = json.loads(data.decode())
    else:
        number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        how = "died of signal %d" % number if number else "ended by itself (os._exit)"
        report = {"ok": False, "error": how, "missing": [], "local": False, "seconds": 0.0}
    report["module"] = way.module
    return dict(report)


def _attempt(tree: str, file: str, way: Way, seconds: float) -> Dict[str, Any]:
    """Import in this process."""
    # Where it hangs is told before the sandbox kills it.
    faulthandler.enable()
    faulthandler.dump_traceback_later(max(1.0, seconds - 2.0), exit=False)
    sys.path[:0] = way.path
    sys.argv = [file]
    began = time.monotonic()
    try:
        if way.module:
            importlib.import_module(way.module)
        else:
            _run(os.path.join(tree, *file.split("/")))
    except BaseException as error:
        text = _told(error)
        name = (getattr(error, "name", None) or "") if isinstance(error, ImportError) else ""
        own = sorted(_own_names(tree))
        return {
            "ok": False,
            "error": text[-MAX_TEXT:],
            "missing": _missing(tree, os.path.join(tree, *file.split("/")), set(own)),
            "local": bool(name) and name.split(".")[0] in own,
            "seconds": time.monotonic() - began,
        }
    finally:
        faulthandler.cancel_dump_traceback_later()
    return {"ok": True, "error": "", "missing": [], "local": False, "seconds": time.monotonic() - began}


def _told(error: BaseException) -> str:
    """The traceback without our own frames and the import system's."""
    told = traceback.TracebackException(type(error), error, error.__traceback__)
    ours = os.path.dirname(os.path.abspath(__file__)) + os.sep
    frames = [
        frame
        for frame in told.stack
        if not frame.filename.startswith((ours, "<frozen importlib"))
        and "importlib" + os.sep not in frame.filename
    ]
    told.stack = traceback.StackSummary.from_list(frames)
    return "".join(told.format())


def _run(path: str) -> None:
    spec: Any = importlib.util.spec_from_file_location("lmr_smoke", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["lmr_smoke"] = module
    spec.loader.exec_module(module)


def _best(reports: List[Dict[str, Any]], tree: str) -> Dict[str, Any]:
    """The report that tells most: not that of a way which did not find the repository's own modules."""
    telling = [item for item in reports if not item["local"] and "relative import" not in item["error"]]
    best = dict((telling or reports)[0])
    best.pop("local")
    return best


def _own_names(tree: str) -> Set[str]:
    """Names that the repository itself may mean: of its modules and folders, wherever they lie."""
    names = set()
    for _, folders, files in os.walk(tree):
        folders[:] = [item for item in folders if not item.startswith(".")]
        names.update(folders)
        names.update(os.path.splitext(item)[0] for item in files if item.endswith(".py"))
        if len(names) > 50000:
            break
    return names


def _missing(tree: str, goal: str, own: Set[str]) -> List[str]:
    """Modules that the goal file, and what of the repository was loaded, import at their top and that are not there."""
    base = os.path.realpath(tree) + os.sep
    loaded = {
        os.path.realpath(getattr(module, "__file__", None) or os.devnull)
        for module in list(sys.modules.values())
    }
    found = []
    for path in sorted({item for item in loaded if item.startswith(base)} | {goal}):
        for name in _top_imports(path):
            if name not in own and name not in found and not _is_there(name):
                found.append(name)
    return found


def _top_imports(path: str) -> Iterator[str]:
    """First names of what a file imports unconditionally."""
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


def _is_there(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except Exception:  # a half-loaded module has no spec
        return name in sys.modules
