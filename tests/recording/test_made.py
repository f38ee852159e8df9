"""Inputs that are made from recorded ones."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lmr_author.errors import UsageError
from lmr_author.masking import MaskOptions, mask
from lmr_author.probe.checking import digest, from_bytes, to_bytes
from lmr_author.probe.decoding import decode
from lmr_author.probe.encoding import encode
from lmr_author.recording.record import RecordOptions, record
from lmr_author.recording.varying import options_of, variations
from tests.support import make_task

LOSS = """
def loss(x, labels=None, *, beta: float = 0.1, ipo: bool = False, kind: Literal["sigmoid", "hinge"] = "sigmoid",
         reduction="mean"):
    if reduction == "sum" or reduction in ("none", "mean"):
        return x
"""


def options() -> dict[str, list[Any]]:
    function = ast.parse(LOSS).body[0]
    assert isinstance(function, ast.FunctionDef)
    return options_of(function)


def test_values_that_the_source_shows_for_parameters() -> None:
    assert options() == {
        "labels": [None], "beta": [0.1], "ipo": [False], "kind": ["sigmoid", "hinge"],
        "reduction": ["mean", "sum", "none"],
    }  # fmt: skip


def values(bases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [decode(item) for item in variations([encode(base) for base in bases], options())]


def test_options_that_no_call_took_are_taken() -> None:
    made = values([{"x": 1.5}])
    assert {item.get("kind") for item in made} == {None, "hinge"}
    assert {item.get("reduction") for item in made} == {None, "sum", "none"}
    assert {item.get("ipo") for item in made} == {None, True}
    assert len({item.get("beta") for item in made}) > 2
    assert len({item["x"] for item in made}) > 2


def test_variations_are_new_different_readable_and_the_same_each_time() -> None:
    base = {"x": [1, 2, 3], "names": {"a": "some words here"}, "@mode": None}
    documents = variations([encode(base)], {})
    assert len({digest(item) for item in documents}) == len(documents) > 10
    assert digest(encode(base)) not in {digest(item) for item in documents}
    again = variations([encode(base)], {})
    assert [digest(item) for item in again] == [digest(item) for item in documents]
    for item in documents:
        value = decode(from_bytes(to_bytes(item)))
        assert set(value) == set(base)
        assert value["@mode"] is None


def test_integers_stay_in_the_range_that_was_recorded() -> None:
    """They may be indices."""
    made = values([{"x": np.array([3, 9, 4, 7])}])[1:]  # the first one is much larger
    assert len(made) > 3
    assert all(item["x"].shape == (4,) and item["x"].min() >= 3 and item["x"].max() <= 9 for item in made)


def test_first_come_inputs_so_large_that_an_exponential_overflows() -> None:
    base = {"x": np.array([9.0, 1.0], "f4"), "n": np.array([3, 4]), "beta": 9.0}
    first, second = values([base])[:2]

    assert first["x"].tolist() == [90.0, 10.0] and first["x"].dtype == "float32"
    assert (first["n"].tolist(), first["beta"]) == ([3, 4], 9.0)
    assert second["x"].tolist() != [90.0, 10.0]


@pytest.mark.bwrap
@pytest.mark.parametrize(
    "options",
    [
        RecordOptions(None, ("python", "once.py"), vary=True),
        RecordOptions(None, (), examples=("hinge(0.5, margin=2.0)", "hinge(3)")),
    ],
    ids=["vary", "example"],
)
def test_recorded_without_a_driver_that_reaches_everything(tmp_path: Path, options: RecordOptions) -> None:
    """One call at hand; the branch behind `gap > 0` is reached all the same, and the golden says what is right."""
    task = make_task(tmp_path)
    (task.root / "small-repo/once.py").write_text("from pkg.losses import hinge\nhinge(0.5)\n")
    mask(task, MaskOptions(("pkg/losses.py::hinge",)), task.root)
    result = record(task, options, task.root, lambda _: None)
    assert result.recording.coverage.missed == ()
    made = [case.made for case in result.recording.cases]
    assert made == sorted(made)
    assert any(made) == options.vary
    killed = result.proof.killed
    assert len(killed.survivors) < 0.3 * len(killed.tried)
    assert result.recording.varied == options.vary


def test_two_ways_to_drive_it(tmp_path: Path) -> None:
    task = make_task(tmp_path)
    mask(task, MaskOptions(("pkg/losses.py::hinge",)), task.root)
    with pytest.raises(UsageError, match="a command and --from-example both drive"):
        record(
            task, RecordOptions(None, ("python", "x.py"), examples=("hinge(1)",)), task.root, lambda _: None
        )
