# ruff: noqa: E501 (samples of source code and tables of cases read better unbroken)
"""Limits of recording: many calls, large attributes, values that cannot be stored."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from lmr_author.runtime.probe.encoding import encode
from lmr_author.runtime.probe.pool import Pool, PooledCall
from tests.probe.scenarios import make


def test_many_calls_are_bounded_and_rare_branches_are_kept(tmp_path: Path) -> None:
    goal = "def f(x):\n    if x == 777:\n        return -1\n    return x if x % 2 else None\n"
    driver = "from pkg.goal import f\nfor x in range(2000):\n    f(x)\nf(777)\nf(777)\n"
    repository = make(tmp_path, "f", goal, driver)
    repository.record("driver.py", pool=6, first=20)
    assert repository.summary["calls"] == 2002
    assert len(repository.calls) <= 6
    assert repository.missed() == set()
    repository.replay().assert_same()


def test_the_driver_sees_its_own_random_numbers(tmp_path: Path) -> None:
    goal = "import random\n\ndef f(x):\n    return x + random.random()\n"
    driver = "import random\nrandom.seed(3)\nfrom pkg.goal import f\nprint([f(k) for k in range(5)], random.random())\n"
    repository = make(tmp_path, "f", goal, driver)
    plain = subprocess.run([sys.executable, "driver.py"], cwd=repository.root, capture_output=True)
    assert repository.record("driver.py").stdout == plain.stdout
    assert list(repository.load("000001", "inputs").tree["@random"]) == ["python"]
    repository.replay().assert_same()


def test_large_attributes_that_the_code_does_not_name_are_left_out(tmp_path: Path) -> None:
    goal = (
        "class Trainer:\n    def __init__(self):\n        self.data = bytes(3_000_000)\n        self.k = 2\n"
        "        self.handle = open(__file__)\n    def helper(self):\n        return self.k\n"
        "    def step(self, x):\n        return self.helper() * x\n"
    )
    repository = make(tmp_path, "Trainer.step", goal, "from pkg.goal import Trainer\nTrainer().step(4)\n")
    repository.record("driver.py", max_bytes=1_000_000)
    omitted = {item["path"]: item["advice"] for item in repository.meta("000001")["omitted"]}
    assert sorted(omitted) == ["self.data", "self.handle"]
    assert "too large" in omitted["self.data"]
    repository.replay().assert_same()


@pytest.mark.parametrize("name", ["data", "_data"])
def test_large_attributes_that_it_names_or_that_are_private_stay(tmp_path: Path, name: str) -> None:
    goal = f"class Trainer:\n    def __init__(self):\n        self.{name} = bytes(3_000_000)\n    def step(self, x):\n        return x, len(self.data if x else b'')\n"
    driver = "from pkg.goal import Trainer\nTrainer().step(0)\n"
    repository = make(tmp_path, "Trainer.step", goal, driver)
    repository.record("driver.py", max_bytes=1_000_000)
    assert repository.calls == []
    (refused,) = repository.summary["not_stored"]
    assert refused["reason"] == f"self.{name}: 3000000 bytes, more than the limit of 1000000"


def test_the_pool_keeps_what_covers_and_what_differs(tmp_path: Path) -> None:
    pool = Pool(str(tmp_path), most=3, max_bytes=1000)
    document = encode({})
    for number, hits, option, size in (
        (1, {0, 1}, "a", 10),
        (2, {0, 1}, "a", 5),
        (3, {0, 2}, "a", 900),  # large, and late, but alone on its branch
        (4, {0, 1}, "b", 20),
        (5, {0, 1}, "a", 1),
    ):
        traits = frozenset({("option", option)})
        pool.offer(PooledCall(number, frozenset(hits), traits, size), document, document, {})
    assert sorted(item.number for item in pool.calls) == [3, 4, 5]
    assert sorted(path.name for path in (tmp_path / "calls").iterdir()) == ["000003", "000004", "000005"]
    assert pool.covered == {0, 1, 2}
    assert not pool.offer(PooledCall(6, frozenset({0, 1}), frozenset(), 500), document, document, {}), (
        "too large for what it adds"
    )


def test_a_loop_that_repeats_is_told_from_one_that_runs_once(tmp_path: Path) -> None:
    goal = (
        "def f(words):\n    total = 0\n    for word in words:\n        total += len(word)\n    return total\n"
    )
    repository = make(tmp_path, "f", goal, "from pkg.goal import f\nf([])\nf(['a'])\nf(['a', 'b'])\n")
    repository.record("driver.py")
    none, once, twice = (set(repository.meta(call)["hits"]) for call in repository.calls)
    assert none < once < twice
    repository.replay().assert_same()


def test_too_large_and_unstorable_calls_are_counted(tmp_path: Path) -> None:
    goal = "def f(x):\n    return x\n"
    driver = "from pkg.goal import f\nf(bytes(2_000_000))\nf(lambda: 1)\nf(k for k in 'ab')\n"
    repository = make(tmp_path, "f", goal, driver)
    repository.record("driver.py", max_bytes=1_000_000)
    assert repository.calls == []
    reasons = [item["reason"] for item in repository.summary["not_stored"]]
    assert any(item.startswith("x: 20000") for item in reasons)
    assert any(item.startswith("x is a function: ") for item in reasons)
    assert any(item.startswith("x is a generator: ") for item in reasons)


def test_attributes_that_the_target_names_are_described_like_arguments(tmp_path: Path) -> None:
    goal = (
        "class Config:\n    def __init__(self, beta):\n        self.beta, self.seed = beta, 3\n\n"
        "class Layer:\n    def __init__(self, merged, beta):\n"
        "        self.merged, self.config, self.calls = merged, Config(beta), 0\n"
        "        self.groups = [{'lr': beta}]\n"
        "    def step(self, x, names=('a', 'b')):\n        return x if self.merged else self.scaled(x)\n"
        "    def scaled(self, x):\n        return x * self.config.beta * self.groups[0]['lr']\n"
    )
    driver = "from pkg.goal import Layer\nfor merged in (True, False):\n    Layer(merged, 0.1).step(2, names=['a'])\n"
    repository = make(tmp_path, "Layer.step", goal, driver)
    repository.record("driver.py")
    first, second = (repository.meta(call)["summary"] for call in repository.calls)
    assert first == {
        "self": "Layer", "self.merged": "True", "self.config": "Config", "self.config.beta": "0.1",
        "self.groups": "list of 1", "self.groups[0]": "dict of 1", "self.groups[0]['lr']": "0.1",
        "x": "2", "names": "list of 1",
    }  # fmt: skip
    assert set(second.items()) - set(first.items()) == {("self.merged", "False")}
