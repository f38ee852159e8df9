"""Recording, replay and the shipped test in environments with older and newer NumPy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from uv import find_uv_bin

from tests.conftest import REQUIRE_ALL
from tests.probe.scenarios import make
from tests.probe.test_unit_test import generate, run

ENVIRONMENTS = ("1.26.4", "2.2.6", "2.4.1")
"""Versions of NumPy: older and newer ones."""
GOAL = """\
import numpy as np


def best(rows, scores, weights, names):
    '''Return the texts of the best rows, in capitals, and the largest score.'''
    ranked = np.argsort(-scores * weights[0])
    rows["seen"][0] = True
    texts = [str(rows["text"][index]).upper() for index in ranked[:2]]
    return {"texts": texts, "names": names + np.array(["!"]), "top": scores.max()}
"""
DRIVER = """\
import numpy as np
from pkg.goal import best

for n in (3, 4):
    rows = {"text": ["a", None, "c", "d"][:n], "seen": np.zeros(n, bool)}
    scores = np.array([0.5, 2.0, 1.0, 4.0][:n])
    best(rows, scores, np.array([1.5], dtype="float32"), np.array(["u", "v"], dtype=object))
"""


@pytest.fixture(scope="session", params=ENVIRONMENTS, ids=lambda version: f"numpy-{version}")
def python(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The interpreter of an environment with these versions; skipped where its wheels cannot be had."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([find_uv_bin(), "venv", "-q", "--python", sys.executable, "--clear", folder], check=True)
    interpreter = folder / "bin/python"
    install = ["pip", "install", "-q", "--only-binary", ":all:", "--python", interpreter]
    done = subprocess.run(
        [find_uv_bin(), *install, f"numpy=={request.param}"], capture_output=True, timeout=300
    )
    if done.returncode and not REQUIRE_ALL:
        pytest.skip(f"numpy {request.param} cannot be installed here")
    assert done.returncode == 0, done.stderr.decode()
    return str(interpreter)


def test_arrays_and_texts(tmp_path: Path, python: str) -> None:
    repository = make(tmp_path, "best", GOAL, DRIVER)
    repository.python = python
    done = repository.record("driver.py")
    assert (done.returncode, len(repository.calls)) == (0, 2), done.stderr.decode() + str(repository.summary)
    lower = GOAL.replace(".upper()", ".lower()")
    unseen = GOAL.replace('rows["seen"][0] = True', "pass")
    replayed = repository.replay({"golden": None, "lower": lower, "unseen": unseen}, preload=("numpy",))
    replayed.assert_same()
    assert any("texts" in line for line in replayed.differences("lower"))
    assert any("rows" in line for line in replayed.differences("unseen"))

    generate(repository)
    goal = repository.root / "pkg" / "goal.py"
    for text, code in ((GOAL, 0), (lower, 1)):
        goal.write_text(text)
        found, _, output = run(repository, "unit_test/unit_test_1.py", python=python)
        assert found == code, output
