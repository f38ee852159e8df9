"""Words are for people: with every reason, message and hint replaced by "x", cases and gates are decided alike."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lmr_author.authoring.masking import MaskOptions, mask
from lmr_author.authoring.recording.replay import RejectedCall
from lmr_author.authoring.recording.run import LostCalls
from lmr_author.core.errors import Hint, LmrError
from lmr_author.core.task import Task
from lmr_author.core.task.evaluation import GateResult
from lmr_author.core.task.mutation import Survivor
from lmr_author.proof.evaluation.verdict import CaseScore, Verdict
from tests.evaluation.foreign import foreign_task
from tests.pipeline import recorded, run_gates
from tests.support import make_task, write_files

WORDS = ("message", "hint", "reason", "why", "obstacle")
ROUNDED = '''\
def rounded(values, digits=None):
    """Round each value."""
    if digits is None:
        return [round(value) for value in values]
    if digits > 5:
        raise ValueError("too many digits")
    return [round(value, digits) for value in values]
'''
DRIVER = """\
from pkg.rounding import rounded
rounded([1.25, 2.5])
rounded([1.25, 2.5, 3.1], 1)
rounded(iter([1.5]))
try:
    rounded([1.0], 6)
except ValueError:
    pass
"""


def without_words(patched: pytest.MonkeyPatch) -> None:
    """Replace what recording and gates say, where it is said; what is empty stays so."""
    for made in (LmrError, RejectedCall, LostCalls, Survivor, GateResult, Verdict, CaseScore):
        plain = made.__init__

        def wordless(self: Any, *args: Any, plain: Any = plain, **kwargs: Any) -> None:
            plain(self, *args, **kwargs)
            for name in WORDS:
                if name == "hint" and isinstance(self, LmrError):
                    self.advice = Hint("x" if self.hint else "")
                elif getattr(self, name, ""):
                    object.__setattr__(self, name, "x")

        patched.setattr(made, "__init__", wordless)


def facts(task: Task) -> list[object]:
    """What gates found, without words and times."""
    found = [gate.to_json() for gate in run_gates(task, mutants=12, generated=True).gates]
    for gate in found:
        for name in ("message", "hint", "seconds"):
            gate.pop(name, None)
        gate["detail"].pop("facts", None)  # of the process, such as its memory
        for survivor in gate["detail"].get("survivors", ()):
            survivor.pop("why", None)
    assert len(found) > 3
    return [json.dumps(gate, sort_keys=True) for gate in found]


def from_calls(parent: Path) -> tuple[object, ...]:
    task = make_task(parent)
    write_files(task.root / "small-repo", {"pkg/rounding.py": ROUNDED, "run.py": DRIVER})
    mask(task, MaskOptions(("pkg/rounding.py::rounded",)), task.root)
    result = recorded(task, "pkg/rounding.py::rounded", generated=True)
    return [case.number for case in result.selected.calls], len(result.selected.rejected), facts(task)


def from_a_test(parent: Path) -> tuple[object, ...]:
    (parent / "lacking").mkdir(parents=True)
    lacks = (
        "import not_there_at_all\nfrom scores.smooth import softplus\nassert softplus(0.0)\nprint('Passed')\n"
    )
    return (facts(foreign_task(parent / "lacking", lacks)),)


@pytest.mark.parametrize("made", [from_calls, from_a_test])
def test_cases_and_gates_are_decided_by_facts(
    made: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoken = made(tmp_path / "spoken")
    without_words(monkeypatch)

    assert made(tmp_path / "wordless") == spoken
