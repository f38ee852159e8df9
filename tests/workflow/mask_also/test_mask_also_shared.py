"""Look-alikes of several targets."""

from __future__ import annotations

import textwrap
from dataclasses import replace

import pytest

from lmr_author.masking import unmask
from lmr_author.task import Task, also_masked
from lmr_author.validation.run import select_checks, validate_task
from tests.workflow.mask_also.look_alikes import ADD, HINGE, LEGACY, content, recorded, repository, run


def test_a_look_alike_of_a_target_that_was_never_entered_is_restored_with_any(task: Task) -> None:
    """A command was killed after the look-alike, and another target was masked instead."""
    run(task, ADD, also=("legacy.py::OldMeter.add",))
    [entry] = also_masked.load(task)
    also_masked.save(task, [replace(entry, target="gone.py::f")])
    assert unmask(task, ADD, task.root).also == ("legacy.py::OldMeter.add",)
    assert content(task)["legacy.py"] == LEGACY


TWO = b"""\
def hinge_loss(scores, labels, margin):
    gaps = margin - labels * scores
    gaps = gaps.clip(min=0.0)
    weights = labels.abs() / labels.abs().sum()
    return (gaps * weights).sum()


def squared_hinge_loss(scores, labels, margin):
    gaps = margin - labels * scores
    gaps = gaps.clip(min=0.0) ** 2
    weights = labels.abs() / labels.abs().sum()
    return (gaps * weights).sum()


def size(path):
    return len(open(path).read())
"""


HINGE_LOSS, SQUARED = "two.py::hinge_loss", "two.py::squared_hinge_loss"


@pytest.mark.parametrize("first", [HINGE_LOSS, SQUARED])
def test_a_look_alike_of_two_targets_stays_masked_until_both_are_restored(task: Task, first: str) -> None:
    """It is recorded with the one that it is most like, and gives the other's answer away as well."""
    (repository(task) / "two.py").write_bytes(TWO)
    (repository(task) / "old.py").write_bytes(TWO.replace(b"hinge", b"margin"))
    before = content(task)
    other = next(name for name in (HINGE_LOSS, SQUARED) if name != first)
    run(task, HINGE_LOSS, SQUARED, also=("old.py::margin_loss", "old.py::squared_margin_loss"))

    done = unmask(task, first, task.root)

    copies = {("old.py::margin_loss", HINGE_LOSS), ("old.py::squared_margin_loss", SQUARED)}
    assert done.also == ()
    assert {name for name, _ in done.still_alike} == {name for name, target in copies if target == first}
    assert {target for _, target, _ in recorded(task)} == {other}
    found = validate_task(task, select_checks(["LMR4"])).findings
    assert not [item for item in found if item.path == "small-repo/old.py"]
    assert content(task)["old.py"] != before["old.py"]
    assert set(unmask(task, other, task.root).also) == {name for name, _ in copies}
    assert content(task) == before


def test_a_look_alike_that_holds_a_copy_in_a_nested_function_stays_masked_too(task: Task) -> None:
    copy = textwrap.indent(TWO.decode().partition("\n\n\n")[0], "    ").replace("hinge_loss", "loss")
    (repository(task) / "two.py").write_bytes(TWO)
    (repository(task) / "old.py").write_text(f"def make():\n{copy}\n\n    return loss\n")
    before = content(task)
    run(task, HINGE_LOSS, SQUARED, also=("old.py::make",))
    [(_, first, _)] = recorded(task)
    other = SQUARED if first == HINGE_LOSS else HINGE_LOSS
    assert unmask(task, first, task.root).still_alike == (("old.py::make", other),)
    assert unmask(task, other, task.root).also == ("old.py::make",)
    assert content(task) == before


LITTLE = """
def part(names, x, margin):
    gap = margin - x
    chosen = sorted(names, key=str.lower)
    return [name.strip() for name in chosen if gap]


def clipped(x, margin=1.0):
    gap = margin - x
    if gap > 0:
        return gap
    return 0.0
"""


@pytest.mark.parametrize(("name", "target"), [("part", ADD), ("clipped", HINGE)])
def test_what_is_like_no_target_belongs_to_that_of_its_command(task: Task, name: str, target: str) -> None:
    """``part`` has a little more of a target that was masked before; ``clipped`` is that target."""
    (repository(task) / "old.py").write_text(LITTLE)
    run(task, HINGE)
    result = run(task, ADD, also=(f"old.py::{name}",))
    assert [item.target for item in result.also] == [target]
    other = HINGE if target == ADD else ADD
    assert unmask(task, other, task.root).also == ()
    assert unmask(task, target, task.root).also == (f"old.py::{name}",)
