"""Results as they are stored, judged again, interrupted, and told as they come."""

from __future__ import annotations

from pathlib import Path
from threading import Event

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmr_author.core.errors import LmrError, SandboxError
from lmr_author.proof.evaluation.candidates import results as store
from lmr_author.proof.evaluation.candidates.results import summary, wilson
from lmr_author.proof.evaluation.candidates.run import each, retried
from lmr_author.proof.evaluation.script import DiskWatch
from lmr_author.proof.evaluation.verdict import Outcome
from tests.evaluation.made import result


def test_a_line_that_was_cut_off_is_dropped_and_no_other(tmp_path: Path) -> None:
    with store.opened(tmp_path) as results:
        results.add(result("a"))
        results.add(result("b"))
    path = tmp_path / store.RESULTS
    whole = path.read_bytes()
    for cut in range(len(whole)):
        path.write_bytes(whole[:cut])
        with store.opened(tmp_path) as results:
            assert len(results.results) == whole[:cut].count(b"\n")
            results.add(result("c"))
        assert [item.model for item in store.load(path)][-1] == "c"


def test_a_line_that_is_no_result_is_an_error(tmp_path: Path) -> None:
    (tmp_path / store.RESULTS).write_text('{"format": "other"}\n')

    with pytest.raises(LmrError, match=r"results\.jsonl:1: not a result"), store.opened(tmp_path):
        pass


def test_a_failure_of_the_infrastructure_is_judged_again(tmp_path: Path) -> None:
    with store.opened(tmp_path) as results:
        results.add(result("a", Outcome.INFRASTRUCTURE))
        results.add(result("b", Outcome.FAILED))
        assert not results.is_judged(result("a").key, "0" * 64)
        assert results.is_judged(result("b").key, "0" * 64)
        assert not results.is_judged(result("b").key, "1" * 64)


def test_a_sandbox_that_fails_is_tried_again() -> None:
    calls = []

    def work() -> str:
        calls.append(1)
        if len(calls) < 3:
            raise SandboxError("gone") if len(calls) == 1 else OSError(28, "No space left on device")
        return "done"

    assert retried(work, Event(), 3, backoff=0) == ("done", 3)
    calls.clear()
    found, tries = retried(work, Event(), 2, backoff=0)
    assert isinstance(found, SandboxError) and "No space left" in found.message and tries == 2


def test_an_interruption_ends_what_is_under_way_and_begins_no_more() -> None:
    interruption, begun = Event(), []

    def work(number: int) -> int:
        begun.append(number)
        if number == 1:
            raise KeyboardInterrupt
        interruption.wait(60)
        return number

    with pytest.raises(KeyboardInterrupt):
        list(each(range(10), work, 2, interruption))
    assert begun == [0, 1]


def test_a_run_that_fills_the_disk_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "before").write_bytes(bytes(1 << 20))
    by_size, by_number = DiskWatch(tmp_path, 1 << 20, 100), DiskWatch(tmp_path, 1 << 30, 2)
    assert not by_size() and not by_number()
    by_size._next = by_number._next = 0.0
    (tmp_path / "a" / "b" / "c").mkdir(parents=True)
    assert not by_size() and by_number()
    by_size._next = 0.0
    (tmp_path / "a" / "b" / "after").write_bytes(bytes(1 << 21))
    assert by_size()


@pytest.mark.parametrize(
    ("passed", "judged", "low", "high"),
    [
        (0, 10, 0.0, 0.2775),
        (10, 10, 0.7225, 1.0),
        (5, 10, 0.2366, 0.7634),
        (0, 0, 0.0, 1.0),
        (81, 263, 0.2553, 0.3662),
    ],
)
def test_wilsons_interval(passed: int, judged: int, low: float, high: float) -> None:
    """81 of 263: the example in Newcombe 1998, https://pubmed.ncbi.nlm.nih.gov/9595616/."""
    found = wilson(passed, judged)

    assert found == pytest.approx((low, high), abs=5e-5)


@given(st.integers(0, 500), st.integers(0, 500))
def test_the_interval_holds_the_share(passed: int, more: int) -> None:
    low, high = wilson(passed, passed + more)

    assert 0 <= low <= high <= 1
    if passed + more:
        assert low <= passed / (passed + more) <= high


def test_what_could_not_be_judged_is_apart() -> None:
    outcomes = [*Outcome, Outcome.PASSED]
    rows = summary(result("m", outcome, number) for number, outcome in enumerate(outcomes))

    assert [(row.category, row.judged, row.passed, row.infrastructure) for row in rows] == [
        ("c", 6, 2, 1),
        ("all", 6, 2, 1),
    ]
