"""Tests that call the target's name of another class only, and those that may call the target (LMR506)."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author.checks import example_task
from lmr_author.checks.example_texts import GOLDEN, REPOSITORY
from lmr_author.checks.tests_outcome import START, TEST
from lmr_author.validation.run import select_checks, validate

MORE = """

class Plain:
    def __init__(self, temperature=1.0):
        self.temperature = temperature

    def normalise(self, values):
        return values

    def again(self, values):
        return ListLoss().normalise(values)


class Hot(ListLoss):
    def normalise(self, values):
        return values


def made(name, **options):
    table = {"plain": Plain, "list": ListLoss}
    return table[name](**options)


def any_of(name):
    return Plain() if name == "plain" else ListLoss()
"""
IMPORTS = START.replace("import pairwise_loss", "import Hot, ListLoss, Plain, any_of, made")
SCALE = "assert ListLoss(2.0).temperature == 2.0\n"
METHOD = (
    "class TestIt(unittest.TestCase):\n    def test_it(self):\n        one = made('plain')\n"
    "        self.assertEqual(one.normalise([1]), [1])\n\n\nunittest.main()\n"
)
OTHER = {
    "by its class": ("assert Plain().normalise([1]) == [1]\n", "Plain"),
    "under a name": ("one = Plain(2.0)\nassert one.normalise([1]) == [1]\n", "Plain"),
    "in a method": (
        METHOD,
        "Plain",
    ),
    "of a table": ("one = made('plain', temperature=2.0)\nassert one.normalise([1]) == [1]\n", "Plain"),
    "with the target's class beside it": (SCALE + "assert made('plain').normalise([1]) == [1]\n", "Plain"),
    "a subclass that replaces it": ("assert Hot().normalise([1]) == [1]\n", "Hot"),
}
NOWHERE = {
    "only what it was given": SCALE,
    "in a method that another replaces": "class TestIt(unittest.TestCase):\n    def test_it(self):\n"
    "        self.assertEqual(ListLoss().normalise([1]), [1])\n\n    def test_it(self):\n"
    "        self.assertEqual(ListLoss(2.0).temperature, 2.0)\n\n\nunittest.main()\n",
}
TARGET = {
    "a method that calls it": "assert ListLoss().forward([1], [1]) == 0\n",
    "a fixture": SCALE + "def test_it(result):\n    assert result == 1\n",
    "of the target's class": "assert ListLoss().normalise([1]) == [1]\n",
    "both": "assert Plain().normalise([1]) == ListLoss().normalise([1])\n",
    "of the table": "assert made('list').normalise([1]) == [1]\n",
    "of any in the table": "for name in ('plain', 'list'):\n    assert made(name).normalise([1]) == [1]\n",
    "by a function that decides": "assert any_of('plain').normalise([1]) == [1]\n",
    "a name that is set again": "one = Plain()\none = ListLoss()\nassert one.normalise([1]) == [1]\n",
    "through another method": "assert Plain().normalise([1]) == [1]\nassert ListLoss().forward([1], [1]) == 0\n",
    "through another class": "assert Plain().normalise([1]) == Plain().again([1])\n",
    "by its name": "assert Plain().normalise([1]) == getattr(ListLoss(), 'norm' + 'alise')([1])\n",
    "not called": "assert Plain().normalise([1]) == list(map(ListLoss().normalise, [[1]]))[0]\n",
    "a parameter": "def run(one):\n    assert one.normalise([1]) == [1]\n\n\nrun(ListLoss())\nPlain().normalise([1])\n",
    "a subclass that inherits the rest": "assert Hot().normalise([1]) == [1]\nassert Hot().forward([1], [1]) == 0\n",
}


def _said(folder: Path, test: str, golden: str = GOLDEN + MORE) -> list[str]:
    task = example_task.write(folder)
    info = task.info_path.read_text("utf-8").replace(
        '"goal_function": "pairwise_loss"', '"goal_function": "normalise"'
    )
    task.info_path.write_text(info.replace('"class_name": ""', '"class_name": "ListLoss"'), "utf-8")
    (task.root / "golden_files" / "losses_golden.py").write_text(golden, "utf-8")
    masked = golden.replace("        largest", "        raise NotImplementedError\n        largest")
    (task.root / REPOSITORY / "ranking" / "losses.py").write_text(masked, "utf-8")
    (task.root / TEST).write_text(IMPORTS + test, "utf-8")
    return [one.message for one in validate([task], select_checks(select=["LMR506"])).findings]


@pytest.mark.parametrize(("test", "name"), OTHER.values(), ids=OTHER)
def test_another_classs_method_is_called(test: str, name: str, tmp_path: Path) -> None:
    (said,) = _said(tmp_path, test)
    assert said.startswith("never calls ListLoss.normalise: `") and said.endswith(f"` is that of {name}")


@pytest.mark.parametrize("test", NOWHERE.values(), ids=NOWHERE)
def test_the_class_is_used_and_the_target_is_not(test: str, tmp_path: Path) -> None:
    assert _said(tmp_path, test) == ["never calls ListLoss.normalise"]


@pytest.mark.parametrize("test", TARGET.values(), ids=TARGET)
def test_the_target_may_be_called(test: str, tmp_path: Path) -> None:
    assert _said(tmp_path, test) == []


KEPT = {
    "in a table": (GOLDEN + MORE).replace(
        "    def normalise",
        "    def first(self):\n        return self.normalise([1])\n\n    def normalise",
        1,
    )
    + "\n\nKNOWN = {'list': ListLoss().first}\n\n\ndef run(name):\n    return KNOWN[name]()\n",
    "by a decorator": GOLDEN
    + MORE
    + "\n\n@registered\ndef one():\n    return ListLoss().normalise([1])\n\n\n"
    "def run(name):\n    return KNOWN[name]()\n",
    "when it is imported": GOLDEN
    + MORE
    + "\n\nfor name in ('a', 'b'):\n    KNOWN[name] = lambda: ListLoss().normalise([1])\n\n\n"
    "def run(name):\n    return KNOWN[name]()\n",
}


@pytest.mark.parametrize("golden", KEPT.values(), ids=KEPT)
def test_the_target_may_be_kept_elsewhere(golden: str, tmp_path: Path) -> None:
    test = (
        "from ranking.losses import run\nassert Plain().normalise([1]) == [1]\nassert run('list') == [1.0]\n"
    )
    assert _said(tmp_path, test, golden) == []
    assert _said(tmp_path / "without", test.replace("assert run", "assert str"), GOLDEN + MORE) != []


def test_a_library_may_call_the_method_of_a_class_of_its_own(tmp_path: Path) -> None:
    (test, _) = OTHER["with the target's class beside it"]
    golden = (GOLDEN + MORE).replace("class ListLoss:", "class ListLoss(Module):")
    assert _said(tmp_path, test, golden) == []
