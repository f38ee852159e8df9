"""Wheels for the image's Python, with the real uv and a small package index."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lmr_author.environment import Lock, Recipe, choose_base, lock
from lmr_author.environment.recipe import Declared
from lmr_author.environment.wheels import nearest, newest_python, not_before, with_wheels
from tests.servers import Release, only_index

OLD, NEW = ("cp37-cp37m", "cp38-cp38"), ("cp310-cp310", "cp311-cp311")
INDEX = {
    "fast": [
        Release("1.0", "2020-01-01", tags=OLD),
        Release("1.1", "2022-11-01", tags=(*OLD, *NEW)),
        Release("2.0", "2023-01-01", tags=NEW),
    ],
    "plain": [Release("1.0", "2020-01-01", wheel=False), Release("1.1", "2023-01-01")],
    "pure": [Release("1.0", "2020-01-01"), Release("2.0", "2022-01-01")],
    "wrapper": [Release("1.0", "2020-01-01", ("gone==1.0",)), Release("2.0", "2023-01-01", ("fast",))],
    "client": [
        Release("0.1", "2013-01-01"),
        Release("2.0", "2022-10-01", ("quick",)),
        Release("3.0", "2023-02-01", ("quick",)),
    ],
    "quick": [Release("1.0", "2022-06-01", tags=("cp310-cp310",)), Release("2.0", "2023-01-01", tags=NEW)],
    "gone": [Release("1.0", "2020-01-01", tags=OLD)],
}
BASE = choose_base(Recipe(), "me/base:1", "3.11")
DATE = datetime(2023, 6, 1, tzinfo=UTC)


@pytest.fixture(autouse=True)
def index(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> object:
    """The small index, and a cache of its own."""
    with only_index(INDEX, monkeypatch, tmp_path / "cache"):
        yield


def item(text: str) -> Declared:
    """A requirement of the repository."""
    return Declared(text.partition("=")[0].partition("[")[0], text, "requirements.txt:1")


def pins(text: str) -> list[str]:
    """A lock's lines without its comments."""
    return [line for line in text.splitlines() if not line.startswith("#")]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("fast==1.0", "fast==1.1"),
        ("fast==1.1", ""),
        ("plain==1.0", ""),
        ("gone==1.0", ""),
        ("fast>=1.0", ""),
    ],
)
def test_the_nearest_version_with_a_wheel(text: str, found: str) -> None:
    assert nearest(item(text), Recipe(date=DATE), BASE) == found


def test_where_a_source_was_no_help_the_next_version_with_a_wheel_is() -> None:
    assert nearest(item("plain==1.0"), Recipe(date=DATE), BASE, tried=True) == "plain==1.1"


@pytest.mark.parametrize(
    ("pin", "python"), [("fast==1.0", "3.8"), ("fast==1.1", "3.10"), ("plain==1.0", ""), ("none==1", "")]
)
def test_the_newest_python_that_has_a_wheel(pin: str, python: str) -> None:
    assert newest_python(pin, BASE) == python


def test_only_what_has_no_wheel_is_changed_and_each_change_is_told() -> None:
    recipe = Recipe(requirements=(item("fast==1.0"), item("plain==1.0")), date=DATE)
    changed, said = with_wheels(recipe, BASE, compiling("fast", "plain"))
    assert [one.text for one in changed.requirements] == ["fast==1.1", "plain==1.0"]
    assert said == (
        "fast==1.1 in place of fast==1.0 (requirements.txt:1): the first version with a wheel for Python 3.11",
    )
    assert with_wheels(recipe, BASE, compiling("plain")) == (recipe, ())


def test_a_range_without_a_wheel_gives_way_as_a_pin_does() -> None:
    recipe = Recipe(requirements=(replace(item("fast==1.0"), text="fast<1.1,>=0.9"),), date=DATE)
    changed, said = with_wheels(recipe, BASE, compiling("fast"))
    assert [one.text for one in changed.requirements] == ["fast==1.1"]
    assert said[0].startswith("fast==1.1 in place of fast<1.1,>=0.9 (requirements.txt:1)")
    free = Recipe(requirements=(replace(item("fast==1.0"), text="fast"),), date=DATE)
    assert with_wheels(free, BASE, compiling("fast")) == (free, ()), "it is free to move by itself"


def test_what_needs_something_without_a_wheel_gives_way() -> None:
    recipe = Recipe(requirements=(item("wrapper==1.0"),), date=DATE)
    made = replace(compiling("gone"), needed_by={"gone": ("between",), "between": ("wrapper", "gone")})
    assert made.roots("gone") == ["between", "wrapper"]
    changed, said = with_wheels(recipe, BASE, made)
    assert [one.text for one in changed.requirements] == ["wrapper==2.0"]
    assert "wrapper==2.0 in place of wrapper==1.0 (requirements.txt:1)" in said[0]
    assert "that does not need gone==1.0" in said[0]


def compiling(*names: str) -> Lock:
    """A lock with packages that have no wheel."""
    return Lock("".join(f"{name}==1.0\n" for name in names), True, "", compiled=names)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("fast==1.0", ["fast==1.1"]),
        ("wrapper==1.0", ["fast==2.0", "wrapper==2.0"]),
        ("pure==1.5", ["pure==2.0"]),
    ],
    ids=["no wheel", "needs what has none", "no such version"],
)
def test_a_version_that_is_only_mentioned_gives_way(text: str, lines: list[str]) -> None:
    spoken = replace(item(text), origin="README.md:3", mentioned=True)
    made = lock(Recipe(requirements=(spoken,), date=DATE), BASE)
    assert made.pinned and pins(made.text) == lines
    assert f"{text} (README.md:3)" in made.text, "it is told"
    # What the repository itself pins stays.
    declared = lock(Recipe(requirements=(item(text),), date=DATE), BASE)
    assert text in declared.text.splitlines() or not declared.pinned


OF_2021 = datetime(2021, 1, 1, tzinfo=UTC)


def test_only_what_is_compiled_is_newer_than_the_commit() -> None:
    made = lock(Recipe(requirements=(item("fast"), item("pure")), date=OF_2021), BASE)
    assert made.pinned and pins(made.text) == ["fast==2.0", "pure==1.0"]
    (change,) = made.changes
    assert change.startswith(
        "fast: versions as of 2023-04-22 in place of 2021-01-01: the image's Python 3.11"
    )
    assert f"# CHANGED: {change}" in made.text.splitlines()


def test_nothing_goes_back_to_what_is_old_because_it_has_a_wheel() -> None:
    made = lock(Recipe(requirements=(item("client"),), date=datetime(2022, 11, 1, tzinfo=UTC)), BASE)
    assert pins(made.text) == ["client==3.0", "quick==2.0"], "not client==0.1, which needs nothing"
    assert made.changes[0].startswith("client, quick: versions as of 2023-04-22 in place of 2022-11-01")


def test_everything_is_newer_where_that_alone_helps() -> None:
    made = lock(Recipe(requirements=(item("wrapper"),), date=OF_2021), BASE)
    assert made.pinned and pins(made.text) == ["fast==2.0", "wrapper==2.0"]
    assert made.changes[0].startswith("versions as of 2023-04-22 in place of 2021-01-01")
    assert f"# CHANGED: {made.changes[0]}" in made.text.splitlines()


def test_a_later_date_and_an_unknown_python_are_left_alone() -> None:
    later, odd = Recipe(date=DATE), choose_base(Recipe(), "me/base:1", "3.99")
    assert not_before(later, BASE) == (later, "")
    assert not_before(Recipe(date=datetime(2001, 1, 1, tzinfo=UTC)), odd)[1] == ""
    assert not_before(Recipe(), BASE) == (Recipe(), "")


def test_what_is_part_of_python_is_left_out() -> None:
    made = lock(Recipe(requirements=(item("fast==2.0"), item("dataclasses==0.8")), date=DATE), BASE)
    assert made.pinned and "dataclasses==0.8" not in made.text.splitlines()
    assert "dataclasses==0.8 (requirements.txt:1) is left out: it is part of Python itself" in made.note
