"""Targets that cannot be masked: one ``error:``, one ``hint:``, and every file as it was."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from lmr_author.core.task import Task
from tests.cli.conftest import HINGE
from tests.cli.program import lmr_forked, refuse, succeed

USAGE, EXPECTED = 2, 3


def mask(task: Task, target: str, *more: str, code: int = EXPECTED) -> tuple[str, str]:
    return refuse(code, "mask", target, *more, "--no-input", cwd=task.root)


def test_a_file_whose_name_begins_with_a_dash(fresh: Task) -> None:
    (fresh.root / "small-repo" / "-dash.py").write_text("def f(x):\n    y = x\n    return y\n")
    error, hint = refuse(USAGE, "mask", "-dash.py::f", "--no-input", cwd=fresh.root)
    assert "no such option" in error and "written ./-dash.py::f" in hint
    done = succeed("mask", "./-dash.py::f", "--no-input", cwd=fresh.root)
    assert "masked ./-dash.py::f" in done.err
    assert "next: lmr-author record ./-dash.py::f\n" in done.err
    succeed("unmask", "./-dash.py::f", cwd=fresh.root)


def test_a_target_that_is_masked_already(masked: Task) -> None:
    error, hint = mask(masked, HINGE)
    assert "already masked, as implementation 1" in error
    assert f"lmr-author unmask {HINGE}" in hint
    assert "`lmr-author set instruction=@FILE --implementation 1` changes the instruction" in hint


def test_a_category_is_set_afterwards(masked: Task) -> None:
    error, hint = refuse(USAGE, "set", "category=decoding", cwd=masked.root)
    assert "'decoding' is not one of the nine categories" in error and hint.startswith(
        "did you mean 'Decoding & Search Strat"
    )
    before = masked.load().implementations[0].instruction
    lmr_forked("set", "category=Data Augmentation", cwd=masked.root)
    (one,) = masked.load().implementations
    assert (one.category, one.instruction) == ("Data Augmentation", before)


def test_a_field_that_has_the_value_already(masked: Task) -> None:
    year = masked.load().year
    screen = lmr_forked("set", f"year={year}", cwd=masked.root).err
    assert f"year: {year}, as it was" in screen and "undo" not in screen
    changed = lmr_forked("set", f"year={year}", "category=Data Augmentation", cwd=masked.root).err
    undo = changed.partition("undo: ")[2].splitlines()[0]
    assert "category=" in undo and "year=" not in undo


def _large(path: Path) -> None:
    path.write_text("def f(): return 1\n" + "x = 1\n" * 1_700_000)


def _deep(path: Path) -> None:
    path.write_text("def f(): return 1\nx = " + "-" * 100_000 + "1\n")


def _circle(path: Path) -> None:
    path.symlink_to(path.name)


def _link_out(path: Path) -> None:
    path.symlink_to(path.parent.parent / "info.json")


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (_large, "larger than 4 MB"),
        (_deep, "nested too deeply"),
        (_circle, "is not a regular file"),
        (_link_out, "lies outside the repository"),
        (os.mkfifo, "is not a regular file"),
    ],
    ids=lambda item: getattr(item, "__name__", "").strip("_"),
)
def test_a_file_that_is_no_python_to_mask(make: Callable[[Path], None], said: str, fresh: Task) -> None:
    """Named as the target, and lying beside one that is looked for: neither hangs nor is a bug."""
    make(fresh.root / "small-repo" / "file.py")
    assert said in mask(fresh, "file.py::f")[0]
    assert "did you mean pkg/losses.py::hinge" in mask(fresh, "pkg/lost.py::hinge")[1]
    succeed("mask", HINGE, "--retrieval", "auto", "--no-input", cwd=fresh.root)


def test_names_with_blanks_and_other_letters(fresh: Task) -> None:
    path = fresh.root / "small-repo" / "ein Ordner" / "größe ’x’.py"
    path.parent.mkdir()
    path.write_text("class Maß:\n    def länge(self, ﬁt):\n        return ﬁt\n")
    before = path.read_bytes()
    target = "ein Ordner/größe ’x’.py::Maß.länge"
    assert f"did you mean {target}" in mask(fresh, "ein Ordner/größe ’x’.py::Maß.lange")[1]
    done = succeed("mask", target, "--no-input", cwd=fresh.root)
    assert f"lmr-author record '{target}'" in done.err
    assert b"raise NotImplementedError" in path.read_bytes()
    succeed("unmask", target, cwd=fresh.root)
    assert path.read_bytes() == before


def test_a_missing_file_of_instructions(fresh: Task) -> None:
    error, _ = mask(fresh, HINGE, "--instruction", "@nowhere.txt", code=USAGE)
    assert "--instruction nowhere.txt: there is no such file" in error
    (fresh.root / "latin.txt").write_bytes("Größe".encode("latin-1"))
    assert "UTF-8" in mask(fresh, HINGE, "--instruction", "@latin.txt", code=USAGE)[0]


def test_an_unknown_category_or_retrieval_path(fresh: Task) -> None:
    assert "Evaluation Metrics" in mask(fresh, HINGE, "--category", "Metrics", code=USAGE)[1]
    assert "no such file" in mask(fresh, HINGE, "--retrieval", "nowhere.py", code=USAGE)[0]
    assert "'..'" in mask(fresh, HINGE, "--retrieval", "../info.json")[1]


def test_unmask_what_is_not_masked_or_was_edited(masked: Task) -> None:
    assert "is not masked" in refuse(EXPECTED, "unmask", "pkg/losses.py::Meter.add", cwd=masked.root)[0]
    goal = masked.root / "small-repo" / "pkg" / "losses.py"
    goal.write_bytes(goal.read_bytes().replace(b"self.size = size", b"self.size = size + 1"))
    error, hint = refuse(EXPECTED, "unmask", "--all", cwd=masked.root)
    assert "edited outside the mask" in error and "--force" in hint
    error, hint = refuse(USAGE, "unmask", cwd=masked.root)
    assert error == "no target given" and "--all" in hint and HINGE in hint
    assert "exclude each other" in refuse(USAGE, "unmask", HINGE, "--all", cwd=masked.root)[0]
