"""Results as they are stored, judged again, interrupted, and told as they come."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from lmr_author.errors import LmrError, SandboxError
from lmr_author.evaluation.candidates import results as store
from lmr_author.evaluation.candidates.results import Result
from lmr_author.evaluation.candidates.run import Interruption, each, retried
from lmr_author.evaluation.script import DiskWatch
from lmr_author.evaluation.verdict import Outcome
from tests.evaluation.made import result


def test_a_result_is_read_back_as_it_was_written() -> None:
    assert Result.from_json(json.loads(json.dumps(result().to_json()))) == result()


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

    assert retried(work, Interruption(), 3, backoff=0) == ("done", 3)
    calls.clear()
    found, tries = retried(work, Interruption(), 2, backoff=0)
    assert isinstance(found, SandboxError) and "No space left" in found.message and tries == 2


def test_an_interruption_ends_what_is_under_way_and_begins_no_more() -> None:
    interruption, begun = Interruption(), []

    def work(number: int) -> int:
        begun.append(number)
        if number == 1:
            raise KeyboardInterrupt
        interruption.sleep(60)
        return number

    with pytest.raises(KeyboardInterrupt):
        list(each(range(10), work, 2, interruption))
    assert begun == [0, 1]


def test_results_come_as_they_are_known_and_no_more_than_jobs_at_once() -> None:
    under_way, most = [0], [0]

    def work(number: int) -> int:
        under_way[0] += 1
        most[0] = max(most[0], under_way[0])
        time.sleep(0.01)
        under_way[0] -= 1
        return number

    assert sorted(each(range(20), work, 3, Interruption())) == list(range(20))
    assert most[0] <= 3


def test_a_run_that_fills_the_disk_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "before").write_bytes(bytes(1 << 20))
    by_size, by_number = DiskWatch(1 << 20, 100), DiskWatch(1 << 30, 2)
    assert not by_size.is_full(tmp_path) and not by_number.is_full(tmp_path)
    time.sleep(0.05)
    (tmp_path / "a" / "b" / "c").mkdir(parents=True)
    assert not by_size.is_full(tmp_path) and by_number.is_full(tmp_path)
    time.sleep(0.05)
    (tmp_path / "a" / "b" / "after").write_bytes(bytes(1 << 21))
    assert by_size.is_full(tmp_path)
