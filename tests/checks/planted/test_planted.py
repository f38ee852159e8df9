"""A defect planted in a good task is found, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author.proof.validation.run import validate
from tests.checks.planted.defects import DEFECTS
from tests.checks.planted.good import write


def test_nothing_is_found_in_the_good_task(tmp_path: Path) -> None:
    assert validate([write(tmp_path)]).findings == ()


@pytest.mark.parametrize("name", DEFECTS)
def test_exactly_the_planted_defect_is_found(name: str, tmp_path: Path) -> None:
    codes, plant = DEFECTS[name]
    task = write(tmp_path)
    plant(task)

    found = validate([task]).findings

    assert {one.code for one in found} == set(codes.split()), [
        f"{one.code} {one.path} {one.pointer} {one.message}" for one in found
    ]
