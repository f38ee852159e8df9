"""Recording in processes that the recorded command starts: launchers, subprocesses, spawned workers.

They find their configuration in the environment. Forked processes need none of this: see
:meth:`.recorder.Recorder.forked`.
"""

from __future__ import annotations

import atexit
import json
import os
import sys
from typing import Any, Dict, List, Tuple

from . import objects
from .driver import main_module, name_main
from .recorder import Recorder, child_folder

CONFIG = "LMR_PROBE_CONFIG"
"""Environment variable with the recorder's configuration, as JSON."""

_WITH_VALUE = ("-W", "-X", "--check-hash-based-pycs")
"""Options of ``python`` whose value is a word of its own."""


def announce(config: Dict[str, Any]) -> None:
    """Have processes that are started from now on record too."""
    site = os.path.join(os.path.dirname(os.path.abspath(__file__)), "site")
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = site if not before else site + os.pathsep + before
    os.environ[CONFIG] = json.dumps(config)


def start(text: str) -> None:
    """Record in this process, which has run nothing yet."""
    config = json.loads(text)
    options, kind, rest = split(_command_line())
    goal = os.path.realpath(os.path.join(config["tree"], *config["goal_file"].split("/")))
    if kind == "script" and os.path.realpath(rest[0]) == goal:
        # Python compiles a script without asking anyone, so it is run the way that the recorder runs one.
        _run_recorded(config, options, rest)
    config["out"] = child_folder(config["out"])
    recorder = Recorder(config, child=True)
    recorder.hook.install()
    atexit.register(recorder.save)
    if kind == "module":
        objects.aliases["__main__"] = rest[0] if rest[0] == "-" else main_module(rest[0], load=False)
    elif kind == "script":
        name_main(rest[0], recorder.tree)


def split(command: List[str]) -> Tuple[List[str], str, List[str]]:
    """The words after ``python``: its options; ``script``, ``module``, ``code`` or ""; and what follows."""
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
    """This process's command without the interpreter."""
    words = getattr(sys, "orig_argv", None)
    if words is None:  # before Python 3.10
        try:
            with open("/proc/self/cmdline", "rb") as file:
                words = [os.fsdecode(word) for word in file.read().split(b"\0")[:-1]]
        except OSError:
            return []
    return list(words[1:])


def _run_recorded(config: Dict[str, Any], options: List[str], rest: List[str]) -> None:
    """Become the recorder running a script. Does not return."""
    folder = child_folder(config["out"])
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "config.json")
    with open(path, "w", encoding="ascii") as file:
        json.dump(dict(config, out=folder, root=config["out"]), file)
    os.environ.pop(CONFIG)
    probe = os.path.dirname(os.path.abspath(__file__))
    os.execv(sys.executable, [sys.executable, *options, probe, "record", path, "--", *rest])
