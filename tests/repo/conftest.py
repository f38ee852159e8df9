"""A repository to clone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.gitrepos import make_repository


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "source", {"train.py": "x = 1\n", "LICENSE": "MIT License\n"})
