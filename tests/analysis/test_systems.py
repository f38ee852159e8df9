"""Systems beside one another: pass@k, categories, years, cost, the matrix, pairs, two judges."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

import pytest
from scipy.stats import permutation_test
from statsmodels.stats.contingency_tables import mcnemar

from lmr_author.cli.app import main
from lmr_author.cli.judge import _samples as shown_samples
from lmr_author.core.errors import UsageError
from lmr_author.proof.evaluation.candidates.predictions import Prediction
from lmr_author.proof.evaluation.candidates.results import CandidateResult, summary
from lmr_author.proof.evaluation.verdict import Outcome
from lmr_author.release.analysis.analyze import analyze
from lmr_author.release.analysis.inference import comparisons, interval, p_value
from lmr_author.release.analysis.observations import Observation, read
from lmr_author.release.analysis.systems import by_category, by_year, pass_at_k, read_cutoffs, usage
from lmr_author.release.analysis.tables import Table
from tests.analysis.test_analyze import analyzed, answer, table, write


def sampled(outcomes: Mapping[str, str], model: str = "m") -> list[dict[str, object]]:
    """Lines of results: task → a letter for each sample, p for passed, f for failed, u for unjudged."""
    words = {"p": "passed", "f": "failed", "u": "unjudged"}
    return [
        answer(task, model, sample=number, outcome=words[letter], error="E" if letter == "u" else "")
        for task, letters in outcomes.items()
        for number, letter in enumerate(letters, 1)
    ]  # fmt: skip


def records(made: Table) -> list[dict[str, object]]:
    """The rows of a table by its columns."""
    return [dict(zip(made.columns, row, strict=True)) for row in made.rows]


OUTCOMES = {"1-A": "ppfff", "2-B": "fffff", "3-C": "pppppp", "4-D": "pffu", "5-E": "uu"}


def test_judge_and_analyze_say_the_same(tmp_path: Path) -> None:
    """Pass rate, interval and pass@k, with several samples, unjudged ones among them."""
    results = []
    for line in sampled(OUTCOMES):
        about = Prediction(str(line["task"]), 1, "m", "", int(str(line["sample"])), run="r")
        unjudged = CandidateResult.unjudged(about, "Evaluation Metrics", error=str(line["error"]))
        results.append(CandidateResult(**{**vars(unjudged), "outcome": Outcome(line["outcome"])}))
    row = summary(results)[-1]
    path = tmp_path / "results.jsonl"
    path.write_text("".join(json.dumps(result.to_json()) + "\n" for result in results))
    out = analyze([path], tmp_path / "out").folder

    (main_row,) = table(out, "table2-results")
    columns = ("unit test %", "low %", "high %", "unjudged")
    shown = [f"{100 * share:.1f}" for share in (row.share, row.low, row.high)]
    assert [main_row[column] for column in columns] == [*shown, "3"]
    assert [(each["k"], each["pass@k %"]) for each in table(out, "pass-at-k")] == [
        (str(k), f"{100 * rate.share:.1f}") for k, rate in row.pass_at.items()
    ]
    assert list(row.pass_at) == [1, 2, 3] and row.most == 6
    # 2 of 5 pass: 1 - C(3,2) / C(5,2) = 0.7; 1 of 3: 2 / 3.
    assert row.pass_at[2].share == pytest.approx((0.7 + 0 + 1 + 2 / 3) / 4)
    assert shown_samples(row).startswith(f"m: pass@1 {row.share:.1%} (")
    assert shown_samples(row).endswith("no larger k up to 6: a problem has 3 judged samples")
    assert row.to_json()["pass_at"]["2"]["share"] == round(row.pass_at[2].share, 4)
    assert (
        "No larger k for m: 4-D #1 has 3 judged samples, another problem 6."
        in (out / "results.md").read_text()
    )


def test_a_missing_problem_fails_at_every_k_and_one_sample_has_no_table(tmp_path: Path) -> None:
    lines = [*sampled({"1-A": "pf", "2-B": "pp"}), *sampled({"1-A": "p", "3-C": "f"}, "once")]
    items = read([write(tmp_path / "r.jsonl", lines)]).items
    made = records(pass_at_k(items, {item.problem for item in items}))
    assert [(row["model"], row["k"], row["pass@k %"]) for row in made] == [("m", 1, 50.0), ("m", 2, 66.7)]


def test_what_answers_took_in_total_and_for_each_solved_problem(tmp_path: Path) -> None:
    took = {"tokens_in": 1000, "tokens_out": 50, "cost": 0.03, "seconds": 12.5}
    lines = [
        answer("1-A", "m", outcome="passed", usage=took),
        answer("2-B", "m", outcome="failed", usage=took),
    ]
    lines += [
        answer("3-C", "m", outcome="passed", usage={"seconds": 5}),
        answer("1-A", "free", outcome="passed"),
    ]
    (row,) = records(usage(read([write(tmp_path / "r.jsonl", lines)]).items))
    assert (row["answers"], row["measured"], row["solved"]) == (3, 3, 2)
    assert (row["tokens in"], row["cost $"], row["seconds"]) == (2000, 0.06, 30.0)
    assert (row["tokens in / solved"], row["cost $ / solved"], row["seconds / solved"]) == (1000, 0.03, 15.0)


def test_each_system_by_category() -> None:
    items = [
        Observation("1-A", 1, "m", outcome="passed"),
        Observation("2-B", 1, "m", outcome="unjudged", error="E"),
        Observation("3-C", 1, "other", outcome="failed"),
    ]
    categories = {("1-A", 1): "Data Augmentation", ("2-B", 1): "Metrics", ("3-C", 1): "Data Augmentation"}
    made = records(by_category(items, categories.keys(), categories))
    columns = ("model", "category", "problems", "unit test %", "missing", "unjudged")
    assert [tuple(row[column] for column in columns) for row in made] == [
        ("m", "Data Augmentation", 2, 50.0, 1, 0),
        ("m", "Metrics", 0, None, 0, 1),
        ("other", "Data Augmentation", 2, 0.0, 1, 0),
        ("other", "Metrics", 1, 0.0, 1, 0),
    ]


def test_years_before_and_after_a_models_cutoff() -> None:
    items = [
        Observation(f"{year}-T", 1, model, outcome="passed") for year in (2022, 2023, 2024) for model in "mn"
    ]
    paper = {item.problem: item.task[:4] for item in items}
    commit = {("2022-T", 1): "2023-10-31", ("2023-T", 1): "2023-11-01", ("2024-T", 1): ""}
    made = by_year(items, paper.keys(), {"paper": paper, "commit": commit}, {"m": "2023-10"})
    shown = [(row[0], *row[4:8]) for row in made.rows]
    assert shown == [
        ("m", "paper", "2022", "before", 1),
        ("m", "paper", "2023", "within", 1),
        ("m", "paper", "2024", "after", 1),
        ("m", "paper", "all", "after", 1),
        ("m", "paper", "all", "before", 1),
        ("m", "paper", "all", "within", 1),
        ("m", "commit", "2023", "after", 1),
        ("m", "commit", "2023", "before", 1),
        ("m", "commit", "all", "after", 1),
        ("m", "commit", "all", "before", 1),
        *(("n", "paper", str(year), "", 1) for year in (2022, 2023, 2024)),
        ("n", "commit", "2023", "", 2),
    ]
    assert read_cutoffs(["a/b=c=2023-10"], {"a/b=c"}) == {"a/b=c": "2023-10"}
    for wrong in ("m", "m=2023", "m=2023-13", "x=2023-10"):
        with pytest.raises(UsageError):
            read_cutoffs([wrong], {"m"})


def test_the_matrix_says_in_words_what_became_of_each_problem(tmp_path: Path) -> None:
    lines = [*sampled({"2-B": "pfu", "10-A": "f", "3-C": "u"}), *sampled({"2-B": "p"}, "n")]
    lines.append(answer("10-A", "n", judge="CC", run="r"))
    (tmp_path / "a b").mkdir()
    out = analyze([write(tmp_path / "a b" / "r.jsonl", lines)], tmp_path / "out").folder
    assert [tuple(row.values()) for row in table(out, "matrix")] == [
        ("2-B #1", "", "1 of 2 solved, 1 unjudged", "solved", "2"),
        ("3-C #1", "", "unjudged", "missing", "0"),
        ("10-A #1", "", "failed", "untested", "0"),
    ]
    page = (out / "results.html").read_text()
    assert page.count('href="../a%20b/r.jsonl"') == 5 and str(tmp_path) not in page
    assert "1 of 2 solved, 1 unjudged" in (out / "results.md").read_text() and (out / "matrix.tex").exists()


def test_two_systems_on_the_problems_that_both_have() -> None:
    first = [Observation(f"{n}-T", 1, "a", outcome="passed" if n < 8 else "failed") for n in range(10)]
    second = [
        Observation(f"{n}-T", 1, "b", outcome="passed" if n in (0, 1, 9) else "failed") for n in range(11)
    ]
    (row,) = comparisons([*first, *second, Observation("0-T", 1, "alone", outcome="unjudged")]).rows
    assert row[:6] == ("a", "b", 10, 80.0, 30.0, 50.0) and row[8:10] == (6, 1)
    exact = mcnemar([[2, 6], [1, 1]], exact=True).pvalue
    assert row[10] == row[11] == pytest.approx(exact, rel=1e-2) == 0.125


def test_the_test_of_pairs_is_exact() -> None:
    fifths = [Fraction(each, 5) for each in (1, -2, 3, 1, 1, -1, 4, 2, 0)]
    by_all_ways = permutation_test(
        (list(map(float, fifths[:-1])),), sum, permutation_type="samples", vectorized=False
    )
    assert p_value(fifths) == pytest.approx(by_all_ways.pvalue) == 52 / 256
    wins = [Fraction(1)] * 30 + [Fraction(-1)] * 14 + [Fraction(0)] * 50
    assert p_value(wins) == pytest.approx(mcnemar([[0, 30], [14, 0]], exact=True).pvalue)
    assert p_value([Fraction(0)] * 3) == p_value([Fraction(1, 3)]) == 1.0
    odd = [Fraction(1, each) for each in (7, 11, 13, 17, 19)]
    assert p_value(odd) == pytest.approx(2 / 32), "however many samples each problem has"


def test_the_interval_of_a_difference_covers_it() -> None:
    """Fifty problems, five samples of each system, the one better by ten points on average."""
    draw, covered = random.Random(2), 0
    for _ in range(400):
        differences = []
        for _ in range(50):
            rate = draw.uniform(0.1, 0.8)
            one, other = (
                Fraction(sum(draw.random() < each for _ in range(5)), 5) for each in (rate + 0.1, rate)
            )
            differences.append(one - other)
        low, high = interval(differences)
        covered += low <= 0.1 <= high
    assert covered / 400 >= 0.94
    assert interval([Fraction(0)] * 10) == pytest.approx((-0.163, 0.163), abs=5e-3), "equal systems"


def test_a_second_judge_has_columns_of_its_own(tmp_path: Path) -> None:
    lines = [answer("1-A", "m", run="r", outcome="passed", judges={"gpt": "CC", "claude": "LC"})]
    lines += [answer("2-B", "m", run="r", outcome="failed", judges={"gpt": "LI", "claude": "unparsable"})]
    lines += [answer("2-B", "m", run="r", grader="ada", grade="completely correct")]
    out = analyzed(tmp_path, lines).folder
    (row,) = table(out, "table2-results")
    assert (row["judge gpt CC %"], row["judge claude LC %"], row["judge claude unparsable"]) == (
        "50.0",
        "50.0",
        "1",
    )
    assert table(out, "table6-binary")[0]["judge claude CC %"] == "0.0"
    agree = {each["between"]: each for each in table(out, "agreement")}
    assert agree["judges"]["agree %"] == "0.0"
    assert agree["judge gpt and people"]["CC against LI"] == "1"


def test_cutoffs_are_an_option(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "r.jsonl", sampled({"1-A": "p"}))
    command = ["analyze", str(path), "--out", str(tmp_path / "out"), "--cutoff"]
    assert main([*command, "other=2023-10"]) == 2 and "one of: m" in capsys.readouterr().err
    assert main([*command, "m=2023"]) == 2 and "--cutoff gpt-4o=2023-10" in capsys.readouterr().err
