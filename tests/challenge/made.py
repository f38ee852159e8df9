"""A small recorded task, and answers for every ending of a challenge."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lmr_author.authoring.masking import MaskOptions, mask
from lmr_author.authoring.recording import explored
from lmr_author.core.task import Task
from lmr_author.core.task.challenge import Challenge, Challenger
from lmr_author.release.challenge.challenge import ChallengeOptions, ChallengeRun, challenge
from tests.evaluation.foreign import PLAIN
from tests.pipeline import few_generated_calls, quiet, recorded
from tests.support import make_task, write_files

TARGET = "pkg/grid.py::to_grid"

SOURCE = '''\
"""Values on a grid."""


def to_grid(values, seen, step=1.0):
    """Put values on a grid."""
    seen.append(len(values))
    if step <= 0:
        return []
    return [round(value / step) * step for value in values]
'''
DRIVER = """\
from pkg.grid import to_grid

for number in range(12):
    values = [number + 0.3, 20.2 - 1.1 * number, 7.1 * number + 0.05]
    if number == 7:
        values[1] = 2.5
    if number == 9:
        values[2] = 700.4
    to_grid(values, [])
"""
"""Call 8 has the only tie, call 10 the only large value; the step is always that of the default."""

MISREADINGS = {
    "floor": "# Down in place of to the nearest.\nreturn [value // step * step for value in values]",
    "half-up": "import math\nreturn [math.floor(value / step + 0.5) * step for value in values]",
    "large-stay": "return [value if value > 500 else round(value / step) * step for value in values]",
    "no-step": "# The step is ignored.\nreturn [float(round(value)) for value in values]",
    "negative-step": "if step <= 0:\n    return None\nreturn [round(value / step) * step for value in values]",
    "not-python": "return [",
    "forgets-seen": "seen = []\nreturn [round(value / step) * step for value in values]",
}
REWRITES = {
    "loop": "result = []\nfor value in values:\n    result.append(round(value / step) * step)\nreturn result",
    "ties-up": "return [3.0 if value == 2.5 else round(value / step) * step for value in values]",
    "rounded": "return [round(value / step) * step + 2e-6 for value in values]",
    "reversed": "return [round(value / step) * step for value in values][::-1]",
    "wrong": "return [value // step * step for value in values]",
    "newer-api": "return [round(value / step) * step for value in values.mT]",
}
"""`ties-up` differs from the golden at a tie alone, of which no paper says anything."""


def as_function(body: str) -> str:
    """Return an answer: the function with a body, its comment on top."""
    lines = body.splitlines()
    about = [line for line in lines if line.startswith("#")]
    rest = [line for line in lines if not line.startswith("#")]
    first = [] if "seen" in body else ["seen.append(len(values))"]
    body_lines = "\n".join(f"    {line}" for line in (*first, *rest))
    return "\n".join([*about, "def to_grid(values, seen, step=1.0):", body_lines, ""])


def answers(folder: Path, misreadings: dict[str, str], rewrites: dict[str, str]) -> Path:
    """Write answers into ``misreadings/`` and ``rewrites/``, and return the folder."""
    write_files(folder, {f"misreadings/{name}.py": as_function(text) for name, text in misreadings.items()})
    write_files(folder, {f"rewrites/{name}.py": as_function(text) for name, text in rewrites.items()})
    return folder


def grid_task(parent: Path) -> Task:
    """Return a recorded task; its driver lies beside it."""
    task = make_task(parent)
    write_files(task.root / "small-repo", {"pkg/grid.py": SOURCE})
    write_files(parent, {"driver.py": DRIVER})
    mask(task, MaskOptions((TARGET,), category="Evaluation Metrics"), task.root)
    recorded(task, TARGET, "python", "driver.py", cases=3, here=parent)
    return task


def run(task: Task, path: Path | None = None, **options: object) -> ChallengeRun:
    """Challenge a task without isolation of its environment from others, and without a terminal."""
    chosen = ChallengeOptions(**{"answers": path, "where": PLAIN, **options})  # type: ignore[arg-type]
    with few_generated_calls(some=True), pytest.MonkeyPatch.context() as patch:
        patch.setattr(explored, "MOST", 30)
        return challenge(task, chosen, task.root.parent, quiet)


def answer(record: Challenge, name: str) -> Challenger:
    """Return the result of an answer."""
    return next(one for one in record.answers if one.name == name)


def lines(task: Task, kind: str, texts: dict[str, str]) -> str:
    """Return answers as lines of predictions."""
    rows = [
        {"task": task.name, "model": name, "kind": kind, "about": f"about {name}", "code": as_function(text)}
        for name, text in texts.items()
    ]
    return "".join(json.dumps(row) + "\n" for row in rows)
