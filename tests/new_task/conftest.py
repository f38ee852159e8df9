"""A repository and a paper of which tasks are made, and no package index."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.gitrepos import make_repository
from tests.papers import make_paper


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No test here needs a package index; the lock says that it is not pinned."""
    monkeypatch.setenv("UV_OFFLINE", "1")
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv-cache"))


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return make_repository(
        tmp_path / "pair-wins.git",
        {
            "train.py": "import numpy\n",
            "requirements.txt": "torch==2.0.1\nnumpy>=1.20\n",
            "README.md": "# Pairs\n",
        },
    )


@pytest.fixture
def pdf(tmp_path: Path) -> Path:
    return make_paper(
        tmp_path / "in.pdf", "Pairwise Wins in Text: Learning\nfrom Pairs", stamp="arXiv:2305.18290v2 [cs.LG]"
    )
