"""Which requirements contain the solution: names as real repositories spell them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lmr_author.checks.registry import by_code
from lmr_author.task import Severity, Task
from lmr_author.validation.run import validate
from tests import example as example_task
from tests import example as example_texts
from tests.support import write_files

ERROR, WARNING, NOTHING = Severity.ERROR, Severity.WARNING, None


def _task(folder: Path, goal: str, build: dict[str, str], requirement: str, url: str) -> Task:
    """The good task with its goal file elsewhere, build files, and one more requirement."""
    task = example_task.write(folder)
    repository = task.root / example_texts.REPOSITORY
    target = repository / goal
    target.parent.mkdir(parents=True, exist_ok=True)
    (repository / "ranking" / "losses.py").rename(target)
    write_files(repository, build)
    info = task.load_raw()
    info["repo_url"] = url
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
HUB = "https://github.com/"
OWN = SETUP.format(name='"own"')
EXTENSION = "from setuptools import Extension, setup\nx = Extension(name='fast')\nsetup(name='fair')\n"

CASES = {
    # name of the case: goal file, build files, requirement, address, what is expected
    "the name in setup.py": (
        "peft/lora.py",
        {"setup.py": OWN, "peft/__init__.py": ""},
        "own==0.3",
        "https://github.com/h/p",
        ERROR,
    ),
    "another name than the package": (
        "colbert/model.py",
        {"setup.py": SETUP.format(name='"colbert-ai"'), "colbert/__init__.py": ""},
        "ColBERT_AI[torch]>=0.2",
        "https://github.com/s/ColBERT",
        ERROR,
    ),
    "an extension's name": (
        "fair/loss.py",
        {"setup.py": EXTENSION},
        "fast==0.12",
        "https://github.com/f/fair",
        NOTHING,
    ),
    "pyproject.toml": (
        "open_instruct/losses.py",
        {
            "pyproject.toml": '[build-system]\nrequires = ["x"]\n\n[project]\nname = "open-instruct"\n',
            "open_instruct/__init__.py": "",
        },
        "open_instruct==1",
        "https://github.com/a/open-instruct",
        ERROR,
    ),
    "another section's name": (
        "open_instruct/losses.py",
        {"pyproject.toml": '[project]\nname = "open-instruct"\n\n[[tool.uv.index]]\nname = "torch-wheels"\n'},
        "torch-wheels==1",
        "https://github.com/a/b",
        NOTHING,
    ),
    "a fork of a library inside": (
        "transformers/src/transformers/models/gpt2.py",
        {
            "transformers/setup.py": SETUP.format(name='"transformers"'),
            "transformers/src/transformers/__init__.py": "",
        },
        "transformers==4.1",
        "https://github.com/x/PrefixTuning",
        ERROR,
    ),
    "a library that is only used": (
        "gpt2/train_control.py",
        {"transformers/setup.py": SETUP.format(name='"transformers"')},
        "transformers==4.1",
        "https://github.com/x/PrefixTuning",
        NOTHING,
    ),
    "a script beside the package needs it": (
        "examples/nlu/losses.py",
        {"setup.py": SETUP.format(name='"loralib"'), "loralib/__init__.py": ""},
        "loralib==0.1",
        "https://github.com/m/LoRA",
        NOTHING,
    ),
    "the package's name without build files": (
        "simcse/models.py",
        {"simcse/__init__.py": ""},
        "simcse==0.4",
        "https://github.com/p/SimCSE",
        WARNING,
    ),
    "a folder that says nothing": (
        "utils/x.py",
        {"utils/__init__.py": ""},
        "utils==1",
        "https://github.com/a/utils",
        NOTHING,
    ),
    "its address": (
        "train.py",
        {},
        "git+https://github.com/Openai/clip.git@abc1234",
        "https://github.com/openai/CLIP",
        ERROR,
    ),
    "its address, editable": (
        "train.py",
        {},
        "-e git+https://github.com/o/CLIP#egg=clip",
        "https://github.com/o/CLIP.git",
        ERROR,
    ),
    "by ssh": ("train.py", {}, "git+ssh://git@github.com/o/CLIP", "git@github.com:o/CLIP.git", ERROR),
    "an archive": (
        "train.py",
        {},
        "https://github.com/o/CLIP/archive/main.zip",
        "https://github.com/o/CLIP",
        ERROR,
    ),
    "a fork of it": (
        "train.py",
        {},
        "git+https://github.com/me/CLIP",
        "https://github.com/openai/CLIP",
        WARNING,
    ),
    "a longer name": (
        "train.py",
        {},
        "git+https://github.com/o/CLIP-extra",
        "https://github.com/o/CLIP",
        NOTHING,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_requirement_is_told_from_the_repositorys_own(name: str, tmp_path: Path) -> None:
    goal, build, requirement, url, expected = CASES[name]

    assert _severity(_task(tmp_path, goal, build, requirement, url)) is expected


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
    task = _task(tmp_path, "train.py", {}, "scipy==1.11", HUB + "o/CLIP")
    text = task.dockerfile.read_text().replace("USER agent\n", f"{line}\nUSER agent\n")
    task.dockerfile.write_text(text)

    assert _severity(task) is expected
