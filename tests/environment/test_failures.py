"""The rows of ``failures.toml`` on the logs of ``failures/``: each gives its row, its cause and its remedy."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lmr_author.environment.failures import Failure, _data, explain

LOGS = sorted((Path(__file__).parent / "failures").glob("*.log"))


def read(path: Path) -> tuple[dict[str, str], Failure]:
    """A log and what is expected of it: header lines, a blank line, the output."""
    head, _, said = path.read_text("utf-8").partition("\n\n")
    expected = dict(line.split(": ", 1) for line in head.splitlines())
    return expected, Failure(expected["stage"], expected.get("where", "RUN something"), said)  # type: ignore[arg-type]


@pytest.mark.parametrize("path", LOGS, ids=[path.stem for path in LOGS])
def test_a_log_gives_its_row(path: Path) -> None:
    expected, failure = read(path)
    found = explain(failure)
    assert found is not None
    assert found.name == expected["row"]
    assert expected["cause"] in found.cause
    assert expected["remedy"] in found.advice
    assert not re.search(r"\{\w*\}|  ", found.cause + found.advice)


def test_every_row_has_a_log() -> None:
    assert {row["name"] for row in _data()["failure"]} == {read(path)[0]["row"] for path in LOGS}


@pytest.mark.parametrize("stage", ["build", "install", "import"])
def test_an_unknown_failure_is_not_explained(stage: str) -> None:
    assert explain(Failure(stage, "RUN make", "the flux capacitor is empty")) is None  # type: ignore[arg-type]
