"""What cannot be stored, is too large or too deep, and the same bytes for the same value."""

from __future__ import annotations

import subprocess
import sys
import threading
from typing import Any

import pytest

from lmr_author.probe import codec, storage
from lmr_author.probe.codec import TooLarge, Unstorable, decode, encode
from lmr_author.probe.compare import compare
from tests.probe.shapes import (
    Config,
)


def unstorable() -> list[tuple[str, Any]]:
    return [
        ("function", lambda: 1),
        ("generator", (k for k in "a")),
        ("_io.TextIOWrapper", open(__file__)),
        ("_thread.lock", threading.Lock()),
        ("list_iterator", iter([1])),
        ("zip", zip("a", "b", strict=False)),
        ("tests.probe.test_codec_limits.local_class.<locals>.Local", local_class()),
    ]


def local_class() -> Any:
    class Local:
        pass

    return Local()


def test_what_cannot_be_stored_is_named() -> None:
    values = unstorable()
    with pytest.raises(Unstorable) as caught:
        encode({"args": [value for _, value in values], "fine": 1})
    assert [item.path for item in caught.value.problems] == [f"args[{n}]" for n in range(len(values))]
    assert [item.type for item in caught.value.problems] == [name for name, _ in values]
    assert all(item.advice for item in caught.value.problems)
    values[2][1].close()


def test_an_attribute_that_cannot_be_stored_is_left_out() -> None:
    config = Config("c", [1], parent=threading.Lock())
    config.hooks = [1, lambda: 2]  # type: ignore[attr-defined]
    document = encode({"self": config})
    assert [(item.path, item.type) for item in document.omitted] == [
        ("self.parent", "_thread.lock"),
        ("self.hooks[1]", "function"),
    ]
    result = decode(storage.from_bytes(storage.to_bytes(document)))["self"]
    assert result.sizes == [1]
    with pytest.raises(RuntimeError, match="was not recorded"):
        result.parent.acquire  # and not the default of the class
    with pytest.raises(RuntimeError, match="was not recorded"):
        result.hooks[1]()
    assert compare(document, encode({"self": result})) == []


def test_a_class_that_only_has_the_name_of_another_is_not_that_other() -> None:
    other = type("Config", (), {"__module__": "tests.probe.shapes"})
    with pytest.raises(Unstorable, match="no importable name"):
        encode([other()])
    with pytest.raises(Unstorable, match="no importable name"):
        encode([other])


def test_the_limit_names_the_largest_part() -> None:
    config = Config("c")
    config.parent = b"x" * 50_000
    with pytest.raises(TooLarge) as caught:
        encode({"a": b"y" * 20_000, "self": config}, limit=60_000)
    assert (caught.value.path, caught.value.size, caught.value.limit) == ("self.parent", 50_000, 60_000)
    document = encode({"a": b"y" * 20_000, "self": config}, limit=60_000, skip=["self.parent"])
    assert [item.path for item in document.omitted] == ["self.parent"]


def test_deep_nesting_is_refused_not_fatal() -> None:
    value: list[Any] = []
    for _ in range(5000):
        value = [value]
    with pytest.raises(Unstorable, match="nested too deeply"):
        encode(value)
    shared: tuple[Any, ...] = ()
    for _ in range(60):
        shared = (shared, shared)
    assert len(storage.to_bytes(encode(shared))) < 10_000, "2**60 paths, 60 tuples"
    assert compare(encode(shared), encode(shared)) == []


DETERMINISM = """
from lmr_author.probe.codec import encode
from tests.probe.shapes import Color
print(encode([{"a", "b", "c", "zz"}, frozenset(["x", "y", 3, 4.5, None]), {Color.RED, Color.BLUE}]).digest())
"""


def test_the_same_whatever_the_hash_seed() -> None:
    digests = {
        subprocess.run(
            [sys.executable, "-c", DETERMINISM],
            env={"PYTHONHASHSEED": str(seed), "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in (0, 1, 2, 3)
    }
    assert len(digests) == 1


def test_a_class_that_is_gone_makes_a_bad_document() -> None:
    document = encode(Config("c"))
    document.tree["cls"] = "tests.probe.shapes:Gone"
    with pytest.raises(codec.BadDocument, match=r"no tests\.probe\.shapes:Gone"):
        decode(document)
