"""Which version of its own package code is told, where it asks for one."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author.environment import choose_base, read_recipe, render
from tests.support import write_files

PYPROJECT = '[project]\nname = "My-Pkg"\nversion = "1.2.dev0"\n'


@pytest.mark.parametrize(
    "code",
    [
        "import importlib.metadata\n__version__ = importlib.metadata.version('my_pkg')\n",
        "from importlib.metadata import version as v\n__version__ = v(__name__)\n",
        "from importlib import metadata\nABOUT = metadata.metadata(__package__)\n",
        "import importlib_metadata as m\n__version__ = m.version('My-Pkg')\n",
        "import pkg_resources\n__version__ = pkg_resources.get_distribution('my.pkg').version\n",
    ],
)
def test_code_that_asks_is_told(tmp_path: Path, code: str) -> None:
    recipe = read_recipe(write_files(tmp_path, {"pyproject.toml": PYPROJECT, "src/my_pkg/__init__.py": code}))
    assert recipe.own_version == "1.2.dev0"
    written = render(recipe, choose_base(recipe), "repo")
    assert "/my_pkg-1.2.dev0.dist-info;" in written and "'Name: my-pkg' 'Version: 1.2.dev0'" in written


@pytest.mark.parametrize(
    "code",
    [
        "from importlib.metadata import version\nTORCH = version('torch')\n",
        "import yaml\nprint(yaml.version('my_pkg'))\n",
        "from importlib.metadata import version\nNAME = version(print)\n",
    ],
)
def test_nobody_else_is(tmp_path: Path, code: str) -> None:
    recipe = read_recipe(write_files(tmp_path, {"pyproject.toml": PYPROJECT, "my_pkg/__init__.py": code}))
    assert recipe.own_version == "" and "dist-info" not in render(recipe, choose_base(recipe), "repo")


@pytest.mark.parametrize(
    ("files", "version"),
    [
        ({"pyproject.toml": '[tool.poetry]\nname = "my-pkg"\nversion = "0.3"\n'}, "0.3"),
        ({"pyproject.toml": "[build-system]\n", "setup.cfg": "[metadata]\nname = my-pkg\nversion = 2.0\n"}, "2.0"),
        ({"setup.py": 'from setuptools import setup\nVERSION = "4.1"\nsetup(name="my-pkg", version=VERSION)\n'}, "4.1"),
        ({"setup.cfg": "[metadata]\nname = my-pkg\nversion = attr: my_pkg.__version__\n"}, "0"),
        ({"pyproject.toml": '[project]\nname = "my-pkg"\ndynamic = ["version"]\n'}, "0"),
    ],
)  # fmt: skip
def test_the_version_is_the_repositorys(tmp_path: Path, files: dict[str, str], version: str) -> None:
    asks = {"my_pkg/__init__.py": "from importlib.metadata import version\nV = version('my-pkg')\n"}
    assert read_recipe(write_files(tmp_path, files | asks)).own_version == version
