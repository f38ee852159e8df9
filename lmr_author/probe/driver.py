"""Running a command as ``python`` would run it, inside this process."""

from __future__ import annotations

import atexit
import builtins
import importlib.machinery
import importlib.util
import os
import runpy
import sys
import types
from typing import Any, Dict, List

from . import objects
from .hook import current
from .recorder import Recorder


def record(config: Dict[str, Any], command: List[str]) -> None:
    """Run ``driver.py args…``, ``-m module args…`` or ``-c code`` and record the target's calls.

    Ends as the command ends: by returning, or by its SystemExit or exception.
    """
    from . import children

    recorder = Recorder(config)
    recorder.hook.install()
    children.announce(dict(config, out=config.get("root") or config["out"]))
    recorder.save()
    atexit.register(recorder.save)
    try:
        run(command, recorder.tree)
    finally:
        recorder.save()


def guarded(config: Dict[str, Any], command: List[str]) -> int:
    """:func:`record`, with an uncaught exception shown as Python shows it, without our own frames."""
    try:
        record(config, command)
    except (SystemExit, KeyboardInterrupt):
        raise
    except BaseException as error:
        trace = error.__traceback__
        own = os.path.dirname(os.path.abspath(__file__))
        while trace is not None and _is_ours(trace.tb_frame.f_code.co_filename, own):
            trace = trace.tb_next
        error.__traceback__ = trace
        sys.excepthook(type(error), error, trace)
        return 1
    return 0


def _is_ours(filename: str, own: str) -> bool:
    return os.path.dirname(os.path.abspath(filename)) == own or filename.startswith("<frozen runpy")


def run(command: List[str], tree: str = "") -> None:
    """Run a command in a fresh ``__main__``."""
    main: Any = types.ModuleType("__main__")
    main.__dict__.update(__builtins__=builtins, __cached__=None, __spec__=None, __package__=None)
    sys.modules["__main__"] = main
    if command[0] == "-m":
        sys.argv[:] = command[1:]
        sys.path[0] = os.getcwd()
        objects.aliases["__main__"] = main_module(command[1])
        runpy._run_module_as_main(command[1], alter_argv=True)  # type: ignore[attr-defined]
        return
    if command[0] == "-c":
        sys.argv[:] = ["-c", *command[2:]]
        sys.path[0] = ""
        objects.hidden.add("__main__")
        exec(compile(command[1], "<string>", "exec"), main.__dict__)
        return
    script = command[0]
    sys.argv[:] = command
    sys.path[0] = os.path.dirname(os.path.realpath(script))
    loader = importlib.machinery.SourceFileLoader("__main__", script)
    main.__dict__.update(__file__=script, __loader__=loader)
    name_main(script, tree)
    code: Any = loader.get_code("__main__")
    exec(code, main.__dict__)


def main_module(name: str, load: bool = True) -> str:
    """What ``python -m name`` runs: a package's ``__main__``.

    Args:
        load: import the packages that it lies in, to know; else only one without a dot is known.
    """
    if not load and "." in name:
        return name
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError, AttributeError):
        return name
    return name + ".__main__" if spec is not None and spec.submodule_search_locations else name


def name_main(script: str, tree: str) -> None:
    """Decide by which name classes of the script are recorded.

    The goal file itself stays ``__main__``. Another script of the repository can be imported again when
    it guards what it runs; any other script cannot.
    """
    serving = current()
    if serving is not None and serving.is_goal(script):
        return
    path = os.path.realpath(script)
    stem, ending = os.path.splitext(os.path.basename(path))
    try:
        with open(path, "rb") as file:
            guarded = b"__name__" in file.read()
    except OSError:
        guarded = False
    if guarded and ending == ".py" and stem.isidentifier() and tree and path.startswith(tree + os.sep):
        objects.aliases["__main__"] = stem
    else:
        objects.hidden.add("__main__")
