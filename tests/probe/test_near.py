"""When the target is never called: which functions that name it ran."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author.probe.near import Near
from tests.probe.harness import Repository

FILES = {
    "pkg/__init__.py": "",
    "pkg/goal.py": "class Box:\n    def forward(self, x):\n        return x\n\n\ndef loss(x):\n    return x\n",
    "pkg/train.py": '''\
"""Trains."""
from pkg import goal
from pkg.goal import Box, loss


class Trainer:
    def step(self, x, use=False):
        """A step."""
        return loss(x) if use else (x, self.step.__doc__)

    def evaluate(self, x):
        return goal.loss(x)

    def other(self):
        return Box().forward(1)


def unrelated():
    return 1
''',
    "driver.py": "from pkg.train import Trainer, unrelated\n\n\nif __name__ == '__main__':\n"
    "    assert Trainer().step(3) == (3, 'A step.')\n    unrelated()\n",
}


@pytest.mark.parametrize(
    ("qualname", "expected"),
    [
        ("loss", [("Trainer.step", 7, True), ("Trainer.evaluate", 11, False)]),
        ("Box.forward", [("Trainer.other", 14, False)]),
    ],
)
def test_functions_that_name_the_target(
    tmp_path: Path, qualname: str, expected: list[tuple[str, int, bool]]
) -> None:
    made = Repository(tmp_path / "repo", "pkg/goal.py", qualname)
    made.write(FILES)
    done = made.record("driver.py")
    assert done.returncode == 0, done.stderr.decode()
    assert made.calls == []
    near = [(item["function"], item["line"], item["ran"]) for item in made.summary["near"]]
    assert near == expected
    assert {item["file"] for item in made.summary["near"]} == {"pkg/train.py"}


def test_nothing_is_told_when_it_was_called(tmp_path: Path) -> None:
    made = Repository(tmp_path / "repo", "pkg/goal.py", "loss")
    made.write({**FILES, "driver.py": "from pkg.train import Trainer\nTrainer().step(3, use=True)\n"})
    made.record("driver.py")
    assert len(made.calls) == 1
    assert made.summary["near"] == []


def test_other_files_are_compiled_as_ever(tmp_path: Path) -> None:
    near = Near(str(tmp_path), str(tmp_path / "goal.py"), "loss")
    (tmp_path / "goal.py").write_text("def loss():\n    return loss\n")
    (tmp_path / "plain.py").write_text("def other():\n    return 1\n")
    (tmp_path / "top.py").write_text("from goal import loss\nloss()\n")
    (tmp_path / "broken.py").write_text("loss(\n")
    assert [near.code(str(tmp_path / name)) for name in ("goal.py", "plain.py", "top.py", "broken.py")] == [
        None
    ] * 4
    assert near.code(__file__) is None
