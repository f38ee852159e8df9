"""The probe in containers made from Debian releases: real interpreters, any user, a root that cannot be written.

``LMR_TEST_RELEASES`` names the releases (by default bookworm and trixie: Python 3.11 and 3.13; bullseye has 3.9).
An image that is missing is made by scripts/make-base-image, which takes a minute or two.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.probe.harness import PROBE, Repository
from tests.probe.scenarios import SCENARIOS, make
from tests.probe.test_torch import GOAL as TORCH_GOAL
from tests.support import base_image

pytestmark = pytest.mark.docker

RELEASES = os.environ.get("LMR_TEST_RELEASES", "bookworm trixie").split()
PYTHONS = {"bullseye": "3.9", "bookworm": "3.11", "trixie": "3.13"}
SOME = (
    "relative import",
    "self changes",
    "raising",
    "nested with closure",
    "dataclass and enum",
)
USER = "12345:54321"
"""A user that no image knows."""

TORCH_DRIVER = (
    "import torch\nfrom pkg.goal import preference_loss\ntorch.manual_seed(0)\n"
    "preference_loss(*torch.randn(4, 3).to(torch.bfloat16), beta=0.1)\n"
)


@pytest.fixture(params=RELEASES, scope="module")
def release(request: pytest.FixtureRequest) -> str:
    """The image of a Debian release."""
    return base_image(f"lmr-author/base:{request.param}", "--release", request.param)


def inside(repository: Repository, tag: str) -> None:
    """Let a repository's commands run in containers: everything read-only but the recorder's own folder."""
    repository.out.mkdir(exist_ok=True)
    repository.out.chmod(0o777)
    work = repository.root.parent
    for folder in (work, *work.parents[:3]):
        folder.chmod(folder.stat().st_mode | 0o055)
    options = ["--rm", "--network", "none", "--read-only", "--user", USER, "--cap-drop", "ALL"]
    options += [
        "--security-opt",
        "no-new-privileges",
        "--tmpfs",
        "/tmp:mode=1777",
        "-e",
        "PYTHONDONTWRITEBYTECODE=1",
    ]
    options += ["-v", f"{PROBE}:{PROBE}:ro", "-v", f"{repository.root}:{repository.root}:ro"]
    options += ["-v", f"{repository.out}:{repository.out}"]
    wrapper = work / "python"
    wrapper.write_text(f'#!/bin/sh\nexec docker run {" ".join(options)} -w "$PWD" {tag} python3 "$@"\n')
    wrapper.chmod(0o755)
    repository.python = str(wrapper)


@pytest.mark.parametrize("name", SOME)
def test_scenarios(tmp_path: Path, release: str, name: str) -> None:
    repository = make(tmp_path, *SCENARIOS[name])
    inside(repository, release)
    done = repository.record("driver.py")
    assert (done.returncode, done.stderr) == (0, b"")
    version = PYTHONS.get(release.rpartition(":")[2])
    assert version is None or repository.summary["python"].startswith(f"{version}.")
    repository.replay().assert_same()


@pytest.mark.torch
def test_tensors(tmp_path: Path) -> None:
    tag = base_image("lmr-author/base:bookworm-torch", "--with", "torch==2.13.0")
    repository = make(tmp_path, "preference_loss", TORCH_GOAL, TORCH_DRIVER)
    inside(repository, tag)
    done = repository.record("driver.py")
    assert done.returncode == 0, done.stderr.decode()
    repository.replay(preload=("torch",)).assert_same()


def test_a_smoke_import_writes_nothing(tmp_path: Path, release: str) -> None:
    repository = make(tmp_path, "f", "import json\n\n\ndef f():\n    return 1\n", "")
    inside(repository, release)
    argv = [repository.python, str(PROBE), "import", str(repository.root), "pkg/goal.py", "30"]
    done = subprocess.run(argv, cwd=repository.root, capture_output=True, text=True)
    assert '"ok": true' in done.stdout and '"module": "pkg.goal"' in done.stdout, done.stdout + done.stderr
    assert not list(repository.root.rglob("__pycache__"))
