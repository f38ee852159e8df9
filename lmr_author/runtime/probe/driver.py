"""Running a command as ``python`` would run it, and recording in this process; those that it starts run as they are."""

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

from . import lasting, objects
from .cuda_as_cpu import use_cpu_for_cuda
from .instrument import Hook
from .recorder import Recorder


def record(config: Dict[str, Any], command: List[str]) -> int:
    """Run ``driver.py args…``, ``-m module args…`` or ``-c code`` and record the target's calls.

    Ends as the command ends. An uncaught exception is shown as Python shows it, without our own frames; returns 1 then.
    """
    recorder = Recorder(config)
    lasting.install([recorder.tree, *_own_path()])
    recorder.hook.install()
    recorder.save()
    atexit.register(recorder.save)
    if config.get("cuda_as_cpu"):
        use_cpu_for_cuda()
    try:
        _run(command, recorder.tree)
    except Exception as error:
        trace: Any = error.__traceback__
        while _is_ours(trace.tb_frame.f_code.co_filename) and trace.tb_next:
            trace = trace.tb_next
        sys.excepthook(type(error), error.with_traceback(trace), trace)
        return 1
    finally:
        recorder.save()  # a thread that is left over may keep the interpreter from ending
    return 0


def _own_path() -> List[str]:
    """Return the interpreter's own ``sys.path``, without what the environment of this command added."""
    added = {os.path.realpath(entry) for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry}
    return [entry for entry in sys.path if os.path.realpath(entry or ".") not in added]


def _is_ours(filename: str) -> bool:
    own = os.path.dirname(os.path.abspath(__file__))
    return os.path.dirname(os.path.abspath(filename)) == own or filename.startswith("<frozen runpy")


def _run(command: List[str], tree: str) -> None:
    main: Any = types.ModuleType("__main__")
    main.__dict__.update(__builtins__=builtins, __cached__=None, __spec__=None, __package__=None)
    sys.modules["__main__"] = main
    if command[0] == "-m":
        sys.argv[:] = command[1:]
        sys.path[0] = os.getcwd()
        spec = importlib.util.find_spec(command[1])
        package = spec is not None and spec.submodule_search_locations
        objects.aliases["__main__"] = command[1] + ".__main__" if package else command[1]
        runpy._run_module_as_main(command[1], alter_argv=True)  # type: ignore[attr-defined]
        return
    if command[0] == "-c":
        sys.argv[:] = ["-c", *command[2:]]
        sys.path[0] = ""
        lasting.hidden.add("__main__")
        exec(compile(command[1], "<string>", "exec"), main.__dict__)
        return
    script = command[0]
    sys.argv[:] = command
    sys.path[0] = os.path.dirname(os.path.realpath(script))
    loader = importlib.machinery.SourceFileLoader("__main__", script)
    main.__dict__.update(__file__=script, __loader__=loader)
    _name_main(script, tree)
    code: Any = loader.get_code("__main__")
    exec(code, main.__dict__)


def _name_main(script: str, tree: str) -> None:
    """Decide by which name classes of the script are recorded.

    The goal file itself stays ``__main__``. Another script of the repository can be imported again when
    it guards its run by ``__name__``; any other script cannot.
    """
    if Hook.serving is not None and Hook.serving.is_goal(script):
        return
    path = os.path.realpath(script)
    stem, ending = os.path.splitext(os.path.basename(path))
    try:
        with open(path, "rb") as file:
            guarded = b"__name__" in file.read()
    except OSError:
        guarded = False
    if guarded and ending == ".py" and stem.isidentifier() and path.startswith(tree + os.sep):
        objects.aliases["__main__"] = stem
    else:
        lasting.hidden.add("__main__")
