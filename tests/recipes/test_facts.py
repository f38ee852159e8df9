"""What ``make --format json`` tells a program: all that stands in the way of a sound task, as fields."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lmr_author.cli.make import Stage
from lmr_author.core.errors import Hint, Setting
from lmr_author.release.recipes import STAGES, fields
from lmr_author.release.recipes.recipe import read
from tests.cli.program import lmr_forked
from tests.recipes.recipes import REWRITTEN, change, write_recipe
from tests.recipes.test_make import PLAIN

pytestmark = [pytest.mark.bwrap, pytest.mark.timeout(300)]
WITHOUT_LONG_LISTS = '''\
"""Steps of a filter."""


def clamp(values, low, high):
    """Clamp values to a range."""
    if len(values) > 1000:
        spread = (high - low) * 2 + 1
        low = low + spread * 3 - 4
        high = high - spread // 2
    return [min(max(value, low), high) for value in values]
'''


def made(place: Path, *more: str, code: int) -> dict[str, Any]:
    """What ``make`` says of the one recipe in a folder."""
    done = lmr_forked("make", "recipes", "--out", "tasks", *PLAIN, "--format", "json", *more, cwd=place)
    assert done.code == code, done.out + done.err
    (task,) = json.loads(done.out)["tasks"]
    assert [stage["name"] for stage in task["stages"]] == list(STAGES) == list(Stage)
    return dict(task)


def states(task: dict[str, Any]) -> dict[str, str]:
    return {stage["name"]: stage["state"] for stage in task["stages"]}


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any], dict[str, Any]]:
    """A folder with a recipe and its sound task, and what was said at `mask` and at the end."""
    place = tmp_path_factory.mktemp("sound")
    folder = write_recipe(place / "recipes" / "1-small")
    answers = {
        "rewritten": {"outcome": "passed", "kind": "rewrite"},
        "again": {"outcome": "passed", "kind": "rewrite"},
    }
    change(folder, lambda data: data["targets"][0]["answers"].update(answers))
    (folder / "answers" / "1" / "again.py").write_text(f"# the same\n{REWRITTEN}")

    begun = made(place, "--to", "mask", code=0)
    assert not (place / "tasks" / "1-small").exists()
    return place, begun, made(place, code=0)


def test_stage_by_stage_to_a_sound_task(sound: tuple[Path, dict[str, Any], dict[str, Any]]) -> None:
    _, begun, task = sound
    assert (begun["state"], begun["stage"], begun["gates"]) == ("made to mask", "mask", [])
    assert list(states(begun).values()) == ["done"] * 3 + ["not begun"] * 4
    assert (task["state"], task["error"], task["findings"]) == ("sound", None, [])
    assert list(states(task).values()) == ["reused"] * 3 + ["done"] * 4
    seconds = {stage["name"]: stage["seconds"] for stage in task["stages"]}
    assert seconds["source"] == 0 < seconds["record"] <= task["seconds"]
    assert all(gate["holds"] and gate["message"] for gate in task["gates"])
    (target,) = task["targets"]
    assert (target["target"], target["survivors"], target["not_reached"]) == ("steps/core.py::clamp", [], [])
    assert [case["bytes"] > 0 and case["outcome"] for case in target["cases"]] == ["returned"] * 4
    assert any(case["tolerance"].get("*", {}).get("rtol") for case in target["cases"])
    by_name = {answer["name"]: answer for answer in task["answers"]}
    assert by_name["again"] == {
        "index": 1, "name": "again", "kind": "rewrite", "expected": "passed", "outcome": "passed", "right": True,
        "reason": "", "fails": [], "alike": 1.0,
    }  # fmt: skip
    assert by_name["misread"]["fails"] and by_name["misread"]["alike"] is None


def written(name: str, text: str) -> Callable[[Path], object]:
    """A change of a file beside the recipe."""
    return lambda folder: (folder / name).write_text(text)


def environment(**fields: object) -> Callable[[Path], object]:
    """A change of the recipe's environment."""
    return lambda folder: change(folder, lambda data: data.update(environment=fields))


def unknown_file(folder: Path) -> None:
    change(folder, lambda data: data["targets"][0].update(retrieval=["steps/nowhere.py"]))


TORCH = environment(python="3.11", packages=["torch==2.1"])
OPENCV = ["opencv-python-headless"]
FAILURES: dict[str, tuple[Callable[[Path], object], str, str, Any]] = {
    "no driver": (
        lambda folder: (folder / "driver.py").unlink(),
        "record",
        "targets[0].record.command",
        None,
    ),
    "no package": (written("driver.py", "import cv2\n"), "record", "environment.packages", OPENCV),
    "no PyTorch": (written("driver.py", "import torch\n"), "record", "environment.local", None),
    "no PDF": (written("paper.pdf", "<html></html>"), "source", "paper.source", None),
    "no version": (environment(python="three"), "source", "environment.python", None),
    "PyTorch as a package": (TORCH, "environment", "environment.packages", None),
    "no file to show": (unknown_file, "mask", "targets[0].retrieval", None),
}


@pytest.mark.parametrize("title", FAILURES)
def test_a_stage_that_fails_names_the_field_and_a_value(title: str, tmp_path: Path) -> None:
    spoil, stage, field, value = FAILURES[title]
    spoil(write_recipe(tmp_path / "recipes" / "1-small"))
    task = made(tmp_path, code=1)
    error = task["error"]
    assert (task["state"], task["stage"]) == ("not sound", stage)
    assert (error["field"], error["value"]) == (field, value), error
    assert error["message"] and "recipe.yaml" not in error["message"]
    assert "--" not in error["hint"] and "lmr-author" not in error["hint"], "options are fields here"
    found = states(task)
    assert found[stage] == "failed"
    begun = list(STAGES).index(stage)
    assert list(found.values()) == ["done"] * begun + ["failed"] + ["not begun"] * (len(STAGES) - begun - 1)
    seconds = {one["name"]: one["seconds"] for one in task["stages"]}
    assert task["seconds"] == pytest.approx(sum(seconds.values()), abs=0.11)


def test_survivors_stand_with_their_lines_and_the_block_that_no_case_reaches(tmp_path: Path) -> None:
    folder = write_recipe(tmp_path / "recipes" / "1-small")
    (folder / "repository" / "steps" / "core.py").write_text(WITHOUT_LONG_LISTS)
    proven = made(tmp_path, "--to", "evaluate", code=0)
    assert (proven["state"], states(proven)["evaluate"]) == ("made to evaluate", "failed")
    task = made(tmp_path, code=1)
    assert [stage["name"] for stage in task["stages"] if stage["seconds"]] == ["answers"]
    assert (task["state"], task["stage"], task["error"]) == ("not sound", "evaluate", None)
    gates = {gate["name"]: gate for gate in task["gates"]}
    assert not gates["mutants-die"]["holds"] and gates["mutants-die"]["lists"]["judgement"] == "open"
    (target,) = task["targets"]
    assert target["not_reached"] == [[7, 9]]
    assert target["mutants"]["open"] == len(target["survivors"]) > 0
    one = target["survivors"][0]
    assert one["file"] == "steps/core.py" and one["line"] in range(6, 10)
    assert one["why"] and {"diff", "told_by", "unreached"} <= one.keys()
    assert "spread" in "".join(survivor["diff"] for survivor in target["survivors"])
    assert any("never executed: lines 7-9" in note["text"] for note in target["notes"])


def test_a_wrong_verdict_names_the_cases(
    sound: tuple[Path, dict[str, Any], dict[str, Any]], tmp_path: Path
) -> None:
    place = shutil.copytree(sound[0], tmp_path / "set", symlinks=True)
    change(place / "recipes" / "1-small", lambda data: data["targets"][0]["answers"].update(misread="passed"))
    task = made(place, code=1)
    assert (task["state"], task["stage"], task["error"]) == ("not sound", "answers", None)
    (wrong,) = [answer for answer in task["answers"] if not answer["right"]]
    assert (wrong["name"], wrong["expected"], wrong["outcome"]) == ("misread", "passed", "failed")
    cases = {case["name"]: case for case in task["targets"][0]["cases"]}
    assert wrong["fails"] and {cases[name]["call"] for name in wrong["fails"]}
    assert wrong["reason"].startswith(wrong["fails"][0])


def test_a_value_goes_into_the_list_that_is_there(tmp_path: Path) -> None:
    folder = write_recipe(tmp_path / "1-small")
    change(folder, lambda data: data.update(environment={"packages": ["einops", "numpy<2"]}))
    setting = Setting("--with", ("numpy<1.24",), "`lmr-author env lock --with 'numpy<1.24'`")
    hint = fields.in_words(read(folder), Hint("an older one: {0}", (setting,)), "targets[0].record")
    assert hint == 'an older one: `environment.packages: ["einops", "numpy<1.24"]`'
