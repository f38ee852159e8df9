"""What is planted in a good task is found, and nothing else; in the good tasks nothing is."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author.validation.run import validate
from tests.checks.planted.defects import EVERYWHERE, IN_BEAMTOOLS, IN_TOKEN_CONTRAST
from tests.checks.planted.good import BEAMTOOLS, GOOD, TOKEN_CONTRAST, Good
from tests.checks.planted.planting import Plant

PLANTED: dict[str, tuple[Good, str, Plant]] = {
    f"{good.repository}: {name}": (good, *defect)
    for good, own in ((TOKEN_CONTRAST, IN_TOKEN_CONTRAST), (BEAMTOOLS, IN_BEAMTOOLS))
    for name, defect in (EVERYWHERE | own).items()
}


@pytest.mark.parametrize("good", GOOD, ids=lambda good: good.repository)
def test_nothing_is_found_in_a_good_task(good: Good, tmp_path: Path) -> None:
    assert validate([good.write(tmp_path)]).findings == ()


@pytest.mark.parametrize("name", PLANTED)
def test_what_is_planted_is_found_and_nothing_else(name: str, tmp_path: Path) -> None:
    good, codes, plant = PLANTED[name]
    task = good.write(tmp_path)
    plant(task, good)

    found = validate([task]).findings

    assert {one.code for one in found} == set(codes.split()), [
        f"{one.code} {one.path} {one.pointer} {one.message}" for one in found
    ]


def test_there_are_enough() -> None:
    assert len(PLANTED) >= 150
