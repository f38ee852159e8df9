"""Old versions, which uv takes where later ones need a source: with the real uv and a small package index."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from lmr_author.environment import Lock, Recipe, choose_base, lock
from lmr_author.environment.python_days import builds_from
from lmr_author.environment.recipe import Declared
from lmr_author.environment.resolver import Attempt, _later
from tests.servers import Release, only_index

INDEX = {
    "topics": [Release("0.1", "2014-01-01"), Release("3.7", "2023-04-01", ("opens",))],
    "opens": [Release("1.8", "2023-03-01", wheel=False, readable=True)],
    "graphs": [Release("0.1", "2014-01-01"), Release("2.0", "2023-04-01", ("sealed",))],
    "sealed": [Release("1.0", "2023-03-01", wheel=False)],
    "capped": [Release("1.0", "2023-01-01", ("topics<1",))],
    "native": [Release("0.1", "2014-01-01"), Release("2.0", "2023-04-01", ("compiled",))],
    "compiled": [Release("1.0", "2023-01-01", tags=("cp38-cp38",))],
}
BASE = choose_base(Recipe(), "me/base:1", "3.11")
DATE = datetime(2023, 6, 1, tzinfo=UTC)


@pytest.fixture(autouse=True)
def index(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> object:
    """The small index, and a cache of its own."""
    with only_index(INDEX, monkeypatch, tmp_path / "cache"):
        yield


def locked(*names: str) -> Lock:
    """The lock of these requirements for Python 3.11."""
    return lock(Recipe(tuple(Declared(name, name, "requirements.txt:1") for name in names), date=DATE), BASE)


def test_the_source_of_what_is_needed_is_read_before_uv_goes_back_by_years() -> None:
    made = locked("topics")
    assert made.pins == ["opens==1.8", "topics==3.7"]
    assert "# no wheel of opens: its source is read to learn what it needs" in made.text.splitlines()
    assert made.compiled == ("opens",)


def test_where_the_source_cannot_be_read_the_old_version_stays_and_is_told() -> None:
    made = locked("graphs")
    assert made.pinned and made.pins == ["graphs==0.1"]
    why = "graphs==0.1 is an old version: the source of sealed, which later ones need, cannot be read here"
    assert why in made.told


@pytest.mark.parametrize(
    ("names", "pins"),
    [
        (("capped", "topics"), ["capped==1.0", "topics==0.1"]),
        (("native",), ["native==0.1"]),
    ],
)
def test_what_is_old_for_another_reason_stays(names: tuple[str, ...], pins: list[str]) -> None:
    made = locked(*names)
    assert made.pins == pins
    assert not made.compiled and made.note == "pinned as of 2023-06-01"


@pytest.mark.parametrize(
    ("python", "date", "setuptools"),
    [
        ("3.6", "2017-10-23", "2019-02-06"),
        ("3.11", "2019-06-01", "2023-04-22"),
        ("3.7", "2019-06-01", ""),
        ("3.99", "2020-01-01", ""),
    ],
)
def test_what_builds_a_source_is_made_for_the_python_that_runs_it(
    python: str, date: str, setuptools: str
) -> None:
    recipe = Recipe(date=datetime.fromisoformat(date).replace(tzinfo=UTC))
    base = choose_base(Recipe(), "me/base:1", python)
    assert _later(Attempt((), built=("opens",)), recipe, base).get("setuptools", "") == setuptools
    assert _later(Attempt(()), recipe, base) == {}, "nothing is built"
    assert builds_from("3.12").date().isoformat() == "2024-03-30"
