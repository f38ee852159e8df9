"""Tests that only ask whether a result is true, of targets that return values and of those that return verdicts."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author.checks import example_task
from lmr_author.checks.tests_outcome import START, TEST
from lmr_author.validation.run import select_checks, validate

RETURN = "return mean_penalty, ordered / len(penalties)"
RUN = "result = pairwise_loss([0.5, 2.0, -1.0], [0, 2, 1], margin=1.0)\n"
LITTLE = {
    "a name": RUN + "assert result\n",
    "a call": "assert pairwise_loss([1.0], [3])\n",
    "parts": RUN.replace("result", "loss, share") + "assert loss\nassert share\n",
    "a type beside it": RUN + "assert isinstance(result, tuple)\nassert result\n",
}
MORE = {
    "a value": RUN + "assert result\nassert result[0] == 1.0599649\n",
    "a verdict on it": RUN + "result = result[0] == 1.0599649\nassert result\n",
    "another function's answer": RUN + "good = compare(result)\nassert good\n",
}


VERDICTS = (
    "bool(ordered)",
    "ordered == len(penalties)",
    "math.isclose(mean_penalty, 0.0)",
    "not penalties",
    "True",
)


def _said(folder: Path, test: str, returned: str = "") -> list[str]:
    task = example_task.write(folder)
    golden = task.root / "golden_files" / "losses_golden.py"
    if returned:
        golden.write_text(golden.read_text("utf-8").replace(RETURN, f"return {returned}"), "utf-8")
    (task.root / TEST).write_text(START + test, "utf-8")
    return [one.message for one in validate([task], select_checks(select=["LMR515"])).findings]


@pytest.mark.parametrize("test", LITTLE.values(), ids=LITTLE)
def test_it_is_found(test: str, tmp_path: Path) -> None:
    said = _said(tmp_path, test)
    assert said == ["it is only asked whether something comes back: nearly any values pass"]


@pytest.mark.parametrize("test", MORE.values(), ids=MORE)
def test_it_is_left_alone(test: str, tmp_path: Path) -> None:
    assert not any("comes back" in one for one in _said(tmp_path, test))


@pytest.mark.parametrize("returned", VERDICTS)
def test_the_answer_of_a_question_is_all_there_is_to_know(returned: str, tmp_path: Path) -> None:
    assert _said(tmp_path, RUN + "assert result\n", returned) == []


def test_a_result_is_no_answer(tmp_path: Path) -> None:
    assert _said(tmp_path, RUN + "assert result\n", "math.exp(mean_penalty)") != []
