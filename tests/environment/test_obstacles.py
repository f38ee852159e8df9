"""What is done about uv's messages, by the messages themselves."""

from __future__ import annotations

import pytest

from lmr_author.environment.locked import Lock
from lmr_author.environment.obstacles import Index, following
from lmr_author.environment.recipe import Declared
from lmr_author.environment.resolver import Attempt

INDEX = Index(lambda name: False, lambda item, built: "")
SERVER = Declared("server", "server==0.3.0", "setup.py:3")
METRICS = "  × Failed to build `metrics==17.4.8`\n  ╰─▶ The build backend returned an error\n"


def after(attempt: Attempt, said: str) -> Attempt:
    """The next attempt, where there is one."""
    found = following(attempt, said, INDEX)
    assert isinstance(found, Attempt)
    return found


def test_an_old_version_that_cannot_be_built_is_passed_over_where_only_others_need_it() -> None:
    attempt = Attempt((SERVER,), built=("metrics", "other"))
    found = after(attempt, METRICS)
    assert (found.above, found.built) == (("metrics>17.4.8",), ("other",)), "later ones may have wheels"
    assert found.remarks == ("metrics>17.4.8: earlier versions of it cannot be built",)
    found = after(found, METRICS.replace("17.4.8", "18.1"))
    assert found.above == ("metrics>18.1",), "one bound is enough"
    ended = following(found, METRICS.replace("17.4.8", "18.1"), INDEX)
    assert isinstance(ended, Lock) and "metrics, which another package needs, cannot be had" in ended.note


def test_what_the_repository_asks_for_is_not_passed_over() -> None:
    metrics = Declared("metrics", "metrics==17.4.8", "setup.py:4")
    assert after(Attempt((SERVER, metrics)), METRICS).as_is == (metrics,), "the image may build it"


def test_a_source_too_old_for_the_images_python_gives_way_to_a_later_version() -> None:
    metrics = Declared("metrics", "metrics", "setup.py:4")
    attempt = Attempt((SERVER, metrics), built=("metrics", "other"), wheels_from="2023-04-22")
    found = after(attempt, METRICS)
    assert (found.later, found.built, found.left_out) == (("metrics=2023-04-22",), ("other",), ())
    assert after(found, METRICS).left_out, "of that day it cannot be built either"
    fixed = Declared("metrics", "metrics==17.4.8", "setup.py:4")
    assert after(Attempt((fixed,), wheels_from="2023-04-22"), METRICS).as_is == (fixed,), "no other will do"


@pytest.mark.parametrize(
    ("said", "certain"),
    [
        ("Because server==0.3.0 has no wheels with a matching Python ABI tag (e.g., `cp311`) and …", True),
        ("Because there is no version of server==0.3.0 and you require server==0.3.0, …", True),
        (
            (
                "Because the current Python version (3.11.2) does not satisfy Python<3.10 and server==0.3.0 depends on"
                " Python<3.10, we can conclude that server==0.3.0 cannot be used."
            ),
            True,
        ),
        ("Because server==0.3.0 depends on maths<2 and you require maths==2, …", False),
    ],
)
def test_a_version_that_cannot_be_had_is_told_from_one_that_does_not_fit(said: str, certain: bool) -> None:
    maths = Declared("maths", "maths==2", "setup.py:4")
    found = following(Attempt((SERVER, maths)), f"  × No solution found\n  ╰─▶ {said}\n", INDEX)
    assert isinstance(found, Lock) and found.conflict is not None
    assert found.conflict.certain == ((SERVER,) if certain else ())
    assert found.conflict.reached == Attempt((SERVER, maths))
