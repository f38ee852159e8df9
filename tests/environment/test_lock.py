"""Pinning as of a date, with the real uv and a small package index."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from lmr_author.environment import Declared, Lock, Recipe, choose_base, pin
from lmr_author.environment.lock_file import LockOptions
from tests.servers import Release, package_index

INDEX = {
    "loss": [
        Release("1.0", "2023-01-01", ("maths>=1", "torch>=1.8", "nvidia-cudnn-cu12")),
        Release("2.0", "2023-07-01", ("maths>=2",)),
        Release("3.0", "2024-07-01"),
    ],
    "maths": [Release("1.0", "2022-01-01"), Release("1.5", "2023-05-01"), Release("2.0", "2023-07-02")],
    "own": [Release("1.0", "2022-01-01")],
    "needs-own": [Release("1.0", "2022-01-01", ("own",))],
    "needs-gone": [Release("1.0", "2022-01-01", ("gone",))],
}


FROZEN = ("certifi", "idna", "six", *(f"p{number}" for number in range(15)))
"""An environment as `pip freeze` lists it."""


@pytest.fixture(autouse=True)
def no_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("UV_NO_CONFIG", "1")
    for name in ("UV_INDEX", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS", "UV_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)


def resolve(
    monkeypatch: pytest.MonkeyPatch,
    *requirements: str,
    date: str = "2023-06-01",
    index: dict[str, list[Release]] | None = None,
    guessed: tuple[str, ...] = (),
    project: str = "",
    seconds: float = 60,
    torch: str = "",
) -> Lock:
    declared = [Declared(text.partition("=")[0].partition(">")[0], text, "r.txt:1") for text in requirements]
    declared += [Declared(text, text, f"import {text}", guessed=True) for text in guessed]
    image = (Declared("torch", f"torch=={torch}", "r.txt:1"),) if torch else ()
    day = datetime.fromisoformat(date).replace(tzinfo=UTC)
    recipe = Recipe(tuple(declared), torch=image, date=day, project=project)
    with package_index(INDEX if index is None else index) as address:
        monkeypatch.setenv("UV_DEFAULT_INDEX", address)
        return pin(recipe, choose_base(recipe), LockOptions(seconds=seconds))


def lines(made: Lock) -> list[str]:
    return [line for line in made.text.splitlines() if not line.startswith("#")]


def test_versions_are_those_of_the_day(monkeypatch: pytest.MonkeyPatch) -> None:
    made = resolve(monkeypatch, "loss")
    # Neither torch nor CUDA's libraries, which the base image brings, though the package asks for them.
    assert (made.pinned, lines(made)) == (True, ["loss==1.0", "maths==1.5"])
    assert made.note == "pinned as of 2023-06-01"
    assert lines(resolve(monkeypatch, "loss", date="2023-12-01")) == ["loss==2.0", "maths==2.0"]


def test_a_version_newer_than_the_commit_is_allowed_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    made = resolve(monkeypatch, "loss==3.0", "maths")
    assert lines(made) == ["loss==3.0", "maths==1.5"]
    assert "loss is newer than the commit" in made.note


def test_what_is_not_on_the_index_is_left_out_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    made = resolve(monkeypatch, "loss", "gone==1", guessed=("guess",))
    assert (made.pinned, lines(made)) == (True, ["loss==1.0", "maths==1.5"])
    assert len(made.left_out) == 2
    assert "# gone==1 (r.txt:1) is left out: it is not on the package index" in made.text.splitlines()


def test_the_own_package_does_not_come_in_by_another(monkeypatch: pytest.MonkeyPatch) -> None:
    assert lines(resolve(monkeypatch, "needs-own", project="own")) == ["needs-own==1.0"]
    assert lines(resolve(monkeypatch, "needs-own")) == ["needs-own==1.0", "own==1.0"]


@pytest.mark.parametrize(
    ("torch", "pinned"), [("1.12.1", ["filelock==3.0", "user==1.0"]), ("2.0.1", ["user==1.0"])]
)
def test_what_pytorch_brings_is_left_to_the_image(
    monkeypatch: pytest.MonkeyPatch, torch: str, pinned: list[str]
) -> None:
    index = {
        "user": [Release("1.0", "2022-01-01", ("filelock", "typing-extensions"))],
        "filelock": [Release("3.0", "2022-01-01")],
        "typing-extensions": [Release("4.0", "2022-01-01")],
    }
    made = resolve(monkeypatch, "user", index=index, torch=torch)
    assert lines(made) == pinned


def test_contradictions_leave_the_specifiers_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    made = resolve(monkeypatch, "loss==1.0", "maths<1")
    assert (made.pinned, lines(made)) == (False, ["loss==1.0", "maths<1"])
    assert made.note.startswith("NOT pinned: no versions fit together")
    assert made.text.startswith("# NOT pinned: no versions fit together")


def test_a_guess_gives_way(monkeypatch: pytest.MonkeyPatch) -> None:
    index = {**INDEX, "guess": [Release("1.0", "2022-01-01", ("maths<1",))]}
    made = resolve(monkeypatch, "loss", guessed=("guess",), index=index)
    assert lines(made) == ["loss==1.0", "maths==1.5"]
    assert "nobody declares it" in made.left_out[0]


def test_a_freeze_that_contradicts_itself_is_installed_as_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    fill = {name: [Release("1.0", "2022-01-01")] for name in FROZEN}
    wanted = [f"{name}==1.0" for name in FROZEN]
    index = {**INDEX, **fill, "odd": [Release("1.0", "2022-01-01", ("maths==2.0",))]}
    made = resolve(monkeypatch, *wanted, "odd==1.0", "maths==1.0", index=index)
    assert made.pinned
    assert lines(made) == sorted([*wanted, "odd==1.0", "maths==1.0"])
    assert "whole environment" in made.note


def test_an_index_without_dates_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    made = resolve(monkeypatch, "loss>=1", index={"loss": [Release("1.0", "")]})
    assert (made.pinned, lines(made)) == (False, ["loss>=1"])
    assert "no upload dates" in made.note


def test_without_network_nothing_is_pinned_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    with package_index({}) as address:
        pass
    recipe = Recipe((Declared("loss", "loss>=1", "r.txt:1"),), date=datetime(2023, 6, 1, tzinfo=UTC))
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    for name, value, said in (
        ("UV_DEFAULT_INDEX", address, "the package index does not answer"),
        ("UV_OFFLINE", "1", "the package index was not asked, and uv's cache does not have loss"),
    ):
        monkeypatch.setenv(name, value)
        made = pin(recipe, choose_base(recipe))
        assert (made.pinned, lines(made)) == (False, ["loss>=1"])
        assert said in made.note


def test_without_time_no_index_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    made = resolve(monkeypatch, "loss", seconds=0)
    assert (made.pinned, lines(made)) == (False, ["loss"])
    assert "was not asked" in made.note
    assert lines(resolve(monkeypatch, "loss==2.0", seconds=0)) == ["loss==2.0"]


def test_the_repositorys_settings_for_uv_are_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("UV_NO_CONFIG")
    (tmp_path / "uv.toml").write_text("no-index = true\n")
    monkeypatch.chdir(tmp_path)
    assert lines(resolve(monkeypatch, "loss")) == ["loss==1.0", "maths==1.5"]


def test_sources_without_a_wheel_in_a_freeze_are_not_built_here(monkeypatch: pytest.MonkeyPatch) -> None:
    fill = {name: [Release("1.0", "2022-01-01")] for name in FROZEN}
    source = {name: [Release("1.0", "2022-01-01", wheel=False)] for name in ("old", "flash-attn")}
    wanted = [f"{name}==1.0" for name in FROZEN]
    made = resolve(monkeypatch, *wanted, "old==1.0", "flash-attn==1.0", index={**fill, **source})
    assert lines(made) == sorted([*wanted, "old==1.0"])
    assert made.pinned
    assert "flash-attn==1.0 (r.txt:1) is left out" in made.left_out[0]
    assert made.compiled == ("old",)
    head = [line for line in made.text.splitlines() if line.startswith("# ")]
    assert head[0] == "# pinned"
    assert len([line for line in head if "flash-attn" in line]) == 1, (
        "each remark has a line, and none has two"
    )


def test_a_prerelease_that_a_dependency_names_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Although an earlier version, of which there is only the source, is in the way, too."""
    index = {
        "engine": [
            Release("0.2", "2019-01-01", wheel=False),
            Release("0.18", "2021-01-01", ("traces==0.48b0",)),
        ],
        "traces": [Release("0.40b0", "2020-01-01"), Release("0.48b0", "2021-01-01")],
    }
    assert lines(resolve(monkeypatch, "engine", index=index)) == ["engine==0.18", "traces==0.48b0"]


def test_code_older_than_the_images_python_gets_packages_made_for_that(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    index = {
        "maths": [Release("1.0", "2020-01-01"), Release("2.0", "2023-04-01"), Release("3.0", "2024-01-01")]
    }
    day = datetime(2020, 6, 1, tzinfo=UTC)
    recipe = Recipe((Declared("maths", "maths", "r.txt:1"),), date=day)
    with package_index(index) as address:
        monkeypatch.setenv("UV_DEFAULT_INDEX", address)
        made = pin(recipe, choose_base(recipe, "me/base:1", "3.11"))
    assert lines(made) == ["maths==2.0"]
    assert "# CHANGED: versions as of 2023-04-22 in place of 2020-06-01" in made.text
