"""Read compiled Python files of any version without running, or unmarshalling, anything.

``marshal.loads`` is not safe on files of others (it can crash the interpreter) and reads only the
running version's format. This reader knows the object codes of CPython 2.7 and 3.x
(https://github.com/python/cpython/blob/main/Python/marshal.c) and gives names and constants only.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

MAX_DEPTH = 100
_PYTHON_2 = range(62000, 63000)


class NotCompiledPython(ValueError):
    """The bytes are not a compiled Python file that this reader knows."""


@dataclass(frozen=True)
class Code:
    """What is telling about a code object, and the code objects inside it.

    Attributes:
        features: names it uses, variables it has, and its text and float constants, inner code included.
    """

    name: str
    features: frozenset[str]
    inner: tuple[Code, ...] = field(repr=False, default=())


def read(data: bytes) -> Code:
    """The module's code object of a ``.pyc`` file. Raises NotCompiledPython."""
    if len(data) < 16 or data[2:4] != b"\r\n":
        raise NotCompiledPython("no compiled Python file")
    magic = int.from_bytes(data[:2], "little")
    start = 8 if magic in _PYTHON_2 or magic < 3190 else 12 if magic < 3390 else 16
    try:
        value = _Reader(data, start, magic).value(0)
    except (
        LookupError,
        struct.error,
        ValueError,
        TypeError,
        OverflowError,
        MemoryError,
        RecursionError,
    ) as error:
        raise NotCompiledPython("damaged") from error
    if not isinstance(value, Code):
        raise NotCompiledPython("no code in it")
    return value


def from_code(code: CodeType) -> Code:
    """The same view of a code object that this interpreter compiled."""
    inner = tuple(from_code(item) for item in code.co_consts if isinstance(item, CodeType))
    names = [*code.co_names, *code.co_varnames, *code.co_cellvars, *code.co_freevars]
    return _code(code.co_name, names, list(code.co_consts), inner)


def named(code: Code, path: list[str]) -> Iterator[Code]:
    """Every code object whose name, and whose surroundings' names, are those of a qualified name."""
    for item in code.inner:
        if item.name == path[0]:
            if len(path) == 1:
                yield item
            else:
                yield from named(item, path[1:])
        yield from named(item, path)


def _code(name: str, names: list[Any], consts: list[Any], inner: tuple[Code, ...]) -> Code:
    features = {f"n:{item}" for item in names if isinstance(item, str) and not item.startswith(".")}
    stack = list(consts)
    while stack:
        item = stack.pop()
        if isinstance(item, tuple | list | frozenset | set):
            stack.extend(item)
        elif isinstance(item, str | float) and item != "":
            features.add(f"c:{item!r}")
    for part in inner:
        features |= part.features
    return Code(name, frozenset(features), inner)


class _Reader:
    """A cursor over marshalled bytes."""

    def __init__(self, data: bytes, start: int, magic: int) -> None:
        self.data = data
        self.at = start
        self.magic = magic
        self.refs: list[Any] = []
        self.interned: list[str] = []

    def take(self, count: int) -> bytes:
        if count < 0 or self.at + count > len(self.data):
            raise IndexError("past the end")
        piece = self.data[self.at : self.at + count]
        self.at += count
        return piece

    def int32(self) -> int:
        return int.from_bytes(self.take(4), "little", signed=True)

    def value(self, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise RecursionError
        flagged = self.take(1)[0]
        kind = chr(flagged & 0x7F)
        slot = None
        if flagged & 0x80:
            slot = len(self.refs)
            self.refs.append(None)
        result = self._read(kind, depth)
        if slot is not None:
            self.refs[slot] = result
        return result

    def _read(self, kind: str, depth: int) -> Any:
        if kind in _CONSTANTS:
            return _CONSTANTS[kind]
        if kind in "st" and self.magic in _PYTHON_2:
            text = self.take(self.int32()).decode("utf-8", "replace")
            if kind == "t":
                self.interned.append(text)
            return text
        if kind in _TEXT:
            size = self.take(1)[0] if kind in "zZ" else self.int32()
            return self.take(size).decode("utf-8", "replace")
        if kind in "([<>":
            return self._items(self.int32(), depth)
        if kind == ")":
            return self._items(self.take(1)[0], depth)
        if kind == "c":
            return self._code(depth)
        if kind == "r":
            return self.refs[self.int32()]
        if kind == "R":
            return self.interned[self.int32()]
        return self._rare(kind, depth)

    def _rare(self, kind: str, depth: int) -> Any:
        if kind == "i":
            return self.int32()
        if kind == "I":
            self.take(8)
            return 0
        if kind == "g":
            return float(struct.unpack("<d", self.take(8))[0])
        if kind == "y":
            self.take(16)
            return 0
        if kind in "fx":
            for _ in range(1 if kind == "f" else 2):
                self.take(self.take(1)[0])
            return 0
        if kind == "l":
            self.take(2 * abs(self.int32()))
            return 0
        if kind == "s":
            self.take(self.int32())
            return None
        if kind == ":":
            return self._items(3, depth)
        if kind == "{":
            return self._mapping(depth)
        raise IndexError(f"unknown kind {kind!r}")

    def _items(self, count: int, depth: int) -> tuple[Any, ...]:
        if count < 0 or count > len(self.data) - self.at:
            raise IndexError("too many items")
        return tuple(self.value(depth + 1) for _ in range(count))

    def _mapping(self, depth: int) -> tuple[Any, ...]:
        items = []
        while self.data[self.at] & 0x7F != ord("0"):
            items.append(self.value(depth + 1))
            items.append(self.value(depth + 1))
        self.at += 1
        return tuple(items)

    def _code(self, depth: int) -> Code:
        numbers = 4 if self.magic in _PYTHON_2 else 5 if self.magic < 3400 else 6 if self.magic < 3450 else 5
        self.take(4 * numbers)
        self.value(depth + 1)  # the instructions
        consts = self.value(depth + 1)
        names = list(self.value(depth + 1))
        names += list(self.value(depth + 1))  # variables; since 3.11 cells and free ones with them
        if self.magic in _PYTHON_2 or self.magic < 3450:
            names += [*self.value(depth + 1), *self.value(depth + 1)]
        else:
            self.value(depth + 1)  # kinds
        self.value(depth + 1)  # file name
        name = self.value(depth + 1)
        if not (self.magic in _PYTHON_2 or self.magic < 3450):
            self.value(depth + 1)  # qualified name
        self.take(4)
        self.value(depth + 1)
        if not (self.magic in _PYTHON_2 or self.magic < 3450):
            self.value(depth + 1)
        if not isinstance(consts, tuple) or not isinstance(name, str):
            raise IndexError("no code object")
        inner = tuple(item for item in consts if isinstance(item, Code))
        return _code(name, names, [item for item in consts if not isinstance(item, Code)], inner)


_CONSTANTS: dict[str, Any] = {"N": None, "F": False, "T": True, "S": None, ".": None, "0": None}
_TEXT = frozenset("utaAzZ")
