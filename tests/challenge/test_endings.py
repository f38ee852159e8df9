"""How misreadings and rewrites end, and what is known about each."""

from __future__ import annotations

import pytest

from lmr_author.cli.challenge import missing_in_words
from lmr_author.core import code
from lmr_author.core.task import Target
from lmr_author.core.task.challenge import AnswerKind, DriverAdvice, Ending
from lmr_author.release.challenge.target import missing
from tests.challenge import made
from tests.challenge.conftest import Challenged
from tests.challenge.made import answer

pytestmark = pytest.mark.bwrap

ENDINGS = {
    "floor": Ending.FAILS,
    "half-up": Ending.TOLD_APART,
    "large-stay": Ending.TOLD_APART,
    "no-step": Ending.TOLD_APART,
    "negative-step": Ending.EQUAL,
    "forgets-seen": Ending.EQUAL,
    "not-python": Ending.INVALID,
    "other-function": Ending.INVALID,
    "loop": Ending.PASSES,
    "ties-up": Ending.PASSES,
    "rounded": Ending.FAILS,
    "reversed": Ending.FAILS,
    "wrong": Ending.FAILS,
    "newer-api": Ending.FAILS,
}


def test_each_answer_ends_as_it_is(challenged: Challenged) -> None:
    assert {one.name: one.ending for one in challenged.before.answers} == ENDINGS


def test_what_has_to_fail_and_fails_is_settled(challenged: Challenged) -> None:
    settled = {one.name for one in challenged.before.answers if one.settled}
    assert settled == {"floor", "loop", "ties-up"}
    # An answer that cannot be run says nothing about the test.
    assert {one.name for one in challenged.before.open} == set(ENDINGS) - settled - {
        "not-python",
        "other-function",
    }
    assert challenged.before.count(AnswerKind.MISREADING) == (1, 6)
    assert challenged.before.count(AnswerKind.REWRITE) == (2, 6)


def test_the_call_that_tells_a_misreading_apart_is_named_with_the_difference(challenged: Challenged) -> None:
    told = answer(challenged.before, "large-stay")
    assert told.tells[0] == 10 and all(call > 12 for call in told.tells[1:]), "the others are generated"
    assert told.difference is not None
    assert (told.difference.call, told.difference.case) == (10, "")
    assert told.difference.message.startswith("value[2]: ")
    assert "allowed: rtol 1e-07" in told.difference.message


def test_a_generated_call_tells_apart_what_no_driver_varies(challenged: Challenged) -> None:
    """The misreading ignores the step, and the driver never gives one; the rewrites vouch for calls with one."""
    difference = answer(challenged.before, "no-step").difference
    assert difference is not None
    assert "step=" in difference.made_of and difference.where.startswith("a call made of call ")


def test_what_no_call_varies_is_named() -> None:
    """The misreading ignores the step, and the driver never gives one."""
    golden = code.Module.parse(made.SOURCE.encode(), "pkg/grid.py")
    ignoring = made.SOURCE.replace(
        "return [round(value / step) * step for", "return [float(round(value)) for"
    )
    target = code.find(golden, Target.parse(made.TARGET))
    found = missing(golden, target, ignoring.encode(), [{"values": "list of 3", "seen": "list of 0"}], ())
    assert found.not_given == ("step",)
    assert "-return [round(value / step) * step for value in values]" in found.diff


def test_a_line_that_no_call_reaches_is_named(challenged: Challenged) -> None:
    advice = answer(challenged.before, "negative-step").missing
    line = made.SOURCE.splitlines().index("        return []") + 1
    assert advice is not None
    assert (advice.lines, advice.unreached) == ((line,), (line,))


def test_several_lines_are_lines() -> None:
    (one,) = missing_in_words(DriverAdvice(lines=(54,)))
    (two,) = missing_in_words(DriverAdvice(lines=(54, 60)))
    assert one.startswith("it differs on line 54 of the golden")
    assert two.startswith("it differs on lines 54, 60 of the golden")
    (unreached,) = missing_in_words(DriverAdvice(lines=(54, 60), unreached=(54, 60)))
    assert unreached.startswith("no recorded call reaches lines 54, 60 of the golden")


def test_an_effect_that_is_not_compared_is_named(challenged: Challenged) -> None:
    """The golden appends to an argument by the way, and this misreading does not."""
    advice = answer(challenged.before, "forgets-seen").missing
    assert advice is not None
    assert advice.not_compared == {"arguments": ("seen",)}


def test_how_far_a_rewrite_is_off_is_said(challenged: Challenged) -> None:
    rounded = answer(challenged.before, "rounded")
    assert rounded.difference is not None
    assert rounded.difference.message.startswith("value[0]: ")
    assert "allowed: rtol 1e-07" in rounded.difference.message


def test_a_missing_api_is_told_from_another_result(challenged: Challenged) -> None:
    lacking = [one.name for one in challenged.before.answers if one.lacks_api]
    assert lacking == ["newer-api"]
    difference = answer(challenged.before, "newer-api").difference
    assert difference is not None and difference.raised == "AttributeError"
    assert challenged.before.targets[0].versions["python"].startswith("3.")


def test_why_an_answer_cannot_be_run_is_said(challenged: Challenged) -> None:
    assert "not Python" in answer(challenged.before, "not-python").reason
    assert "does not define to_grid" in answer(challenged.before, "other-function").reason


def test_the_comment_on_top_says_what_is_misread(challenged: Challenged) -> None:
    assert answer(challenged.before, "floor").about == "Down in place of to the nearest."
