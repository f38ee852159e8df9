"""Calls of a function, told by its name alone: where that is sure they are taken, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author.masking import locate
from lmr_author.masking.callers import MAX_TEXT, Call, calls_of
from lmr_author.model import Target

GOAL = """\
def scale(x, by=2, *, name=""):
    return scale(x, by - 1) if by else x


class Box:
    def __init__(self, size):
        self.size = self.grow(size)

    def grow(self, by):
        return by

    @staticmethod
    def make(size):
        return Box(size)
"""

ANOTHER = "def scale(x): return x\nclass Crate:\n    def grow(self, by): return by\n"


def found(tmp_path: Path, qualname: str, others: dict[str, str] | None = None) -> list[Call]:
    """Calls of a function of ``goal.py`` beside some other files."""
    for name, text in {"goal.py": GOAL, **(others or {})}.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return list(calls_of(tmp_path, *locate.find(tmp_path, Target("goal.py", qualname))))


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("scale(value)", True),  # by star import, or in a notebook's manner: there is no other
        ("goal.scale(value)", True),
        ("tools().scale(value)", True),
        ("scaled(value)", False),
        ("from goal import scale as larger\nlarger(value)", False),
    ],
)
def test_the_only_function_of_its_name_is_meant_everywhere(text: str, taken: bool, tmp_path: Path) -> None:
    calls = found(tmp_path, "scale", {"use.py": f"# scale\n{text}\n"})
    assert [call.arguments for call in calls] == ([{"x": "value"}] if taken else [])


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("from goal import scale\nscale(value)", True),
        ("from elsewhere import larger as scale\nscale(value)", True),
        ("from goal import scale as larger\nscale(value)", False),
        ("scale(value)", False),
        ("import goal\ngoal.scale(value)", False),
        ("tools().scale(value)", False),
    ],
)
def test_one_of_two_of_its_name_is_meant_where_it_is_imported(text: str, taken: bool, tmp_path: Path) -> None:
    calls = found(tmp_path, "scale", {"use.py": text, "another.py": ANOTHER})
    assert [call.path for call in calls] == (["use.py"] if taken else [])


def test_calls_within_itself_are_left_out_and_those_beside_it_are_not(tmp_path: Path) -> None:
    assert found(tmp_path, "scale", {"another.py": ANOTHER}) == []
    (call,) = found(tmp_path, "Box.grow", {"another.py": ANOTHER})
    assert (call.path, call.caller, call.arguments) == ("goal.py", "Box.__init__", {"by": "size"})


@pytest.mark.parametrize("text", ["Box.grow(1)", "box.grow(3)", "make().grow(3)"])
@pytest.mark.parametrize("others", [{}, {"another.py": ANOTHER}], ids=["alone", "one of two"])
def test_a_method_is_looked_for_elsewhere_only_if_no_other_has_its_name(
    text: str, others: dict[str, str], tmp_path: Path
) -> None:
    calls = found(tmp_path, "Box.grow", {"use.py": text, **others})
    assert [call.path for call in calls] == (["goal.py"] if others else ["goal.py", "use.py"])


def test_a_constructor_is_called_by_the_name_of_its_class(tmp_path: Path) -> None:
    calls = found(tmp_path, "Box.__init__", {"use.py": "from goal import Box\nbox = Box(7)\n"})
    assert [(call.path, call.caller, call.arguments) for call in calls] == [
        ("goal.py", "Box.make", {}),  # `size` for `size` says nothing
        ("use.py", "", {"size": "7"}),
    ]


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        ("scale(a, b)", {"x": "a", "by": "b"}),
        ("scale(x, by=by, name='n')", {"name": "'n'"}),
        ("scale(a, *rest)", {"x": "a"}),
        ("scale(*rest, 3)", {}),
        ("scale(**options)", {}),
        (f"scale({'a' * MAX_TEXT}, {'b' * (MAX_TEXT + 1)})", {"x": "a" * MAX_TEXT}),
    ],
)
def test_arguments_that_say_something(call: str, arguments: dict[str, str], tmp_path: Path) -> None:
    (one,) = found(tmp_path, "scale", {"use.py": call})
    assert one.arguments == arguments


def test_names_that_a_result_is_unpacked_into(tmp_path: Path) -> None:
    calls = found(tmp_path, "scale", {"use.py": "a, b = scale(1)\nc = scale(2)\nd, (e, f) = scale(3)\n"})
    assert [call.results for call in calls] == [("a", "b"), (), ("d",)]


def test_our_own_tests_and_what_cannot_be_read_are_no_callers(tmp_path: Path) -> None:
    others = {"unit_test/unit_test_1.py": "scale(1)", "broken.py": "scale(1", "later.py": "scale(2)"}
    assert [call.path for call in found(tmp_path, "scale", others)] == ["later.py"]
