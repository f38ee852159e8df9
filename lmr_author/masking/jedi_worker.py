"""Ask jedi where names are defined: a program of its own, so that it can be stopped.

It reads one JSON request from stdin and writes one JSON line for each name, as soon as it is known. It needs
the standard library and jedi, which only reads the repository: extension modules are not loaded, and no path
outside of the repository is searched, so that third-party packages stay unknown.
"""

from __future__ import annotations

import importlib
import json
import signal
import sys
from typing import Any


class TooLong(BaseException):
    """One name took longer than it may; not an Exception, which jedi would catch."""


def main() -> None:
    request = json.load(sys.stdin)
    sys.path[:] = request["sys_path"]
    jedi: Any = importlib.import_module("jedi")
    sys.setrecursionlimit(3000)
    jedi.settings.auto_import_modules = []
    project = jedi.Project(
        request["repository"],
        sys_path=request["roots"],
        load_unsafe_extensions=False,
        smart_sys_path=False,
    )
    script = jedi.Script(
        request["code"],
        path=request["path"],
        project=project,
        environment=jedi.InterpreterEnvironment(),
    )
    signal.signal(signal.SIGALRM, _stop)
    for number, (line, column) in enumerate(request["positions"]):
        found: list[Any] = []
        try:
            signal.setitimer(signal.ITIMER_REAL, request["seconds"])
            found = _ask(script, line, column)
        except (TooLong, Exception):  # a name that jedi cannot tell is no reason to lose the others
            pass
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        print(json.dumps([number, found]), flush=True)


def _ask(script: Any, line: int, column: int) -> list[Any]:
    """Definitions of one name: where it goes to, and, for a variable, its type's."""
    definitions = script.goto(line, column, follow_imports=True)
    inferred = []
    if not definitions or any(item.type in ("statement", "param", "instance") for item in definitions):
        inferred = script.infer(line, column)
    result = []
    for item in [*definitions, *inferred]:
        if item.module_path is not None and item.line is not None:
            result.append([str(item.module_path), item.name, item.type, item.line])
    return result


def _stop(*_: object) -> None:
    raise TooLong


if __name__ == "__main__":
    main()
