"""The starter set in tasks/: complete, small, exported to every client, and right about every kind of answer."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from lmr_author.cli.app import main
from lmr_author.core import resources
from lmr_author.core.task import Task
from lmr_author.core.task.recording import load
from lmr_author.proof.evaluation.candidates import scorer
from lmr_author.release.recipes.recipe import find, read
from lmr_author.release.recipes.stages import predictions
from lmr_author.runtime.environment.build import Inventory
from tests.cli.program import succeed
from tests.pipeline import few_generated_calls

ROOT = Path(resources.__file__).resolve().parents[2]
TASKS = ROOT / "tasks"
STARTER = ROOT / "templates" / "starter"
RECIPES = {path.name: read(path).recipe for path in find(STARTER)}
TARGETS = {
    (name, index): item for name, recipe in RECIPES.items() for index, item in enumerate(recipe.targets, 1)
}
MOST_BYTES = 500_000
TRIED = ("rewritten", "subtle")
"""The right answer of each target, and the one that is nearest to it; `make` has proven all five."""


def test_every_recipe_is_a_small_task_with_its_instructions() -> None:
    folders = {path.parent.name: Task(path.parent) for path in TASKS.glob("*/info.json")}
    assert folders.keys() == RECIPES.keys()
    made = {
        (name, item.index): item for name, task in folders.items() for item in task.load().implementations
    }
    assert made.keys() == TARGETS.keys()
    for key, item in made.items():
        assert f"{item.goal_file}::{item.qualname}" == TARGETS[key].target
        assert (item.instruction, item.category) == (TARGETS[key].instruction, TARGETS[key].category)
    categories = Counter(recipe.targets[0].category for recipe in RECIPES.values())
    assert max(categories.values()) == 1
    sizes = {
        name: sum(path.stat().st_size for path in (TASKS / name).rglob("*") if path.is_file())
        for name in folders
    }
    assert {name: size for name, size in sizes.items() if size > MOST_BYTES} == {}


@pytest.mark.bwrap
@pytest.mark.torch
@pytest.mark.timeout(900)
def test_every_answer_gets_its_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The packages of this environment, which are the same for each task, take longer to list than all answers.
    monkeypatch.setattr(scorer, "ask_inventory", lambda _: Inventory("3", ""))
    answers, out = tmp_path / "answers.jsonl", tmp_path / "out"
    lines = [line for path in find(STARTER) for line in predictions(read(path))]
    answers.write_text("".join(f"{line}\n" for line in lines if json.loads(line)["model"] in TRIED))
    options = ("--predictions", str(answers), "--jobs", "2", "--out", str(out))
    with few_generated_calls(some=False):
        assert main(["judge", str(TASKS), *options]) == 0
    results = [json.loads(line) for line in (out / "results.jsonl").read_text().splitlines()]
    found = {(row["task"], row["index"], row["model"]): row["outcome"] for row in results}
    right = {
        (*key, name): answer.outcome
        for key, item in TARGETS.items()
        for name, answer in item.expected.items()
        if name in TRIED
    }
    assert found == right
    for key, item in TARGETS.items():
        assert len(item.answers) == 5
        passing = [name for name, answer in item.expected.items() if answer.outcome == "passed"]
        assert passing == ["rewritten"], key


@pytest.mark.parametrize("client", ["agent", "harbor"])
def test_every_task_is_exported_as_sound(client: str, tmp_path: Path) -> None:
    """Without ``--force``, a task that is not sound is refused."""
    succeed("export", TASKS, "--to", client, "--out", tmp_path / "out", "--unreviewed", cwd=tmp_path)
    names = {"agent": RECIPES, "harbor": {f"{name}-{index}" for name, index in TARGETS}}
    assert {path.name for path in (tmp_path / "out").iterdir() if path.is_dir()} == set(names[client])


def test_every_recording_takes_every_branch() -> None:
    for task in map(Task, TASKS.iterdir()):
        for item in task.load().implementations:
            recording = load(task.recording(task.load(), item.index))
            assert recording is not None and recording.calls >= 10
            assert (recording.coverage.missed, recording.coverage.never_false) == ((), ()), item.target
