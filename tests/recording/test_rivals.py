"""Cases are chosen to notice wrong versions of the golden."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from lmr_author.probe.codec import dump, encode
from lmr_author.probe.document import Document
from lmr_author.recording.choose import Call, Proven
from lmr_author.recording.rivals import Trial, add, without_superfluous
from lmr_author.replaying import Outcome, Replay, Variant
from lmr_author.sandbox.base import ExecResult, Limits
from lmr_author.workflow.mask import MaskOptions, mask
from lmr_author.workflow.record import RecordOptions, record
from tests.support import make_task


def proven(number: int, hits: set[int], size: int = 10) -> Proven:
    return Proven(Call(number, Path(), frozenset(hits), size), {})


def numbers(chosen: list[Proven]) -> list[int]:
    return [item.call.number for item in chosen]


def test_calls_are_added_while_they_notice_something_new() -> None:
    first, rest = [proven(1, {0})], [proven(2, {0}), proven(3, {0}), proven(4, {0}), proven(5, {0})]
    noticed = {2: frozenset("a"), 3: frozenset("abc"), 4: frozenset("cd"), 5: frozenset("b")}
    assert numbers(add(first, rest, noticed, 9, set("abcd"))) == [1, 3, 4]
    assert numbers(add(first, rest, noticed, 2, set("abcd"))) == [1, 3]
    assert numbers(add(first, rest, {}, 9, set("abcd"))) == [1]


def test_a_call_is_superfluous_only_if_blocks_and_versions_are_both_seen_by_others() -> None:
    calls = [proven(1, {0}), proven(2, {0, 1}, 5), proven(3, {0, 1}, 50), proven(4, {0})]
    noticed = {1: frozenset("a"), 2: frozenset("b"), 3: frozenset("b"), 4: frozenset("ab")}
    assert numbers(without_superfluous(calls, noticed, 1)) == [2, 4]
    assert numbers(without_superfluous(calls, noticed, 3)) == [1, 2, 4]


@dataclass
class Slow:
    """A golden that has to be compiled anew, for five seconds, each time it is imported, as its versions have."""

    expected: Document
    asked: list[float] = field(default_factory=list)

    def replay(
        self,
        numbers: Sequence[int],
        variants: Sequence[Variant],
        *,
        case_seconds: float,
        limits: Limits,
        shared: object,
    ) -> Replay:
        self.asked.append(case_seconds)
        same = Outcome("returned", True, document=self.expected)
        outcome = same if case_seconds > 5 else Outcome("timeout")
        found = {(version.id, str(number)): outcome for version in variants for number in numbers}
        return Replay(found, {}, ExecResult(0, b"", b"", 1.0))


def test_a_version_is_not_noticed_because_all_are_slow(tmp_path: Path) -> None:
    expected = encode({"outcome": "returned", "value": 1.0})
    dump(expected, str(tmp_path), "expected")
    call = Proven(Call(1, tmp_path, frozenset({0}), 10), {}, 0.001)
    golden = Slow(expected)

    assert Trial(golden).noticed([call], [Variant("equivalent", b"")]) == {1: frozenset()}  # type: ignore[arg-type]
    assert golden.asked == [2.0, 20.0, 20.0]


@pytest.mark.bwrap
def test_a_later_call_that_notices_more_is_kept_too(tmp_path: Path) -> None:
    """Many calls are alike to the recorder; one alone takes something from the margin."""
    task = make_task(tmp_path)
    (task.root / "small-repo/run.py").write_text(
        "from pkg.losses import hinge\nfor x in (0.0, 0.0, 0.0, 0.0, 0.25):\n    hinge(x, margin=2.0)\n"
    )
    mask(task, MaskOptions(("pkg/losses.py::hinge",)), task.root)
    result = record(task, RecordOptions(None, ("python", "run.py"), cases=1), task.root, lambda _: None)
    assert 5 in {case.call for case in result.recording.cases}
    noticed = result.proof.noticed
    assert len(noticed.tried) > len(noticed.missed) > 0  # no call reaches the other branch
