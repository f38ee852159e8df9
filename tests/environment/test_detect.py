"""Detecting what a repository needs, and which image fits it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from lmr_author.environment import BaseImage, Recipe, choose_base, read_recipe, render
from lmr_author.environment.recipe import Declared
from lmr_author.errors import LmrError
from tests.support import write_files


def names(recipe: Recipe) -> list[str]:
    return [item.name for item in recipe.requirements]


def test_an_earlier_file_decides_and_later_ones_add(tmp_path: Path) -> None:
    recipe = read_recipe(
        write_files(
            tmp_path,
            {
                "requirements.txt": "torch==2.0.1\nnumpy==1.24.3\nsix\n",
                "requirements-dev.txt": "pytest\n",
                "main.py": "",
                "setup.py": "setup(name='x', install_requires=['torch>=1', 'six>=1.16', 'regex'])",
                "examples/a/requirements.txt": "wandb\n",
            },
        )
    )
    assert [str(item) for item in recipe.requirements] == [
        "numpy==1.24.3 (requirements.txt:2)",
        "six>=1.16 (setup.py:1)",
        "regex (setup.py:1)",
    ]
    assert [str(item) for item in recipe.torch] == ["torch==2.0.1 (requirements.txt:1)"]
    assert recipe.problems == ("not used, for a part of the repository only: examples/a/requirements.txt",)


def test_imports_stand_in_where_nothing_is_declared(tmp_path: Path) -> None:
    code = """
import os, sys, numpy as np, utils, model.layers
import cv2, yaml, unknown_thing
from sklearn.metrics import f1_score
from google.protobuf import message
from PIL import Image
from . import sibling
try:
    import apex
    import xgboost
except ImportError:
    apex = None
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    import pandas
def late():
    import wandb
"""
    recipe = read_recipe(
        write_files(
            tmp_path,
            {
                "train.py": code,
                "model/layers.py": "import torch",
                "src/utils.py": "",
                "tests/test_a.py": "import pytest",
                "examples/plot.py": "import seaborn",
                "broken.py": "import (",
            },
        )
    )
    assert names(recipe) == [
        "numpy", "opencv-python-headless", "pillow", "protobuf", "pyyaml", "scikit-learn",
        "unknown-thing",
    ]  # fmt: skip
    assert [item.name for item in recipe.requirements if item.guessed] == ["unknown-thing"]
    assert str(recipe.torch[0]) == "torch (import torch in model/layers.py:1)"
    assert recipe.source_folder == "src"
    assert "no requirements are declared" in recipe.problems[0]


def test_what_the_main_code_needs_at_once_is_added(tmp_path: Path) -> None:
    files = {
        "requirements.txt": "torch\n",
        "pkg/a.py": "import numpy\nimport surely_local_or_odd\ndef f():\n    import wandb",
        "examples/b.py": "import pandas",
    }
    recipe = read_recipe(write_files(tmp_path, files))
    assert [(item.name, item.guessed) for item in recipe.requirements] == [("numpy", True)]
    assert "numpy is not declared but needed: import numpy in pkg/a.py:1" in recipe.problems


def test_the_repositorys_own_package_is_never_installed(tmp_path: Path) -> None:
    files = {"requirements.txt": "Own.Pkg>=1\nsix\n", "pyproject.toml": "[project]\nname = 'own_pkg'\n"}
    recipe = read_recipe(write_files(tmp_path, files))
    assert (names(recipe), recipe.project) == (["six"], "own-pkg")
    assert any("own package" in problem for problem in recipe.problems)


def test_markers_of_other_systems_are_left_out(tmp_path: Path) -> None:
    text = (
        "a; sys_platform == 'win32'\nb; platform_system != 'Darwin'\n"
        "c==1; python_version < '3.8'\nc==2; python_version >= '3.8'\n"
    )
    recipe = read_recipe(write_files(tmp_path, {"requirements.txt": text}))
    assert [item.text.partition(";")[0] for item in recipe.requirements] == ["b", "c==1", "c==2"]


def test_a_full_freeze_is_left_as_it_is(tmp_path: Path) -> None:
    freeze = "".join(f"p{number}==1.{number}\n" for number in range(20)) + "certifi==1\nidna==2\nsix==3\n"
    recipe = read_recipe(write_files(tmp_path, {"requirements.txt": freeze, "a.py": "import numpy"}))
    assert len(recipe.requirements) == 23


def test_other_places_of_requirements(tmp_path: Path) -> None:
    for number, (name, expected) in enumerate(
        {
            "reqs.txt": ["x1"],
            "requirements/base.txt": ["x2"],
            "conda_env.yml": ["x3"],
            "requirements_dev.txt": [],
        }.items()
    ):
        root = tmp_path / str(number)
        text = f"dependencies: [x{number + 1}]" if name.endswith("yml") else f"x{number + 1}\n"
        assert names(read_recipe(write_files(root, {name: text}))) == expected


def wants(*torch: str, date: str = "2024-01-01", python: str = "", devel: str = "") -> BaseImage:
    declared = tuple(Declared("torch", text, "here:1") for text in torch)
    moment = datetime.fromisoformat(date).replace(tzinfo=UTC)
    return choose_base(Recipe(torch=declared, date=moment, python=python, devel=devel))


@pytest.mark.parametrize(
    ("torch", "date", "tag"),
    [
        ("torch==2.0.1", "2020-01-01", "2.0.1-cuda11.7-cudnn8-runtime"),
        ("torch==2.1.0+cu118", "2024-01-01", "2.1.0-cuda11.8-cudnn8-runtime"),
        ("torch==1.10.2", "2024-01-01", "1.10.0-cuda11.3-cudnn8-runtime"),
        ("torch==1.4.0", "2024-01-01", "1.4-cuda10.1-cudnn7-runtime"),
        ("torch", "2023-06-01", "2.0.1-cuda11.7-cudnn8-runtime"),
        ("torch>=1.13", "2023-01-01", "1.13.1-cuda11.6-cudnn8-runtime"),
        ("torch>=2.2", "2023-01-01", "2.2.0-cuda12.1-cudnn8-runtime"),
        ("torch==2.3.*", "2024-12-01", "2.3.1-cuda12.1-cudnn8-runtime"),
        ("torch", "2010-01-01", "1.4-cuda10.1-cudnn7-runtime"),
        ("torch>=99", "2023-06-01", "2.0.1-cuda11.7-cudnn8-runtime"),
    ],
)
def test_images(torch: str, date: str, tag: str) -> None:
    base = wants(torch, date=date)
    assert base.reference == f"pytorch/pytorch:{tag}"
    assert "torch" in base.reason
    assert f"pytorch/pytorch:{base.torch}-cuda{base.cuda}-cudnn{base.cudnn}-{base.kind}" == base.reference


def test_the_reason_says_what_decided() -> None:
    assert wants("torch==2.0.1").reason == "the repository asks for torch==2.0.1 (here:1)"
    assert "nearest" in wants("torch==1.10.2").reason
    assert "no image satisfies" in wants("torch>=99").reason
    assert "asks for no torch version" in wants().reason
    assert "newer than the commit" in wants("torch>=2.2", date="2023-01-01").reason
    assert wants("torch", devel="flash-attn compiles CUDA code").kind == "devel"


def test_the_python_that_the_repository_asks_for_counts() -> None:
    assert wants("torch", date="2026-06-01", python="<3.12").torch == "2.9.1"
    assert wants("torch", date="2026-06-01", python=">=3.12.4").torch == "2.12.0"
    assert wants("torch", date="2024-01-01", python=">=3.13").torch == "2.1.2"


def test_an_image_of_the_annotators() -> None:
    known = choose_base(Recipe(), "pytorch/pytorch:2.5.1-cuda12.4-cudnn9-devel")
    assert (known.torch, known.python, known.kind) == ("2.5.1", "3.11", "devel")
    own = choose_base(Recipe(), "registry:5000/me/base:x", "3.13")
    assert (own.reference, own.python, own.python_certain) == ("registry:5000/me/base:x", "3.13", True)


@pytest.mark.parametrize("image", ["", "a b", "x\nRUN touch y", "-x", "${X}", "a;b"])
def test_what_is_no_image_is_refused(image: str) -> None:
    with pytest.raises(LmrError, match="not an image"):
        choose_base(Recipe(), image)
    with pytest.raises(LmrError, match="not a Python version"):
        choose_base(Recipe(), None, image)


@pytest.mark.parametrize(
    ("declared", "readme", "torch"),
    [
        ("torch==1.9.0", "pip install torch==2.0.1", "torch==1.9.0"),
        ("torch", "pip install torch==2.0.1", "torch==2.0.1"),
        ("torch", "pip install torch", "torch"),
        ("numpy", "pip install torch==2.0.1", "torch==2.0.1"),
    ],
)
def test_the_readme_says_which_torch_only_where_nothing_else_does(
    declared: str, readme: str, torch: str, tmp_path: Path
) -> None:
    files = {"requirements.txt": declared, "README.md": f"```\n{readme}\n```\n", "a.py": "import torch\n"}
    assert [item.text for item in read_recipe(write_files(tmp_path, files)).torch] == [torch]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "install.sh",
            "conda create -n x python=3.10 && conda activate x\npip install torch==2.4.0 numpy==1.26.4\n",
        ),
        ("setup_env.sh", "pip install numpy==1.26.4 \\\n  torch==2.4.0\nbash other.sh\n"),
        (
            "scripts/rome.yml",
            "channels:\n- x\ndependencies:\n  - numpy=1.26.4\n  - pip:\n    - torch==2.4.0\n",
        ),
        ("my-cluster.yml", "name: x\ndependencies:\n  - numpy=1.26.4\n  - pip:\n    - torch==2.4.0\n"),
    ],
)
def test_scripts_and_conda_files_of_any_name_declare(tmp_path: Path, name: str, text: str) -> None:
    recipe = read_recipe(write_files(tmp_path, {name: text, "a.py": "import numpy, torch\n"}))
    assert [item.text for item in recipe.requirements] == ["numpy==1.26.4"]
    assert [item.text for item in recipe.torch] == ["torch==2.4.0"]
    assert recipe.sources == (name,)


def test_only_what_some_files_import_is_required(tmp_path: Path) -> None:
    files = {
        "requirements.txt": "numpy==1.26.4\nwandb==0.16\nopencv-python==4.8\nscipy==1.11\n",
        "pkg/__init__.py": "",
        "pkg/loss.py": "from .maths import norm\nimport cv2\n",
        "pkg/maths.py": "import numpy\n",
        "train.py": "import wandb\nimport pkg.loss\n",
    }
    recipe = read_recipe(write_files(tmp_path, files), goals=["pkg/loss.py"])
    assert names(recipe) == ["numpy", "opencv-python"]
    assert [item.text for item in recipe.constraints] == ["wandb==0.16", "scipy==1.11"], (
        "they bound what is needed"
    )


ASKS = "from importlib.metadata import version\nV = version('my-pkg')\n"


@pytest.mark.parametrize(
    ("files", "version"),
    [
        ({"pyproject.toml": '[project]\nname = "My-Pkg"\nversion = "1.2.dev0"\n'}, "1.2.dev0"),
        ({"setup.py": 'from setuptools import setup\nVERSION = "4.1"\nsetup(name="my-pkg", version=VERSION)\n'}, "4.1"),
        ({"setup.cfg": "[metadata]\nname = my-pkg\nversion = attr: my_pkg.__version__\n"}, "0"),
    ],
)  # fmt: skip
def test_code_that_asks_for_its_own_version_is_told(
    tmp_path: Path, files: dict[str, str], version: str
) -> None:
    recipe = read_recipe(write_files(tmp_path, {**files, "src/my_pkg/__init__.py": ASKS}))
    assert recipe.own_version == version
    assert f"/my_pkg-{version}.dist-info;" in render(recipe, choose_base(recipe), "repo")


def test_commands_of_the_readme_declare_where_nothing_else_does(tmp_path: Path) -> None:
    readme = (
        "# Tool\n```sh\nconda install pytorch==1.10.1 -c pytorch\npip install accelerate==0.18.0 wandb\n```\n"
    )
    code = "import wandb\nfrom scipy import (\n    linalg,  # fast\n    stats,\n)\n"
    code += "try:\n    import xgboost\nexcept ImportError:\n    pass\n"
    recipe = read_recipe(write_files(tmp_path, {"INSTALL.md": readme, "train.py": code}))
    assert sorted(item.text for item in recipe.requirements) == ["accelerate==0.18.0", "scipy", "wandb"]
    assert [item.text for item in recipe.torch] == ["torch==1.10.1"]


def test_a_part_with_requirements_of_its_own_is_not_the_main_code(tmp_path: Path) -> None:
    files = {
        "requirements.txt": "numpy\n",
        "main.py": "import numpy\n",
        "retrieval/requirements.txt": "faiss-cpu\n",
        "retrieval/index.py": "import faiss\n",
    }
    recipe = read_recipe(write_files(tmp_path, files))
    assert names(recipe) == ["numpy"]
    assert recipe.problems == ("not used, for a part of the repository only: retrieval/requirements.txt",)
