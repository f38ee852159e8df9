"""A set's assessment by the Agentic Benchmark Checklist: scores from evidence, and none without it."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from lmr_author.core.task import Task, challenge
from lmr_author.core.task.challenge import Challenge, ChallengedTarget, Challenger, Ending, Kind
from lmr_author.proof.validation.run import checked
from lmr_author.release.reporting.assessment import as_yaml, assess, gather
from tests.cli.program import succeed
from tests.review.reviewing import said

EXAMPLE = Path(__file__).parents[2] / "tasks" / "1-rating-margin"


@pytest.fixture
def example(tmp_path: Path) -> Task:
    """A copy of a starter task; its evaluation holds."""
    shutil.copytree(EXAMPLE, tmp_path / "tasks" / EXAMPLE.name)
    return Task(tmp_path / "tasks" / EXAMPLE.name)


def scores(task: Task) -> dict[str, tuple[int, str]]:
    items = assess([gather(task, checked([task]).tasks[0].findings)])
    read = yaml.safe_load(as_yaml(items))
    assert [*read] == [item.id for item in items]
    return {name: (entry["score"], entry["reason"]) for name, entry in read.items()}


def test_a_proven_task_shows_what_was_proven_and_nothing_more(example: Task) -> None:
    found = scores(example)
    for name in ("O.d.2", "O.e.2", "O.f.3", "T.4", "T.5", "T.7", "T.9", "T.10", "R.13"):
        assert found[name][0] == 1, (name, found[name])
    for name in ("O.c.1", "R.3", "R.8", "R.10"):
        assert found[name][0] == 0 and found[name][1].startswith("not shown: "), (name, found[name])
    assert found["O.d.1"][0] == 0 and "signed off in 0 of 1 task" in found["O.d.1"][1]
    assert found["R.4"][0] == 1


def test_a_task_without_a_recipe_says_so(example: Task) -> None:
    (example.authoring / "made.json").unlink()
    assert scores(example)["R.4"] == (
        0,
        "a recipe makes the task again in 0 of 1 task; not in 1-rating-margin",
    )


def test_people_count_where_they_are_asked_for(example: Task) -> None:
    for name in ("ada", "bo", "cy"):
        said(example, name)
    assert scores(example)["O.d.1"][0] == 1


def test_a_challenge_is_evidence_for_the_tests_quality(example: Task) -> None:
    info = example.load()
    recording, golden = challenge.digests(example, info, 1)
    target = ChallengedTarget(index=1, target="losses.py::f", recording=recording, golden=golden)
    ends = {"a": Ending.FAILS, "b": Ending.EQUAL}
    answers = [Challenger(index=1, name=name, kind=Kind.MISREADING, ending=end) for name, end in ends.items()]
    answers.append(Challenger(index=1, name="c", kind=Kind.REWRITE, ending=Ending.PASSES))
    record = Challenge(tool="1", date="2026-01-01T00:00:00Z", targets=(target,), answers=tuple(answers))
    record.write(example.challenge_path)
    reason = scores(example)["O.d.2"][1]
    assert "1 of 2 misreadings of challenges fail; 1 of 1 rewrites of challenges pass" in reason

    replace(record, targets=(replace(target, recording="0" * 64),)).write(example.challenge_path)
    assert "challenges" not in scores(example)["O.d.2"][1], "of another recording"


def test_what_changed_since_it_was_proven_shows_nothing(example: Task) -> None:
    goal = example.goal(info := example.load(), info.implementations[0])
    goal.write_text(goal.read_text() + "\n# changed\n")
    found = scores(example)
    for name in ("O.d.1", "O.d.2", "T.4", "T.7", "T.9", "T.10", "R.7", "R.13"):
        assert found[name][0] == 0, (name, found[name])


def test_no_task_shows_nothing() -> None:
    assert {item.score for item in assess([])} == {0}


def test_a_report_in_a_folder_has_it(example: Task) -> None:
    succeed("report", "tasks", "--html", "pages", cwd=example.root.parent.parent)
    written = yaml.safe_load((example.root.parent.parent / "pages" / "assessment.yaml").read_text())
    assert written["T.9"]["score"] == 1
    page = (example.root.parent.parent / "pages" / "index.html").read_text()
    assert "Agentic Benchmark Checklist" in page and written["O.d.2"]["reason"] in page
