"""How long record still takes is told as soon as the golden has run once."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author.recording.record import RecordOptions, record
from lmr_author.replay import replaying
from lmr_author.replay.replaying import Replay, replay
from lmr_author.texts import time_left
from tests.evaluation.foreign import PLAIN_PYTHON
from tests.workflow.pipeline.running import HINGE, only_hinge


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(9, ""), (14, "about 10 s left"), (94, "about 90 s left"), (100, "about 2 min left"),
     (361, "about 6 min left")],
)  # fmt: skip
def test_an_estimate_is_in_round_numbers(seconds: float, text: str) -> None:
    assert time_left(seconds) == text


@pytest.mark.bwrap
def test_record_tells_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    task = only_hinge(tmp_path)

    def slow(*arguments: object, **options: object) -> Replay:
        found: Replay = replay(*arguments, **options)  # type: ignore[arg-type]
        object.__setattr__(found.result, "seconds", 60.0)
        return found

    monkeypatch.setattr(replaying, "replay", slow)
    record(task, RecordOptions(HINGE, ("python", "run.py"), python=PLAIN_PYTHON), task.root, said.append)
    told = [line.rpartition(", ")[2] for line in said if " left" in line]
    assert max(len(line) for line in said if " left" in line) < 70
    assert told == ["about 4 min left", "about 3 min left", "about 2 min left"]
