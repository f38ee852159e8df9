"""Why a mutant survives, and what would kill it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from lmr_author.evaluation.wrong_versions import explain_survivor


@pytest.mark.parametrize(
    ("line", "parameter", "said"),
    [
        (3, "", "the condition on line 3 holds in every case: record a call that does not"),
        (4, "", "no case reaches line 4: record a call that does"),
        (5, "beta", "no case sets `beta`: record a call that does"),
    ],
)
def test_what_the_cases_lack_is_told(line: int, parameter: str, said: str) -> None:
    coverage = SimpleNamespace(missed=(4,), never_false=(3,))
    recording: Any = SimpleNamespace(cases=(), coverage=coverage, varied=False)
    mutant: Any = SimpleNamespace(line=line, parameter=parameter)
    verdict: Any = SimpleNamespace(identity="")
    assert explain_survivor(recording, mutant, verdict, ()) == f"{said}, or record again with --vary"
    recording.varied = True
    assert explain_survivor(recording, mutant, verdict, ()) == said, (
        "nobody is told to do again what was done"
    )
