"""Bound modules of flax survive being stored. Where flax is not installed, a part of it stands in."""

from __future__ import annotations

import dataclasses
import importlib.util
import inspect
import sys
import types
from typing import Any

import pytest

from lmr_author.probe import flax_modules
from lmr_author.probe.codec import Unstorable, decode, encode
from lmr_author.probe.compare import compare

INSTALLED = importlib.util.find_spec("flax") is not None


@dataclasses.dataclass(frozen=True)
class LazyRng:
    """A random key and what is folded into it."""

    rng: Any
    suffix: tuple[Any, ...] = ()


class Scope:
    """What a module is bound to; it leads to what only this process has."""

    def __init__(self, variables: Any, rngs: Any, mutable: Any, *, initializing: bool = False) -> None:
        self.variables, self.mutable, self.initializing = variables, mutable, initializing
        self.rngs = {name: key if isinstance(key, LazyRng) else LazyRng(key) for name, key in rngs.items()}
        self.rng_counters = dict.fromkeys(rngs, 0)
        self.only_here = iter(())


@dataclasses.dataclass
class Module:
    """As much of flax.linen.Module as is used."""

    width: int = 3
    inner: Any = None
    parent: Any = None
    name: str | None = None
    scope: Any = dataclasses.field(default=None, init=False)

    @property
    def variables(self) -> Any:
        return self.scope.variables

    def is_initializing(self) -> bool:
        return bool(self.scope.initializing)

    def bind(self, variables: Any, rngs: Any = None, mutable: Any = False) -> Module:
        bound = dataclasses.replace(self)
        bound.scope = Scope(variables, rngs or {}, mutable)
        return bound


@pytest.fixture
def linen(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The stand-in, also where flax is installed: what it does with it is looked at beside."""
    module, core = types.ModuleType("flax.linen"), types.ModuleType("flax.core.scope")
    vars(module)["Module"], vars(core)["LazyRng"] = Module, LazyRng
    for name, each in (("flax.linen", module), ("flax.core.scope", core)):
        monkeypatch.setitem(sys.modules, name, each)
    return module


def test_a_bound_module_comes_back_with_its_variables(linen: Any) -> None:
    parent = Module()
    module = dataclasses.replace(Module(4, inner=Module(2)), parent=parent, name="block")
    variables = {"params": {"kernel": [1.0, 2.0]}, "batch_stats": {"mean": [0.5]}}
    bound = module.bind(variables, {"dropout": LazyRng([0, 7], ("block", 1))}, ["batch_stats"])
    bound.scope.rng_counters = {"dropout": 2, (object(), "part"): {}}

    found = decode(encode({"self": bound, "same": bound}))

    made = found["self"]
    assert made is found["same"] and type(made) is Module
    assert (made.width, made.inner.width, made.inner.scope) == (4, 2, None)
    assert (made.parent, made.name) == (None, None)
    assert made.variables == variables and made.scope.mutable == ["batch_stats"]
    assert made.scope.rngs == {"dropout": LazyRng([0, 7], ("block", 1))}
    assert made.scope.rng_counters == {"dropout": 2}


def test_what_a_call_changes_in_the_variables_is_seen(linen: Any) -> None:
    bound = Module().bind({"batch_stats": {"mean": [0.5]}}, mutable=True)
    before = encode({"self": bound})
    bound.scope.variables = {"batch_stats": {"mean": [0.75]}}
    (found,) = compare(before, encode({"self": bound}))
    assert "batch_stats" in found.path and "0.75" in found.message


def test_a_module_that_is_not_bound_is_its_fields(linen: Any) -> None:
    made = decode(encode({"m": Module(5)}))["m"]
    assert (made.width, made.scope) == (5, None)


def test_a_method_is_called_as_flax_calls_it(linen: Any) -> None:
    def method(self: Any, x: int) -> int:
        """What the target is."""
        return x + 1

    def wrapped(self: Any, function: Any, args: Any, kwargs: Any) -> list[Any]:
        return [function(self, *args, **kwargs)]

    bound = type("Wrapping", (Module,), {"_call_wrapped_method": wrapped})().bind({})
    called = flax_modules.entered(method, (bound, 1))
    assert called(bound, x=1) == [2] and inspect.unwrap(called) is method
    for others in ((Module(), 1), (1,), ()):
        assert flax_modules.entered(method, others) is method


def test_while_its_parameters_are_made_it_cannot_be_stored(linen: Any) -> None:
    module = Module()
    module.scope = Scope({}, {}, True, initializing=True)
    with pytest.raises(Unstorable, match="record a call by apply"):
        encode({"self": module})


@pytest.mark.parametrize(
    ("mutable", "kept"), [(False, False), ("a", "a"), ({"b", "a"}, ["a", "b"]), (3, True)]
)
def test_which_collections_may_change(linen: Any, mutable: Any, kept: Any) -> None:
    module = Module().bind({}, mutable=mutable)
    (_, [_, _, bound]) = flax_modules.describe(module) or ("", [0, 0, {}])
    assert bound["mutable"] == kept


def test_a_module_of_flax_itself_computes_the_same() -> None:
    if not INSTALLED:
        assert flax_modules.describe(Module()) is None, "flax is not loaded: nothing is looked at"
        return
    from tests.probe import flax_model

    flax_model.check()
