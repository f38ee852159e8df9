"""A set's assessment by the Agentic Benchmark Checklist: scores from evidence, and none without it."""

from __future__ import annotations

import yaml

from lmr_author.core.task import Task
from lmr_author.proof.validation.run import checked
from lmr_author.release.export.assessment import as_yaml, assess, gather
from tests.review.reviewing import all_said


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
    all_said(example)
    assert scores(example)["O.d.1"][0] == 1


def test_what_changed_since_it_was_proven_shows_nothing(example: Task) -> None:
    goal = example.goal(info := example.load(), info.implementations[0])
    goal.write_text(goal.read_text() + "\n# changed\n")
    found = scores(example)
    for name in ("O.d.1", "O.d.2", "T.4", "T.7", "T.9", "T.10", "R.7", "R.13"):
        assert found[name][0] == 0, (name, found[name])


def test_no_task_shows_nothing() -> None:
    assert {item.score for item in assess([])} == {0}
