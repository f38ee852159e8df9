"""Detecting what a repository needs (each entry of ``cases.yml`` is one), and the image and Python that fit it."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.version import Version

from lmr_author.core.errors import LmrError
from lmr_author.core.task.provenance import BaseImageOrigin
from lmr_author.runtime.environment import base_images
from lmr_author.runtime.environment.base_images import choose_base, has_compiler
from lmr_author.runtime.environment.detect import problems, read_needs
from lmr_author.runtime.environment.needs import DeclaredNeed, Needs
from tests.support import write_files

CASES = yaml.safe_load((Path(__file__).parent / "cases.yml").read_text("utf-8"))


def summary(repo: Path, goals: Sequence[str] = ()) -> dict[str, Any]:
    """What is detected, without what is empty."""
    needs = read_needs(repo, goals=goals)

    def lines(items: Sequence[DeclaredNeed]) -> list[str]:
        marks = [(" guessed" * item.guessed, " mentioned" * item.mentioned) for item in items]
        return [f"{item}{''.join(mark)}" for item, mark in zip(items, marks, strict=True)]

    found = {
        "requirements": lines(needs.requirements),
        "torch": lines(needs.torch),
        "constraints": lines(needs.constraints),
        "python": f"{needs.python} ({needs.python_origin})" if needs.python else "",
        "project": needs.project,
        "own_version": needs.own_version,
        "source_folder": needs.source_folder,
        "system": list(map(str, needs.system)),
        "sources": list(needs.sources),
        "problems": list(needs.problems),
    }
    return {key: value for key, value in found.items() if value}


@pytest.mark.parametrize("name", CASES)
def test_a_repository_needs_what_its_case_says(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    repo = write_files(tmp_path / "repository", case["files"])
    assert summary(repo, case.get("goals", ())) == case["expected"]


# The base image


def wants(torch: str = "", date: str = "2024-01-01", python: str = "", devel: str = "") -> BaseImageOrigin:
    declared = (DeclaredNeed(Requirement(torch).name, torch, "here:1"),) if torch else ()
    moment = datetime.fromisoformat(date).replace(tzinfo=UTC)
    return choose_base(Needs(torch=declared, date=moment, python=python, devel=devel))


@pytest.mark.parametrize(
    ("torch", "date", "tag", "reason"),
    [
        ("torch==2.0.1", "2020-01-01", "2.0.1-cuda11.7-cudnn8-runtime", "asks for torch==2.0.1 (here:1)"),
        ("torch==2.1.0+cu118", "2024-01-01", "2.1.0-cuda12.1-cudnn8-runtime", "torch==2.1.0+cu118"),
        ("torch==1.10.2", "2024-01-01", "1.10.0-cuda11.3-cudnn8-runtime", "nearest"),
        ("torch==1.4.0", "2024-01-01", "1.4-cuda10.1-cudnn7-runtime", ""),
        ("torch", "2023-06-01", "2.0.1-cuda11.7-cudnn8-runtime", "the newest when it was committed"),
        ("torch>=1.13", "2023-01-01", "1.13.1-cuda11.6-cudnn8-runtime", ""),
        ("torch>=2.2", "2023-01-01", "2.2.0-cuda12.1-cudnn8-runtime", "newer than the commit"),
        ("torch==2.3.*", "2024-12-01", "2.3.1-cuda12.1-cudnn8-runtime", ""),
        ("torch", "2010-01-01", "1.4-cuda10.1-cudnn7-runtime", "newer than the commit"),
        ("torch>=99", "2023-06-01", "2.0.1-cuda11.7-cudnn8-runtime", "no image satisfies"),
        ("", "2023-06-01", "2.0.1-cuda11.7-cudnn8-runtime", "asks for no torch version"),
        ("triton==2.2.0", "2024-12-01", "2.2.2-cuda12.1-cudnn8-runtime", "for triton==2.2.0 (here:1)"),
        ("torchvision==0.16.2", "2024-12-01", "2.1.2-cuda12.1-cudnn8-runtime", "for torchvision==0.16.2"),
    ],
)  # fmt: skip
def test_images(torch: str, date: str, tag: str, reason: str) -> None:
    base = wants(torch, date=date)
    assert base.reference == f"pytorch/pytorch:{tag}" and reason in base.reason
    assert base.reference.startswith(f"pytorch/pytorch:{base.torch}-cuda{base.cuda}-")


def test_the_table_of_images_goes_by_date_and_by_version() -> None:
    rows = tomllib.loads((Path(base_images.__file__).with_name("base_images.toml")).read_text("utf-8"))
    assert list(rows) == sorted(rows, key=lambda torch: (rows[torch]["released"], Version(torch)))
    assert list(rows) == sorted(rows, key=Version)


def test_the_python_that_the_repository_asks_for_and_cuda_code_count() -> None:
    assert wants("torch", date="2026-06-01", python="<3.12").torch == "2.9.1"
    assert wants("torch", date="2026-06-01", python=">=3.12.4").torch == "2.12.0"
    assert wants("torch", date="2024-01-01", python=">=3.13").torch == "2.1.2"
    assert has_compiler(wants("torch", devel="deepspeed compiles CUDA code"))


def test_a_compiler_is_for_what_the_lock_installs(tmp_path: Path) -> None:
    repo = write_files(tmp_path, {"requirements.txt": "torch==2.0.1\nflash-attn==2.3\n", "a.py": ""})
    assert read_needs(repo).devel == "", "flash-attn is left out of every lock"
    write_files(repo, {"requirements.txt": "deepspeed\n"})
    assert read_needs(repo).devel == "deepspeed (requirements.txt:1) compiles CUDA code"


def test_an_image_of_the_annotators() -> None:
    known = choose_base(Needs(), "pytorch/pytorch:2.5.1-cuda12.4-cudnn9-devel")
    assert (known.torch, known.python, has_compiler(known)) == ("2.5.1", "3.11", True)
    own = choose_base(Needs(), "registry:5000/me/base:x", "3.13")
    assert (own.reference, own.python, own.python_certain) == ("registry:5000/me/base:x", "3.13", True)


def test_python_and_image_have_to_fit() -> None:
    old, moment = (
        Needs(torch=(DeclaredNeed("torch", "torch==1.4", "r.txt:1"),)),
        datetime(2020, 6, 1, tzinfo=UTC),
    )
    for needs, image in ((old, None), (Needs(), "pytorch/pytorch:1.4-cuda10.1-cudnn7-runtime")):
        with pytest.raises(LmrError, match=r"1\.4-cuda\S+ has Python 3\.7, not 3\.11") as caught:
            choose_base(needs, image, "3.11")
        assert "pytorch/pytorch:2.4.0-" in caught.value.hint
    free = replace(old, torch=(DeclaredNeed("torch", "torch>=1.2", "r.txt:1"),), date=moment)
    fits = choose_base(free, None, "3.11")
    assert (fits.torch, fits.python) == ("2.4.0", "3.11"), "the oldest image with this Python"
    assert choose_base(free).python == "3.7"
    uncertain = choose_base(Needs(), "pytorch/pytorch:2.4.0-cuda12.4-cudnn9-runtime", "3.12")
    assert uncertain.python == "3.12", "the table may be wrong where nobody looked, and this Python was out"


@pytest.mark.parametrize("image", ["", "a b", "x\nRUN touch y", "-x", "${X}", "a;b"])
def test_what_is_no_image_is_refused(image: str) -> None:
    with pytest.raises(LmrError, match="not an image"):
        choose_base(Needs(), image)
    with pytest.raises(LmrError, match="not a Python version"):
        choose_base(Needs(), None, image)


# A repository that asks for another Python than the lock is for

PROJECT = "[project]\nname = 'a'\nversion = '1'\n"
CONDA = "dependencies:\n  - python={}\n"


def told(folder: Path, image: str = "me/base:1", python: str | None = None) -> list[str]:
    """Return the notes on the Python that a repository asks for."""
    needs = read_needs(folder)
    base = choose_base(needs, image, python)
    return [text for text in problems(needs, base) if "asks for Python" in text]


@pytest.mark.parametrize(
    ("texts", "matters"),
    [
        ({"pyproject.toml": PROJECT + "requires-python = '>=3.12'\n"}, ">=3.12"),
        ({"pyproject.toml": PROJECT + "requires-python = '<3.11'\n"}, "<3.11"),
        ({"pyproject.toml": PROJECT + "requires-python = '>=3.11.4'\n"}, ""),
        # The repository itself accepts the image's Python: what one of its authors used is no demand.
        (
            {
                "pyproject.toml": PROJECT + "requires-python = '>=3.9'\n",
                "environment.yml": CONDA.format("3.13"),
            },
            "",
        ),
        # An older one that somebody used is none, either.
        ({"environment.yml": CONDA.format("3.8")}, ""),
        ({"README.md": "```sh\nconda create -n x python=3.6\n```\n"}, ""),
        # Classifiers list what was tested.
        ({"setup.py": "setup(name='a', classifiers=['Programming Language :: Python :: 3.13'])"}, ""),
    ],
)
def test_a_python_that_matters_is_told(tmp_path: Path, texts: dict[str, str], matters: str) -> None:
    lines = told(write_files(tmp_path, texts))
    said = f"the repository asks for Python {matters} (pyproject.toml:4), but the lock is for 3.11, "
    assert [line[: len(said)] for line in lines] == ([said] if matters else [])


def test_what_to_do_depends_on_what_there_is(tmp_path: Path) -> None:
    folder = write_files(tmp_path, {"pyproject.toml": PROJECT + "requires-python = '>=3.12'\n"})
    (guessed,) = told(folder)
    assert "the Python of me/base:1 as far as known" in guessed
    assert "name an image that has it with --base-image; or `env lock --python-version X.Y`" in guessed
    (sure,) = told(folder, python="3.11")
    assert "as far as known" not in sure and "--python-version" not in sure
    assert told(folder, python="3.12") == []
