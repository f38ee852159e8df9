"""What a task's recordings may take together, and what is said when a call has no room."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author.errors import LmrError
from lmr_author.masking import MaskOptions, mask
from lmr_author.recording.choose import Call
from lmr_author.recording.record import RecordOptions, RecordResult, record
from lmr_author.recording.sizes import Room, too_much
from tests.support import make_task

MB = 2**20


def test_what_others_take_is_not_left() -> None:
    assert Room(10 * MB).left == 10 * MB
    assert Room(10 * MB, {"a.py::f": 3 * MB, "a.py::g": 4 * MB}).left == 3 * MB
    assert Room(10 * MB, {"a.py::f": 30 * MB}).left == 0


def test_a_call_without_room_is_told_who_has_it_and_what_to_do(tmp_path: Path) -> None:
    call = Call(1, tmp_path, frozenset(), 6 * MB, {"x": "tensor float32 [1000, 1500]"})
    told = too_much(call, Room(10 * MB, {"a.py::f": 7 * MB}))

    assert "10.0 MB in all, 7.0 MB of it taken by a.py::f" in told
    assert "x[:150] instead of all 1000 rows" in told
    assert told.endswith("--max-total-mb 16")


@pytest.mark.bwrap
def test_a_second_function_gets_what_the_first_has_left(tmp_path: Path) -> None:
    task = make_task(tmp_path)
    hinge, add = "pkg/losses.py::hinge", "pkg/losses.py::Meter.add"
    mask(task, MaskOptions((hinge, add)), task.root)

    def recorded(target: str, total: int, force: bool = False) -> RecordResult:
        options = RecordOptions(target, ("python", "run.py"), max_total_mb=total / MB, force=force)
        return record(task, options, task.root, lambda _: None)

    alone = sum(case.bytes for case in recorded(hinge, MB).recording.cases)
    with pytest.raises(LmrError) as caught:
        recorded(add, alone)
    assert f"taken by {hinge}" in caught.value.hint and "--max-total-mb" in caught.value.hint
    other = recorded(add, MB).recording.cases
    assert len(other) == 3
    fewer = recorded(add, alone + sum(case.bytes for case in other) - 1, force=True)
    assert len(fewer.recording.cases) == 2, "an earlier recording of the same function does not count"
    (rejected,) = fewer.proof.rejected
    assert f"taken by {hinge}" in rejected.reason
