"""Which requirements contain the solution: names and addresses as real repositories spell them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lmr_author.core.task import Severity, Task
from lmr_author.proof.checks.registry import by_code
from lmr_author.proof.validation.run import validate
from tests import example
from tests.support import write_files

ERROR, WARNING, NOTHING = Severity.ERROR, Severity.WARNING, None


def _task(folder: Path, goal: str, build: dict[str, str], requirement: str) -> Task:
    """The good task with its goal file elsewhere, build files, and one more requirement."""
    task = example.write(folder)
    repository = task.root / example.REPOSITORY
    target = repository / goal
    target.parent.mkdir(parents=True, exist_ok=True)
    (repository / "ranking" / "losses.py").rename(target)
    write_files(repository, build)
    info = task.load_raw()
    info["repo_url"] = "git@github.com:o/CLIP.git"
    info["implementations"][0]["goal_file"] = goal
    (task.root / "info.json").write_text(json.dumps(info))
    (task.root / "requirements.lock").write_text(f"numpy==1.26.4\n{requirement}\n")
    return task


def _severity(task: Task) -> Severity | None:
    found = validate([task], [by_code()["LMR406"]]).findings
    return found[0].severity if found else None


SETUP = (
    "from setuptools import find_packages, setup\n\nsetup(\n    name={name}, packages=find_packages()\n)\n"
)
EXTENSION = "from setuptools import Extension, setup\nx = Extension(name='fast')\nsetup(name='fair')\n"

PACKAGE = {"clip/__init__.py": ""}
PROJECT = '[project]\nname = "open-instruct"\n\n[[tool.uv.index]]\nname = "torch-wheels"\n'
FORK = {"transformers/setup.py": SETUP.format(name='"transformers"')}

# name of the case: goal file, build files, requirement, whether it contains the solution
CASES = {
    "another name than the package": (
        "clip/loss.py",
        {"setup.py": SETUP.format(name='"clip-ai"'), **PACKAGE},
        "CLIP_AI[torch]>=0.2",
        ERROR,
    ),
    "an extension's name": ("clip/loss.py", {"setup.py": EXTENSION, **PACKAGE}, "fast==0.12", NOTHING),
    "pyproject.toml": ("clip/loss.py", {"pyproject.toml": PROJECT, **PACKAGE}, "open_instruct==1", ERROR),
    "another section's name": (
        "clip/loss.py",
        {"pyproject.toml": PROJECT, **PACKAGE},
        "torch-wheels==1",
        NOTHING,
    ),
    "a fork of a library inside": (
        "transformers/src/transformers/models/gpt2.py",
        {**FORK, "transformers/src/transformers/__init__.py": ""},
        "transformers==4.1",
        ERROR,
    ),
    "a library that is only used": ("gpt2/train_control.py", FORK, "transformers==4.1", NOTHING),
    "the package's name without build files": ("clip/loss.py", PACKAGE, "clip==0.4", WARNING),
    "a folder that says nothing": ("utils/x.py", {"utils/__init__.py": ""}, "utils==1", NOTHING),
    "its address": ("train.py", {}, "git+https://github.com/O/clip.git@abc1234", ERROR),
    "its address, editable": ("train.py", {}, "-e git+https://github.com/o/CLIP#egg=clip", ERROR),
    "by ssh": ("train.py", {}, "git+ssh://git@github.com/o/CLIP", ERROR),
    "an archive": ("train.py", {}, "https://github.com/o/CLIP/archive/main.zip", ERROR),
    "a fork of it": ("train.py", {}, "git+https://github.com/me/CLIP", WARNING),
    "a longer name": ("train.py", {}, "git+https://github.com/o/CLIP-extra", NOTHING),
}


@pytest.mark.parametrize("name", CASES)
def test_a_requirement_is_told_from_the_repositorys_own(name: str, tmp_path: Path) -> None:
    goal, build, requirement, expected = CASES[name]

    assert _severity(_task(tmp_path, goal, build, requirement)) is expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("RUN git clone https://github.com/o/CLIP.git /opt/clip", ERROR),
        ("RUN wget https://github.com/o/clip/archive/main.zip", ERROR),
        ("RUN git clone https://github.com/o/apex.git", NOTHING),
        ("RUN echo see https://github.com/o/CLIP", NOTHING),
    ],
)
def test_fetching_the_original_is_found(line: str, expected: Severity | None, tmp_path: Path) -> None:
    task = _task(tmp_path, "train.py", {}, "scipy==1.11")
    text = task.dockerfile.read_text().replace("USER agent\n", f"{line}\nUSER agent\n")
    task.dockerfile.write_text(text)

    assert _severity(task) is expected
