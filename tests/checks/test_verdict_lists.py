"""Assertions of a list, tuple or dict of verdicts, and of what looks like one."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author.checks import example_task
from lmr_author.checks.tests_outcome import START, TEST
from lmr_author.validation.run import select_checks, validate

RUN = "loss, share = pairwise_loss([0.5, 2.0, -1.0], [0, 2, 1])\n"
COMPARES = "def compare(loss):\n    return {'loss': loss == 1.06, 'type': isinstance(loss, float)}\n\n\n"
ALWAYS = {
    "a dict that a function returns": (
        COMPARES + RUN + "results = compare(loss)\nprint(results)\nassert results, 'wrong'\n",
        "results",
    ),
    "the call itself": (COMPARES + RUN + "assert compare(loss)\n", "compare(loss)"),
    "a list under a name": (RUN + "good = [loss == 1.06, share > 0.5]\nassert good\n", "good"),
    "a verdict with its message": (
        "def compare(loss):\n    if loss != 1.06:\n        return False, 'wrong'\n    return True, ''\n\n\n"
        + RUN
        + "assert compare(loss)\n",
        "compare(loss)",
    ),
    "a name for each verdict": (
        RUN + "right = abs(loss - 1.06) < 1e-2\nresults = {'loss': right}\nassert results\n",
        "results",
    ),
}
MAY_FAIL = {
    "each of them": COMPARES + RUN + "results = compare(loss)\nassert all(results.values())\n",
    "nothing on one way": (
        "def compare(loss):\n    if loss == 1.06:\n        return {'loss': True}\n    return None\n\n\n"
        + RUN
        + "assert compare(loss)\n"
    ),
    "no return at the end": (
        "def compare(loss):\n    if loss == 1.06:\n        return {'loss': True}\n\n\n"
        + RUN
        + "assert compare(loss)\n"
    ),
    "the verdict is taken out": (
        "def compare(loss):\n    return loss == 1.06, loss\n\n\n"
        + RUN
        + "good, _ = compare(loss)\nassert good\nassert compare(loss)[0]\n"
    ),
    "a list that is emptied": RUN
    + "left = [loss == 1.06, False]\nleft.remove(False)\nleft.remove(True)\nassert not left\n",
    "a list that one is popped from": RUN
    + "good = [loss == 1.06]\ngood.pop()\nassert loss == 1.06\nassert not good\n",
    "cases": RUN + "cases = [([1.0], [3])]\nassert cases, 'no cases'\nassert loss == 1.06\n",
    "a list that starts empty": RUN
    + "wrong = []\nif loss != 1.06:\n    wrong.append(loss)\nassert not wrong\n",
}


def _said(folder: Path, test: str) -> list[tuple[str, str]]:
    task = example_task.write(folder)
    (task.root / TEST).write_text(START + test, "utf-8")
    return [
        (str(one.severity), one.message)
        for one in validate([task], select_checks(select=["LMR502"])).findings
    ]


@pytest.mark.parametrize(("test", "shown"), ALWAYS.values(), ids=ALWAYS)
def test_it_always_holds(test: str, shown: str, tmp_path: Path) -> None:
    ((severity, message),) = _said(tmp_path, test)
    assert severity == "error"
    assert message.startswith(f"`{shown}` always holds: a ")


@pytest.mark.parametrize("test", MAY_FAIL.values(), ids=MAY_FAIL)
def test_it_may_fail(test: str, tmp_path: Path) -> None:
    assert _said(tmp_path, test) == []


def test_beside_other_assertions_it_is_a_warning(tmp_path: Path) -> None:
    test = COMPARES + RUN + "assert compare(loss)\nassert share > 0.5\n"
    assert [severity for severity, _ in _said(tmp_path, test)] == ["warning"]
