"""A folder in the layout of LMR-Bench's published results, made here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lmr_author.cli.app import main
from lmr_author.core.errors import LmrError
from lmr_author.release.analysis.analyze import analyze
from lmr_author.release.analysis.observations import read
from tests.analysis.test_analyze import table
from tests.support import write_files

FENCED = """The loss is right.\n```json\n{"category": "3", "reason": "equal"}\n```\n"""


def graded(*values: int, annotator: str) -> str:
    """One annotator's file: these grades for the functions of paper 1, by prompting."""
    entry = {"paper_index": 1, "agent_type": "no_agent", "model_name": "big", "annotator": annotator}
    return json.dumps(
        [
            {**entry, "function_index": number, "human_judge_result": value}
            for number, value in enumerate(values)
        ]
    )


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Two papers, the first with two functions; prompting and agent of one model; two annotators."""
    root = tmp_path / "results"
    unit_tests, judges = "unit_test_evaluation", "llm_as_a_judge_evaluation"
    write_files(
        root,
        {
            f"{unit_tests}/BaseAgent/big/results.txt": "1-Alpha/unit_test_1.log: PASS\n1-Alpha/unit_test_2.log: FAIL\n"
            "2-Beta/unit_test.log: PASS\n",
            f"{unit_tests}/OpenHands/big/results.txt": "1-Alpha/unit_test_1.log: PASS\n"
            "/some/where/2-Beta/beta-repo/unit_test/logs is not a directory\n",
            f"{judges}/no_agent/big/1-Alpha_0_analysis.txt": FENCED,
            f"{judges}/no_agent/big/1-Alpha_1_analysis.txt": '{"category": "<1>"}',
            f"{judges}/no_agent/big/2-Beta_0_analysis.txt": "I cannot tell.",
            f"{judges}/openhands_agent/big/1-Alpha_0_analysis.txt": '{"category": "2",\n"reason": ""}',
            f"{judges}/openhands_agent/.ipynb_checkpoints/1-Alpha_0_analysis.txt": '{"category": "1"}',
            "human_evaluation/ada.json": graded(3, 1, annotator="ada"),
            "human_evaluation/bo.json": graded(2, 0, annotator="bo"),
        },
    )
    return root


def test_the_published_layout_is_read_as_it_is(results: Path, tmp_path: Path) -> None:
    found = {(one.task, one.index, one.setting): one for one in read([results], {"bo": 0}).items}
    first, second = found["1-Alpha", 1, "prompting"], found["1-Alpha", 2, "prompting"]
    assert (first.outcome, first.judges, first.grades) == ("passed", {"": "CC"}, {"ada": "CC", "bo": "CC"})
    assert (second.outcome, second.judges, second.grades) == ("failed", {"": "LI"}, {"ada": "LI", "bo": "LI"})
    assert found["2-Beta", 1, "prompting"].judges == {"": "unparsable"}
    assert (
        found["1-Alpha", 1, "agent"].judges == {"": "LC"} and found["2-Beta", 1, "agent"].outcome == "failed"
    )
    out = analyze([results.parent], tmp_path / "out", scales={"bo": 0}).folder
    rows = {row["setting"]: row for row in table(out, "table2-results")}
    assert (rows["prompting"]["unit test %"], rows["agent"]["unit test %"]) == ("66.7", "33.3")
    assert rows["agent"]["missing"] == "1", "no line for the second function"
    assert rows["prompting"]["judge unparsable"] == "1"


def test_a_scale_that_does_not_fit_is_asked_for(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["analyze", str(results), "--out", str(tmp_path / "out")]
    assert main(command) == 3
    shown = capsys.readouterr().err
    assert "bo.json: grade '0' on a scale from 1 to 3" in shown and "--scale bo=0" in shown
    assert main([*command, "--scale", "bo=0"]) == 0
    (results / "human_evaluation" / "bo.json").write_text(graded(0, 3, annotator="bo"))
    with pytest.raises(LmrError, match="grade '3' on a scale from 0 to 2") as caught:
        read([results], {"bo": 0})
    assert "more than one scale" in caught.value.hint
    assert main([*command, "--scale", "bo"]) == 2 and main([*command, "--scale", "cy=0"]) == 3


def test_what_is_no_result_is_refused(results: Path) -> None:
    path = results / "unit_test_evaluation" / "BaseAgent" / "big" / "results.txt"
    path.write_text("1-Alpha/unit_test_1.log: PERHAPS\n")
    with pytest.raises(LmrError, match=r"results.txt:1: neither"):
        read([results], {"bo": 0})
