"""A model of flax, for where it is installed: calls of its parts are stored, and computed again."""

from __future__ import annotations

import importlib
from typing import Any

from lmr_author.probe.codec import Unstorable, decode, encode
from lmr_author.probe.compare import compare

nn: Any = importlib.import_module("flax.linen")
jax: Any = importlib.import_module("jax")


class Block(nn.Module):  # type: ignore[misc]
    """Parameters, random numbers and statistics."""

    width: int

    @nn.compact
    def __call__(self, x: Any, train: bool = False) -> Any:
        h = nn.Dense(self.width)(x)
        h = nn.Dropout(0.5, deterministic=not train)(h)
        return nn.BatchNorm(use_running_average=not train)(h)


class Net(nn.Module):  # type: ignore[misc]
    """Two blocks, made in ``setup``."""

    width: int

    def setup(self) -> None:
        self.a, self.b = Block(self.width), Block(self.width)
        self.scale = self.param("scale", nn.initializers.ones, (1,))

    def mix(self, h: Any, train: bool) -> Any:
        return h * self.scale + self.b(h, train)

    def __call__(self, x: Any, train: bool = False) -> Any:
        return self.mix(self.a(x, train), train)


def check() -> None:
    """Assert that each call by apply gives the same result, and the same statistics, after being stored."""
    calls: list[tuple[Any, Any, Any]] = []

    def watch(cls: Any, name: str) -> None:
        function = getattr(cls, name)

        def watched(self: Any, *args: Any) -> Any:
            try:
                before = encode({"self": self, "args": args})
            except Unstorable as error:
                assert "record a call by apply" in str(error)
                return function(self, *args)
            result = function(self, *args)
            calls.append((function, before, encode({"result": result, "self": self})))
            return result

        setattr(cls, name, watched)

    watch(Block, "__call__")
    watch(Net, "mix")
    model, x = Net(4), jax.numpy.arange(6.0).reshape(2, 3)
    keys = {name: jax.random.PRNGKey(number) for number, name in enumerate(("params", "dropout"))}
    variables = model.init(keys, x)
    model.apply(variables, x)
    model.apply(variables, x, True, rngs={"dropout": keys["dropout"]}, mutable=["batch_stats"])
    assert len(calls) == 6
    for function, before, after in calls:
        given = decode(before)
        result = function(given["self"], *given["args"])
        assert not compare(after, encode({"result": result, "self": given["self"]}))
