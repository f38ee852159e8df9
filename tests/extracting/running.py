"""Run programs and compare what they do: output, how they end, and the variables they leave."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass

RUNNER = r"""
import contextlib, io, json, re, sys, types

def state(variables):
    kept = {}
    for name, value in variables.items():
        plain = isinstance(value, (bool, int, float, str, bytes, list, tuple, dict, set, type(None)))
        if plain and not name.startswith("__"):
            kept[name] = re.sub("<function .*? at 0x[0-9a-f]+>", "<function>", repr(value))
    return kept

def run(text):
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    out = io.StringIO()
    end = ""
    with contextlib.redirect_stdout(out):
        try:
            exec(compile(text, "program.py", "exec"), module.__dict__)
        except BaseException as error:
            kind = NameError if isinstance(error, NameError) else type(error)
            end = kind.__name__ + (str(error) if kind is not NameError else "")
    return {"out": out.getvalue(), "end": end, "variables": state(vars(module))}

for line in sys.stdin:
    print(json.dumps(run(json.loads(line))), flush=True)
"""


@dataclass(frozen=True)
class Ran:
    """What a program did: what it printed, the exception it ended with ("" for none), its plain variables."""

    out: str
    end: str
    variables: dict[str, str]


def run_all(programs: list[str]) -> list[Ran]:
    """Run programs one after another in one fresh process, each as ``__main__`` of its own."""
    lines = "".join(json.dumps(text) + "\n" for text in programs)
    done = subprocess.run(
        [sys.executable, "-I", "-c", RUNNER],
        input=lines,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return [Ran(**json.loads(line)) for line in done.stdout.splitlines()]


def assert_same(before: Ran, after: Ran, name: str, local: tuple[str, ...], context: str = "") -> None:
    """Two programs did the same.

    Names that became local to the new function do not count, nor do the variables of a program that an
    exception has ended.
    """
    assert (after.out, after.end) == (before.out, before.end), context
    if before.end:
        return
    left = [{key: ran.variables[key] for key in ran.variables if key not in local} for ran in (before, after)]
    assert left[1] == left[0], context
    assert name not in after.variables
