"""Lambdas and closures of the repository: stored by their place, which no edit of the target moves."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.probe.scenarios import make

GOAL = """\
from .helper import double

ACTS = {"same": lambda x: x, "negative": lambda x: -x}


class Layer:
    def __init__(self, scale, act):
        self.scale = scale
        self.dropout = lambda x: x * scale
        self.act = ACTS[act]
        self.pair = [lambda x: double(x), lambda x: double(x) + 1]

        def keyed(x, *, by=2, also=(1,)):
            return x + by + len(also)

        self.keyed = keyed
        self.both = compose(self.dropout, self.keyed)

    def forward(self, x):
        self.calls = getattr(self, "calls", 0) + 1
        return self.both(self.act(x)) + self.pair[0](x) * self.pair[1](x)


def compose(first, second):
    return lambda x: second(first(x))
"""
DRIVER = """\
from pkg.goal import Layer
for number in range(4):
    Layer(number + 2, "negative" if number % 2 else "same").forward(number + 3)
"""
BODY = """\
        self.calls = getattr(self, "calls", 0) + 1
        return self.both(self.act(x)) + self.pair[0](x) * self.pair[1](x)
"""


def test_functions_without_a_name_are_recorded_and_made_again(tmp_path: Path) -> None:
    repository = make(tmp_path, "Layer.forward", GOAL, DRIVER)
    assert repository.record("driver.py").returncode == 0
    assert len(repository.calls) == 4
    assert [repository.load(call, "inputs").omitted for call in repository.calls] == [()] * 4
    above = "\n".join(f"def helper_{number}(x):\n    return x\n\n" for number in range(5))
    versions = {
        "golden": None,
        "moved": GOAL.replace("class Layer", above + "square = lambda x: x * x\n\n\nclass Layer"),
        "longer": GOAL.replace(BODY, "        unused = lambda x: x\n\n" + BODY),
        "masked": GOAL.replace(BODY, "        raise NotImplementedError\n"),
        "no act": GOAL.replace("self.act(x)", "x"),
        "the other": GOAL.replace(BODY, BODY.replace("pair[0]", "pair[1]")),
        "sets its own": GOAL.replace(BODY, f"        self.dropout = lambda x: x\n{BODY}"),
    }
    replayed = repository.replay(versions)
    for name in ("golden", "moved", "longer"):
        replayed.assert_same(name)
    raised = [header["status"] for header in replayed.headers("masked").values()]
    assert raised == ["raised"] * 4
    failing = {name: len(replayed.differences(name)) for name in ("no act", "the other", "sets its own")}
    assert all(failing.values()), failing


def test_a_function_of_another_place_is_another_value(tmp_path: Path) -> None:
    goal = "A, B = [lambda x: x], [lambda x: x + 0]\n\n\ndef choose(n):\n    return (A if n else B)[0]\n"
    repository = make(tmp_path, "choose", goal, "from pkg.goal import choose\nchoose(0)\nchoose(1)\n")
    repository.record("driver.py")
    replayed = repository.replay({"golden": None, "other": goal.replace("if n", "if not n")})
    replayed.assert_same("golden")
    assert len(replayed.differences("other")) == 2


@pytest.mark.parametrize(
    "given",
    ["lambda x: x", "(lambda n: lambda x: n)(1)", "made(2)"],
    ids=["lambda", "closure", "by a function"],
)
def test_a_function_of_the_driver_cannot_be_made_again(tmp_path: Path, given: str) -> None:
    driver = f"from pkg.goal import f\ndef made(n):\n    return lambda x: n\nf({given})\n"
    repository = make(tmp_path, "f", "def f(function):\n    return function(1)\n", driver)
    repository.record("driver.py")
    assert not (repository.out / "calls").is_dir() or repository.calls == []


def test_what_the_target_itself_defines_is_left_out(tmp_path: Path) -> None:
    """No other version has it."""
    goal = "class Box:\n    def fill(self, n):\n        self.n = n\n        self.get = lambda: n\n        return n\n"
    repository = make(tmp_path, "Box.fill", goal, "from pkg.goal import Box\nBox().fill(3)\n")
    repository.record("driver.py")
    other = goal.replace("self.get = lambda: n", "self.get = (n, None)[1]")
    replayed = repository.replay({"golden": None, "other": other})
    replayed.assert_same("golden")
    assert replayed.differences("other") == []
