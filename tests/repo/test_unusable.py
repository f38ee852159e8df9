"""Notebooks and code for Python 2 are named, with what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author.core.repo.tree import unusable_code
from tests.support import write_files


@pytest.mark.parametrize(
    "text",
    ['print "loss", 1\n', "try:\n    f()\nexcept OSError, error:\n    pass\n", "import ConfigParser\n"],
)
def test_python_2_is_named(tmp_path: Path, text: str) -> None:
    [line] = unusable_code(write_files(tmp_path, {"old.py": text, "new.py": "print('x')\n"}))
    assert line == "1 file for Python 2 (old.py): `python3.11 -m lib2to3 -w -n`, then `new-task --patch`"


def test_notebooks_are_named(tmp_path: Path) -> None:
    names = ("a b.ipynb", "c.ipynb", ".ipynb_checkpoints/c.ipynb")
    [line] = unusable_code(write_files(tmp_path, dict.fromkeys(names, "{}")))
    assert line.startswith("2 notebooks not read (a b.ipynb …): `jupyter nbconvert")


def test_python_3_is_not_taken_for_python_2(tmp_path: Path) -> None:
    text = "try:\n    import ConfigParser\nexcept ImportError:\n    import configparser\nprint (1)\nprinter = 1\n"
    assert unusable_code(write_files(tmp_path, {"a.py": text})) == []
