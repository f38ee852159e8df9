"""Arguments from data files: read in the process that calls the target, never here."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from lmr_author.errors import UsageError
from lmr_author.probe.given import Unusable, at, calls, read
from lmr_author.workflow.mask import MaskOptions, mask
from lmr_author.workflow.record import Data, RecordOptions, record
from tests.support import make_task


def loss(x: Any, margin: float = 1.0, *, kind: str = "a") -> None:
    """Has the parameters that the data are for."""


@pytest.mark.parametrize(
    ("data", "places", "expected"),
    [
        ({"x": 1, "margin": 2, "other": 3}, {}, [{"x": 1, "margin": 2}]),
        ([{"x": 1}, {"x": 2}], {}, [{"x": 1}, {"x": 2}]),
        ([1, 2], {}, [{"x": 1, "margin": 2}]),
        (5, {}, [{"x": 5}]),
        ([{"in": {"a": [7, 8]}}], {"x": "in.a.1"}, [{"x": 8}]),
        ([1, 2], {"x": "."}, [{"x": [1, 2]}]),
    ],
)
def test_which_arguments_a_file_gives(
    data: Any, places: dict[str, str], expected: list[dict[str, Any]]
) -> None:
    assert list(calls(data, places, loss)) == expected


def test_what_is_not_there_is_named() -> None:
    with pytest.raises(Unusable, match="nothing about x; it has: logits; add --map x=WHERE"):
        list(calls({"logits": 1}, {}, loss))
    with pytest.raises(Unusable, match=r"no a\.b in the file \(at 'b'\)"):
        at({"a": {}}, "a.b")


def test_files(tmp_path: Path) -> None:
    numpy = pytest.importorskip("numpy")
    numpy.savez(tmp_path / "a.npz", x=numpy.arange(3))
    assert read(str(tmp_path / "a.npz"), False)["x"].tolist() == [0, 1, 2]
    (tmp_path / "a.jsonl").write_text('{"x": 1}\n\n{"x": 2}\n')
    assert read(str(tmp_path / "a.jsonl"), False) == [{"x": 1}, {"x": 2}]
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    assert list(read(str(tmp_path / "a.csv"), False).columns) == ["x", "y"]
    with pytest.raises(Unusable, match="not read"):
        read(str(tmp_path / "a.xlsx"), False)


class Runs:
    """Unpickling it writes a file."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path(self.path).write_text, ("ran",)


def test_a_table_is_a_call_for_each_row_or_an_argument() -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"x": [1, 2], "margin": [0.5, 1.5], "note": ["a", "b"]})
    assert list(calls(table, {}, loss)) == [{"x": 1, "margin": 0.5}, {"x": 2, "margin": 1.5}]
    (whole,) = calls(table.rename(columns={"x": "score"}), {}, loss)
    assert list(whole) == ["x"] and whole["x"].shape == (2, 3)
    (column,) = calls(table, {"x": "margin"}, loss)
    assert column["x"].tolist() == [0.5, 1.5]


def test_a_pickle_is_read_with_consent_only(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    path = tmp_path / "a.pkl"
    path.write_bytes(pickle.dumps(Runs(str(mark))))
    with pytest.raises(Unusable, match="--allow-pickle"):
        read(str(path), False)
    assert not mark.exists()
    read(str(path), True)
    assert mark.read_text() == "ran"


@pytest.mark.torch
def test_a_checkpoint_with_code_is_read_with_consent_only(tmp_path: Path) -> None:
    import torch

    mark = tmp_path / "mark"
    torch.save({"x": torch.ones(2)}, tmp_path / "good.pt")
    assert read(str(tmp_path / "good.pt"), False)["x"].tolist() == [1, 1]
    torch.save(Runs(str(mark)), tmp_path / "bad.pt")
    with pytest.raises(Unusable, match="more than tensors"):
        read(str(tmp_path / "bad.pt"), False)
    assert not mark.exists()


@pytest.mark.bwrap
def test_recorded_from_a_file(tmp_path: Path) -> None:
    task = make_task(tmp_path)
    mask(task, MaskOptions(("pkg/losses.py::hinge",)), task.root)
    (tmp_path / "fixtures.json").write_text(json.dumps([{"value": 0.5, "m": 2.0}, {"value": 3, "m": 1.5}]))
    data = Data((Path("fixtures.json"),), ("x=value", "margin=m"))
    result = record(task, RecordOptions(None, (), data=data), tmp_path, lambda _: None)
    assert sorted(case.call for case in result.recording.cases) == [1, 2]
    assert result.recording.command == (
        "lmr-author", "record", "--import", "fixtures.json", "--map", "x=value", "--map", "margin=m",
    )  # fmt: skip
    with pytest.raises(UsageError, match=r"no file nothing\.json"):
        record(
            task,
            RecordOptions(None, (), data=Data((Path("nothing.json"),)), force=True),
            tmp_path,
            lambda _: None,
        )
