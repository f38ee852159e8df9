"""Recipes on a real Dask cluster: a worker that is killed costs time, not results; `evaluate` runs there, too."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from lmr_author.core.errors import LmrError
from lmr_author.core.task import Task
from lmr_author.core.task.evaluation import load
from lmr_author.release.recipes import made
from lmr_author.runtime.cluster import require_shared
from tests.cli.program import ENVIRONMENT, PROGRAM, lmr, wait_for
from tests.clusters import cluster_of
from tests.recipes.recipes import write_recipe

PLAIN = ("--python", os.path.realpath(sys.executable))


@pytest.mark.bwrap
@pytest.mark.timeout(600)
def test_a_worker_that_is_killed_costs_no_task(tmp_path: Path) -> None:
    for number in (1, 2):
        write_recipe(tmp_path / "recipes" / f"{number}-small", number)
    (tmp_path / "there").mkdir()
    with cluster_of(tmp_path / "there", 2) as (address, workers):
        command = [*PROGRAM, "make", "recipes", "--out", "tasks", *PLAIN, "--scheduler", address]
        making = subprocess.Popen(command, cwd=tmp_path, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True)
        states = [tmp_path / "tasks" / f".make-{number}-small" / made.MADE for number in (1, 2)]
        wait_for(lambda: any("mask" in made.load(state).stages for state in states), 120)
        workers[0].kill()
        workers[0].wait()  # a process that nobody waits for is there still, and what it wrote stays its own
        said = making.communicate(timeout=400)[0]

        assert making.returncode == 0, said
        assert re.search(r"^2 recipes: 2 sound", said, re.M)
        tasks = [Task(tmp_path / "tasks" / f"{number}-small") for number in (1, 2)]
        assert [path.name for path in sorted((tmp_path / "tasks").iterdir())] == [task.name for task in tasks]
        before = [load(task) for task in tasks]

        judged = lmr("evaluate", "tasks", *PLAIN, "--scheduler", address, cwd=tmp_path)
        assert judged.code == 0, judged.err
        assert "2 tasks evaluated: 2 sound" in judged.out
        after = [load(task) for task in tasks]
        for old, new in zip(before, after, strict=True):
            assert old and new and new.passed and new.started > old.started


def test_a_worker_without_the_folders_is_named(tmp_path: Path) -> None:
    with pytest.raises(LmrError, match="does not exist on the worker") as raised:
        require_shared(tmp_path / "elsewhere")
    assert "share" in raised.value.hint
