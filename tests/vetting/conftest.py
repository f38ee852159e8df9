"""The command line of a vetting on this machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.gitrepos import make_repository
from tests.papers import make_paper
from tests.vetting.vetted import MIT


@pytest.fixture
def offline(tmp_path: Path) -> list[str]:
    """The command line that vets a paper and a repository of this machine, without a network."""
    make_paper(
        tmp_path / "paper.pdf", body="Proceedings of ACL 2024\nAbstract\nA method.\n1 Introduction\n" * 3
    )
    make_repository(tmp_path / "code", {"train.py": "x = 1\n", "LICENSE": MIT, "README.md": "# Code\n"})
    return ["vet", str(tmp_path / "paper.pdf"), "--repo", str(tmp_path / "code"), "--offline",
            "--out", str(tmp_path / "vetting.json"), "--no-input"]  # fmt: skip
