"""Wrong versions of a target tried beside the golden: where that fails as well, a version's failure says nothing.

On a busy machine, or where a version is compiled anew when it is imported (numba), time runs out for the golden, too,
which the times that it took before do not tell.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from lmr_author.replaying import Outcome, Replay, Variant

CONTROL = "the golden"
"""Name of the version that is none."""
MORE = 10
"""So many times the time is given, once, where the golden did not get by with it."""

Run = Callable[[Sequence[Variant], float, bool], Replay]
"""Replays versions, with so many seconds for each case, that share the import of installed packages or do not."""
Passes = Callable[[str, Outcome], bool]
"""Whether an outcome of a case is the recorded one."""


@dataclass(frozen=True)
class Beside:
    """What versions did beside the golden.

    Attributes:
        run: of all of them.
        fair: the cases that the golden passes there, which alone say something about the versions.
    """

    run: Replay
    fair: frozenset[str]


def beside_the_golden(
    run: Run,
    golden: Variant,
    versions: Sequence[Variant],
    cases: Collection[str],
    seconds: float,
    passes: Passes,
) -> Beside:
    """Replay versions with the golden in front; once more where it does not pass every case, if then it does.

    It is given more time then. Should that not help, nothing is shared either: a library that has started threads
    when it was imported can stand still in a forked process.

    Args:
        golden: the goal file as the golden has it, named :data:`CONTROL`.
        seconds: time limit of one case.
    """

    def fair(found: Replay) -> frozenset[str]:
        outcomes = {case: found.outcomes.get((golden.id, case)) for case in cases}
        return frozenset(case for case, outcome in outcomes.items() if outcome and passes(case, outcome))

    found = run([golden, *versions], seconds, True)
    if len(fair(found)) < len(cases):
        for shared in (True, False):
            if len(fair(run([golden], MORE * seconds, shared))) == len(cases):
                found = run([golden, *versions], MORE * seconds, shared)
                break
    return Beside(found, fair(found))
