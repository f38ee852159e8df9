"""The starter set in tasks/: complete, small, exported to every client, and right about every kind of answer."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from lmr_author import resources
from lmr_author.task import Task
from tests.cli.program import lmr, succeed

ROOT = Path(resources.__file__).resolve().parent.parent
TASKS = ROOT / "tasks"
STARTER = ROOT / "templates" / "starter"
RECIPES = {path.parent.name: json.loads(path.read_text("utf-8")) for path in STARTER.glob("*/recipe.json")}
TARGETS = {
    (name, index): item for name, recipe in RECIPES.items() for index, item in enumerate(recipe["targets"], 1)
}
MOST_BYTES = 300_000


def test_every_recipe_is_a_small_task_with_its_instructions() -> None:
    folders = {path.parent.name: Task(path.parent) for path in TASKS.glob("*/info.json")}
    assert folders.keys() == RECIPES.keys()
    made = {
        (name, item.index): item for name, task in folders.items() for item in task.load().implementations
    }
    assert made.keys() == TARGETS.keys()
    for key, item in made.items():
        name = f"{item.class_name}.{item.goal_function}" if item.class_name else item.goal_function
        assert f"{item.goal_file}::{name}" == TARGETS[key]["target"]
        assert (item.instruction, item.category) == (TARGETS[key]["instruction"], TARGETS[key]["category"])
    categories = Counter(recipe["targets"][0]["category"] for recipe in RECIPES.values())
    assert max(categories.values()) == 1
    sizes = {
        name: sum(path.stat().st_size for path in (TASKS / name).rglob("*") if path.is_file())
        for name in folders
    }
    assert {name: size for name, size in sizes.items() if size > MOST_BYTES} == {}


@pytest.mark.bwrap
@pytest.mark.torch
@pytest.mark.timeout(900)
def test_every_answer_gets_its_verdict(tmp_path: Path) -> None:
    answers, out = tmp_path / "answers.jsonl", tmp_path / "out"
    subprocess.run(
        [sys.executable, ROOT / "scripts" / "make-example-tasks", "--predictions", answers], check=True
    )
    ended = lmr("evaluate", TASKS, "--predictions", answers, "--jobs", "2", "--out", out, cwd=tmp_path)
    assert ended.code == 0, ended.out + ended.err
    lines = [json.loads(line) for line in (out / "results.jsonl").read_text().splitlines()]
    found = {(row["task"], row["index"], row["model"]): row["outcome"] for row in lines}
    right = {
        (*key, model): verdict for key, item in TARGETS.items() for model, verdict in item["answers"].items()
    }
    assert found == right
    for key, item in TARGETS.items():
        assert len(item["answers"]) == 5
        assert [model for model, verdict in item["answers"].items() if verdict == "passed"] == [
            "rewritten"
        ], key


@pytest.mark.parametrize("client", ["agent", "lmr-bench", "harbor", "huggingface"])
def test_every_task_is_exported_as_sound(client: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    succeed("export", TASKS, "--to", client, "--out", out, cwd=tmp_path)
    if client == "huggingface":
        rows = [
            json.loads(line)
            for path in out.rglob("implementations*.jsonl")
            for line in path.read_text().splitlines()
        ]
        assert {row["id"] for row in rows} == {f"{name}/{index}" for name, index in TARGETS}
        assert not any(row["problems"] for row in rows)
    elif client == "harbor":
        sound = {
            path.parent.name: tomllib.loads(path.read_text())["metadata"]["sound"]
            for path in out.glob("*/task.toml")
        }
        assert sound == {f"{name}-{index}": True for name, index in TARGETS}
    else:
        file = {"agent": "task.json", "lmr-bench": "info.json"}[client]
        documents: dict[str, Any] = {
            path.parent.name: json.loads(path.read_text()) for path in out.glob(f"*/{file}")
        }
        assert documents.keys() == RECIPES.keys()
        assert not [name for name, document in documents.items() if "not_sound" in document]
