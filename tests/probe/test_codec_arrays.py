# ruff: noqa: E501 (samples of source code and tables of cases read better unbroken)
"""numpy, torch and pandas values survive being stored."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.extra import numpy as hnp

from lmr_author.probe import storage
from lmr_author.probe.codec import TooLarge, Unstorable, decode, encode
from lmr_author.probe.compare import compare
from tests.probe.shapes import Config
from tests.probe.values import through

DTYPES = (
    hnp.boolean_dtypes() | hnp.integer_dtypes() | hnp.unsigned_integer_dtypes() | hnp.floating_dtypes(sizes=(16, 32, 64))
    | hnp.complex_number_dtypes(sizes=(64, 128)) | hnp.unicode_string_dtypes(max_len=4) | hnp.byte_string_dtypes(max_len=4)
    | hnp.datetime64_dtypes() | hnp.timedelta64_dtypes() | hnp.array_dtypes(max_size=3)
)  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(hnp.arrays(DTYPES, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3)))
def test_arrays(array: Any) -> None:
    result = through({"a": array, "same": array})
    assert result["a"] is result["same"]
    assert result["a"].dtype == array.dtype and result["a"].shape == array.shape
    assert result["a"].tobytes() == array.tobytes()
    assert result["a"].flags.writeable


@settings(max_examples=100, deadline=None)
@given(hnp.arrays(DTYPES, 1))
def test_scalars(array: Any) -> None:
    scalar = array[0]
    result = through([scalar])[0]
    assert type(result) is type(scalar) and np.asarray(result).tobytes() == np.asarray(scalar).tobytes()


def test_arrays_of_every_layout(tmp_path: Path) -> None:
    base = np.arange(24.0).reshape(4, 6)
    objects = np.array([None, [1], "x", {"a": base}], dtype=object).reshape(2, 2)
    values = [
        base.T,
        base[::2, ::-1],
        np.asfortranarray(base),
        base[0, 0],
        np.broadcast_to(base[0], (3, 6)),
        np.eye(2).view(np.matrix),
    ]
    for value in values:
        result = through(value)
        assert np.array_equal(result, value) and type(result) is type(value)
    assert through(np.asfortranarray(base)).flags.f_contiguous
    again = through(objects)
    assert again.shape == (2, 2) and again[0, 1] == [1] and np.array_equal(again[1, 1]["a"], base)
    with pytest.raises(Unstorable, match="only plain arrays"):
        encode([np.ma.masked_array([1, 2], [True, False])])
    document = encode({"a": np.array([1 + 2j]), "b": np.array(["x", "yy"]), "c": np.arange(3)})
    assert storage.dump(document, str(tmp_path), "inputs") == [
        "inputs.safetensors",
        "inputs.0.npy",
        "inputs.1.npy",
        "inputs.json",
    ]
    assert np.load(tmp_path / "inputs.0.npy", allow_pickle=False).tolist() == [1 + 2j]
    assert np.load(tmp_path / "inputs.1.npy", allow_pickle=False).tolist() == ["x", "yy"]


def test_random_generators() -> None:
    generator, legacy = np.random.default_rng(3), np.random.RandomState(4)
    result = through([generator, legacy])
    assert result[0].random() == generator.random() and result[1].rand() == legacy.rand()
    assert through(np.dtype("<f4")) == np.dtype("float32")
    assert through([np.add, np.float32, np.mean]) == [np.add, np.float32, np.mean]


def test_tables() -> None:
    import pandas as pd

    frame = pd.DataFrame(
        {
            "int": [1, 2, 3],
            "float": [0.5, float("nan"), -0.0],
            "text": ["a", None, "c"],
            "when": pd.to_datetime(["2020-01-01", None, "2021-05-05"]),
            "zone": pd.to_datetime(["2020-01-01"] * 3).tz_localize("Europe/Berlin"),
            "kind": pd.Categorical(["u", "v", "u"], categories=["v", "u"], ordered=True),
            "nullable": pd.array([1, None, 3], dtype="Int64"),
            "object": pd.Series([[1], "x", None], dtype=object),
        },
        index=pd.Index(["r1", "r2", "r3"], name="row"),
    )
    pd.testing.assert_frame_equal(through(frame), frame)
    pd.testing.assert_series_equal(through(frame["kind"]), frame["kind"])
    wide = pd.DataFrame(np.eye(2), columns=pd.MultiIndex.from_tuples([("a", 1), ("b", 2)], names=["x", "y"]))
    pd.testing.assert_frame_equal(through(wide), wide)
    empty = pd.DataFrame()
    pd.testing.assert_frame_equal(through(empty), empty)
    assert through(pd.NaT) is pd.NaT and through(pd.NA) is pd.NA
    assert through(pd.Timestamp("2020-01-01", tz="UTC")) == pd.Timestamp("2020-01-01", tz="UTC")
    changed = frame.assign(float=[0.5, 1.0, -0.0])
    (difference,) = compare(encode(frame), encode(changed))
    assert "1 of 3 elements differ" in difference.message


@pytest.mark.torch
class TestTensors:
    def test_every_type_and_layout(self, tmp_path: Path) -> None:
        import torch

        names = [
            "bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "float16", "bfloat16",
            "float32", "float64", "complex64", "complex128", "float8_e4m3fn", "float8_e5m2",
        ]  # fmt: skip
        base = torch.arange(6).reshape(2, 3)
        values = {name: base.to(getattr(torch, name)) for name in names}
        values |= {"0-d": torch.tensor(1.5), "empty": torch.empty(0, 3), "nan": torch.tensor([float("nan")])}
        values |= {
            "t": base.t(),
            "step": base[:, ::2],
            "wide": torch.ones(2, 1).expand(2, 50),
            "conj": torch.tensor([1j]).conj(),
        }
        result = through(values)
        for name, value in values.items():
            assert result[name].dtype == value.dtype and result[name].shape == value.shape, name
            assert torch.equal(result[name].to(torch.complex128), value.to(torch.complex128)) or name == "nan"
        assert result["t"].stride() == (1, 3) and result["wide"].stride() == values["wide"].stride()
        document = encode(values)
        storage.dump(document, str(tmp_path), "x")
        assert storage.load(str(tmp_path), "x").digest() == document.digest()

    def test_the_safetensors_package_reads_it(self, tmp_path: Path) -> None:
        import torch
        from safetensors.torch import load_file, save_file

        values = {"a": torch.randn(3, 2), "b": torch.ones(2, dtype=torch.bfloat16), "c": torch.tensor(True)}
        document = encode(list(values.values()))
        storage.dump(document, str(tmp_path), "x")
        read = load_file(tmp_path / "x.safetensors")
        assert all(torch.equal(read[f"b{n}"], value) for n, value in enumerate(values.values()))
        save_file(
            {f"b{n}": value for n, value in enumerate(values.values())}, tmp_path / "reference.safetensors"
        )
        assert (tmp_path / "x.safetensors").read_bytes() == (tmp_path / "reference.safetensors").read_bytes()

    def test_views_share_and_tied_weights_stay_tied(self) -> None:
        import torch

        base = torch.zeros(10)
        a, b, raw = through([base[2:6], base[4:8].view(2, 2), base[:2].view(torch.int32)])
        a[2] = 7.0
        high = torch.zeros(100)
        c, d = through([high[40:44], high[43:46]])
        c[3] = 5.0
        assert d.tolist() == [5.0, 0.0, 0.0]
        inner = torch.ones(2, requires_grad=True) * 2
        inner, plain = through([inner, inner.detach()])
        plain.add_(1)
        assert inner.tolist() == [3.0, 3.0] and not inner.is_leaf
        assert b[0, 0] == 7.0 and raw.dtype == torch.int32
        layer = torch.nn.Linear(2, 2)
        model = torch.nn.Sequential(layer, torch.nn.ReLU(), layer)
        again = through(model)
        assert again[0] is again[2] and again[0].weight is again[2].weight
        x = torch.randn(3, 2)
        assert torch.equal(again(x), model(x))
        assert encode(torch.zeros(1_000_000)[5:7]).nbytes == 8, "a small view does not bring its storage"

    def test_gradients(self) -> None:
        import torch

        leaf = torch.nn.Parameter(torch.ones(2))
        leaf.grad = torch.tensor([1.0, 2.0])
        inner = torch.ones(2, requires_grad=True) * 2
        result = through(
            {"leaf": leaf, "inner": inner, "frozen": torch.nn.Parameter(torch.ones(1), requires_grad=False)}
        )
        assert type(result["leaf"]) is torch.nn.Parameter and result["leaf"].grad.tolist() == [1.0, 2.0]
        assert result["inner"].requires_grad and not result["inner"].is_leaf
        result["inner"].mul_(2)  # allowed on what is no leaf
        assert not result["frozen"].requires_grad
        without = encode({"leaf": torch.nn.Parameter(torch.ones(2))})
        assert [item.path for item in compare(encode({"leaf": leaf}), without)] == ["leaf.grad"]

    def test_optimizers_step_alike(self) -> None:
        import torch

        torch.manual_seed(0)
        model = torch.nn.Linear(3, 2)
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
        for _ in range(2):
            model(torch.randn(4, 3)).sum().backward()
            optimizer.step()
        other, other_optimizer = through((model, optimizer))
        assert other_optimizer.param_groups[0]["params"][0] is other.weight
        optimizer.step()
        other_optimizer.step()
        assert torch.equal(model.weight, other.weight)

    def test_the_rest(self) -> None:
        import torch

        for value in (
            torch.float32,
            torch.Size([1, 2]),
            torch.device("cpu"),
            torch.relu,
            torch.nn.functional.softmax,
        ):
            assert through(value) == value
        generator = torch.Generator().manual_seed(3)
        assert torch.equal(torch.rand(2, generator=through(generator)), torch.rand(2, generator=generator))
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sparse = torch.eye(3).to_sparse()
            assert torch.equal(through(sparse).to_dense(), torch.eye(3))
        with pytest.raises(Unstorable, match="no data"):
            encode([torch.empty(2, device="meta")])
        state = torch.get_rng_state()
        encode({"x": torch.rand(3) * 0 + torch.ones(3)})
        assert not torch.equal(state, torch.get_rng_state()), "the test itself draws"
        state = torch.get_rng_state()
        random_state = random.getstate()
        encode({"model": torch.nn.Module(), "x": torch.ones(3)})
        assert torch.equal(state, torch.get_rng_state()) and random.getstate() == random_state

    def test_the_limit_comes_before_the_copy(self) -> None:
        import torch

        config = Config("c")
        config.parent = torch.empty(1, 1).expand(2**20, 2**20)
        assert encode({"self": config}).nbytes == 4, "stored once, however often it is repeated"
        config.parent = torch.empty(2**18)
        with pytest.raises(TooLarge) as caught:
            encode({"self": config, "x": torch.ones(3)}, limit=1000)
        assert (caught.value.path, caught.value.size) == ("self.parent", 2**20)


def test_views_of_arrays_are_copies() -> None:
    array = np.arange(4)
    document = encode({"a": array})
    array[0] = 9
    assert decode(document)["a"].tolist() == [0, 1, 2, 3]
