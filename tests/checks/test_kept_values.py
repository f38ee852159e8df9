"""Comparisons of values that a test keeps in its object, or under a name that it sets again (LMR504)."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author.checks import example_task
from lmr_author.checks.tests_outcome import START, TEST
from lmr_author.validation.run import select_checks, validate

FILE = "import json\n\n\ndef stored():\n    return 0\n\n\nEXPECTED = json.load(open(os.path.join(HERE, 'a.json')))\n"
ACTUAL = "actual = json.load(open(os.path.join(HERE, 'a.json')))\n"
RUN = "actual = pairwise_loss([0.5, 2.0], [0, 1])\n"
COMPARED = "assert actual == EXPECTED\n"
SAME_FILE = "expected and actual are read from the same file"


def _indented(*lines: str) -> str:
    return "".join(f"    {line}\n" for line in "".join(lines).splitlines())


def _case(before: str, *test: str, method: str = "setUp", scores: str = "SCORES = [0.5, 2.0]\n") -> str:
    head = f"@classmethod\n    def {method}(cls)" if method == "setUpClass" else f"def {method}(self)"
    body = "".join(f"        {line}\n" for line in before.splitlines())
    more = "".join(f"        {line}\n" for line in test)
    return (
        f"{scores}\n\nclass TestLoss(unittest.TestCase):\n    {head}:\n{body}\n    def test_it(self):\n{more}"
    )


RESULT = "result = pairwise_loss(SCORES, [0, 1])"
EQUAL = "self.assertEqual(result, self.expected)"
OF_TARGET = "self.expected = pairwise_loss(SCORES, [0, 1])\n"
SAME_CALL = {
    "set up before each test": _case(OF_TARGET, RESULT, EQUAL),
    "set up before all tests": _case(OF_TARGET.replace("self", "cls"), RESULT, EQUAL, method="setUpClass"),
    "with what is set up, too": _case(
        "self.scores = [0.5, 2.0]\nself.expected = pairwise_loss(self.scores, [0, 1])\n",
        "result = pairwise_loss(self.scores, [0, 1])",
        EQUAL,
    ),
    "with what was made of a variable": _case(
        "half = 0.5\nself.scores = [half, 2.0]\nself.expected = pairwise_loss(self.scores, [0, 1])\n",
        "result = pairwise_loss(self.scores, [0, 1])",
        EQUAL,
    ),
    "both set up": _case(
        OF_TARGET + OF_TARGET.replace("expected", "result"), EQUAL.replace("(", "(self.", 1)
    ),
    "both in one test": _case(
        "self.scores = [0.5, 2.0]\n",
        "result = pairwise_loss(self.scores, [0, 1])",
        "expected = pairwise_loss(self.scores, [0, 1])",
        "self.assertEqual(result, expected)",
    ),
}
OTHERS = {
    "stored values": _case("self.expected = stored()\n", RESULT, EQUAL),
    "what another call returns": _case("self.expected = pairwise_loss([2.0, 0.5], [1, 0])\n", RESULT, EQUAL),
    "a variable of the same name": _case(OF_TARGET, "SCORES = [2.0, 0.5]", RESULT, EQUAL),
    "a variable of another method": _case(
        "scores = [0.5, 2.0]\nself.expected = pairwise_loss(scores, [0, 1])\n",
        "scores = [2.0, 0.5]",
        RESULT.replace("SCORES", "scores"),
        EQUAL,
    ),
    "it is set again": _case(OF_TARGET, "self.expected = stored()", RESULT, EQUAL),
    "what it is made of is set again": _case(
        "self.scores = [0.5, 2.0]\nself.expected = pairwise_loss(self.scores, [0, 1])\n",
        "self.scores = [2.0, 0.5]",
        "result = pairwise_loss(self.scores, [0, 1])",
        EQUAL,
    ),
    "stored values, too": _case(OF_TARGET, RESULT, EQUAL, "self.assertEqual(result, (2.7, 0.0))"),
}
LAST = {
    "set again": RUN + ACTUAL + COMPARED,
    "set again after it was tried": "try:\n"
    + _indented(RUN)
    + "except ValueError:\n    actual = None\n"
    + ACTUAL
    + COMPARED,
    "set again after a loop": "for _ in range(2):\n" + _indented(RUN) + ACTUAL + COMPARED,
}
NOT_LAST = {
    "in a branch": ACTUAL + "if HERE:\n" + _indented(RUN) + COMPARED,
    "in a try": ACTUAL + "try:\n" + _indented(RUN) + "except ValueError:\n    actual = None\n" + COMPARED,
    "in a loop": ACTUAL + "for _ in range(2):\n" + _indented(RUN) + COMPARED,
    "in a loop, after the comparison": RUN + ACTUAL + "for _ in range(2):\n" + _indented(COMPARED, RUN),
    "as one of several": RUN + ACTUAL + "actual, _ = pairwise_loss([0.5], [1]), 0\n" + COMPARED,
    "as the name of a loop": RUN
    + ACTUAL
    + "for actual in [pairwise_loss([0.5], [1])]:\n"
    + _indented(COMPARED),
    "at last": ACTUAL + RUN + COMPARED,
}


def _said(folder: Path, test: str) -> list[str]:
    task = example_task.write(folder)
    (task.root / TEST).write_text(START + test, "utf-8")
    return [one.message for one in validate([task], select_checks(select=["LMR504"])).findings]


@pytest.mark.parametrize("test", SAME_CALL.values(), ids=SAME_CALL)
def test_both_are_the_targets(test: str, tmp_path: Path) -> None:
    assert _said(tmp_path, test) == ["both sides come from the same call of pairwise_loss"]


@pytest.mark.parametrize("test", OTHERS.values(), ids=OTHERS)
def test_they_are_two_things(test: str, tmp_path: Path) -> None:
    assert _said(tmp_path, test) == []


@pytest.mark.parametrize("test", LAST.values(), ids=LAST)
def test_the_last_value_counts(test: str, tmp_path: Path) -> None:
    assert _said(tmp_path, FILE + test) == [SAME_FILE]


@pytest.mark.parametrize("test", NOT_LAST.values(), ids=NOT_LAST)
def test_it_may_be_another_value(test: str, tmp_path: Path) -> None:
    assert _said(tmp_path, FILE + test) == []


def test_a_copy_of_an_object_is_the_object(tmp_path: Path) -> None:
    test = (
        "import copy\nimport ranking.losses as one\nresult = copy.deepcopy(one).pairwise_loss([0.5, 2.0], [0, 1])\n"
        "expected = one.pairwise_loss([0.5, 2.0], [0, 1])\nassert result == expected\n"
    )
    assert len(_said(tmp_path, test)) == 1
    assert _said(tmp_path, test.replace("= one.", "= copy.deepcopy(HERE).")) == []
