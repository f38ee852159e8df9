"""Which recorded calls notice wrong versions of the golden: what makes a test worth having."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from lmr_author import replaying
from lmr_author.controlled import CONTROL, Beside, Passes, beside_the_golden
from lmr_author.recording.choose import Proven
from lmr_author.recording.golden import Golden
from lmr_author.sandbox.base import Limits

Rivals = Callable[[int], Sequence[replaying.Variant]]
"""Makes so many wrong versions of the goal file, or fewer."""

MOST = 60
"""Wrong versions tried at most."""
FEWEST = 5
"""With fewer than these, what a slow function leaves time for, nothing can be told."""
SECONDS = 90.0
"""What trying them may take, by the golden's own times."""
OVERHEAD = 0.3
"""Seconds that starting a version takes."""


@dataclass(frozen=True)
class Noticed:
    """What a choice of calls notices.

    Attributes:
        tried: wrong versions that were tried.
        missed: those that no chosen call tells from the golden.
    """

    tried: tuple[str, ...] = ()
    missed: tuple[str, ...] = ()


class Trial:
    """Runs wrong versions on recorded calls. ``shared``: modules that they all need, as in a plan to replay."""

    def __init__(self, golden: Golden, shared: tuple[str, ...] | None = None) -> None:
        self.golden = golden
        self.shared = shared

    def choose(self, proven: Sequence[Proven], wanted: int, rivals: Rivals) -> tuple[list[Proven], Noticed]:
        """The first ``wanted`` calls, and up to as many again that notice what those do not.

        A call whose place others fill as well, in what it executes and in what it notices, gives it up.

        Args:
            proven: calls that reproduce, best first; their inputs lie in the plan's recording folder.
            wanted: how many are kept.
            rivals: makes the wrong versions.
        """
        first, rest = list(proven[:wanted]), list(proven[wanted:])
        affordable = int(SECONDS / (OVERHEAD + sum(item.cost for item in first)))
        versions = rivals(min(MOST, affordable)) if affordable >= FEWEST else ()
        if not versions:
            return first, Noticed()
        noticed = self.noticed(first, versions)
        left = [item for item in versions if not any(item.id in ids for ids in noticed.values())]
        if left and rest:
            noticed |= self.noticed(_affordable(rest, len(left)), left)
        chosen = add(first, rest, noticed, 2 * wanted, {item.id for item in left})
        chosen = without_superfluous(chosen, noticed, wanted)
        seen = set().union(*(noticed.get(item.call.number, frozenset()) for item in chosen))
        tried = tuple(item.id for item in versions)
        return chosen, Noticed(tried, tuple(name for name in tried if name not in seen))

    def noticed(
        self, calls: Sequence[Proven], versions: Sequence[replaying.Variant]
    ) -> dict[int, frozenset[str]]:
        """Number of a call → the versions whose outcome it tells from the golden's.

        What the time did not suffice for counts as not noticed.
        """
        found: dict[int, set[str]] = {item.call.number: set() for item in calls}
        expected = {item.call.number: replaying.load_document(item.call.folder, "expected") for item in calls}
        size = sum(item.call.size for item in calls)
        by_name = {str(item.call.number): item for item in calls}

        def passes(case: str, outcome: replaying.Outcome) -> bool:
            item = by_name[case]
            return not replaying.differences(expected[item.call.number], outcome, item.checkers)

        for batch in _batches(versions, size):
            tried = self._run(by_name, batch, passes)
            for version in batch:
                for case in tried.fair:
                    outcome = tried.run.outcomes.get((version.id, case))
                    if outcome and not passes(case, outcome):
                        found[int(case)].add(version.id)
        return {number: frozenset(ids) for number, ids in found.items()}

    def _run(self, calls: Mapping[str, Proven], batch: Sequence[replaying.Variant], passes: Passes) -> Beside:
        """What versions do on calls, beside the golden."""
        numbers = [item.call.number for item in calls.values()]

        def run(versions: Sequence[replaying.Variant], seconds: float, shared: bool) -> replaying.Replay:
            limits = Limits(seconds=60 + 3 * SECONDS)
            given = self.shared if shared else ()
            return self.golden.replay(numbers, versions, case_seconds=seconds, limits=limits, shared=given)

        slowest = max((item.seconds for item in calls.values()), default=0.0)
        golden = replaying.Variant(CONTROL)
        return beside_the_golden(run, golden, batch, calls, max(2.0, 20 * slowest), passes)


def add(
    chosen: Sequence[Proven],
    rest: Sequence[Proven],
    noticed: Mapping[int, frozenset[str]],
    most: int,
    left: set[str],
) -> list[Proven]:
    """The chosen calls and, greedily, those of the rest that notice most of what is left."""
    result, waiting, left = list(chosen), list(rest), set(left)
    while waiting and left and len(result) < most:
        best = max(waiting, key=lambda item: len(noticed.get(item.call.number, frozenset()) & left))
        news = noticed.get(best.call.number, frozenset()) & left
        if not news:
            break
        waiting.remove(best)
        result.append(best)
        left -= news
    return result


def without_superfluous(
    chosen: Sequence[Proven], noticed: Mapping[int, frozenset[str]], fewest: int
) -> list[Proven]:
    """Without those that add nothing to the others, in blocks or in what is noticed, down to ``fewest``."""
    result = list(chosen)
    for item in sorted(chosen, key=lambda item: -item.call.size):
        if len(result) <= fewest:
            break
        others = [other for other in result if other is not item]
        blocks = set().union(*(other.call.hits for other in others))
        seen = set().union(*(noticed.get(other.call.number, frozenset()) for other in others))
        if item.call.hits <= blocks and noticed.get(item.call.number, frozenset()) <= seen:
            result = others
    return result


def _affordable(rest: Sequence[Proven], versions: int) -> list[Proven]:
    """As many calls as there is time for, the best first."""
    result, seconds = list[Proven](), OVERHEAD * versions
    for item in rest:
        seconds += item.cost * versions
        if result and seconds > SECONDS:
            break
        result.append(item)
    return result


def _batches(versions: Sequence[replaying.Variant], size: int) -> Iterator[Sequence[replaying.Variant]]:
    """Versions in runs whose outcomes stay small enough."""
    step = max(1, min(50, replaying.BATCH_BYTES // max(1, size)))
    for start in range(0, len(versions), step):
        yield versions[start : start + step]
