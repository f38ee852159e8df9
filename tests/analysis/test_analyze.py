"""Results of models: tables with answers known beforehand, and results that contradict themselves."""

from __future__ import annotations

import csv
import json
import math
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy
import pytest

from lmr_author.cli.app import main
from lmr_author.core.errors import LmrError, UsageError
from lmr_author.proof.evaluation.candidates.logs import run_of
from lmr_author.release.analysis.analyze import Analysis, analyze
from lmr_author.release.analysis.inference import Properties, fit, properties, regression
from lmr_author.release.analysis.observations import Observation, read
from lmr_author.release.review.score import score, waiting
from tests import example


def answer(task: str, model: str, **more: Any) -> dict[str, Any]:
    """One line of results."""
    return {"task": task, "index": 1, "model": model, "sample": 1, **more}


def write(path: Path, lines: list[dict[str, Any]]) -> Path:
    """Write a JSONL file."""
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def analyzed(folder: Path, lines: list[dict[str, Any]]) -> Analysis:
    """Analyze lines of results."""
    return analyze([write(folder / "r.jsonl", lines)], folder / "out")


def table(folder: Path, name: str) -> list[dict[str, str]]:
    """Read a table that was written."""
    return list(csv.DictReader((folder / f"{name}.csv").read_text().splitlines()))


METRIC = {"category": "Evaluation Metrics", "setting": "prompting", "input": "paper"}
AUGMENTATION = {**METRIC, "category": "Data Augmentation"}
AGENT = {"setting": "agent", "input": "repository"}
RESULTS = [
    answer("1-A", "big", outcome="passed", **METRIC),
    answer("2-B", "big", outcome="failed", **METRIC),
    answer("3-C", "big", outcome="unjudged", error="RateLimitError", **AUGMENTATION),
    answer("4-D", "big", outcome="passed", **AUGMENTATION),
    answer("1-A", "small", outcome="timeout", **METRIC),
    answer("1-A", "small", outcome="passed", actions={"run": 4, "edit": 2}, **AGENT),
    answer("2-B", "small", outcome="failed", actions={"run": 1}, **AGENT),
]


@pytest.fixture
def done(tmp_path: Path) -> Path:
    """The folder of an analysis."""
    return analyzed(tmp_path, RESULTS).folder


def test_missing_results_count_as_failed_and_unjudged_answers_do_not_count(done: Path) -> None:
    rows = {(row["model"], row["setting"]): row for row in table(done, "table2-results")}
    big, small = rows["big", "prompting"], rows["small", "prompting"]
    assert (big["problems"], big["unit test %"], big["unjudged"], big["missing"]) == ("3", "66.7", "1", "0")
    assert (small["problems"], small["unit test %"], small["missing"]) == ("4", "0.0", "3")
    assert float(big["low %"]) < 66.7 < float(big["high %"])


def test_inputs_categories_and_actions_have_their_tables(done: Path) -> None:
    inputs = {(row["model"], row["setting"], row["input"]): row for row in table(done, "table3-inputs")}
    assert inputs["small", "agent", "repository"]["unit test %"] == "25.0"
    assert inputs["big", "prompting", "paper"]["judge CC %"] == ""
    categories = {row["category"]: row for row in table(done, "figure2-categories")}
    assert categories["Evaluation Metrics"]["problems"] == "2"
    shares = {row["action"]: row for row in table(done, "figure5-actions")}
    assert (shares["run"]["passed %"], shares["run"]["failed %"]) == ("66.7", "100.0")
    counts = {row["action"]: row for row in table(done, "figure6-actions")}
    assert (counts["edit"]["passed"], counts["edit"]["failed"]) == ("2", "0")


def test_several_samples_are_averaged(tmp_path: Path) -> None:
    lines = [answer("1-A", "m", sample=n, outcome="passed" if n < 4 else "failed") for n in (1, 2, 3, 4)]
    (row,) = table(analyzed(tmp_path, lines).folder, "table2-results")
    assert (row["unit test %"], row["low %"], row["high %"]) == ("75.0", "30.1", "95.4")


def test_judge_and_people_come_from_files_of_their_own(tmp_path: Path) -> None:
    results = [answer(f"{n}-T", "m", outcome="passed" if n < 3 else "failed") for n in (1, 2, 3, 4)]
    judge = [
        answer(f"{n}-T", "m", judge=grade) for n, grade in enumerate(("CC", "LC", "LI", "unparsable"), 1)
    ]
    people = [
        answer(
            f"{n}-T", "m", grader=person, grade=grade, error_class="wrong formula" if grade == "LI" else ""
        )
        for person, grades in {"ada": "CC CC LI LC", "bo": "CC CC LI LI", "cy": "CC LC CC LI"}.items()
        for n, grade in enumerate(grades.split(), 1)
    ]
    files = [write(tmp_path / f"{n}.jsonl", lines) for n, lines in enumerate((results, judge, people))]
    out = analyze(files, tmp_path / "out").folder

    row = table(out, "table2-results")[0]
    assert (row["judge CC %"], row["judge unparsable"]) == ("25.0", "1")
    assert (row["people CC %"], row["people LI %"]) == ("50.0", "50.0")
    assert table(out, "table6-binary")[0]["people CC %"] == "50.0"
    assert table(out, "figure7-errors") == [{"error class": "wrong formula", "model": "m", "answers": "2"}]
    agree = {row["between"]: row for row in table(out, "agreement")}
    assert agree["judge and people"]["agree %"] == "66.7"
    assert agree["judge and unit test (CC = passed)"]["agree %"] == "66.7"
    for name in ("results.html", "results.md", "table2-results.tex"):
        assert "25.0" in (out / name).read_text()


def test_grades_stored_in_tasks_join_by_prediction(tmp_path: Path) -> None:
    task = example.write(tmp_path / "tasks")
    code = "def pairwise_loss(scores, labels, margin=1.0):\n    return scores\n"
    predictions = write(tmp_path / "p.jsonl", [answer(task.name, "m", code=code)])
    for person in ("ada", "bo"):
        (one,) = waiting([task], predictions, person, None)
        score(one, person, "logically-correct", "close")
    results = write(tmp_path / "r.jsonl", [answer(task.name, "m", run=run_of(predictions), outcome="failed")])
    out = analyze([results], tmp_path / "out", [task], predictions).folder
    assert table(out, "table2-results")[0]["people LC %"] == "100.0"


def test_figures_are_drawn_and_the_same_twice(tmp_path: Path) -> None:
    lines = [*RESULTS, answer("1-A", "a $x$ <b>", error_class="wrong formula", outcome="failed")]
    results = write(tmp_path / "results.jsonl", lines)
    for name in ("one", "two"):
        analyze([results], tmp_path / name)
    for name in ("figure2-categories", "figure5-actions", "figure6-actions", "figure7-errors"):
        svg = (tmp_path / "one" / f"{name}.svg").read_bytes()
        assert svg == (tmp_path / "two" / f"{name}.svg").read_bytes()
        assert (tmp_path / "one" / f"{name}.png").read_bytes() == (
            tmp_path / "two" / f"{name}.png"
        ).read_bytes()
        assert (tmp_path / "one" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert "wrong formula" in (tmp_path / "one" / "figure7-errors.svg").read_text()
    assert (tmp_path / "one" / "results.html").read_text().count("data:image/png") == 5


@pytest.mark.parametrize("absent", ["matplotlib", "statsmodels"])
def test_without_the_extra_there_are_tables_and_a_remark(
    absent: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, absent, None)
    done = analyzed(tmp_path, RESULTS)
    assert any("lmr-author[analysis]" in remark for remark in done.remarks)
    assert not (done.folder / "table5-regression.csv").exists()
    assert not list(done.folder.glob("*.svg")) and table(done.folder, "figure6-actions")


def test_properties_are_measured_as_in_the_paper(tmp_path: Path) -> None:
    task = example.write(tmp_path / "tasks")
    info = task.load()
    repository = task.repository(info)
    shutil.rmtree(repository)
    for path in ("a.py", "pkg/b.py", "pkg/deep/c.py", "docs/d.md", "unit_test/recordings/1/case/x.npy"):
        (repository / path).parent.mkdir(parents=True, exist_ok=True)
        (repository / path).write_text("")
    found = properties(task, info, info.implementations[0])
    assert found is not None
    # a.py, pkg, docs: 0; pkg/b.py, pkg/deep, docs/d.md: 1; pkg/deep/c.py: 2. The root has two subfolders, pkg one.
    assert found.depth == pytest.approx(5 / 7) and found.branches == 1.5
    assert found.length == len(example.GOLDEN.splitlines())


def test_a_regression_finds_the_odds_ratio() -> None:
    variable = numpy.array([0] * 40 + [1] * 40, dtype=float)
    success = numpy.array([1] * 10 + [0] * 30 + [1] * 30 + [0] * 10, dtype=float)
    variables = numpy.column_stack([numpy.ones(80), variable])
    alone = [str(number) for number in range(80)]
    fitted = fit(variables, success, alone)
    assert fitted is not None
    (constant, slope), (_, error) = fitted.params, fitted.bse
    assert constant == pytest.approx(math.log(1 / 3)) and slope == pytest.approx(math.log(9))
    few = 80 / 79 * 79 / 78
    assert error == pytest.approx(math.sqrt(few * 2 * (1 / 10 + 1 / 30)))
    assert fit(numpy.column_stack([numpy.ones(80), success]), success, alone) is None, "separable"
    assert fit(variables, success, ["one"] * 80) is None


def test_the_regression_has_dummies_for_model_and_setting() -> None:
    known, lines = {}, []
    for number in range(40):
        known[f"{number}-T", 1] = Properties(number % 3 / 2, 1 + number % 4, 50 + 7 * number % 90)
        for place, (model, setting) in enumerate((m, s) for m in ("a", "b") for s in ("agent", "prompting")):
            outcome = "passed" if (number * 7 + place * 3) % 5 < 2 else "failed"
            lines.append(Observation(f"{number}-T", 1, model, setting=setting, outcome=outcome))
    assert regression(lines, known).rows == (
        ("constant", -0.3788, 0.3937, -0.96, 0.336),
        ("average directory depth", -0.0305, 0.2015, -0.15, 0.8796),
        ("average branch factor", -0.0001, 0.0742, -0.0, 0.9989),
        ("goal file length", -0.0001, 0.0031, -0.04, 0.968),
        ("model b", -0.0, 0.2144, -0.0, 1.0),
        ("setting prompting", 0.0, 0.4794, 0.0, 1.0),
    )
    assert "clustered by task" in regression(lines, known).note
    apart = [one for one in lines if (one.model == "a") == (one.setting == "agent")]
    assert "left out: setting prompting" in regression(apart, known).note


@pytest.mark.parametrize(
    "lines, problem",
    [
        ([answer("1-A", "m", outcome=one) for one in ("passed", "failed")], "'passed' and 'failed'"),
        ([answer("1-A", "m", grades={"ada": 2})], "unknown grade 2"),
        ([answer("1-A", "m", actions=3)], "Expected `object`, got `int`"),
        ([answer("1-A", "m", grader="ada", grade=one) for one in ("CC", "LI")], "twice"),
        ([{"index": 1}], "required field `task`"),
        ([answer("1-A", "m", input="everything")], "is unknown"),
    ],
)
def test_results_that_cannot_be_meant_are_refused(
    tmp_path: Path, lines: list[dict[str, Any]], problem: str
) -> None:
    with pytest.raises(LmrError, match=problem):
        read([write(tmp_path / "r.jsonl", lines)])


def test_a_folder_is_searched_and_a_file_is_read_once(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", [answer("1-A", "m", outcome="passed")])
    found = read([tmp_path, path])
    assert (len(found.items), found.repeated) == (1, 0)
    with pytest.raises(UsageError, match="no results"):
        read([tmp_path / "absent.jsonl"])


def test_only_the_record_of_one_run_and_sample_is_a_repeat(tmp_path: Path) -> None:
    lines = [answer("1-A", "m", outcome="passed", run=run) for run in ("one", "two")]
    write(tmp_path / "a.jsonl", lines)
    write(tmp_path / "b.jsonl", [{**lines[0], "judge": "CC"}, lines[1]])
    found = read([tmp_path])
    assert [(one.run, dict(one.judges)) for one in found.items] == [("one", {"": "CC"}), ("two", {})]
    assert found.repeated == 1


def test_the_same_problems_in_two_files_are_two_samples(tmp_path: Path) -> None:
    """More samples by running again: a file without run ids is a run."""
    for name, outcome in (("a", "passed"), ("b", "failed")):
        write(tmp_path / f"{name}.jsonl", [answer(f"{n}-T", "m", outcome=outcome) for n in range(6)])
    done = analyze([tmp_path / "a.jsonl", tmp_path / "b.jsonl"], tmp_path / "out")
    (row,) = table(done.folder, "table2-results")
    assert (row["problems"], row["unit test %"]) == ("6", "50.0")
    assert done.remarks[0] == "12 answers of 1 model to 6 problems"
    assert not any("repeated" in remark for remark in done.remarks)


def test_lines_without_numbers_are_samples(tmp_path: Path) -> None:
    lines = [{"task": "1-A", "model": "m", "outcome": one} for one in ("passed", "passed", "failed")]
    found = read([write(tmp_path / "r.jsonl", lines)])
    assert [(one.sample, one.outcome) for one in found.items] == [(1, "passed"), (2, "passed"), (3, "failed")]


def test_a_grade_for_one_of_two_runs_has_to_say_which(tmp_path: Path) -> None:
    runs = [answer("1-A", "m", outcome="passed", run=run) for run in ("one", "two")]
    results, grades = write(tmp_path / "r.jsonl", runs), tmp_path / "g.jsonl"
    write(grades, [answer("1-A", "m", judge="LI")])
    with pytest.raises(LmrError, match="there are 2 answers to 1-A #1 by m") as refused:
        read([grades, results])
    assert refused.value.hint == 'name its run, as in {"run": "one"}'
    write(grades, [answer("1-A", "m", judge="LI", run="two")])
    assert {one.run: dict(one.judges) for one in read([grades, results]).items} == {
        "one": {},
        "two": {"": "LI"},
    }
    write(results, runs[:1])
    write(grades, [answer("1-A", "m", judge="LI")])
    assert [(one.outcome, one.judges) for one in read([grades, results]).items] == [("passed", {"": "LI"})]


def test_unjudged_answers_are_in_no_denominator_and_shown_apart(tmp_path: Path) -> None:
    lines = [
        answer("1-A", "m", outcome="passed"),
        answer("2-B", "m", outcome="unjudged", error="RateLimitError"),
        answer("3-C", "m", outcome="unjudged", error="BuildError"),
        answer("1-A", "m", sample=2, outcome="unjudged", error="RateLimitError"),
    ]
    done = analyzed(tmp_path, lines)
    (row,) = table(done.folder, "table2-results")
    assert (row["problems"], row["unit test %"], row["unjudged"], row["missing"]) == ("1", "100.0", "3", "0")
    apart = [(each["error"], each["answers"]) for each in table(done.folder, "unjudged")]
    assert apart == [("RateLimitError", "2"), ("BuildError", "1")]
    assert "3 unjudged: 2 RateLimitError, 1 BuildError" in done.remarks
    for name in ("results.html", "results.md", "unjudged.tex"):
        assert "RateLimitError" in (done.folder / name).read_text()
    assert [each["answers"] for each in table(done.folder, "figure2-categories")] == ["1"]


def test_a_verdict_stands_in_place_of_an_earlier_failure(tmp_path: Path) -> None:
    lines = [answer("1-A", "m", run="a", outcome="unjudged", error="RateLimitError")]
    lines += [answer("1-A", "m", run="a", outcome="failed"), {**lines[0], "error": "BuildError"}]
    (one,) = read([write(tmp_path / "r.jsonl", lines)]).items
    assert (one.outcome, one.error) == ("failed", "")


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param([answer("1-A", "m", judge="CC"), answer("2-B", "m", judge="LI")], id="no verdict"),
        pytest.param([answer(f"{n}-A", "m", outcome="unjudged", error="E") for n in (1, 2)], id="only unjudged"),
        pytest.param([answer("1-A", "m", outcome="passed")], id="one row"),
        pytest.param([answer("1-A", "m", outcome="passed", category=None)], id="no category"),
        pytest.param([answer("1-A", "m", judge="unparsable")], id="no grade"),
        pytest.param([{"task": "1-A", "model": "m"}], id="nothing but an answer"),
    ],
)  # fmt: skip
def test_few_or_no_results_are_a_page_like_others(tmp_path: Path, lines: list[dict[str, Any]]) -> None:
    results = write(tmp_path / "r.jsonl", lines)
    assert main(["analyze", str(results), "--out", str(tmp_path / "out")]) == 0
    page = (tmp_path / "out" / "results.html").read_text()
    assert "Results by model and setting" in page and "Traceback" not in page
    rows = table(tmp_path / "out", "table2-results")
    assert len(rows) == 1 and rows[0]["model"] == "m"


def test_no_results_at_all_are_a_mistake(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = write(tmp_path / "r.jsonl", [])
    assert main(["analyze", str(results), "--out", str(tmp_path / "out")]) == 2
    assert "no results to analyze" in capsys.readouterr().err


@pytest.mark.parametrize("left", [1, 20, -3])
def test_a_last_line_that_was_cut_off_is_left_out_and_named(tmp_path: Path, left: int) -> None:
    lines = [answer("1-A", "m", outcome="passed"), answer("2-B", "m", outcome="passed")]
    path = write(tmp_path / "results.jsonl", lines)
    first, second, _ = path.read_bytes().split(b"\n")
    path.write_bytes(first + b"\n" + second[:left])
    done = analyze([path], tmp_path / "out")
    assert any(f"{path}:2 was cut off" in remark and "--predictions" in remark for remark in done.remarks)
    assert [(one.task, one.outcome) for one in read([path]).items] == [("1-A", "passed")]
    assert read([write(tmp_path / "one.jsonl", lines[:1])]).cut == ()
    path.write_bytes(second[:left] + b"\n" + first + b"\n")
    with pytest.raises(LmrError, match=r"results.jsonl:1: not JSON") as caught:
        read([path])
    assert "remove the line" in caught.value.hint


def test_the_command_writes_everything_or_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results, out = write(tmp_path / "results.jsonl", RESULTS), tmp_path / "out"
    assert main(["analyze", str(results), "--out", str(out)]) == 0
    assert "7 answers of 2 models to 4 problems" in capsys.readouterr().err
    before = sorted(out.iterdir())
    assert main(["analyze", str(results), "--out", str(out)]) == 3, "the folder exists"
    results.write_text("{\n")
    assert main(["analyze", str(results), "--out", str(tmp_path / "other")]) == 3
    assert sorted(out.iterdir()) == before and not (tmp_path / "other").exists()


def test_the_name_of_a_model_is_data_in_every_table(tmp_path: Path) -> None:
    name = '=HYPERLINK("https://evil.example") | [x](y) <b>\nA_B'
    lines = [
        answer("1-A", name, outcome="passed", **METRIC),
        answer("2-B", "+1\ud800", outcome="failed", **METRIC),
    ]
    out = analyzed(tmp_path, lines).folder
    with (out / "table2-results.csv").open(newline="") as file:
        written = {row["model"] for row in csv.DictReader(file)}
    assert written == {f"'{name}", "'+1?"}
    text = (out / "results.md").read_text()
    assert r"=HYPERLINK(\"https:\//evil.example\") \| \[x\](y) \<b\> A\_B |".replace('\\"', '"') in text
    assert "<b>" not in (out / "results.html").read_text()
    for path in out.glob("*.csv"):
        with path.open(newline="") as file:
            assert not [cell for row in csv.reader(file) for cell in row if cell.startswith(("=", "+", "@"))]
