# ruff: noqa: E501 (tables of cases read better unbroken)
"""Documents from hostile hands: reading raises BadDocument or gives a sound document, and never more."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmr_author.runtime.probe import checking as frames
from lmr_author.runtime.probe.checking import check, digest, from_bytes, load, parse_json, to_bytes
from lmr_author.runtime.probe.compare import compare, leaves, spread
from lmr_author.runtime.probe.decoding import decode
from lmr_author.runtime.probe.document import FIELDS, BadDocument, Buffer, Document
from lmr_author.runtime.probe.encoding import encode
from lmr_author.runtime.probe.storing import dump
from tests.probe.shapes import Color, Config, Point, top


def rich() -> Document:
    """A document with most kinds of nodes."""
    shared = [np.arange(6, dtype=np.float32).reshape(2, 3), {"k": 1.5}]
    return encode(
        {
            "value": [
                shared,
                shared,
                Point(1, shared[0]),
                Config("c", [1], {2, 3}),
                Color.RED,
                top,
                np.arange(300),
            ],
            "more": {(1, "x"): 2**70, None: b"bytes", "z": 1j, "f": float("nan"), "n": np.float64(2)},
            "text": np.array(["a", "bc"]),
        }
    )


WHOLE = to_bytes(rich())


def judge(document: Document) -> None:
    """Do what the host does with a document that it was given: it must not raise either."""
    expected = rich()
    compare(expected, document, {"*": {"kind": "allclose", "rtol": 1e-3, "atol": 1e-3}})
    compare(document, expected)
    leaves(document)
    spread([expected, document])


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_damaged_bytes(data: st.DataObject) -> None:
    raw = bytearray(WHOLE)
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    raw = raw[: data.draw(st.integers(0, len(raw)) | st.just(len(raw)))]
    try:
        document = from_bytes(bytes(raw))
    except BadDocument:
        return
    judge(document)


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(["0", "float32", "<f4"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["$", "v", "file", "data", "shape", "dtype", "id", "cls", "args"]), inner, max_size=4)
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


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_damaged_trees(data: st.DataObject) -> None:
    document = rich()
    tree = copy.deepcopy(document.tree)
    for _ in range(data.draw(st.integers(1, 2))):
        container, key = data.draw(st.sampled_from(places(tree, []) or [([], 0)]))
        if not container:
            break
        if data.draw(st.booleans()):
            container[key] = data.draw(junk)
        elif isinstance(container, dict):
            del container[key]
        else:
            container.append(data.draw(junk))
    try:
        read = from_bytes(to_bytes(Document(tree, document.buffers)))
    except (BadDocument, ValueError):
        return
    judge(read)
    try:
        decode(read)
    except BadDocument:
        pass


def test_reading_does_not_import_or_run(tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    (tmp_path / "hostile.py").write_text(f"open({str(marker)!r}, 'w')\nclass C: pass\n")
    tree = [
        {"$": "object", "cls": "hostile:C", "state": {}},
        {"$": "call", "call": {"$": "name", "v": "os:system"}, "args": [f"touch {marker}"]},
    ]
    judge(from_bytes(to_bytes(Document(tree, {}))))
    assert not marker.exists()


ARRAY = {"$": "array", "file": "0", "dtype": "float32", "shape": [2]}


@pytest.mark.parametrize(
    ("tree", "reason"),
    [
        ({"$": "ref", "id": 4}, "references to nothing"),
        ({"$": "ref"}, "not an id"),
        ({"$": "tuple"}, "without v"),
        ({"$": "nonsense"}, "not a node"),
        ([1, (2,)], "not a node"),
        ({**ARRAY, "file": "9"}, "not there"),
        ({**ARRAY, "shape": [3]}, "not its buffer's"),
        ({**ARRAY, "dtype": "float64"}, "not its buffer's"),
        ({**ARRAY, "shape": [-2]}, "shape of a array"),
        ({**ARRAY, "data": [1, 2]}, "in two"),
        ({"$": "tensor", "data": [[1], 2], "dtype": "float32", "shape": [2]}, "not its numbers"),
        ([{"$": "list", "v": [], "id": 1}, {"$": "list", "v": [], "id": 1}], "used twice"),
    ],
)
def test_unsound_trees(tree: Any, reason: str) -> None:
    with pytest.raises(BadDocument, match=reason):
        check(tree, {"0": Buffer("<f4", (2,), bytes(8))})


def test_depth_is_bounded() -> None:
    tree: Any = 1
    for _ in range(300):
        tree = [tree]
    with pytest.raises(BadDocument, match="nested too deeply"):
        check(tree, {})
    with pytest.raises(BadDocument):
        parse_json(b"[" * 100_000)


def test_files_that_are_missing_or_damaged(tmp_path: Path) -> None:
    dump(rich(), str(tmp_path), "x")
    assert digest(load(str(tmp_path), "x")) == digest(rich())
    for path in list(tmp_path.iterdir()):
        whole = path.read_bytes()
        path.unlink()
        with pytest.raises(BadDocument):
            load(str(tmp_path), "x")
        path.write_bytes(whole[: len(whole) // 2])
        with pytest.raises(BadDocument):
            load(str(tmp_path), "x")
        path.write_bytes(whole)
    header = json.loads((tmp_path / "x.json").read_text())
    for name in ("../../etc/passwd", "0.npy", 3, None):
        header["values"] = {**ARRAY, "file": name}
        (tmp_path / "x.json").write_text(json.dumps(header))
        with pytest.raises(BadDocument):
            load(str(tmp_path), "x")
    (tmp_path / "x.json").write_text(json.dumps({**header, "format": "lmr-recording/1"}))
    with pytest.raises(BadDocument, match="the format is"):
        load(str(tmp_path), "x")


@settings(max_examples=200, deadline=None)
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
    assert read[:-1] == sent
    cut = frames.read_frames((stream + end)[: data.draw(st.integers(0, len(stream + end) - 1))])
    assert cut == sent[: len(cut)]
    noisy = frames.read_frames(b"noise\n" + stream + b"Passed\n" + end)
    assert noisy[:-1] == sent
    lying = frames.write_frame({"n": 1}, b"x")[:-10] + stream + end  # its lengths reach into what follows
    assert [item for item in frames.read_frames(lying) if item in sent][-1:] == sent[-1:]
    raw = bytearray(stream + end)
    raw[data.draw(st.integers(0, len(raw) - 1))] ^= data.draw(st.integers(1, 255))
    frames.read_frames(bytes(raw))
