"""A recipe is read as typed values; what is wrong is named by file and field."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from lmr_author.core import resources
from lmr_author.core.errors import LmrError
from lmr_author.release.recipes import STAGES, made
from lmr_author.release.recipes.recipe import find, read, require_distinct
from tests.recipes.recipes import change, write_recipe

PUBLISHED = Path(resources.__file__).resolve().parents[2] / "recipes"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_recipe(tmp_path / "1-small")


def test_every_scalar_is_what_its_field_says(folder: Path) -> None:
    change(folder, lambda data: data["repository"].update(date="2024-01-02T03:04:05+00:00", skip_lfs="true"))
    found = read(folder).recipe
    assert (found.id, found.paper.year, found.repository.date) == (1, 2024, "2024-01-02T03:04:05+00:00")
    assert found.repository.skip_lfs is True
    assert {name: one.outcome for name, one in found.targets[0].expected.items()} == {
        "rewritten": "passed",
        "misread": "failed",
    }


WRONG: dict[str, tuple[Callable[[Any], object], str, str]] = {
    "unknown field": (lambda data: data["targets"][0].update(categry="x"), "targets[0].categry", "category"),
    "unknown field of an answer": (
        lambda data: data["targets"][0]["answers"]["misread"].update(kidn="other"),
        "targets[0].answers.misread.kidn",
        "kind",
    ),
    "unknown category": (
        lambda data: data["targets"][0].update(category="Evaluation Metric"),
        "targets[0].category",
        "Evaluation Metrics",
    ),
    "missing answer": (
        lambda data: data["targets"][0]["answers"].update(subtle="failed"),
        "targets[0].answers.subtle: there is no answers/1/subtle.py",
        "write the answer",
    ),
    "answer that is not named": (
        lambda data: data["targets"][0]["answers"].pop("misread"),
        "answers/1/misread.py is not among them",
        "misread: failed",
    ),
    "unknown verdict": (
        lambda data: data["targets"][0]["answers"].update(misread="wrong"),
        "targets[0].answers",
        "wrong",
    ),
    "two ways to record": (
        lambda data: data["targets"][0]["record"].update(examples=["clamp(1)"]),
        "targets[0].record",
        "how to call the target",
    ),
    "missing paper": (lambda data: data["paper"].update(source="other.pdf"), "paper.source", "other.pdf"),
    "a patch of one's own code": (
        lambda data: data["repository"].update(patch="driver.py", patch_reason="it is a block"),
        "repository.patch: `files` is your own code",
        "remove the patch",
    ),
    "a patch without a reason": (
        lambda data: data["repository"].update(files="", commit="1" * 40, patch="driver.py"),
        "repository.patch_reason",
        "why the code is patched",
    ),
    "neither commit nor files": (lambda data: data["repository"].pop("files"), "repository", "commit"),
    "short commit": (lambda data: data["repository"].update(commit="1a2b3c4"), "repository.commit", ""),
    "no number": (lambda data: data.update(id="first"), "id", ""),
}


@pytest.mark.parametrize("title", WRONG)
def test_what_is_wrong_is_named_by_file_and_field(title: str, folder: Path) -> None:
    edit, where, advice = WRONG[title]
    change(folder, edit)
    with pytest.raises(LmrError) as caught:
        read(folder)
    assert str(folder / "recipe.yaml") in caught.value.message
    assert where in caught.value.message
    assert advice in f"{caught.value.message} {caught.value.hint}"
    assert caught.value.hint


def test_yaml_that_is_none_is_named_by_its_line(folder: Path) -> None:
    (folder / "recipe.yaml").write_text("id: 1\nname: [\n")
    with pytest.raises(LmrError, match=r"recipe\.yaml:\d: not valid YAML"):
        read(folder)


def test_every_recipe_of_a_published_paper_can_be_read() -> None:
    require_distinct([read(path) for path in find(PUBLISHED)])


def test_two_recipes_with_one_number_are_refused(folder: Path) -> None:
    other = write_recipe(folder.parent / "other")
    with pytest.raises(LmrError, match="id: 1 is also the id of"):
        require_distinct([read(folder), read(other)])


def _answer(folder: Path) -> None:
    (folder / "answers" / "1" / "misread.py").write_text("def clamp(x): return 0\n")


CHANGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "a paper's year": (lambda path: change(path, lambda data: data["paper"].update(year=2023)), "source"),
    "a file of the repository": (lambda path: (path / "repository" / "README.md").write_text("x"), "source"),
    "what is removed": (
        lambda path: change(path, lambda data: data["repository"].update(remove=["README.md"])),
        "source",
    ),
    "the environment": (
        lambda path: change(path, lambda data: data.update(environment={"packages": ["numpy<2"]})),
        "environment",
    ),
    "the instruction": (
        lambda path: change(path, lambda data: data["targets"][0].update(instruction="Other.")),
        "mask",
    ),
    "the cases": (lambda path: change(path, lambda data: data["targets"][0]["record"].update(cases=2)), "record"),
    "the driver": (lambda path: (path / "driver.py").write_text("# another\n"), "record"),
    "fixtures": (lambda path: (path / "fixtures.py").write_text("x = 1\n"), "record"),
    "data": (lambda path: ((path / "data").mkdir(), (path / "data" / "x").touch()), "record"),
    "accepted findings": (lambda path: (path / "accepted.json").write_text("{}"), "validate"),
    "an answer": (_answer, "answers"),
    "an author": (lambda path: change(path, lambda data: data["paper"].update(authors="B")), ""),
    "what an answer is about": (
        lambda path: change(path, lambda data: data["targets"][0]["answers"]["misread"].update(about="x")),
        "",
    ),
    "the time of a file": (lambda path: (path / "driver.py").touch(), ""),
}  # fmt: skip


def test_another_patch_is_another_source(folder: Path) -> None:
    patched = {
        "url": "https://example.org/x",
        "commit": "1" * 40,
        "patch": "a.patch",
        "patch_reason": "it is a block",
    }
    change(folder, lambda data: data.update(repository=patched))
    (folder / "a.patch").write_text("one")
    before = made.wanted(read(folder))
    (folder / "a.patch").write_text("two")
    assert made.wanted(read(folder))["source"] != before["source"]


@pytest.mark.parametrize("title", CHANGES)
def test_a_change_is_one_of_its_stage_and_of_those_after_it(title: str, folder: Path) -> None:
    edit, stage = CHANGES[title]
    before = made.wanted(read(folder))
    edit(folder)
    after = made.wanted(read(folder))
    changed = [name for name in STAGES if before[name] != after[name]]
    assert changed == (list(STAGES[STAGES.index(stage) :]) if stage else [])


def test_the_recipes_schema_takes_the_recipe(folder: Path) -> None:
    from jsonschema import Draft202012Validator

    data = yaml.safe_load((folder / "recipe.yaml").read_text())
    validator = Draft202012Validator(resources.schema("recipe"))
    assert [error.message for error in validator.iter_errors(data)] == []
    assert list(validator.iter_errors({**data, "nmae": "x"}))
