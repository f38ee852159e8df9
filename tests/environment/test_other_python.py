"""A repository that asks for another Python than the lock is for: found in all places, told where it matters."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author import environment
from lmr_author.environment import choose_base, read_recipe
from tests.support import write_files

PROJECT = "[project]\nname = 'a'\nversion = '1'\n"


def told(folder: Path, image: str = "me/base:1", python: str | None = None) -> list[str]:
    """Return the notes on the Python that a repository asks for."""
    recipe = read_recipe(folder)
    base = choose_base(recipe, image, python)
    return [text for text in environment.problems(recipe, base) if "asks for Python" in text]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("pyproject.toml", PROJECT + "requires-python = '>=3.12'\n", ">=3.12 (pyproject.toml:4)"),
        ("pyproject.toml", PROJECT + "requires-python = '<3.11'\n", "<3.11 (pyproject.toml:4)"),
        ("pyproject.toml", "[tool.poetry.dependencies]\npython = '^3.12'\n", ">=3.12,<4 (pyproject.toml:2)"),
        ("setup.py", "setup(name='a', python_requires='>=3.12')", ">=3.12 (setup.py:1)"),
        ("setup.cfg", "[options]\npython_requires = >=3.12\n", ">=3.12 (setup.cfg:2)"),
        (".python-version", "3.12.1\n", "==3.12.* (.python-version:1)"),
        ("environment.yml", "dependencies:\n  - python=3.12\n", "==3.12.* (environment.yml:2)"),
        ("Dockerfile", "FROM python:3.12-slim\n", "==3.12.* (Dockerfile:1)"),
        ("Dockerfile", "FROM ubuntu\nRUN apt-get install -y git python3.12-venv\n", "==3.12.* (Dockerfile:2)"),
    ],
)  # fmt: skip
def test_each_place_is_read_and_told(tmp_path: Path, name: str, text: str, said: str) -> None:
    (line,) = told(write_files(tmp_path, {name: text}))
    assert line.startswith(f"the repository asks for Python {said}, but the lock is for 3.11, ")


@pytest.mark.parametrize(
    "texts",
    [
        {"pyproject.toml": PROJECT + "requires-python = '>=3.11.4'\n"},
        # The repository itself accepts the image's Python: what one of its authors used is no demand.
        {"pyproject.toml": PROJECT + "requires-python = '>=3.9'\n", "Dockerfile": "FROM python:3.13\n"},
        # An older one that somebody used is none, either.
        {"environment.yml": "dependencies:\n  - python=3.8\n"},
        {"README.md": "```sh\nconda create -n x python=3.6\n```\n"},
        # CI files and classifiers list what was tested.
        {
            ".github/workflows/ci.yml": "jobs:\n  t:\n    steps:\n      - with:\n          python-version: '3.13'\n",
            "setup.py": "setup(name='a', classifiers=['Programming Language :: Python :: 3.13'])",
        },
    ],
)
def test_what_does_not_matter_is_not_told(tmp_path: Path, texts: dict[str, str]) -> None:
    assert told(write_files(tmp_path, texts)) == []


def test_what_to_do_depends_on_what_there_is(tmp_path: Path) -> None:
    folder = write_files(tmp_path, {"pyproject.toml": PROJECT + "requires-python = '>=3.12'\n"})
    (guessed,) = told(folder)
    assert "the Python of me/base:1 as far as known" in guessed
    assert "`lmr-author env dockerfile --base-image pytorch/pytorch:" in guessed
    assert "Python 3.12), then `env lock`; or `env lock --python-version X.Y`" in guessed
    (sure,) = told(folder, python="3.11")
    assert "as far as known" not in sure and "--python-version" not in sure
    (near,) = told(folder, "pytorch/pytorch:2.5.1-cuda12.4-cudnn9-devel")
    assert "pytorch/pytorch:2.10.0-cuda12.8-cudnn9-devel` (PyTorch 2.10.0, Python 3.12)" in near
    assert told(folder, python="3.12") == []

    (folder / "pyproject.toml").write_text(PROJECT + "requires-python = '>=3.14'\n")
    (none,) = told(folder)
    assert "no PyTorch image of the table has it" in none
