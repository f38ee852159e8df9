"""Running a command as ``python`` would run it, and recording in it and in the processes that it starts.

Those (launchers, subprocesses, spawned workers) find their configuration in the environment. Forked processes need none
of this: see :meth:`.recorder.Recorder.forked`.
"""

from __future__ import annotations

import atexit
import builtins
import importlib.machinery
import importlib.util
import json
import os
import runpy
import sys
import types
from typing import Any, Dict, List, Tuple

from . import objects
from .cuda_as_cpu import use_cpu_for_cuda
from .instrument import Hook
from .recorder import Recorder, child_folder

CONFIG = "LMR_PROBE_CONFIG"
"""Environment variable with the recorder's configuration, as JSON."""
_OWN = os.path.dirname(os.path.abspath(__file__))
_WITH_VALUE = ("-W", "-X", "--check-hash-based-pycs")
"""Options of ``python`` whose value is a word of its own."""


def record(config: Dict[str, Any], command: List[str]) -> int:
    """Run ``driver.py args…``, ``-m module args…`` or ``-c code`` and record the target's calls.

    Ends as the command ends. An uncaught exception is shown as Python shows it, without our own frames; returns 1 then.
    """
    recorder = Recorder(config)
    recorder.hook.install()
    before = os.environ.get("PYTHONPATH")
    site = os.path.join(_OWN, "site")
    os.environ["PYTHONPATH"] = site if not before else site + os.pathsep + before
    os.environ[CONFIG] = json.dumps(dict(config, out=config.get("root") or config["out"]))
    recorder.save()
    atexit.register(recorder.save)
    if config.get("cuda_as_cpu"):
        use_cpu_for_cuda()
    try:
        _run(command, recorder.tree)
    except (SystemExit, KeyboardInterrupt):
        raise
    except BaseException as error:
        trace = error.__traceback__
        while trace is not None and _is_ours(trace.tb_frame.f_code.co_filename):
            trace = trace.tb_next
        error.__traceback__ = trace
        sys.excepthook(type(error), error, trace)
        return 1
    finally:
        recorder.save()
    return 0


def _is_ours(filename: str) -> bool:
    return os.path.dirname(os.path.abspath(filename)) == _OWN or filename.startswith("<frozen runpy")


def _run(command: List[str], tree: str) -> None:
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
    _name_main(script, tree)
    code: Any = loader.get_code("__main__")
    exec(code, main.__dict__)


def main_module(name: str, load: bool = True) -> str:
    """Return the module that ``python -m name`` runs: a package's ``__main__``.

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
        objects.hidden.add("__main__")


def record_child(text: str) -> None:
    """Record in this process, which the recorded command has started and which has run nothing yet."""
    config = json.loads(text)
    options, kind, rest = split(_command_line())
    goal = os.path.realpath(os.path.join(config["tree"], *config["goal_file"].split("/")))
    if kind == "script" and os.path.realpath(rest[0]) == goal:
        # Python compiles a script without asking anyone, so become the recorder that runs it.
        folder = child_folder(config["out"])
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, "config.json")
        with open(path, "w", encoding="ascii") as file:
            json.dump(dict(config, out=folder, root=config["out"]), file)
        os.environ.pop(CONFIG)
        os.execv(sys.executable, [sys.executable, *options, _OWN, "record", path, "--", *rest])
    config["out"] = child_folder(config["out"])
    if config.get("cuda_as_cpu"):
        use_cpu_for_cuda()
    recorder = Recorder(config, child=True)
    recorder.hook.install()
    atexit.register(recorder.save)
    if kind == "module":
        objects.aliases["__main__"] = rest[0] if rest[0] == "-" else main_module(rest[0], load=False)
    elif kind == "script":
        _name_main(rest[0], recorder.tree)


def split(command: List[str]) -> Tuple[List[str], str, List[str]]:
    """Split the words after ``python``: its options; ``script``, ``module``, ``code`` or ""; and the rest."""
    place = 0
    while place < len(command):
        word = command[place]
        if word in ("-c", "-m"):
            return command[:place], "code" if word == "-c" else "module", command[place + 1 :]
        if not word.startswith("-"):
            return command[:place], "script", command[place:]
        place += 2 if word in _WITH_VALUE else 1
    return command, "", []


def _command_line() -> List[str]:
    """Return this process's command without the interpreter."""
    words = getattr(sys, "orig_argv", None)
    if words is None:  # before Python 3.10
        try:
            with open("/proc/self/cmdline", "rb") as file:
                words = [os.fsdecode(word) for word in file.read().split(b"\0")[:-1]]
        except OSError:
            return []
    return list(words[1:])
