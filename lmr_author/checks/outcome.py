"""Does a test's exit code depend on the result? Read from its source.

A *failing site* is a place where a wrong result ends the program with another code: an assertion, a
raise, an exit with a code. A site inside a `try` that swallows it does not count, nor does one in a
function that nothing runs when the file is run as a script.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from lmr_author.checks.flow import Flow
from lmr_author.checks.reading import Reading
from lmr_author.checks.view import TaskView


@dataclass(frozen=True)
class Outcome:
    """What was found.

    Attributes:
        asserts: there are failing sites at all.
        reached: one of them is reached, not swallowed, when the file is run as a script.
        swallowed: (line, what) of each `try` that swallows failures.
        unrun: there are sites in tests, but nothing runs these tests when the file is run as a script.
        uncalled: there are sites, none of them swallowed, in functions that are never called.
        ignored: a runner runs the tests, but its result does not reach the exit code.
    """

    asserts: bool
    reached: bool
    swallowed: tuple[int, ...]
    unrun: bool
    uncalled: bool
    ignored: bool


def outcome(view: TaskView, test: Reading) -> Outcome:
    """Follow the failing sites of a test and of its helpers, once."""
    return view.memo(("outcome", test.relative), partial(judge, test))


def judge(test: Reading) -> Outcome:
    """Follow them, whether or not that was done before."""
    flow = Flow(test)
    units = flow.units
    effective = {unit.name for unit in units if unit.sites}
    hidden = {unit.name for unit in units if unit.sites_swallowed}
    changed = True
    while changed:
        changed = False
        for unit in units:
            if unit.name not in effective and unit.calls & effective:
                effective.add(unit.name)
                changed = True
            if unit.name not in hidden and (
                unit.calls_swallowed & (effective | hidden) or unit.calls & hidden
            ):
                hidden.add(unit.name)
                changed = True
    tests = [unit for unit in units if unit.is_test]
    tested = any(unit.name in effective for unit in tests)
    direct = any(unit.name == "" and (unit.sites or unit.calls & effective) for unit in units)
    reached = direct or (tested and flow.runner_counts)
    called = "" in hidden  # they run, and what they find is swallowed
    return Outcome(
        asserts=bool(effective or hidden),
        reached=reached,
        swallowed=tuple(sorted(set(flow.swallowing))),
        unrun=tested and not (reached or called or flow.has_runner),
        uncalled=bool(effective) and not hidden and not reached,
        ignored=tested and not reached and flow.has_runner,
    )
