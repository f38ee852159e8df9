"""Changes that ``env build --fix`` makes for an explanation, with the real uv and a small index; nothing is built."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lmr_author.environment.build import BuildOptions, _with_its_python
from lmr_author.environment.failures import Explanation, Fix
from lmr_author.environment.lock import lock
from lmr_author.environment.lock_file import LockOptions
from lmr_author.environment.place import place_of
from lmr_author.environment.repair import Repairs
from lmr_author.task import Task
from tests.servers import Release, only_index
from tests.support import make_task

BASE = "me/base:1"
OFFICIAL = "pytorch/pytorch:1.11.0-cuda11.3-cudnn8-runtime"
INDEX = {
    "loss": [
        Release("1.0", "2020-01-01"),
        Release("2.0", "2022-01-01", ("maths>=2",)),
        Release("3.0", "2025-01-01"),
    ],
    "maths": [Release("1.0", "2020-01-01"), Release("2.0", "2022-01-01")],
    "fast": [
        Release("1.0", "2020-01-01", tags=("cp38-cp38",)),
        Release("1.1", "2022-11-01", tags=("cp311-cp311",)),
    ],
    "deep": [Release("1.0", "2020-01-01"), Release("1.1", "2023-01-01"), Release("2.0", "2026-01-01")],
    "source": [Release("1.0", "2020-01-01", wheel=False), Release("1.1", "2023-08-01")],
    "setuptools": [
        Release("57.5.0", "2021-07-01"),
        Release("57.6.0", "2025-01-01"),
        Release("65.0.0", "2022-08-01"),
    ],
    "fasttext-wheel": [Release("0.9.2", "2024-01-01", tags=("cp311-cp311",))],
    "idle": [Release("0.9", "2019-01-01"), Release("1.0", "2020-01-01")],
}
IMPORTS = "import fast\nimport loss\n"


@pytest.fixture(autouse=True)
def index(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> object:
    """The small index, and a cache of its own."""
    with only_index(INDEX, monkeypatch, tmp_path / "cache"):
        yield


@pytest.fixture
def task(tmp_path: Path) -> Task:
    """A task of the middle of 2023 that imports two packages and declares three."""
    made = make_task(tmp_path)
    repository = made.root / "small-repo"
    (repository / "requirements.txt").write_text("fast>=1.0\nidle==1.0\nloss\n")
    (repository / "pkg/losses.py").write_text(IMPORTS)
    made.provenance_path.parent.mkdir(exist_ok=True)
    made.provenance_path.write_text(json.dumps({"repository": {"commit_date": "2023-06-01T00:00:00Z"}}))
    made.dockerfile.write_text(f"FROM {BASE}\nCOPY . /workspace\n")
    made.lock.unlink()
    lock(place_of(made), LockOptions(python="3.11"))
    assert pins(made) == ["fast==1.1", "idle==1.0", "loss==2.0", "maths==2.0"]
    return made


def pins(task: Task) -> list[str]:
    """The lock's lines."""
    return [line for line in task.lock.read_text().splitlines() if not line.startswith("#")]


def because(fix: Fix, cause: str = "it fails") -> Explanation:
    """An explanation that asks for a change."""
    return Explanation("test", cause, "do it", fix)


def repairs(task: Task) -> Repairs:
    """The repairs of one command, which says nothing."""
    return Repairs(task, None, lambda _: None)


def test_what_no_code_imports_is_dropped_and_what_is_imported_is_not(task: Task) -> None:
    bench = repairs(task)
    assert bench.repair(because(Fix("drop", ("loss",))), "3.11") is None
    made = bench.repair(because(Fix("drop", ("idle",))), "3.11")
    assert made is not None and "-idle==1.0" in made.diff
    assert (
        "# idle==1.0 is left out: it cannot be installed, and no code imports it at once"
        in task.lock.read_text()
    )
    assert pins(task) == ["fast==1.1", "loss==2.0", "maths==2.0"]


def test_an_earlier_version_leaves_what_fits_it(task: Task) -> None:
    made = repairs(task).repair(because(Fix("older", ("loss",))), "3.11")
    assert made is not None and made.fix == Fix("older", ("loss",))
    assert pins(task) == ["fast==1.1", "idle==1.0", "loss==1.0", "maths==2.0"]


def test_candidates_follow_one_another_until_one_helps(task: Task) -> None:
    """A lock that is not as we wrote it is not made anew; a pin has no later wheel; what nothing imports goes."""
    bench = repairs(task)
    found = because(Fix("wheel", ("idle",)), "idle cannot be built")
    made = bench.repair(found, "3.11")
    assert made is not None and made.fix.kind == "drop"
    assert bench.did_not_help(found) and bench.undo().undone
    assert pins(task) == ["fast==1.1", "idle==1.0", "loss==2.0", "maths==2.0"]
    assert bench.repair(found, "3.11") is None, "everything was tried"


def test_what_has_to_be_compiled_is_locked_again(task: Task) -> None:
    (task.root / "small-repo/requirements.txt").write_text("fast==1.0\nloss\n")
    stale = task.lock.read_text()
    made = repairs(task).repair(because(Fix("wheel", ("fast",))), "3.11")
    assert made is not None and made.fix.kind == "relock"
    assert pins(task) == ["fast==1.1", "loss==2.0", "maths==2.0"]
    assert "# CHANGED: fast==1.1 in place of fast==1.0" in task.lock.read_text()
    assert (task.authoring / "removed" / "requirements.lock").read_text() == stale


def test_what_cannot_be_built_apart_takes_a_later_version(task: Task) -> None:
    task.lock.write_text("fast==1.1\nloss==2.0\nmaths==2.0\nsource==1.0\n")
    task.dockerfile.write_text(
        f"FROM {BASE}\nCOPY requirements.lock /opt/lmr-author/requirements.lock\nRUN pip\n"
    )
    found = because(Fix("built-with", ("source", "setuptools<58")), "source needs setuptools")
    bench = repairs(task)
    made = bench.repair(found, "3.11")
    assert made is not None and "setuptools==57.5.0" in task.dockerfile.read_text()
    assert bench.did_not_help(found) and bench.undo().undone
    assert "setuptools" not in task.dockerfile.read_text()
    assert repairs(task).repair(found, "3.13") is not None
    assert "setuptools==57.6.0" in task.dockerfile.read_text(), "the newest that may know Python 3.13"
    task.dockerfile.write_text("FROM a\n")
    made = bench.repair(found, "3.11")
    assert made is not None and made.fix == Fix("wheel", ("source",))
    assert pins(task) == ["fast==1.1", "loss==2.0", "maths==2.0", "source==1.1"]


def test_a_later_version_may_be_later_than_the_commit(task: Task) -> None:
    assert repairs(task).repair(because(Fix("newer", ("absent",))), "3.11") is None
    assert repairs(task).repair(because(Fix("newer", ("loss",))), "3.11") is not None
    assert pins(task) == ["fast==1.1", "idle==1.0", "loss==3.0", "maths==2.0"]
    assert repairs(task).repair(because(Fix("newer", ("loss",))), "3.11") is None, "there is no later one"


def test_for_a_new_pytorch_the_newest_version_comes_after_the_commits(task: Task) -> None:
    task.lock.write_text("deep==1.0\n")
    bench, found = repairs(task), because(Fix("newest", ("deep",)), "there is no log in the torch")
    assert bench.repair(found, "3.11") is not None and pins(task) == ["deep==1.1"]
    assert bench.did_not_help(found) and bench.undo().undone
    assert bench.repair(found, "3.11") is not None and pins(task) == ["deep==2.0"]


def test_what_excludes_one_another_is_locked_again(task: Task) -> None:
    (task.root / "small-repo/requirements.txt").write_text("fast\nloss==2.0\nmaths<2\n")
    made = repairs(task).repair(because(Fix("relock")), "3.11")
    assert made is not None and made.fix == Fix("relock")
    assert pins(task) == ["fast==1.1", "loss==2.0", "maths==2.0"]
    assert "# CHANGED: maths in place of maths<2 (requirements.txt:3)" in task.lock.read_text().splitlines()
    # A lock that somebody edited is left alone.
    task.lock.write_text(task.lock.read_text() + "more==1\n")
    assert repairs(task).repair(because(Fix("relock")), "3.11") is None


def test_what_cannot_be_built_is_told_with_the_python_that_it_was_made_for(task: Task) -> None:
    task.lock.write_text("# for Python 3.11\nfast==1.0\nloss==2.0\n")
    told = _with_its_python(because(Fix("wheel", ("fast",))), "fast", task, BuildOptions())
    assert told.advice == "do it; fast==1.0 has wheels for Python 3.8 and older ones only"
    same = because(Fix("wheel", ("source",)))
    assert _with_its_python(same, "source", task, BuildOptions()) == same


def test_what_has_no_wheels_gives_way_to_what_has_them_though_it_came_later(task: Task) -> None:
    task.lock.write_text("# for Python 3.11\nfasttext==0.9.2\nloss==2.0\n")
    made = repairs(task).repair(because(Fix("wheel", ("fasttext",))), "3.11.2")
    assert made is not None
    assert made.fix == Fix("instead", ("fasttext", "fasttext-wheel"))
    assert pins(task) == ["fasttext-wheel==0.9.2", "loss==2.0"]
