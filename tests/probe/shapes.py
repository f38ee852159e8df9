"""Classes that recordings of the codec's tests name."""

from __future__ import annotations

import collections
import dataclasses
import enum
from typing import Any, NamedTuple


class Spans:
    Span = collections.namedtuple("Span", ("first", "length"))


class Point(NamedTuple):
    x: Any
    y: Any = 0


@dataclasses.dataclass
class Config:
    name: str
    sizes: list[int] = dataclasses.field(default_factory=list)
    parent: Any = None


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: Any


class Color(enum.Enum):
    RED = 1
    BLUE = ("b", 2)


class Bits(enum.Flag):
    A = 1
    B = 2


class Slotted:
    __slots__ = ("__secret", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        self.__secret = [value]

    def same(self, other: Slotted) -> bool:
        return self.value == other.value and self.__secret == other.__secret


class Guarded:
    """Its constructor must not run again, and setting attributes is forbidden."""

    built = 0

    def __init__(self, a: Any) -> None:
        type(self).built += 1
        self.__dict__["a"] = a

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("read only")

    def method(self) -> Any:
        return self.a


class Output(collections.OrderedDict[str, Any]):
    """Like the outputs of a well-known library: items are attributes too, and setting keeps both in step."""

    def __init__(self, **items: Any) -> None:
        super().__init__()
        for key, item in items.items():
            self[key] = item

    def __setitem__(self, key: str, value: Any) -> None:
        super().__setitem__(key, value)
        self.__dict__[key] = value

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(key) if isinstance(key, str) else list(self.values())[key]


class Names(list[str]):
    pass


class Word(str):
    pass


class Ratio(float):
    pass


def top(x: Any) -> Any:
    return x
