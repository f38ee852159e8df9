"""Functions of a test that another one of the same name replaces, and those that only look like it."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author.checks import example_task
from lmr_author.checks.example_texts import UNIT_TEST
from lmr_author.checks.tests_outcome import START, TEST
from lmr_author.validation.run import select_checks, validate

CALL = "    assert pairwise_loss([1.0], [3]) == (0.0, 1.0)\n"
FIRST = f"def test_loss():\n{CALL}\n\n"
OTHER = "def test_loss():\n    assert math.exp(0) == 1\n\n\n"
RUN = "test_loss()\n"
HIDDEN = {
    "two functions": FIRST + OTHER + RUN,
    "with a mark of pytest": "@pytest.mark.slow\n" + FIRST + OTHER + RUN,
    "two methods": (
        f"class TestLoss(unittest.TestCase):\n    def test_loss(self):\n    {CALL}\n"
        "    def test_loss(self):\n        self.assertEqual(math.exp(0), 1)\n\n\nunittest.main()\n"
    ),
    "a function that compares": FIRST.replace("test_loss", "check")
    + OTHER.replace("test_loss", "check")
    + "check()\n",
}
SEEN = {
    "called in between": FIRST + RUN + OTHER + RUN,
    "kept in a list in between": FIRST + "CHECKS = [test_loss]\n" + OTHER + "CHECKS[0]()\n",
    "the second calls the first": FIRST + "before = test_loss\n\n\n" + OTHER + RUN,
    "kept by a decorator": "@atexit.register\n" + FIRST + OTHER + RUN,
    "looked up by name": FIRST + "globals()['test_loss']()\n\n\n" + OTHER + RUN,
    "in two branches": "if HERE:\n    " + FIRST.replace("\n    ", "\n        ") + "else:\n    "
    + OTHER.replace("\n    ", "\n        ") + RUN,
    "in two classes": (
        f"class TestLoss(unittest.TestCase):\n    def test_loss(self):\n    {CALL}\n\n"
        "class TestMore(unittest.TestCase):\n    def test_loss(self):\n"
        "        self.assertEqual(math.exp(0), 1)\n\n\nunittest.main()\n"
    ),
}  # fmt: skip
IMPORTS = "import atexit\nimport math\nimport pytest\n\n\n"


def _said(folder: Path, test: str, *codes: str) -> list[str]:
    task = example_task.write(folder)
    (task.root / TEST).write_text(test, "utf-8")
    found = validate([task], select_checks(select=list(codes))).findings
    return [f"{one.code} {one.severity} {one.message}" for one in found]


@pytest.mark.parametrize("test", HIDDEN.values(), ids=HIDDEN)
def test_the_first_never_runs(test: str, tmp_path: Path) -> None:
    missed, again = sorted(_said(tmp_path, START + IMPORTS + test, "LMR502", "LMR506"), reverse=True)
    assert missed == "LMR506 error never calls pairwise_loss"
    assert again.startswith("LMR502 warning ") and again.endswith(": this one never runs")


@pytest.mark.parametrize("test", SEEN.values(), ids=SEEN)
def test_the_first_may_run(test: str, tmp_path: Path) -> None:
    assert _said(tmp_path, START + IMPORTS + test, "LMR502", "LMR506") == []


def test_where_only_the_first_asserts_it_cannot_fail(tmp_path: Path) -> None:
    replaced = "def test_loss():\n    print(pairwise_loss([1.0], [3]))\n\n\n"
    (said,) = _said(tmp_path, START + FIRST + replaced + RUN, "LMR502", "LMR506")
    assert said.startswith("LMR502 error test_loss is defined again in line ")


def test_a_property_and_its_setter_are_two_functions(tmp_path: Path) -> None:
    members = (
        "class One:\n    @property\n    def loss(self):\n        assert pairwise_loss([1.0], [3])\n\n"
        "    @loss.setter\n    def loss(self, value):\n        assert value\n\n\n"
    )
    test = UNIT_TEST.replace("class TestPairwise", members + "class TestPairwise")
    assert _said(tmp_path, test, "LMR502", "LMR506") == []
