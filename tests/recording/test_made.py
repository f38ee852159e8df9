"""Inputs that are made: from recorded ones, and from descriptions."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmr_author.errors import UsageError
from lmr_author.probe.buffers import Buffer
from lmr_author.probe.codec import decode, encode, from_bytes, to_bytes
from lmr_author.recording.parameters import Parameters, parameters_of
from lmr_author.recording.specs import documents
from lmr_author.recording.varying import renumbered, variations
from lmr_author.workflow.mask import MaskOptions, mask
from lmr_author.workflow.record import RecordOptions, record
from tests.support import make_task

LOSS = """
def loss(x, labels=None, *, beta: float = 0.1, ipo: bool = False, kind: Literal["sigmoid", "hinge"] = "sigmoid",
         reduction="mean"):
    if reduction == "sum" or reduction in ("none", "mean"):
        return x
"""


def parameters() -> Parameters:
    function = ast.parse(LOSS).body[0]
    assert isinstance(function, ast.FunctionDef)
    return parameters_of(function)


def test_what_the_source_says_about_parameters() -> None:
    assert dict(parameters().defaults) == {
        "labels": None, "beta": 0.1, "ipo": False, "kind": "sigmoid", "reduction": "mean",
    }  # fmt: skip
    assert dict(parameters().choices) == {"kind": ("sigmoid", "hinge"), "reduction": ("sum", "none", "mean")}


def values(bases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [decode(item) for item in variations([encode(base) for base in bases], parameters())]


def test_options_that_no_call_took_are_taken() -> None:
    made = values([{"x": 1.5}])
    assert {item.get("kind") for item in made} == {None, "hinge"}
    assert {item.get("reduction") for item in made} == {None, "sum", "none"}
    assert {item.get("ipo") for item in made} == {None, True}
    assert len({item.get("beta") for item in made}) > 2
    assert len({item["x"] for item in made}) > 2


def test_nothing_is_written_where_variations_are_made(tmp_path: Path) -> None:
    code = (
        "import lmr_author.workflow.record\n"
        "from lmr_author.probe.codec import encode\n"
        "from lmr_author.recording.parameters import Parameters\n"
        "from lmr_author.recording.varying import variations\n"
        "print(len(variations([encode({'x': 3, 'words': 'some words'})], Parameters())))"
    )
    environment = {"PYTHONPATH": str(Path(__file__).parents[2])}

    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, check=True
    )

    assert int(done.stdout) > 1
    assert list(tmp_path.iterdir()) == []


def test_variations_are_new_different_readable_and_the_same_each_time() -> None:
    base = {"x": [1, 2, 3], "names": {"a": "some words here"}, "@mode": None}
    documents = variations([encode(base)], Parameters())
    assert len({item.digest() for item in documents}) == len(documents) > 10
    assert encode(base).digest() not in {item.digest() for item in documents}
    again = variations([encode(base)], Parameters())
    assert [item.digest() for item in again] == [item.digest() for item in documents]
    for item in documents:
        value = decode(from_bytes(to_bytes(item)))
        assert set(value) == set(base)
        assert value["@mode"] is None


@settings(deadline=None)
@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=30),
    st.sampled_from(["fresh", "order", "scale", "ties", "holes"]),
    st.integers(0, 99),
)
def test_integers_stay_in_the_range_that_was_recorded(numbers: list[int], how: str, seed: int) -> None:
    """They may be indices."""
    buffer = Buffer("U8", (len(numbers),), bytes(numbers))
    made = renumbered(buffer, how, seed)
    assert (made.dtype, made.shape, len(made.data)) == (buffer.dtype, buffer.shape, len(buffer.data))
    assert min(numbers) <= min(made.data) <= max(made.data) <= max(numbers)


def test_a_table_keeps_its_size_and_gets_holes_ties_and_another_order() -> None:
    import pandas

    names, scores = ["a", "b", "c", "d"], [1.0, 2.0, 3.0, 4.0]
    table = pandas.DataFrame({"name": names, "score": scores})
    made = [item["x"] for item in values([{"x": table}])]

    assert {item.shape for item in made} == {(4, 2)}
    assert {int(item["score"].isna().sum()) for item in made} == {0, 1}
    columns = {tuple(item["name"].dropna()) for item in made}
    assert {len(column) for column in columns} == {3, 4}
    assert any(sorted(column) == names and list(column) != names for column in columns)
    assert any(len(column) == 4 and len(set(column)) == 3 for column in columns)


def test_a_table_with_columns_of_every_kind_is_varied() -> None:
    import pandas

    table = pandas.DataFrame(
        {
            "kind": pandas.Categorical(["a", "b", "a"]),
            "count": pandas.array([1, None, 3], dtype="Int64"),
            "day": pandas.to_datetime(["2020-01-01", "2020-01-02", None]),
            "word": pandas.array(["x", "y", None], dtype="string"),
            "mixed": [1, "a", None],
        }
    )
    made = [item["x"] for item in values([{"x": table}])]

    assert made and {item.shape for item in made} == {table.shape}
    assert all(list(item.dtypes) == list(table.dtypes) for item in made)


def test_first_come_inputs_so_large_that_an_exponential_overflows() -> None:
    base = {"x": np.array([9.0, 1.0], "f4"), "n": np.array([3, 4]), "beta": 9.0}
    first, second = values([base])[:2]

    assert first["x"].tolist() == [90.0, 10.0] and first["x"].dtype == "float32"
    assert (first["n"].tolist(), first["beta"]) == ([3, 4], 9.0)
    assert second["x"].tolist() != [90.0, 10.0]


def test_descriptions() -> None:
    made = [decode(item) for item in documents(["a=np.float32[n, 3]", "b=np.int64(5..7)[n]", "c={'k': 1}"])]
    assert len(made) == 3
    assert len({item["a"].shape for item in made}) == 3
    for item in made:
        assert item["a"].shape == (len(item["b"]), 3)
        assert item["a"].dtype == "float32"
        assert set(item["b"].tolist()) <= {5, 6, 7}
        assert item["c"] == {"k": 1}


@pytest.mark.torch
def test_described_tensors() -> None:
    first = decode(documents(["x=float32[batch, 4] grad", "y=bool[batch]"])[0])
    assert first["x"].requires_grad and first["x"].is_leaf
    assert (tuple(first["x"].shape), str(first["y"].dtype)) == ((2, 4), "torch.bool")


@pytest.mark.parametrize(
    "text", ["x", "x=torch.randn(4)", "x=float32[4", "x=float32[a b]", "x=int64(9..1)[2]"]
)
def test_descriptions_that_cannot_be_read(text: str) -> None:
    with pytest.raises(UsageError):
        documents([text])


@pytest.mark.bwrap
@pytest.mark.parametrize(
    "options",
    [
        RecordOptions(None, ("python", "once.py"), vary=True),
        RecordOptions(None, (), arguments=("x=0.5", "margin=2.0")),
        RecordOptions(None, (), examples=("hinge(0.5, margin=2.0)", "hinge(3)")),
    ],
    ids=["vary", "argument", "example"],
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
    noticed = result.proof.noticed
    assert len(noticed.missed) < 0.3 * len(noticed.tried)


def test_two_ways_to_drive_it(tmp_path: Path) -> None:
    task = make_task(tmp_path)
    mask(task, MaskOptions(("pkg/losses.py::hinge",)), task.root)
    with pytest.raises(UsageError, match="by a command and by --argument"):
        record(task, RecordOptions(None, ("python", "x.py"), arguments=("x=1",)), task.root, lambda _: None)


def test_an_example_for_a_file_that_is_named_as_its_package(tmp_path: Path) -> None:
    (tmp_path / "same").mkdir()
    (tmp_path / "same/__init__.py").write_text("from same.same import double\n")
    (tmp_path / "same/same.py").write_text("def double(x):\n    return 2 * x\n")
    code = "from lmr_author.probe.examples import import_goal as f; print(f(sys.argv[1], 'same/same.py').double(4))"
    root = str(Path(__file__).parents[2])
    command = [sys.executable, "-c", f"import sys; sys.path.append(sys.argv[1]); {code}", str(tmp_path)]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("8\n", "")
