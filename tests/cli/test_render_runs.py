"""How the gates look."""

from __future__ import annotations

import pytest

from lmr_author.cli.evaluate import GateTable
from lmr_author.task import GateResult, GateStatus


def survivor(number: int) -> dict[str, str | int]:
    return {"id": f"m{number}", "line": number, "operator": "constant", "why": "", "diff": "-a\n+b"}


@pytest.mark.parametrize(("status", "shown"), [(GateStatus.PASSED, 0), (GateStatus.FAILED, 12)])
def test_a_gate_that_fails_shows_what_has_to_be_judged(
    status: GateStatus, shown: int, capsys: pytest.CaptureFixture[str]
) -> None:
    survivors = [survivor(number) for number in range(12)]
    GateTable("1-Task")(
        GateResult("mutants-die", status, "…", implementation=1, detail={"survivors": survivors})
    )
    told = capsys.readouterr().out
    assert told.count("survivor m") == shown
