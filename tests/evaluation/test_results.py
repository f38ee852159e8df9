"""Results as they are stored, judged again, interrupted, and told as they come."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest

from lmr_author.core.errors import LmrError, SandboxError
from lmr_author.proof.evaluation.candidates import results as store
from lmr_author.proof.evaluation.candidates.results import in_words, summary
from lmr_author.proof.evaluation.candidates.run import each, retried
from lmr_author.proof.evaluation.script import DiskWatch
from lmr_author.proof.evaluation.verdict import Outcome
from tests.evaluation.made import result

ERRORS = ("RateLimitError", "SandboxBuildError", "RateLimitError")
HALF = [Outcome.PASSED, Outcome.FAILED] * 5


def test_a_line_that_was_cut_off_is_dropped_and_no_other(tmp_path: Path) -> None:
    with store.opened(tmp_path) as results:
        results.add(result("a"))
        results.add(result("b"))
    path = tmp_path / store.RESULTS
    whole = path.read_bytes()
    for cut in {*range(0, len(whole), 19), *(len(whole) - end for end in (1, 2)), whole.index(b"\n") + 1}:
        path.write_bytes(whole[:cut])
        with store.opened(tmp_path) as results:
            assert len(results.results) == whole[:cut].count(b"\n")
            results.add(result("c"))
        assert [item.model for item in store.load(path)][-1] == "c"


def test_a_line_that_is_no_result_is_an_error(tmp_path: Path) -> None:
    (tmp_path / store.RESULTS).write_text('{"format": "other"}\n')
    with pytest.raises(LmrError, match=r"results\.jsonl:1: not a result"), store.opened(tmp_path):
        pass


def test_what_was_unjudged_is_judged_again(tmp_path: Path) -> None:
    with store.opened(tmp_path) as results:
        results.add(result("a", Outcome.UNJUDGED))
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


def test_what_could_not_be_judged_is_apart() -> None:
    made = [result("m", outcome, number) for number, outcome in enumerate([*Outcome, Outcome.PASSED])]
    made += [
        replace(result("m", Outcome.UNJUDGED, number), error=error) for number, error in enumerate(ERRORS, 9)
    ]
    rows = summary(made)
    assert [(row.category, row.problems, row.judged, row.passed) for row in rows] == [
        ("c", 1, 6, 2),
        ("all", 1, 6, 2),
    ]
    assert rows[0].unjudged == {"RateLimitError": 2, "": 1, "SandboxBuildError": 1}
    assert in_words({"RateLimitError": 2, "BuildError": 1}) == "3 unjudged: 2 RateLimitError, 1 BuildError"
    nobody = summary([result("m", Outcome.UNJUDGED)])[0]
    assert (nobody.judged, nobody.share, nobody.low, nobody.high) == (0, 0.0, 0.0, 1.0)


def test_two_agents_with_one_model_are_two_rows() -> None:
    made = [replace(result("m"), agent=agent, setting="agent") for agent in ("terminus", "react", "react")]
    assert [(row.model, row.judged) for row in summary(made) if row.category == "all"] == [
        ("m (react, agent)", 2),
        ("m (terminus, agent)", 1),
    ]


def test_samples_of_a_problem_are_one_cluster() -> None:
    """The interval is that of the analysis, and no narrower for samples that say nothing new."""
    once = [replace(result("m", outcome), index=index) for index, outcome in enumerate(HALF, 1)]
    again = [replace(each, run="two") for each in once]
    first, both = summary(once)[-1], summary([*once, *again])[-1]
    assert (first.problems, first.judged, both.problems, both.judged) == (10, 10, 10, 20)
    assert (both.share, both.low, both.high) == (first.share, first.low, first.high)
