# ruff: noqa: E501 (samples of source code and tables of cases read better unbroken)
"""Documents from hostile hands: reading raises BadDocument or gives a sound document, and never more."""

from __future__ import annotations

import copy
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmr_author.probe import buffers, frames, storage
from lmr_author.probe.codec import BadDocument, decode, encode
from lmr_author.probe.compare import compare, leaves, spread
from lmr_author.probe.document import Document
from lmr_author.probe.tree import FIELDS, check
from tests.probe.shapes import Color, Config, Point, top


def rich() -> Document:
    """A document with most kinds of nodes."""
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    shared = [array, {"k": 1.5}]
    return encode(
        {
            "value": [shared, shared, Point(1, array[0]), Config("c", [1], {2, 3}), Color.RED, top],
            "more": {(1, "x"): 2**70, None: b"bytes", "z": 1j, "f": float("nan"), "n": np.float64(2)},
            "text": np.array(["a", "bc"]),
        }
    )


WHOLE = storage.to_bytes(rich())


def judge(document: Document) -> None:
    """What the host does with a document that it was given must not raise either."""
    expected = rich()
    compare(expected, document, {"*": {"kind": "allclose", "rtol": 1e-3, "atol": 1e-3}})
    compare(document, expected)
    leaves(document)
    spread([expected, document])


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_damaged_bytes(data: st.DataObject) -> None:
    raw = bytearray(WHOLE)
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(raw) - 1))
        raw[place] = data.draw(st.integers(0, 255))
    raw = raw[: data.draw(st.integers(0, len(raw)) | st.just(len(raw)))]
    try:
        document = storage.from_bytes(bytes(raw))
    except BadDocument:
        return
    judge(document)


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(["b0", "float32", "<f4"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["$", "v", "b", "shape", "dtype", "id", "cls", "hex", "args"]), inner, max_size=4)
    | st.builds(lambda tag, rest: {"$": tag, **rest}, st.sampled_from(sorted(FIELDS)), st.dictionaries(st.text(max_size=2), inner, max_size=2)),
    max_leaves=8,
)  # fmt: skip


def places(node: Any, found: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Every (container, key) below a JSON value."""
    keys = list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
    for key in keys:
        found.append((node, key))
        places(node[key], found)
    return found


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_damaged_trees(data: st.DataObject) -> None:
    document = rich()
    tree = copy.deepcopy(document.tree)
    for _ in range(data.draw(st.integers(1, 2))):
        found = places(tree, [])
        if not found:
            break
        container, key = data.draw(st.sampled_from(found))
        if data.draw(st.booleans()):
            container[key] = data.draw(junk)
        elif isinstance(container, dict):
            del container[key]
        else:
            container.append(data.draw(junk))
    damaged = Document(tree, document.buffers)
    try:
        read = storage.from_bytes(storage.to_bytes(damaged))
    except (BadDocument, ValueError):
        return
    judge(read)
    try:
        decode(read)
    except BadDocument:
        pass


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200) | st.binary(max_size=60).map(lambda b: b"\x93NUMPY\x01\x00" + b))
def test_noise(data: bytes) -> None:
    for read in (storage.from_bytes, buffers.read_safetensors, buffers.read_npy, buffers.parse_json):
        try:
            read(data)
        except BadDocument:
            pass


def test_reading_does_not_import_or_run(tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    module = tmp_path / "hostile.py"
    module.write_text(f"open({str(marker)!r}, 'w')\nclass C: pass\n")
    tree = {"$": "list", "v": [
        {"$": "object", "cls": "hostile:C", "state": []},
        {"$": "reduce", "call": {"$": "name", "kind": "function", "name": "os:system"}, "args": [f"touch {marker}"],
         "state": None, "items": [], "pairs": []},
    ]}  # fmt: skip
    document = storage.from_bytes(storage.to_bytes(Document(tree, {})))
    judge(document)
    assert not marker.exists()


@pytest.mark.parametrize(
    ("tree", "reason"),
    [
        ({"$": "ref", "id": 4}, "references to nothing"),
        ({"$": "list"}, "without v"),
        ({"$": "nonsense"}, "not a node"),
        ([1], "not a node"),
        ({"$": "ndarray", "b": "b9", "dtype": "<f4", "shape": [1]}, "not there"),
        ({"$": "ndarray", "b": "b0", "dtype": "<f4", "shape": [3]}, "shape is not"),
        (
            {"$": "list", "v": [{"$": "list", "v": [], "id": 1}, {"$": "list", "v": [], "id": 1}]},
            "used twice",
        ),
    ],
)
def test_unsound_trees(tree: Any, reason: str) -> None:
    data = {"b0": buffers.Buffer("F32", (2,), bytes(8))}
    with pytest.raises(BadDocument, match=reason):
        check(tree, data)


@pytest.mark.parametrize(
    "change",
    [
        {"offset": 1},
        {"shape": [3]},
        {"stride": [2]},
        {"stride": [-1]},
        {"offset": -1},
        {"dtype": "float64"},
        {"stride": []},
    ],
)
def test_a_tensor_cannot_leave_its_storage(change: dict[str, Any]) -> None:
    node = {
        "$": "tensor", "b": "b0", "dtype": "float32", "shape": [2], "stride": [1], "offset": 0,
        "requires_grad": False, "leaf": True, "device": "cpu",
    }  # fmt: skip
    data = {"b0": buffers.Buffer("F32", (2,), bytes(8))}
    check(node, data)
    with pytest.raises(BadDocument):
        check({**node, **change}, data)


def test_depth_is_bounded() -> None:
    tree: Any = 1
    for _ in range(300):
        tree = {"$": "list", "v": [tree]}
    with pytest.raises(BadDocument, match="nested too deeply"):
        check(tree, {})
    with pytest.raises(BadDocument):
        buffers.parse_json(b"[" * 100_000)


def test_files_that_are_missing_or_damaged(tmp_path: Path) -> None:
    storage.dump(rich(), str(tmp_path), "x")
    assert storage.load(str(tmp_path), "x").digest() == rich().digest()
    header = json.loads((tmp_path / "x.json").read_text())
    for name in os.listdir(tmp_path):
        whole = (tmp_path / name).read_bytes()
        (tmp_path / name).unlink()
        with pytest.raises(BadDocument):
            storage.load(str(tmp_path), "x")
        (tmp_path / name).write_bytes(whole[: len(whole) // 2])
        with pytest.raises(BadDocument):
            storage.load(str(tmp_path), "x")
        (tmp_path / name).write_bytes(whole)
    for places_ in ({"b0": "../../etc/passwd.npy"}, {"b0": "9.npy"}, {"b0": 3}, None):
        (tmp_path / "x.json").write_text(json.dumps({**header, "buffers": places_}))
        with pytest.raises(BadDocument):
            storage.load(str(tmp_path), "x")


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.tuples(st.dictionaries(st.text(max_size=3), st.integers(), max_size=2), st.binary(max_size=30)),
        max_size=4,
    ),
    st.data(),
)
def test_frames(items: list[tuple[dict[str, int], bytes]], data: st.DataObject) -> None:
    sent = [frames.Frame(header, payload) for header, payload in items]
    end = frames.write_frame({"kind": "end"})
    stream = b"".join(frames.write_frame(*item) for item in sent)
    read = frames.read_frames(stream + end)
    assert read[:-1] == sent and read.whole
    cut = frames.read_frames((stream + end)[: data.draw(st.integers(0, len(stream + end) - 1))])
    assert list(cut) == sent[: len(cut)] and not cut.whole
    noisy = frames.read_frames(b"noise\n" + stream + b"Passed\n" + end)
    assert noisy[:-1] == sent and not noisy.whole
    lying = frames.write_frame({"n": 1}, b"x")[:-10] + stream + end  # its lengths reach into what follows
    assert [item for item in frames.read_frames(lying) if item in sent][-1:] == sent[-1:]
    raw = bytearray(stream + end)
    raw[data.draw(st.integers(0, len(raw) - 1))] ^= data.draw(st.integers(1, 255))
    frames.read_frames(bytes(raw))
