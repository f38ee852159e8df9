"""``judge --keep``: what models solve is kept beside the gates, and shown where people look at a task."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lmr_author.core import files
from lmr_author.core.task import Task, difficulty
from lmr_author.core.task.difficulty import MOST_NAME, Difficulty, Extreme, ModelAnswers, short_name
from lmr_author.proof.evaluation.candidates.results import keep
from lmr_author.proof.evaluation.verdict import Outcome
from lmr_author.release.review.evidence_of_questions import evidence_of
from tests import example
from tests.cli.program import refuse, succeed, validate_with
from tests.cli.test_evaluate_candidates import BAD, GOOD, judge, task, write
from tests.evaluation.made import result
from tests.reporting.test_report import EVIL, page_of

__all__ = ["task"]

pytestmark = [pytest.mark.bwrap, pytest.mark.timeout(300)]
HOSTILE = f"[bold red]{EVIL}\n\x1b[31m" + "x" * 10_000


def answers(
    model: str, *, solved: int = 0, failed: int = 0, source: str = "a.jsonl", content: str
) -> ModelAnswers:
    return ModelAnswers(
        model, "", 1, source, "2026-01-01T00:00:00+00:00", content, solved=solved, failed=failed
    )


def shown(task: Task, question: str) -> str:
    """The lines about models that a reviewer sees at a question."""
    pieces = evidence_of(task, ())[question].pieces
    return "\n".join(line for piece in pieces if piece.title == "Models' answers" for line in piece.lines)


def test_verdicts_are_kept_and_shown(task: Task, tmp_path: Path) -> None:
    write(
        tmp_path,
        {"model": "right", "code": GOOD, "setting": "paper", "input": "retrieval"},
        {"model": "wrong", "code": BAD},
        {"model": "wrong", "code": None},
        {"model": HOSTILE, "code": BAD},
        {"model": "away", "code": ..., "error": "RateLimitError"},
    )

    done = judge(tmp_path, "--keep")

    assert "kept in 1 task: authoring/difficulty.json" in done.out
    validate_with("difficulty", json.loads(task.difficulty_path.read_text()))
    (target,) = difficulty.current(task)
    kept = {each.model: each for each in target.answers}
    assert (kept["right"].solved, kept["right"].tried, kept["right"].condition) == (1, 1, "paper, retrieval")
    assert (kept["wrong"].solved, kept["wrong"].failures) == (0, "1 failed, 1 invalid")
    assert (kept["away"].tried, kept["away"].unjudged) == (0, 1)
    assert {each.source for each in target.answers} == {"predictions.jsonl"}
    assert {each.content for each in target.answers} == {task.content_digest()}
    hostile = next(name for name in kept if name.startswith("[bold red]"))
    assert len(hostile) <= MOST_NAME and hostile.isprintable()
    assert (target.models, target.text) == (3, "1 of 4 answers of 3 models pass, 1 unjudged")

    status = succeed("status", "tasks", cwd=tmp_path)
    assert "models: 1 of 4 answers of 3 models pass, 1 unjudged" in status.out
    assert "\x1b" not in status.out
    (row,) = succeed("status", "tasks", "--format", "json", cwd=tmp_path).json()["tasks"]
    assert (row["difficulty"][0]["solved"], row["difficulty"][0]["tried"]) == (1, 4)
    page = page_of(task.root, tmp_path)
    assert "1 of 4 answers of 3 models pass" in page.text and "predictions.jsonl" in page.text
    assert EVIL[:30] in page.text, "a name is text"
    assert all("alert(1)" not in text for text in page.raw["script"])
    assert "1 of 4 answers" in shown(task, "paper-section") and not shown(task, "core")

    write(tmp_path, {"model": "wrong", "code": GOOD})
    judge(tmp_path, "--keep")
    again = {each.model: each for each in difficulty.current(task)[0].answers}
    assert (again["wrong"].solved, again["wrong"].tried, again["right"].solved) == (1, 1, 1)

    info = task.load_raw()
    info["implementations"][0]["instruction"] += " Mind large values."
    files.write_json(task.info_path, info)
    assert difficulty.current(task) == () and not shown(task, "paper-section")
    assert "models" not in succeed("status", "tasks", cwd=tmp_path).out


def test_results_are_kept_of_unit_tests_only(task: Task, tmp_path: Path) -> None:
    said, _ = refuse(2, "judge", "tasks", "--by-hand", "--keep", "--list", "--predictions", "x", cwd=tmp_path)
    assert "--keep" in said and not task.difficulty_path.exists()


@pytest.mark.parametrize(
    ("solved", "failed", "models", "extreme"),
    [
        (1, 0, 2, Extreme.EVERY),
        (0, 1, 2, Extreme.NONE),
        (5, 0, 1, Extreme.EVERY),
        (0, 5, 1, Extreme.NONE),
        (4, 0, 1, None),
        (1, 1, 2, None),
    ],
)
def test_what_all_or_none_solve_is_asked_about_where_enough_was_tried(
    solved: int, failed: int, models: int, extreme: Extreme | None, tmp_path: Path
) -> None:
    one = example.write(tmp_path / "tasks")
    content = one.content_digest()
    difficulty.keep(
        one,
        [answers(f"m{number}", solved=solved, failed=failed, content=content) for number in range(models)],
    )
    (target,) = difficulty.current(one)
    assert target.extreme is extreme
    assert ("is it too easy?" in shown(one, "core")) == (extreme is Extreme.EVERY)
    assert ("is it fair?" in shown(one, "paper-section")) == (extreme is Extreme.NONE)


def test_the_sets_page_lists_what_all_and_what_none_solve(tmp_path: Path) -> None:
    easy, hard, apart, _ = (example.write(tmp_path / "tasks", number) for number in (1, 2, 3, 4))
    for one, solved in ((easy, 1), (hard, 0)):
        new = [
            answers(name, solved=solved, failed=1 - solved, content=one.content_digest())
            for name in ("a", "b")
        ]
        difficulty.keep(one, new)
    difficulty.keep(apart, [answers("a", failed=1, content=apart.content_digest())])

    text = page_of(tmp_path / "tasks", tmp_path).text

    section = text[
        text.index("Every model solves it") : text.index("Only tasks with answers from two models")
    ]
    every, none = section.split("No model solves it")
    assert easy.name in every and hard.name in none and apart.name not in section
    table = succeed("status", "tasks", cwd=tmp_path).out
    cells = [line.split() for line in table.splitlines() if "MarginRanking" in line]
    assert [row[2] for row in cells[:4]] == ["2/2", "0/2", "0/1", "-"]


def test_two_thousand_models_are_kept_and_a_few_are_shown(tmp_path: Path) -> None:
    one = example.write(tmp_path / "tasks" / "inner")
    one = Task(one.root.rename(tmp_path / "tasks" / "7-Softplus"))
    results = [result(f"model-{number}", Outcome.FAILED) for number in range(2000)]
    assert keep([one], results, tmp_path / "a.jsonl", {one.name: one.content_digest()}) == 1
    assert len(Difficulty.read(one.difficulty_path).answers) == 2000
    text = page_of(one.root, tmp_path).text
    assert "0 of 2000 answers of 2000 models pass" in text and "and 1980 more" in text
    assert sum(f"model-{number} " in text for number in range(2000)) <= 20


def test_two_long_names_stay_two() -> None:
    first, second = short_name("x" * 10_000), short_name("x" * 10_000 + "y")
    assert first != second and len(first) <= MOST_NAME
    assert short_name("\n\t") == "unnamed"
