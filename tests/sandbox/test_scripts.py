"""The scripts for contributors that set up an engine and its base image."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"


@pytest.mark.docker
def test_existing_image_is_not_made_again(base_image: str) -> None:
    done = subprocess.run([SCRIPTS / "make-base-image", "--tag", base_image], capture_output=True, text=True)
    assert done.returncode == 0
    assert "exists already" in done.stdout


def test_engine_script_is_valid_bash() -> None:
    subprocess.run(["bash", "-n", SCRIPTS / "install-engine"], check=True)
