"""JAX arrays survive being stored. Where JAX is not installed, as much of it as the codec uses stands in."""

from __future__ import annotations

import importlib.util
import sys
import types
from typing import Any

import numpy as np
import pytest

from lmr_author.evaluation.trivial import zeros_expression
from lmr_author.probe.buffers import BadDocument, Buffer
from lmr_author.probe.codec import Unstorable, decode, encode
from lmr_author.probe.compare import compare
from lmr_author.probe.document import Document
from lmr_author.probe.dtypes import EXTENDED, SAFE_NAMES, descr
from tests.probe.test_codec import through

INSTALLED = importlib.util.find_spec("jax") is not None


class Array:
    """What the codec sees of a JAX array."""

    def __init__(self, values: Any) -> None:
        numbers = np.array(values)
        # As in a buffer of the device: nothing that a look at the attributes finds.
        self.numbers = lambda: numbers
        self.dtype, self.shape = numbers.dtype, numbers.shape

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.numbers()


class Tracer(Array):
    """What stands for an array under jit."""


class KeyType:
    """The element type of a typed random key."""

    def __str__(self) -> str:
        return "key<fry>"


class Key(Array):
    """A typed random key."""

    TYPE = KeyType()

    def __init__(self, values: Any) -> None:
        super().__init__(values)
        self.dtype, self.shape = self.TYPE, self.shape[:-1]


class Config:
    jax_enable_x64 = False

    def update(self, name: str, value: bool) -> None:
        setattr(self, name, value)


@pytest.fixture
def jax(monkeypatch: pytest.MonkeyPatch) -> Any:
    """JAX, or its stand-in, which makes 64 bits into 32 as JAX does."""
    if INSTALLED:
        return importlib.import_module("jax")
    module: Any = types.ModuleType("jax")
    module.config = Config()
    narrow = {"<f8": "<f4", "<i8": "<i4"}

    def array(values: Any) -> Array:
        plain = np.array(values)
        wide = module.config.jax_enable_x64
        return Array(plain if wide else plain.astype(narrow.get(plain.dtype.str, plain.dtype)))

    module.numpy = types.ModuleType("jax.numpy")
    module.numpy.ndarray, module.numpy.array = Array, array
    module.core = types.SimpleNamespace(Tracer=Tracer)
    module.random = types.SimpleNamespace(
        PRNGKey=lambda seed: Array(np.array([0, seed], "u4")),
        key=lambda seed: Key(np.array([0, seed], "u4")),
        key_data=lambda key: Array(key.numbers()),
        key_impl=lambda key: "fry",
        wrap_key_data=lambda data, impl: Key(data),
    )
    monkeypatch.setitem(sys.modules, "jax", module)
    monkeypatch.setitem(sys.modules, "jax.numpy", module.numpy)
    return module


@pytest.mark.parametrize("values", [[[1.5, -2.0]], 3.0, [1, 2], [True], [], [1 + 2j]])
def test_an_array_comes_back_as_one_of_jax(jax: Any, values: Any) -> None:
    array = jax.numpy.array(values)

    result = through({"a": array, "same": array})

    assert result["a"] is result["same"]
    assert isinstance(result["a"], jax.numpy.ndarray)
    assert result["a"].dtype == array.dtype and result["a"].shape == array.shape
    assert np.array_equal(np.asarray(result["a"]), np.asarray(array))


def test_an_array_of_64_bits_stays_one(jax: Any) -> None:
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    wide = encode({"a": jax.numpy.array([0.1]), "b": jax.numpy.array([1])})
    jax.config.update("jax_enable_x64", False)
    try:
        found = decode(wide)
        assert [str(found[name].dtype) for name in "ab"] == ["float64", "int64"]
    finally:
        jax.config.update("jax_enable_x64", before)


def test_arrays_are_compared_by_their_numbers(jax: Any) -> None:
    one, near = (encode({"v": jax.numpy.array([1.0, value])}) for value in (2.0, 2.5))
    assert not compare(one, one)
    assert "2.5" in str(compare(one, near)[0])
    assert not compare(one, near, {"v": {"kind": "allclose", "rtol": 0.5, "atol": 0.0}})


def test_a_tracer_is_refused_with_the_way_out(jax: Any) -> None:
    def store(value: Any) -> None:
        with pytest.raises(Unstorable, match="JAX_DISABLE_JIT=1") as caught:
            encode({"x": value})
        assert caught.value.path == "x"

    if INSTALLED:
        jax.jit(store)(jax.numpy.array([1.0]))
    else:
        store(Tracer([1.0]))


def test_types_that_numpy_lacks_are_refused(jax: Any) -> None:
    odd = jax.numpy.array([1]).astype("int4") if INSTALLED else Array(np.zeros(1, "V1"))
    with pytest.raises(Unstorable, match="drive it with float32"):
        encode({"x": odd})


class Extended:
    """An element type that numpy has from ml_dtypes."""

    names, str = None, "<V2"

    def __init__(self, name: str) -> None:
        self.name = name


@pytest.mark.parametrize(
    ("name", "ones", "size"), [("bfloat16", b"\x80\x3f", 2), ("float8_e4m3fn", b"\x38", 1), ("float8_e5m2", b"\x3c", 1)]
)  # fmt: skip
def test_narrow_floats_are_stored_by_their_names_and_compared_without_jax(
    name: str, ones: bytes, size: int
) -> None:
    assert descr(Extended(name)) == name

    def document(data: bytes) -> Document:
        array = {"$": "ndarray", "b": "0", "dtype": name, "shape": [2], "cls": "jax"}
        scalar = {"$": "npscalar", "dtype": name, "hex": ones.hex()}
        tree = {"$": "dict", "v": [["a", array], ["s", scalar]]}
        return Document(tree, {"0": Buffer(SAFE_NAMES[name], (2,), data)})

    assert not compare(document(ones * 2), document(ones * 2))
    (found,) = compare(document(ones * 2), document(ones + bytes(size)))
    assert found.path == "a" and "expected 1.0, got 0.0" in found.message


def test_narrow_floats_come_back(jax: Any) -> None:
    """With the stand-in: as what they cannot be without ml_dtypes is told."""
    array = {"$": "ndarray", "b": "0", "dtype": "bfloat16", "shape": [1], "cls": "jax"}
    document = Document(array, {"0": Buffer("BF16", (1,), b"\x80\x3f")})
    if not INSTALLED:
        with pytest.raises(BadDocument, match="bfloat16"):
            decode(document)
        return
    assert str(decode(document).dtype) == "bfloat16" and float(decode(document)[0]) == 1.0
    for name in EXTENDED:
        narrow = (jax.numpy.arange(6).reshape(2, 3) / 3).astype(name)
        plain = np.asarray(narrow)
        result = through({"jax": narrow, "numpy": plain, "scalar": plain[0, 1], "order": plain.T})
        assert isinstance(result["jax"], jax.numpy.ndarray) and result["jax"].dtype == narrow.dtype
        assert result["numpy"].dtype == plain.dtype and result["numpy"].flags.writeable
        assert result["order"].flags.f_contiguous and result["scalar"] == plain[0, 1]
        assert all(np.array_equal(np.asarray(result[key]), plain) for key in ("jax", "numpy"))


def test_zeros_of_an_array_are_jaxs(jax: Any) -> None:
    expression = zeros_expression(encode({"value": jax.numpy.array([1.5, 2.0])})) or ""
    assert "jax.numpy" in expression
    if INSTALLED:
        assert isinstance(eval(expression), jax.numpy.ndarray)


def test_random_keys_of_both_kinds(jax: Any) -> None:
    for key in (jax.random.PRNGKey(3), jax.random.key(3)):
        result = through({"k": key})["k"]
        assert isinstance(result, jax.numpy.ndarray)
        assert result.dtype == key.dtype and result.shape == key.shape
        assert np.array_equal(*(np.asarray(jax.random.key_data(item)) for item in (result, key)))
