"""Tests whose objects are of another class than the target's, and those that may reach it all the same (LMR506)."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author.checks import example_task
from lmr_author.checks.example_texts import GOLDEN, REPOSITORY
from lmr_author.checks.tests_outcome import START, TEST
from lmr_author.validation.run import select_checks, validate

IMPORTS = START.replace("import pairwise_loss", "import ListLoss, made, sigmoid")
FAKE = "\n\nclass Fake(ListLoss):\n    def normalise(self, values):\n        return [0.5, 0.5]\n\n\n"
INIT = "    def __init__(self):\n        super().__init__(2.0)\n\n    def"
USED = "assert Fake().forward([1.0, 1.0], [1, 1]) == 1.0\n"
MORE = "\n\ndef made(**options):\n    return ListLoss(**options)\n"
OWN = {
    "a class of its own": FAKE + USED,
    "that is one of the real class": FAKE + USED + "assert isinstance(Fake(), ListLoss)\n",
    "made with its constructor": FAKE.replace("    def", INIT)
    + USED,
}  # fmt: skip
REAL = {
    "the real class, too": FAKE + USED + "assert ListLoss().normalise([1.0, 1.0]) == [0.5, 0.5]\n",
    "made by a function": FAKE + USED + "assert made().normalise([1.0, 1.0]) == [0.5, 0.5]\n",
    "it calls the original": FAKE.replace("[0.5, 0.5]", "super().normalise(values)") + USED,
    "it calls the original by its class": FAKE.replace("[0.5, 0.5]", "ListLoss.normalise(self, values)") + USED,
    "another class that replaces nothing": FAKE + "\n\nclass Other(ListLoss):\n    pass\n\n\n" + USED
    + "Other().normalise([1.0])\n",
    "found by its name": FAKE + USED + "import ranking.losses\ngetattr(ranking.losses, 'List' + 'Loss')()\n",
}  # fmt: skip
LISTED = {
    "in a table": (
        "",
        MORE + "\n\nLOSSES = {'list': ListLoss}\n\n\ndef of(name):\n    return LOSSES[name]()\n",
    ),
    "by a decorator": ("@registered\n", "\n\ndef of(name):\n    return KNOWN[name]()\n"),
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
    (task.root / TEST).write_text(test, "utf-8")
    return [one.message for one in validate([task], select_checks(select=["LMR506"])).findings]


@pytest.mark.parametrize("test", OWN.values(), ids=OWN)
def test_only_its_own_class_is_tested(test: str, tmp_path: Path) -> None:
    assert _said(tmp_path, IMPORTS + test) == [
        "never calls ListLoss.normalise: Fake, a class of the test, has its own instead"
    ]


@pytest.mark.parametrize("test", REAL.values(), ids=REAL)
def test_the_real_class_may_be_tested_too(test: str, tmp_path: Path) -> None:
    assert _said(tmp_path, IMPORTS + test) == []


@pytest.mark.parametrize(("decorator", "more"), LISTED.values(), ids=LISTED)
def test_the_real_class_may_be_found_by_a_name(decorator: str, more: str, tmp_path: Path) -> None:
    golden = GOLDEN.replace("class ListLoss", decorator + "class ListLoss") + more
    test = IMPORTS.replace("made", "of") + FAKE + USED + "assert of('list').normalise([1.0]) == [1.0]\n"
    assert _said(tmp_path, test, golden) == []


@pytest.mark.parametrize("first", ["losses", "train"])
def test_what_is_imported_behind_the_goal_file_may_call_the_target(first: str, tmp_path: Path) -> None:
    lines = {"losses": "from ranking.losses import ListLoss\n", "train": "from ranking.train import epoch\n"}
    imports = lines.pop(first) + "".join(lines.values())
    test = START.replace("from ranking.losses import pairwise_loss\n", imports)
    task = example_task.write(tmp_path)
    (task.root / TEST).write_text(test + "assert epoch([1.0], 'a.json', 1.0) == 1.0\nListLoss()\n", "utf-8")
    assert validate([task], select_checks(select=["LMR506"])).findings == ()


def test_a_module_that_is_somewhere_in_the_repository_may_call_the_target(tmp_path: Path) -> None:
    task = example_task.write(tmp_path)
    folder = task.root / REPOSITORY / "scripts"
    folder.mkdir()
    (folder / "steps.py").write_text("from ranking.losses import pairwise_loss\n", "utf-8")
    test = (
        START.replace("pairwise_loss\n", "ListLoss\nfrom steps import step\n")
        + "assert step(ListLoss()) == 1.0\n"
    )
    (task.root / TEST).write_text(test, "utf-8")
    assert validate([task], select_checks(select=["LMR506"])).findings == ()
    (folder / "steps.py").unlink()
    assert validate([task], select_checks(select=["LMR506"])).findings != ()
