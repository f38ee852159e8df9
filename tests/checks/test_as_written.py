"""Dockerfiles and instructions as people write them: what is found in each, and nothing else.

Each file of ``dockerfiles/`` says in its first line what has to be found, each line of ``instructions.txt`` in
its first words. Drop one in, and it is a test.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from lmr_author.checks import example_task
from lmr_author.validation.run import validate

HERE = Path(__file__).parent
DOCKERFILES = sorted((HERE / "dockerfiles").glob("*.Dockerfile"))
INSTRUCTIONS = (HERE / "instructions.txt").read_text("utf-8").splitlines()


def _expected(words: str) -> set[str]:
    return set(words.split()) - {"nothing"}


@pytest.mark.parametrize("case", DOCKERFILES, ids=lambda path: path.stem)
def test_exactly_what_is_wrong_with_a_dockerfile_is_found(case: Path, tmp_path: Path) -> None:
    text = case.read_text("utf-8")
    task = example_task.write(tmp_path)
    (task.root / "Dockerfile").write_text(text, "utf-8")

    found = validate([task]).findings

    expected = _expected(text.splitlines()[0].partition("expect:")[2])
    assert {one.code for one in found} == expected, [f"{one.code} {one.message}" for one in found]


@pytest.mark.parametrize("line", INSTRUCTIONS)
def test_exactly_what_is_wrong_with_an_instruction_is_found(line: str, tmp_path: Path) -> None:
    match = re.match(r"((?:LMR\d+ |nothing )+) *(.*)", line)
    assert match is not None, line
    task = example_task.write(tmp_path)
    info = task.load_raw()
    info["implementations"][0]["instruction"] = match[2]
    task.info_path.write_text(json.dumps(info), "utf-8")

    found = validate([task]).findings

    assert {one.code for one in found} == _expected(match[1]), [f"{one.code} {one.message}" for one in found]


def test_there_are_cases() -> None:
    assert len(DOCKERFILES) >= 35
    assert len(INSTRUCTIONS) >= 15
