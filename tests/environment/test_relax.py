"""What gives way when no versions fit together, with the real uv and a small package index."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lmr_author.environment import Lock, Recipe, choose_base, lock
from lmr_author.environment.locked import Conflict
from lmr_author.environment.looser import Looser, continued, loosened
from lmr_author.environment.recipe import Declared
from lmr_author.environment.relax import MOST_TRIES, Relaxing, relaxed
from lmr_author.environment.resolver import Attempt
from lmr_author.environment.wheels import nearest
from tests.servers import Release, only_index

COMPILED = [
    Release("1.0", "2019-01-01", tags=("cp37-cp37m",)),
    Release("1.1", "2021-01-01", tags=("cp39-cp39",)),
    Release("2.0", "2021-06-01", tags=("cp39-cp39",)),
]
INDEX = {
    "loss": [Release("1.0", "2020-01-01", ("maths==1.0",)), Release("1.1", "2020-06-01", ("maths==2.0",))],
    "maths": [Release("1.0", "2020-01-01"), Release("2.0", "2020-06-01")],
    "plot": [Release("1.0", "2020-01-01", ("colour<2",)), Release("3.0", "2020-06-01", ("colour>=2",))],
    "colour": [Release("1.0", "2020-01-01"), Release("2.0", "2020-06-01")],
    "late": [Release("1.0", "2020-01-01", ("colour<2",)), Release("2.0", "2022-03-01", ("colour>=2",))],
    "fast": COMPILED,
    "slow": COMPILED,
    "gradients": [Release("1.0", "2020-01-01", ('maths>=9; extra == "fast"',))],
    "stuck": [Release("1.0", "2020-01-01", ("maths>=9",))],
}
BASE = choose_base(Recipe(), "me/base:1", "3.9")
DATE = datetime(2022, 1, 1, tzinfo=UTC)


@pytest.fixture(autouse=True)
def index(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> object:
    """The small index, and a cache of its own."""
    with only_index(INDEX, monkeypatch, tmp_path / "cache"):
        yield


def recipe(
    *texts: str, imported: tuple[str, ...] = ("loss", "maths", "plot", "colour", "late", "stuck")
) -> Recipe:
    """Requirements of a repository of which some are imported."""
    declared = tuple(
        Declared(re.split(r"\[|=", text)[0], text, f"r.txt:{n}") for n, text in enumerate(texts, 1)
    )
    return Recipe(requirements=declared, date=DATE, imported=frozenset(imported))


def relax(wanted: Recipe) -> Lock | None:
    """The lock that `env lock --relax` makes of what does not fit."""

    def resolve(changed: Recipe, changes: tuple[str, ...], seconds: float, after: Attempt | None) -> Lock:
        return lock(changed, BASE, seconds=seconds, changes=changes, after=after)

    failed = lock(wanted, BASE)
    assert not failed.pinned
    return relaxed(
        wanted,
        failed,
        resolve,
        lambda item: nearest(item, wanted, BASE),
        seconds=60,
        now=datetime(2022, 12, 1, tzinfo=UTC),
    ).lock


def pins(made: Lock | None) -> list[str]:
    """The lines of a lock."""
    assert made is not None and made.pinned
    return made.pins


def test_one_requirement_gives_way_as_little_as_helps() -> None:
    made = relax(recipe("loss==1.0", "maths==2.0"))
    assert pins(made) == ["loss==1.1", "maths==2.0"]
    assert made is not None and made.changes == ("loss~=1.0 in place of loss==1.0 (r.txt:1)",)
    assert "# CHANGED: loss~=1.0 in place of loss==1.0 (r.txt:1)" in made.text.splitlines()


def test_an_extra_that_cannot_be_had_goes_before_the_package() -> None:
    made = relax(recipe("gradients[fast]==1.0", "maths==1.0", imported=()))
    assert pins(made) == ["gradients==1.0", "maths==1.0"]
    assert made is not None
    assert made.changes == ("gradients==1.0 in place of gradients[fast]==1.0 (r.txt:1)",)


def test_several_conflicts_are_put_right_in_one_go() -> None:
    made = relax(recipe("loss==1.0", "maths==2.0", "plot==1.0", "colour==2.0"))
    assert pins(made) == ["colour==2.0", "loss==1.1", "maths==2.0", "plot==3.0"]
    assert made is not None and set(made.changes) == {
        "loss~=1.0 in place of loss==1.0 (r.txt:1)",
        "plot>=1.0 in place of plot==1.0 (r.txt:3)",
    }


def test_what_has_no_wheel_takes_the_first_later_version_with_one() -> None:
    made = relax(recipe("fast==1.0", "slow==1.0", imported=("fast", "slow")))
    assert pins(made) == ["fast==1.1", "slow==1.1"]
    assert made is not None and sorted(made.changes) == [
        "fast==1.1 in place of fast==1.0 (r.txt:1)",
        "slow==1.1 in place of slow==1.0 (r.txt:2)",
    ]


def test_a_later_date_changes_no_requirement() -> None:
    made = relax(recipe("late", "colour==2.0"))
    assert pins(made) == ["colour==2.0", "late==2.0"]
    assert made is not None and made.changes == ("versions as of 2022-04-01 in place of 2022-01-01",)


def test_what_no_code_imports_may_go() -> None:
    wanted = ("loss==1.0", "stuck==1.0")
    made = relax(recipe(*wanted, imported=("loss",)))
    assert pins(made) == ["loss==1.0", "maths==1.0"]
    assert made is not None
    assert made.changes == ("stuck==1.0 (r.txt:2) is left out: no code imports it at once",)
    assert relax(recipe(*wanted)) is None, "it is needed, and nothing helps"


def test_what_cannot_be_had_gives_way_before_any_other_day_is_tried() -> None:
    """Each conflict costs one try, and each goes on where the last one ended."""
    wanted = recipe("fast==1.0", "slow==1.0", "colour", imported=("fast", "slow", "colour"))
    told: list[str] = []
    after: list[bool] = []

    def resolve(changed: Recipe, changes: tuple[str, ...], seconds: float, reached: Attempt | None) -> Lock:
        after.append(reached is not None)
        return lock(changed, BASE, seconds=seconds, changes=changes, after=reached)

    failed = lock(wanted, BASE)
    assert failed.conflict is not None and [str(item) for item in failed.conflict.certain] == [
        "fast==1.0 (r.txt:1)"
    ]
    found = relaxed(
        wanted, failed, resolve, lambda item: nearest(item, wanted, BASE), seconds=60, progress=told.append
    )
    assert pins(found.lock) == ["colour==2.0", "fast==1.1", "slow==1.1"]
    assert (found.tries, found.stopped, after) == (2, "", [True, True])
    assert [item.text for item in found.recipe.requirements] == ["fast==1.1", "slow==1.1", "colour"]
    assert told == [
        "try 1: fast==1.1 in place of fast==1.0 (r.txt:1)",
        "try 2: slow==1.1 in place of slow==1.0 (r.txt:2), beside 1 other change",
    ]


def test_one_try_tells_that_no_other_day_helps() -> None:
    days: list[datetime | None] = []

    def resolve(changed: Recipe, changes: tuple[str, ...], seconds: float, after: Attempt | None) -> Lock:
        days.append(changed.date)
        return lock(changed, BASE, seconds=seconds, changes=changes, after=after)

    wanted = recipe("loss==1.0", "maths==2.0")
    made = relaxed(wanted, lock(wanted, BASE), resolve, lambda item: "", seconds=60)
    assert pins(made.lock) == ["loss==1.1", "maths==2.0"]
    assert [day for day in days if day != DATE] == [datetime(2024, 1, 1, tzinfo=UTC)]


def test_what_is_certain_gives_way_alone_and_nothing_is_tried_twice() -> None:
    """Of two that are blamed the second cannot be had; what another needs makes both of its looser forms fail."""
    wanted = replace(recipe("a==1.0", "b==1.0", "c==1.0", imported=("a", "b", "c")), date=None)
    a, b, c = wanted.requirements
    tried: list[tuple[str, ...]] = []

    def resolve(changed: Recipe, changes: tuple[str, ...], seconds: float, after: Attempt | None) -> Lock:
        tried.append(changes)
        conflict = Conflict("b has no wheel", (a, b), (b,)) if b in changed.requirements else None
        conflict = conflict or (Conflict("c is stuck", (c,)) if "b~=1.0" in str(changes) else None)
        return Lock("", False, "", conflict=conflict or Conflict("c needs b", (b, c)), changes=changes)

    found = relaxed(wanted, resolve(wanted, (), 1, None), resolve, lambda item: "", seconds=60)
    assert found.lock is None and found.stopped == ""
    assert tried[1] == ("b~=1.0 in place of b==1.0 (r.txt:2)",)
    assert len({frozenset(changes) for changes in tried}) == len(tried) == found.tries + 1


def endless(seconds: float) -> tuple[Relaxing, list[str]]:
    """A search in which each change only shows the next thing in the way, and what it said."""
    wanted = replace(recipe(*(f"p{n}==1.0" for n in range(300)), imported=()), date=None)
    told: list[str] = []

    def resolve(changed: Recipe, changes: tuple[str, ...], left: float, after: Attempt | None) -> Lock:
        blamed = next(item for item in wanted.requirements if item in changed.requirements)
        return Lock("", False, "", conflict=Conflict(f"{blamed.name} is in the way", (blamed,)))

    first = resolve(wanted, (), 1, None)
    return relaxed(wanted, first, resolve, lambda item: "", seconds=seconds, progress=told.append), told


def test_a_search_ends_and_tells_how_far_it_came() -> None:
    found, told = endless(60)
    assert found.lock is None and found.stopped == f"there are {MOST_TRIES} tries at most"
    assert found.tries == len(told) == len(found.changes) == MOST_TRIES
    assert found.changes[0] == "p0~=1.0 in place of p0==1.0 (r.txt:1)"
    assert found.left is not None and found.left.cause == f"p{MOST_TRIES} is in the way"
    found, told = endless(1)
    assert (found.stopped, told, found.left) == ("the 1 s were over", [], None)


def test_an_attempt_goes_on_with_other_requirements() -> None:
    fast, slow, kept = (Declared(name, f"{name}==1", f"r.txt:{name}") for name in ("fast", "slow", "kept"))
    attempt = Attempt((replace(fast, text="fast~=1"), kept), as_is=(slow,), built=("Slow", "other"))
    before = (Looser(fast, "fast~=1"),)
    on = continued(attempt, before, (Looser(slow, "slow>=1"),))
    assert [item.text for item in on.declared] == ["fast==1", "kept==1", "slow>=1"], "fast is as it was"
    assert (on.as_is, on.built) == ((), ("other",)), "slow has wheels now, perhaps"
    assert continued(attempt, before, (*before, Looser(kept, ""))).declared == attempt.declared[:1]


def searched(wanted: Recipe, verdict: Callable[[dict[str, str]], str]) -> tuple[str, ...]:
    """The changes that are found where ``verdict`` says which requirement is in the way, "" for none."""

    def resolve(changed: Recipe, changes: tuple[str, ...], seconds: float, after: Attempt | None) -> Lock:
        blamed = verdict({item.name: item.text for item in changed.requirements})
        named = tuple(item for item in wanted.requirements if item.name in blamed.split())
        conflict = Conflict("they do not fit", named) if named else None
        return Lock("", conflict is None, "", conflict=conflict, changes=changes)

    wanted = replace(wanted, date=None)
    made = relaxed(wanted, resolve(wanted, (), 1, None), resolve, lambda item: "", seconds=60).lock
    return made.changes if made else ()


def test_a_change_that_another_makes_needless_is_taken_back() -> None:
    def verdict(texts: dict[str, str]) -> str:
        return "" if texts["b"] != "b==1" else "a" if texts["a"] == "a==1.0" else "b"

    assert searched(recipe("a==1.0", "b==1"), verdict) == ("b>=1 in place of b==1 (r.txt:2)",)


def test_something_else_is_loosened_before_anything_is_left_out() -> None:
    def verdict(texts: dict[str, str]) -> str:
        return "" if texts["b"] != "b==1" or "a" not in texts else "a b"

    assert searched(recipe("a==1.0", "b==1", imported=("b",)), verdict) == (
        "b>=1 in place of b==1 (r.txt:2)",
    )


def test_changes_come_smallest_first() -> None:
    wanted = recipe("a[x]==1.2.3; python_version>'3'", "b==1", "c", imported=("a", "b", "c"))
    texts = [[change.text for change in loosened(item, wanted)] for item in wanted.requirements]
    marker = '; python_version > "3"'
    assert texts == [
        [f"a[x]~=1.2.3{marker}", f"a==1.2.3{marker}", f"a[x]>=1.2.3{marker}", f"a[x]{marker}"],
        ["b>=1", "b"],
        [],
    ]
