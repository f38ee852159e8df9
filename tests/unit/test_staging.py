"""Which version of the goal files a tree gets."""

from __future__ import annotations

import os
from pathlib import Path

from lmr_author.authoring.masking import MaskOptions, mask
from lmr_author.runtime.replay import staging
from tests.support import LOSSES, make_task

GOAL = "pkg/losses.py"


def test_each_implementation_is_masked_alone(tmp_path: Path) -> None:
    """Two masked functions of one file: in the tree of the one, the other is golden."""
    task = make_task(tmp_path)
    mask(task, MaskOptions((f"{GOAL}::hinge", f"{GOAL}::Meter.add")), task.root)
    info = task.load()
    first, second = (staging.only_masked(task, info, item)[GOAL] for item in info.implementations)
    assert b"return gap" not in first and b"math.fsum" in first
    assert b"return gap" in second and b"math.fsum" not in second
    assert staging.golden_overlay(task, info) == {GOAL: LOSSES}


def test_a_tree_without_tests_has_none_and_links_stay_links(tmp_path: Path) -> None:
    task = make_task(tmp_path)
    repository = task.root / "small-repo"
    (repository / "unit_test" / "expected.json").write_text("secret")
    (repository / "sub" / "unit_test").mkdir(parents=True)
    (repository / "sub" / "unit_test" / "own.py").write_text("")
    (repository / "__pycache__").mkdir()
    os.symlink("run.py", repository / "link.py")
    os.symlink(GOAL, repository / "other.py")
    staging.copy_tree(
        repository, tmp_path / "bare", {"other.py": b"new", "new/made.py": b"x"}, with_tests=False
    )
    staging.copy_tree(repository, tmp_path / "full", {}, with_tests=True)
    bare = tmp_path / "bare"
    assert not (bare / "unit_test").exists() and (bare / "sub/unit_test/own.py").is_file()
    assert not (bare / "__pycache__").exists()
    assert (bare / "link.py").is_symlink()
    assert (bare / "other.py").read_bytes() == b"new" and (bare / GOAL).read_bytes() == LOSSES
    assert (bare / "new/made.py").read_bytes() == b"x" and not (repository / "new").exists()
    assert (tmp_path / "full/unit_test/expected.json").read_text() == "secret"
