"""Recording, replay and the shipped test in environments with older and newer pandas and NumPy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from uv import find_uv_bin

from tests.conftest import REQUIRE_ALL
from tests.probe.scenarios import make
from tests.probe.test_unit_test import generate, run

ENVIRONMENTS = (("2.2.3", "1.26.4"), ("3.0.0", "2.4.1"))
"""Versions of pandas and NumPy: an older and a newer one of each."""
GOAL = """\
import numpy as np
import pandas as pd


def best(table, scores, weights, names):
    '''Return the best rows, their texts in capitals, and the mean of each group.'''
    ranked = table.assign(score=scores * weights[0]).sort_values("score", ascending=False)
    ranked["text"] = ranked["text"].str.upper()
    table.loc[table.index[0], "seen"] = True
    means = ranked.groupby("kind", observed=True)["score"].mean()
    return {"rows": ranked.head(2), "means": means, "names": names + np.array(["!"]), "top": means.max()}
"""
DRIVER = """\
import numpy as np
import pandas as pd
from pkg.goal import best

for n in (3, 4):
    table = pd.DataFrame({
        "text": ["a", None, "c", "d"][:n],
        "kind": pd.Categorical(list("xyxy")[:n]),
        "seen": [False] * n,
        "when": pd.to_datetime(["2020-01-01"] * n),
    }, index=list("pqrs")[:n])
    scores = pd.Series([0.5, 2.0, 1.0, 4.0][:n], index=table.index, name="score")
    best(table, scores, np.array([1.5], dtype="float32"), np.array(["u", "v"], dtype=object))
"""


@pytest.fixture(scope="session", params=ENVIRONMENTS, ids=lambda pair: f"pandas-{pair[0]}-numpy-{pair[1]}")
def python(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The interpreter of an environment with these versions; skipped where its wheels cannot be had."""
    pandas, numpy = request.param
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([find_uv_bin(), "venv", "-q", "--python", sys.executable, "--clear", folder], check=True)
    interpreter = folder / "bin/python"
    install = ["pip", "install", "-q", "--only-binary", ":all:", "--python", interpreter]
    done = subprocess.run(
        [find_uv_bin(), *install, f"pandas=={pandas}", f"numpy=={numpy}"], capture_output=True, timeout=300
    )
    if done.returncode and not REQUIRE_ALL:
        pytest.skip(f"pandas {pandas} cannot be installed here")
    assert done.returncode == 0, done.stderr.decode()
    return str(interpreter)


def test_tables_and_texts(tmp_path: Path, python: str) -> None:
    repository = make(tmp_path, "best", GOAL, DRIVER)
    repository.python = python
    done = repository.record("driver.py")
    assert (done.returncode, len(repository.calls)) == (0, 2), done.stderr.decode() + str(repository.summary)
    lower = GOAL.replace(".str.upper()", ".str.lower()")
    unseen = GOAL.replace('table.loc[table.index[0], "seen"] = True', "pass")
    replayed = repository.replay(
        {"golden": None, "lower": lower, "unseen": unseen}, preload=("numpy", "pandas")
    )
    replayed.assert_same()
    assert any("rows" in line for line in replayed.differences("lower"))
    assert any("table" in line for line in replayed.differences("unseen"))

    generate(repository)
    goal = repository.root / "pkg" / "goal.py"
    for text, code in ((GOAL, 0), (lower, 1)):
        goal.write_text(text)
        found, _, output = run(repository, "unit_test/unit_test_1.py", python=python)
        assert found == code, output
