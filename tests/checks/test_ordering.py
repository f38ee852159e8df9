"""Tests that only ask which value is larger and the like, and inequalities that compare with what is expected."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author.checks import example_task
from lmr_author.checks.tests_outcome import START, TEST
from lmr_author.validation.run import select_checks, validate

IMPORTS = "import numpy as np\n"
RUN = (
    "loss, share = pairwise_loss([0.5, 2.0, -1.0], [0, 2, 1])\nless, _ = pairwise_loss([0.5, 3.0], [0, 1])\n"
)
NOTE = "only asks which value is larger"
ORDERS = {
    "larger": "assert less < loss\n",
    "larger, and a shape": "assert less < loss\nassert isinstance(loss, float)\n",
    "rising": "assert np.all(np.diff([less, loss]) > 0)\n",
    "rising, in pairs": "values = [less, loss]\nassert all(a <= b for a, b in zip(values, values[1:]))\n",
    "zero beside it": "assert less < loss\nassert pairwise_loss([1.0], [3]) == 0\n",
    "what a text begins with": "assert repr(loss).startswith('1.')\n",
    "what a text contains": "assert '1.0' in str(loss)\n",
    "what it was given": (
        "less = pairwise_loss([0.5], [0], margin=0.25)\nassert abs(max(less) - 0.25) < 1e-6\nassert less < loss\n"
    ),
    "between 0 and what it was given": (
        "less, _ = pairwise_loss([0.5], [0], margin=0.25)\nassert 0 <= less <= 0.25 + 1e-9\n"
    ),
}
VALUES = {
    "a value beside it": "assert less < loss\nassert abs(loss - 1.0599649) < 1e-6\n",
    "how far they are apart": "apart = abs(loss - 1.0599649)\nallowed = 1e-6\nassert apart < allowed\n",
    "the largest difference": "worst = 0.0\nfor one in (less, loss):\n    worst = max(worst, abs(one - 1.06))\n"
    "assert worst < len([loss])\n",
    "a tolerance": "tolerance = 1e-3\nassert np.linalg.norm([loss]) < tolerance\n",
    "how alike they are": "assert np.corrcoef([loss], [1.06])[0, 0] > 0.99\n",
    "from both sides": "assert 1.05 < loss < 1.07\n",
    "a share that has to be reached": "assert share > 0.6\nassert less < loss\n",
    "a function's answer": "good = sorted([loss])\nassert compare(good)\nassert less < loss\n",
    "one of what is expected": "assert round(loss, 2) in (1.06, 1.07)\nassert less < loss\n",
    "a parameter": "def below(value, most):\n    assert value < most\n\n\nbelow(abs(loss - 1.06), 1e-2)\n",
    "a count of what is wrong": "wrong = 0\nwrong += loss != 1.06\nassert wrong == 0\nassert less < loss\n",
}


def _said(folder: Path, test: str) -> list[tuple[str, str]]:
    task = example_task.write(folder)
    (task.root / TEST).write_text(START + IMPORTS + RUN + test, "utf-8")
    found = validate([task], select_checks(select=["LMR515"])).findings
    return [(str(one.severity), one.message) for one in found]


@pytest.mark.parametrize("test", ORDERS.values(), ids=ORDERS)
def test_it_is_a_note(test: str, tmp_path: Path) -> None:
    said = [(severity, message) for severity, message in _said(tmp_path, test) if message.startswith(NOTE)]
    assert [severity for severity, _ in said] == ["note"]


@pytest.mark.parametrize("test", VALUES.values(), ids=VALUES)
def test_it_may_compare_more(test: str, tmp_path: Path) -> None:
    assert not any(message.startswith(NOTE) for _, message in _said(tmp_path, test))
