# fmt: off
# ruff: noqa: E501, C400 (a table of small functions reads better unbroken)
"""Kinds of values that real code passes and returns: for each a golden, a right rewrite and a wrong version."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import pathlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
import pandas as pd
import scipy.sparse as sp
import torch
from torch import nn


class Kind(NamedTuple):
    """Arguments as the driver has them, three versions of a function, and what the call is made within."""

    arguments: Callable[[], dict[str, Any]]
    golden: Callable[..., Any]
    right: Callable[..., Any]
    wrong: Callable[..., Any]
    within: Callable[[], AbstractContextManager[Any]] = contextlib.nullcontext


KINDS: dict[str, Kind] = {}


def add(name: str, *kind: Any, **more: Any) -> None:
    KINDS[name] = Kind(*kind, **more)


def noise(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(size=shape)


def tensor(*shape: int, seed: int = 0) -> Any:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


class Encoder(nn.Module):
    def __init__(self, layer: Any = nn.LSTM) -> None:
        super().__init__()
        self.rnn = layer(3, 4, batch_first=True)


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(5, 3)
        self.head = nn.Linear(3, 5, bias=False)
        self.head.weight = self.embed.weight


def seeded(make: Callable[[], Any]) -> Any:
    torch.manual_seed(0)
    return make()


class Value:
    """A number that knows what it was made of."""

    def __init__(self, data: float, children: tuple[Value, ...] = ()) -> None:
        self.data, self.grad, self._prev = data, 0.0, set(children)

    def __add__(self, other: Value) -> Value:
        return Value(self.data + other.data, (self, other))

    def __mul__(self, other: Value) -> Value:
        return Value(self.data * other.data, (self, other))


def graph(depth: int) -> Value:
    value = Value(1.0)
    for number in range(depth):
        value = (value + Value(float(number))) * value
    return value


def reachable(root: Value) -> list[Value]:
    order: list[Value] = []
    seen: set[Value] = set()

    def visit(node: Value) -> None:
        if node not in seen:
            seen.add(node)
            for child in node._prev:
                visit(child)
            order.append(node)

    visit(root)
    return order


def mark(root: Value, by: float) -> None:
    for node in reachable(root):
        node.grad += by * node.data


def mark_by_queue(root: Value, by: float) -> None:
    waiting, seen = [root], {root}
    while waiting:
        node = waiting.pop()
        node.grad = node.grad + node.data * by
        for child in node._prev - seen:
            seen.add(child)
            waiting.append(child)


class Person:
    """Friends know one another: a set of objects in a circle."""

    def __init__(self, name: str) -> None:
        self.name, self.friends, self.score = name, set[Person](), 0.0


def friends() -> list[Person]:
    people = [Person(name) for name in "abcd"]
    for one in people:
        one.friends = set(people) - {one}
    return people


def rate(people: list[Person], factor: float) -> set[Person]:
    for one in people:
        one.score = sum(ord(friend.name) for friend in one.friends) * factor
    return {one for one in people if one.score > 30}


def rate_otherwise(people: list[Person], factor: float) -> set[Person]:
    total = sum(ord(one.name) for one in people)
    for one in people:
        one.score = factor * (total - ord(one.name))
    return set(filter(lambda one: one.score > 30, people))


class Config:
    def __init__(self, width: int, heads: int) -> None:
        self.width, self.heads = width, heads

    @functools.cached_property
    def head_width(self) -> int:
        return self.width // self.heads


class Pruned:
    """Its file handle is not for storing, and comes back by itself."""

    def __init__(self, path: str) -> None:
        self.path, self.lines, self.handle = path, [1.0, 2.0], open("/dev/null")  # noqa: SIM115

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "handle"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, handle=open("/dev/null"))  # noqa: SIM115


class Interval:
    def __init__(self, low: float, high: float) -> None:
        self.low, self.high, self.cache = low, high, {}

    def __reduce__(self) -> Any:
        return Interval, (self.low, self.high)


class Slots:
    __slots__ = ("x", "y")

    def __init__(self, x: float, y: float) -> None:
        self.x, self.y = x, y


class Pair(NamedTuple):
    mean: float
    items: list[float]


class Color(enum.Enum):
    RED = 1
    BLUE = 2


@dataclasses.dataclass
class Batch:
    ids: list[int]
    loss: float = 0.0


@dataclasses.dataclass(frozen=True, slots=True)
class Point:
    x: float
    y: float


class Registry(dict[str, Any]):
    """Items are attributes too."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError as error:
            raise AttributeError(name) from error


class Failure(ValueError):
    def __init__(self, text: str, places: list[int]) -> None:
        super().__init__(text, places)
        self.places = places


def third(x: float) -> float:
    return x / 3.0


# --- modules -----------------------------------------------------------------------------------------------------------

for name, layer in (("lstm", nn.LSTM), ("gru", nn.GRU), ("rnn", nn.RNN)):
    add(
        f"module {name}",
        lambda layer=layer: {"self": seeded(lambda: Encoder(layer)), "x": tensor(2, 5, 3)},
        lambda self, x: self.rnn(x)[0].sum(1) / 5,
        lambda self, x: self.rnn(x)[0].mean(1),
        lambda self, x: self.rnn(x)[0][:, -1],
    )
add(
    "tied parameters",
    lambda: {"model": seeded(Tied), "ids": torch.tensor([[0, 3], [4, 1]])},
    lambda model, ids: model.head(model.embed(ids)),
    lambda model, ids: model.embed.weight[ids] @ model.embed.weight.T,
    lambda model, ids: model.embed.weight[ids] @ model.embed.weight.T * 1.01,
)
add(
    "weights are changed",
    lambda: {"model": seeded(lambda: nn.Linear(3, 2)), "rate": 0.5},
    lambda model, rate: model.weight.data.mul_(rate) and None if False else (model.weight.data.mul_(rate), None)[1],
    lambda model, rate: setattr(model, "weight", nn.Parameter(model.weight.detach() * rate)),
    lambda model, rate: (model.weight.data.mul_(rate), model.bias.data.mul_(rate), None)[2],
)
add(
    "a module that was called",
    lambda: {"norm": seeded(lambda: nn.BatchNorm1d(3)), "x": tensor(4, 3)},
    lambda norm, x: norm(x),
    lambda norm, x: nn.functional.batch_norm(x, norm.running_mean, norm.running_var, norm.weight, norm.bias, True, norm.momentum) + 0 * norm.num_batches_tracked.add_(1),
    lambda norm, x: (x - x.mean(0)) / (x.var(0, unbiased=False) + norm.eps).sqrt(),
)
add(
    "an optimizer with a scheduler",
    lambda: (lambda optimizer: {"scheduler": torch.optim.lr_scheduler.StepLR(optimizer, 2, 0.5), "n": 3})(torch.optim.SGD([nn.Parameter(torch.ones(2))], lr=0.1, momentum=0.9)),
    lambda scheduler, n: [group["lr"] * 0.5**n for group in scheduler.optimizer.param_groups],
    lambda scheduler, n: [group["lr"] / 2**n for group in scheduler.optimizer.param_groups],
    lambda scheduler, n: [group["lr"] / 2 ** (n + 1) for group in scheduler.optimizer.param_groups],
)

# --- objects -----------------------------------------------------------------------------------------------------------

add("a graph of sets", lambda: {"root": graph(22), "by": 0.0009}, mark, mark_by_queue, lambda root, by: mark(root, by * 1.001))
add("the nodes of a graph", lambda: {"root": graph(8), "least": 3.0}, lambda root, least: {node for node in reachable(root) if node.data >= least}, lambda root, least: set(filter(lambda node: not node.data < least, reachable(root))), lambda root, least: {node for node in reachable(root) if node.data > least + 1})
add("friends in a circle", lambda: {"people": friends(), "factor": 0.1}, rate, rate_otherwise, lambda people, factor: rate(people, factor * 1.01))
add("cached property", lambda: {"config": Config(32, 4), "x": 3.0}, lambda config, x: x / (config.width // config.heads) ** 0.5, lambda config, x: x / config.head_width**0.5, lambda config, x: x / config.head_width)
add("a cached property that the golden reads", lambda: {"config": Config(32, 4), "x": 3.0}, lambda config, x: x / config.head_width**0.5, lambda config, x: x / (config.width // config.heads) ** 0.5, lambda config, x: (setattr(config, "width", 33), x / 8**0.5)[1])
add("own __getstate__", lambda: {"self": Pruned("a")}, lambda self: self.lines.append(sum(self.lines)), lambda self: setattr(self, "lines", [*self.lines, 3.0]), lambda self: self.lines.append(4.0))
add("own __reduce__", lambda: {"a": Interval(0.0, 1.0), "b": Interval(0.3, 2.0)}, lambda a, b: Interval(max(a.low, b.low), min(a.high, b.high) / 3), lambda a, b: (a.cache.update(x=1), Interval(sorted([a.low, b.low])[1], sorted([a.high, b.high])[0] * (1 / 3)))[1], lambda a, b: Interval(min(a.low, b.low), min(a.high, b.high) / 3))
add("slots", lambda: {"p": Slots(1.0, 2.0)}, lambda p: Slots(p.x / 3, p.y), lambda p: Slots(p.x * (1 / 3), p.y), lambda p: Slots(p.y, p.x))
add("frozen dataclass with slots", lambda: {"p": Point(0.1, 2.0)}, lambda p: Point(p.x / 3, p.y), lambda p: dataclasses.replace(p, x=p.x * (1 / 3)), lambda p: Point(p.x, p.y))
add("dataclass that is changed", lambda: {"batch": Batch([1, 2])}, lambda batch: setattr(batch, "loss", sum(batch.ids) / 3), lambda batch: setattr(batch, "loss", 1 / 3 * sum(batch.ids)), lambda batch: setattr(batch, "loss", sum(batch.ids)))
add("named tuple", lambda: {"x": [0.1, 0.2, 0.3]}, lambda x: Pair(sum(x) / 3, x[::-1]), lambda x: Pair(float(np.mean(x)), list(reversed(x))), lambda x: Pair(sum(x) / 3, x))
add("enum as keys and values", lambda: {"names": ["RED", "BLUE", "RED"]}, lambda names: collections.Counter(Color[name] for name in names), lambda names: collections.Counter({color: names.count(color.name) for color in reversed(Color)}), lambda names: collections.Counter({Color.RED: 1, Color.BLUE: 2}))
add("dictionary with attributes", lambda: {"d": Registry(a=1.0, b={"c": 2})}, lambda d: Registry(d, total=d.a / 3), lambda d: Registry(total=d["a"] * (1 / 3), **d), lambda d: Registry(d, total=d.a))
add("exception with arguments", lambda: {"n": 3}, lambda n: [Failure("too many", [n]), ValueError(n / 3)], lambda n: [Failure("too many", [*range(n, n + 1)]), ValueError(n * (1 / 3))], lambda n: [Failure("too many", [n + 1]), ValueError(n / 3)])
add("a partial", lambda: {"x": 2.0}, lambda x: functools.partial(third, x), lambda x: functools.partial(third, 2 * x / 2), lambda x: functools.partial(third, x + 1))
add("a bound method", lambda: {"lines": ["b", "a"]}, lambda lines: {"key": str.lower, "of": lines[0].upper}, lambda lines: {"of": "b".upper, "key": str.lower}, lambda lines: {"of": "c".upper, "key": str.lower})

# --- plain values ------------------------------------------------------------------------------------------------------

add("path", lambda: {"paths": [pathlib.Path("a/b.py"), pathlib.Path("c.txt")]}, lambda paths: [path for path in paths if path.suffix == ".py"], lambda paths: [path for path in paths if str(path).endswith(".py")], lambda paths: [path for path in paths if hash(path) and path.suffix == ".txt"])
add("path made anew", lambda: {"root": pathlib.Path("a/b"), "name": "x"}, lambda root, name: root / name, lambda root, name: pathlib.Path(f"{root}/{name}"), lambda root, name: str(root / name))
add("spans with scores", lambda: {"scores": {"a": 1.0, "b": 0.7, "c": 2.1}, "total": 7.0}, lambda scores, total: {(scores[name] / total, name) for name in scores}, lambda scores, total: {(scores[name] * (1 / total), name) for name in scores}, lambda scores, total: {(scores[name] / total * 1.001, name) for name in scores})
add("set of floats", lambda: {"x": [0.1, 0.7, 10.0, 2.0]}, lambda x: {value / 3 for value in x}, lambda x: {value * (1 / 3) for value in x}, lambda x: {value / 3 for value in x[1:]} | {0.04})
add("frozensets in a set", lambda: {"n": 4}, lambda n: {frozenset({i, (i / 3, "x")}) for i in range(n)}, lambda n: {frozenset({(i * (1 / 3), "x"), i}) for i in reversed(range(n))}, lambda n: {frozenset({i, (i / 3, "y")}) for i in range(n)})
add("floats as keys", lambda: {"x": [1.0, 0.7, 2.1]}, lambda x: {value / 7: i for i, value in enumerate(x)}, lambda x: {value * (1 / 7): i for i, value in enumerate(x)}, lambda x: {value / 7: -i for i, value in enumerate(x)})
add("date, decimal, fraction", lambda: {"when": datetime.datetime(2020, 1, 2, tzinfo=datetime.UTC), "by": decimal.Decimal("1.50")}, lambda when, by: [when + datetime.timedelta(days=2), by * 2, fractions.Fraction(by), when.date()], lambda when, by: [when.replace(day=4), by + by, fractions.Fraction(3, 2), datetime.date(2020, 1, 2)], lambda when, by: [when.replace(day=4), by + by, fractions.Fraction(3, 2), datetime.date(2020, 1, 3)])
add("deque", lambda: {"n": 4}, lambda n: collections.deque((i / 3 for i in range(n)), maxlen=3), lambda n: collections.deque([1 * (1 / 3), 2 * (1 / 3), 1.0], 3), lambda n: collections.deque([1 * (1 / 3), 2 * (1 / 3), 1.0]))
add("default dictionary", lambda: {"words": ["a", "bb", "c"]}, lambda words: [group := collections.defaultdict(list), [group[len(word)].append(word) for word in words]][0], lambda words: collections.defaultdict(list, {2: ["bb"], 1: ["a", "c"]}), lambda words: collections.defaultdict(list, {2: ["bb"], 1: ["c", "a"]}))
add("ordered dictionary", lambda: {"x": [3, 1]}, lambda x: collections.OrderedDict((value, value / 3) for value in x), lambda x: collections.OrderedDict([(3, 1.0), (1, 1 * (1 / 3))]), lambda x: collections.OrderedDict([(1, 1 / 3), (3, 1.0)]))
add("bytes", lambda: {"x": b"ab"}, lambda x: [x + b"\xff", bytearray(x)], lambda x: [b"".join([x, b"\xff"]), bytearray(b"ab")], lambda x: [x + b"\xff", bytes(x)])
add("range", lambda: {"n": 9}, lambda n: [range(0, n, 2), range(n)], lambda n: [range(n)[::2], range(n)], lambda n: [range(1, n, 2), range(n)])
add("large integers", lambda: {"n": 90}, lambda n: [2**n, -(3**n)], lambda n: [1 << n, -functools.reduce(lambda a, b: a * b, [3] * n)], lambda n: [2**n + 1, -(3**n)])
add("nan, infinite, minus zero", lambda: {"x": float("inf")}, lambda x: [x - x, -x, -0.0, x], lambda x: [float("nan"), float("-inf"), 0.0, x], lambda x: [0.0, -x, -0.0, x])
add("generator", lambda: {"n": 4}, lambda n: list(i / 3 for i in range(n)), lambda n: [i * (1 / 3) for i in range(n)], lambda n: tuple(i / 3 + 1 for i in range(n)))
add("complex", lambda: {"z": [1 + 2j, 0.1j]}, lambda z: [value / 3 for value in z], lambda z: [value * (1 / 3) for value in z], lambda z: [value.conjugate() / 3 for value in z])
add("a list in itself", lambda: {"n": 3}, lambda n: [items := [n / 3], items.append(items)][0], lambda n: [items := [n * (1 / 3)], items.append(items)][0], lambda n: [items := [n * 3.0], items.append(items)][0])

# --- numpy -------------------------------------------------------------------------------------------------------------

add("numpy complex", lambda: {"x": noise(7)}, lambda x: np.fft.fft(x) / 7, lambda x: np.exp(-2j * np.pi * np.outer(np.arange(7), np.arange(7)) / 7) @ x / 7, lambda x: np.fft.ifft(x))
add("large numpy complex", lambda: {"x": noise(300)}, lambda x: np.fft.fft(x).astype("c8") / 3, lambda x: np.fft.fft(x).astype("c8") * np.float32(1 / 3), lambda x: np.fft.fft(x).astype("c8") * 3)
add("numpy complex scalar", lambda: {"x": noise(5) + 1j, "y": noise(5, seed=1)}, lambda x, y: np.vdot(x, y) / 3, lambda x, y: (np.conj(x) * y).sum() * (1 / 3), lambda x, y: np.vdot(y, x) / 3)
add("big-endian", lambda: {"x": noise(4).astype(">f8")}, lambda x: (x / 3).astype(">f8"), lambda x: x * (1 / 3), lambda x: x * 3)
add("big-endian, written so", lambda: {"x": noise(4)}, lambda x: (x / 3).astype(">f8"), lambda x: (x * (1 / 3)).astype(">f8"), lambda x: (x / 3).astype(">f4"))
add("longdouble", lambda: {"x": noise(4).astype(np.longdouble)}, lambda x: x / 3, lambda x: x * (np.longdouble(1) / 3), lambda x: x / 3.01)
add("structured", lambda: {"x": noise(6)}, lambda x: np.array([*enumerate(np.exp(x) / 3)], [("start", "i4"), ("score", "f8")]), lambda x: np.array([(i, np.exp(v) * (1 / 3)) for i, v in enumerate(x)], [("start", "i4"), ("score", "f8")]), lambda x: np.array([*enumerate(np.exp(x) / 3.01)], [("start", "i4"), ("score", "f8")]))
add("structured argument", lambda: {"x": np.array([(1, [0.1, 2.0]), (3, [0.4, 5.0])], [("n", "i4"), ("v", "f8", (2,))])}, lambda x: x["v"].__itruediv__(3) is None, lambda x: x.__setitem__("v", x["v"] * (1 / 3)) is not None, lambda x: x["v"].__itruediv__(2) is None)
add("numpy keys", lambda: {"x": np.array([3, 1, 3, 10])}, lambda x: dict(zip(*np.unique(x, return_counts=True), strict=True)), lambda x: {int(i): x.tolist().count(i) for i in x}, lambda x: {int(i): 1 for i in x})
add("numpy in sets", lambda: {"x": np.array([3, 1, 2, 10])}, lambda x: set(x[x > 1]), lambda x: {i for i in x.tolist() if i > 1}, lambda x: {i for i in x.tolist() if i > 2})
add("numpy texts", lambda: {"x": np.array(["bb", "a"])}, lambda x: [x[0], {word: len(word) for word in x}], lambda x: [str(x[0]), {"a": 1, "bb": 2}], lambda x: [str(x[1]), {"a": 1, "bb": 2}])
add("pairs of numpy", lambda: {"x": np.array([[0, 1], [10, 2]])}, lambda x: {tuple(row): row[0] / 3 for row in x}, lambda x: {tuple(row): row[0] * (1 / 3) for row in x.tolist()}, lambda x: {tuple(row[::-1]): row[0] / 3 for row in x.tolist()})
add("an array of no dimension", lambda: {"x": noise(4)}, lambda x: [np.array(x.sum() / 3), x[:0]], lambda x: [np.asarray(x.sum() * (1 / 3)), np.empty(0)], lambda x: [np.array([x.sum() / 3]), x[:0]])
add("masks", lambda: {"x": noise(5)}, lambda x: [x > 0, (x > 0).any()], lambda x: [~(x <= 0), bool((x > 0).any())], lambda x: [x < 0, (x > 0).any()])
add("array of objects", lambda: {"x": [[0.1], [2.0, 3.0]]}, lambda x: np.array([[v / 3 for v in row] for row in x], object), lambda x: np.array([[v * (1 / 3) for v in row] for row in x], dtype="O"), lambda x: np.array([[v / 3.01 for v in row] for row in x], object))
add("view that is changed", lambda: {"x": noise(6)[::2]}, lambda x: x.__itruediv__(3) is None, lambda x: x.__imul__(1 / 3) is None, lambda x: x[1:].__imul__(1 / 3) is None)
add("dates of numpy", lambda: {"x": np.array(["2020-01-01", "2020-02-01"], "M8[D]")}, lambda x: x + np.timedelta64(1, "D"), lambda x: np.array(["2020-01-02", "2020-02-02"], "M8[D]"), lambda x: x)
add("generator of numpy", lambda: {"rng": np.random.default_rng(3), "n": 4}, lambda rng, n: rng.random(n) / 3, lambda rng, n: np.array([rng.random() for _ in range(n)]) * (1 / 3), lambda rng, n: np.random.default_rng(4).random(n) / 3)

# --- torch -------------------------------------------------------------------------------------------------------------

add("coo tensor", lambda: {"i": torch.tensor([[0, 2], [1, 0]]), "v": tensor(2)}, lambda i, v: torch.sparse_coo_tensor(i, v / 3, (3, 2)), lambda i, v: torch.sparse_coo_tensor(i.flip(1), v.flip(0) * (1 / 3), (3, 2)), lambda i, v: torch.sparse_coo_tensor(i, v.flip(0) / 3, (3, 2)))
add("coalesced", lambda: {"i": torch.tensor([[0, 0, 2], [1, 1, 0]]), "v": tensor(3)}, lambda i, v: torch.sparse_coo_tensor(i, v, (3, 2)).coalesce(), lambda i, v: torch.sparse_coo_tensor(i[:, 1:], torch.stack([v[0] + v[1], v[2]]), (3, 2)).coalesce(), lambda i, v: torch.sparse_coo_tensor(i[:, 1:], v[1:], (3, 2)).coalesce())
add("distribution", lambda: {"d": torch.distributions.Categorical(logits=tensor(4)), "x": torch.tensor(2)}, lambda d, x: d.logits[x] / 3, lambda d, x: d.log_prob(x) * (1 / 3), lambda d, x: d.probs[x] / 3)
add("distribution that is returned", lambda: {"x": tensor(4)}, lambda x: torch.distributions.Categorical(probs=x.softmax(0)), lambda x: [d := torch.distributions.Categorical(probs=x.exp() / x.exp().sum()), d.entropy()][0], lambda x: torch.distributions.Categorical(probs=x.sigmoid()))
add("autocast", lambda: {"x": tensor(3, 4), "w": tensor(4, 3, seed=1)}, lambda x, w: torch.tanh(x @ w), lambda x, w: torch.matmul(x, w).tanh(), lambda x, w: torch.tanh(x.double() @ w.double()).bfloat16() + 1, within=lambda: torch.autocast("cpu", dtype=torch.bfloat16))
add("half precision", lambda: {"x": tensor(5)}, lambda x: [x.bfloat16() / 3, x.half() / 3, x.to(torch.int8)], lambda x: [x.bfloat16() * (1 / 3), x.half() * (1 / 3), x.char()], lambda x: [x.bfloat16() / 3, x.bfloat16() / 3, x.char()])
add("requires grad", lambda: {"x": tensor(3).requires_grad_()}, lambda x: (x * 2).sum() / 3, lambda x: 2 * x.mean(), lambda x: (x * 2).sum().detach() / 3)
add("gradients of leaves", lambda: {"x": tensor(3).requires_grad_()}, lambda x: (x**3).sum().backward(), lambda x: torch.autograd.backward((x * x * x).sum()), lambda x: (x**3).mean().backward())
add("an expanded tensor", lambda: {"x": tensor(3, 1)}, lambda x: [x.expand(3, 4), x.T], lambda x: [x.repeat(1, 4), x.t().contiguous()], lambda x: [x.expand(3, 5), x.T])
add("dtype, device, size", lambda: {"x": tensor(3, 1)}, lambda x: [x.dtype, x.device, x.shape, x.shape[0]], lambda x: [torch.float32, torch.device("cpu"), torch.Size([3, 1]), 3], lambda x: [x.dtype, x.device, torch.Size([1, 3]), 3])
add("csr tensor", lambda: {"x": torch.tensor([[0.0, 1.0], [2.0, 0.0]])}, lambda x: (x / 3).to_sparse_csr(), lambda x: (x.to_sparse_csr().to_dense() * (1 / 3)).to_sparse_csr(), lambda x: x.to_sparse_csr())
add("quantised", lambda: {"x": tensor(4)}, lambda x: torch.quantize_per_tensor(x, 0.1, 3, torch.qint8), lambda x: torch.quantize_per_tensor(x * 2 / 2, 0.1, 3, torch.qint8), lambda x: torch.quantize_per_tensor(x, 0.1, 4, torch.qint8))
add("packed sequence", lambda: {"x": tensor(2, 3, 1)}, lambda x: nn.utils.rnn.pack_padded_sequence(x / 3, torch.tensor([3, 2]), batch_first=True), lambda x: nn.utils.rnn.pack_sequence([x[0] * (1 / 3), x[1, :2] * (1 / 3)]), lambda x: nn.utils.rnn.pack_sequence([x[0] / 3, x[1] / 3]))

# --- scipy, networkx, pandas -------------------------------------------------------------------------------------------

add("csr matrix", lambda: {"a": sp.csr_matrix(np.triu(noise(4, 4)))}, lambda a: (a + a.T).dot(sp.eye(4)) / 3, lambda a: sp.csr_matrix((a.toarray() + a.toarray().T) * (1 / 3)), lambda a: (a + a.T) / 3.01)
add("an argument that is looked at", lambda: {"a": sp.csr_matrix(np.triu(noise(4, 4)))}, lambda a: a.sum() / 3, lambda a: (a.has_sorted_indices, a.has_canonical_format, a.sum() * (1 / 3))[2], lambda a: abs(a).sum() / 3)
add("coo matrix", lambda: {"a": sp.csr_matrix(np.triu(noise(4, 4)))}, lambda a: (a.T + sp.eye(4)).tocoo(), lambda a: sp.coo_matrix(((m := (a + sp.eye(4)).tocoo()).data, (m.col, m.row)), (4, 4)), lambda a: (a + sp.eye(4)).tocoo())
add("networkx", lambda: {"g": nx.path_graph(5), "least": 2}, lambda g, least: nx.Graph((u, v) for u, v in g.edges if u >= least), lambda g, least: g.edge_subgraph([e for e in g.edges if min(e) >= least]).copy(), lambda g, least: nx.Graph((u, v) for u, v in g.edges if u > least))
add("networkx, looked at", lambda: {"g": nx.path_graph(5)}, lambda g: sum(dict(g.degree).values()) / 3, lambda g: (g.nodes, g.adj, 2 * len(g.edges) * (1 / 3))[2], lambda g: (g.add_edge(0, 4), 8 / 3)[1])
add("range index", lambda: {"x": [0.5, 1.0]}, lambda x: pd.Series(x) / 3, lambda x: pd.Series(x, index=[0, 1]) * (1 / 3), lambda x: pd.Series(x, index=[1, 2]) / 3)
add("table with levels", lambda: {"t": pd.DataFrame({"a": ["x", "y", "x"], "b": [1, 1, 2], "c": [0.1, 2.0, 3.0]})}, lambda t: t.groupby(["a", "b"])["c"].mean().to_frame() / 3, lambda t: pd.DataFrame({"c": [0.1 / 3, 1.0, 2.0 * (1 / 3)]}, index=pd.MultiIndex.from_tuples([("x", 1), ("x", 2), ("y", 1)], names=["a", "b"])), lambda t: t.groupby(["a", "b"])["c"].max().to_frame() / 3.01)
add("levels that nothing uses", lambda: {"t": pd.Series([1.0, 2.0], index=pd.MultiIndex.from_tuples([("x", 1), ("y", 2)]))}, lambda t: t[t > 1] / 3, lambda t: pd.Series([2.0 * (1 / 3)], index=pd.MultiIndex.from_tuples([("y", 2)])), lambda t: t[t < 2] / 3)
add("table that is changed", lambda: {"t": pd.DataFrame({"a": [1, 2], "b": [0.5, 1.0]})}, lambda t: t.__setitem__("c", t["b"] / 3), lambda t: t.insert(2, "c", [0.5 / 3, 1 / 3]), lambda t: t.__setitem__("c", t["a"] / 3))
