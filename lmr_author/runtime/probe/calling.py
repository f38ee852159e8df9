"""Making a call as it was recorded: arguments, free variables, random generators, modes of PyTorch, gradients."""

from __future__ import annotations

import asyncio
import inspect
import random
import sys
from contextlib import contextmanager, nullcontext
from typing import Any, Callable, Dict, Iterator, List, Optional, Set, Tuple

from .objects import library

CLOSURE, GLOBAL, MODE, RANDOM = "@closure ", "@global ", "@mode", "@random"
GRADIENTS, ITEMS = "@gradients", "@items"
"""Inputs beside the arguments; the first two are prefixes of the names of free variables and globals."""
VALUE, RAISED, EXHAUSTED, RETURNED = "value", "@raised", "@exhausted", "@returned"
"""Parts of the outcome; a generator's value is the list of its items."""
GRAD = "@grad "
"""Prefix of an argument of which only the ``.grad`` of tensors changed."""
ADDED = "@added"
"""Attributes that objects lacked before the call, or the arguments in which nothing else changed, with commas."""
ITEM_LIMIT = 1000
"""Most items of a generator that are kept."""
DEEPEST = 8
"""Nesting of containers in which tensors are searched."""


def with_prefix(inputs: Dict[str, Any], prefix: str) -> Dict[str, Any]:
    return {name[len(prefix) :]: value for name, value in inputs.items() if name.startswith(prefix)}


def unbind(function: Callable[..., Any], inputs: Dict[str, Any]) -> Tuple[Tuple[Any, ...], Dict[str, Any]]:
    """Return ``args`` and ``kwargs`` of a call. Raises TypeError where the function lacks a parameter."""
    signature = inspect.signature(function)
    unknown = [name for name in inputs if name[:1] != "@" and name not in signature.parameters]
    if unknown:
        raise TypeError("the function has no parameter %s" % ", ".join(unknown))
    bound = signature.bind_partial()
    bound.arguments.update((name, inputs[name]) for name in signature.parameters if name in inputs)
    return bound.args, bound.kwargs


def closure(function: Any) -> Dict[str, Any]:
    """Return ``{"@closure x": value}`` of a function's bound free variables, without the function itself."""
    function = inspect.unwrap(function)
    variables = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            if name not in ("__class__", function.__name__):
                variables[CLOSURE + name] = cell.cell_contents
        except ValueError:
            continue
    return variables


def call(function: Any, args: Any, kwargs: Any, most: int, keep: Callable[[Any], Any]) -> Dict[str, Any]:
    """Call a function, coroutine or generator to its end and return the parts of its outcome.

    Args:
        most: limit of a generator's items.
        keep: copies an item before the generator resumes.
    """
    value = function(*args, **kwargs)
    if inspect.iscoroutine(value):
        value = asyncio.run(value)
    if not inspect.isgenerator(value):
        return {VALUE: value}
    yielded: List[Any] = []
    while len(yielded) < most:
        try:
            yielded.append(keep(next(value)))
        except StopIteration as stop:
            return {VALUE: yielded, EXHAUSTED: True, RETURNED: stop.value}
    return {VALUE: yielded, EXHAUSTED: False}


@contextmanager
def _group_of_one(torch: Any) -> Iterator[None]:
    """Join a process group of one, without a network, for code that gathers or reduces."""
    distributed = torch.distributed
    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    try:
        yield
    finally:
        distributed.destroy_process_group()


@contextmanager
def applied(modes: Optional[Dict[str, Any]]) -> Iterator[None]:
    """Run in the recorded modes of PyTorch."""
    if not modes:
        yield
        return
    import torch

    before = torch.get_default_dtype(), torch.is_grad_enabled()
    torch.set_default_dtype(getattr(torch, modes.get("dtype", "float32")))
    torch.set_grad_enabled(modes.get("grad", True))
    autocast = nullcontext()
    if modes.get("autocast"):
        autocast = torch.autocast("cpu", dtype=getattr(torch, modes["autocast"]))
    alone = modes.get("group") and not torch.distributed.is_initialized()
    try:
        with _group_of_one(torch) if alone else nullcontext(), autocast:
            yield
    finally:
        torch.set_grad_enabled(before[1])
        torch.set_default_dtype(before[0])


def restore_random(states: Dict[str, Any]) -> None:
    """Restore the states of random generators, and seed those without one."""
    random.seed(0)
    if "python" in states:
        random.setstate(states["python"])
    if "numpy" in states or "numpy" in sys.modules:
        import numpy

        numpy.random.seed(0)
        if "numpy" in states:
            kind, keys, *rest = states["numpy"]
            numpy.random.set_state((kind, numpy.frombuffer(keys, dtype=numpy.uint32), *rest))
    if "torch" in states:
        import torch as loaded

        loaded.set_rng_state(loaded.tensor(list(states["torch"]), dtype=loaded.uint8))
    elif "torch" in sys.modules:
        # torch.manual_seed would slowly queue seeds for every device, with a stack trace each.
        torch = sys.modules["torch"]
        getattr(torch, "default_generator", torch).manual_seed(0)


def type_name(error: BaseException) -> str:
    cls = type(error)
    return cls.__qualname__ if cls.__module__ == "builtins" else "%s.%s" % (cls.__module__, cls.__qualname__)


def gradients(inputs: Dict[str, Any], value: Any) -> Dict[str, Any]:
    """Return path of an input → its gradient, of the inputs that require one and that the result depends on.

    The gradient is that of a sum of all floating tensors in ``value``, with fixed and different weights: the plain sum
    of a softmax is constant. It stops at the inputs, even where one was computed from another before the call. No
    ``.grad`` changes, and the caller keeps the graph.
    """
    torch = library("torch")
    if torch is None:
        return {}
    results = [tensor for _, tensor in _tensors(torch, {"": value})]
    wanted = list(_tensors(torch, inputs))
    if not results or not wanted:
        return {}
    by_path: Dict[str, Any] = {}

    def stop(path: str) -> Callable[[Any], Any]:
        def hook(gradient: Any) -> Any:
            by_path[path] = gradient.clone()
            return torch.zeros_like(gradient)

        return hook

    with torch.enable_grad():
        total = sum((tensor * _weights(torch, tensor)).sum() for tensor in results)
        wanted = _reached(total, wanted)
        hooks = [tensor.register_hook(stop(path)) for path, tensor in wanted]
        try:
            ends = [tensor for _, tensor in wanted]
            returned = torch.autograd.grad(total, ends, retain_graph=True, allow_unused=True)
        finally:
            for handle in hooks:
                handle.remove()
    # Before PyTorch 2.0 hooks of leaves do not run: then the gradient is what is returned.
    both = [(path, by_path.get(path, gradient)) for (path, _), gradient in zip(wanted, returned)]
    return {path: gradient for path, gradient in both if gradient is not None}


def _reached(total: Any, inputs: List[Tuple[str, Any]]) -> List[Tuple[str, Any]]:
    """Return the inputs from which the call computed its result.

    A replayed call gets its inputs as data: the search stops at them, before the parameters that they came from.
    """
    computed = {(tensor.grad_fn, tensor.output_nr) for _, tensor in inputs if not tensor.is_leaf}
    waiting, edges = [(total.grad_fn, 0)], set()
    while waiting:
        edge = waiting.pop()
        if edge[0] is not None and edge not in edges:
            edges.add(edge)
            waiting.extend(() if edge in computed else edge[0].next_functions)
    leaves = {id(getattr(function, "variable", None)) for function, _ in edges}

    def is_reached(tensor: Any) -> bool:
        return id(tensor) in leaves if tensor.is_leaf else (tensor.grad_fn, tensor.output_nr) in edges

    return [(path, tensor) for path, tensor in inputs if is_reached(tensor)]


def _weights(torch: Any, tensor: Any) -> Any:
    positions = torch.arange(tensor.numel(), dtype=torch.float64)
    return torch.cos(1.7 * positions + 0.3).reshape(tensor.shape).to(tensor)


def _tensors(torch: Any, values: Dict[str, Any]) -> Iterator[Tuple[str, Any]]:
    """Yield (first path, tensor) of the tensors in containers, objects and modules that require a gradient."""
    visited: Set[int] = set()
    waiting = [(path, value, 0) for path, value in reversed(list(values.items()))]
    while waiting:
        path, holder, depth = waiting.pop()
        if id(holder) in visited or depth > DEEPEST or isinstance(holder, (str, bytes, int, float)):
            continue
        visited.add(id(holder))
        if isinstance(holder, torch.Tensor):
            if holder.requires_grad and holder.is_floating_point():
                yield path, holder
            continue
        waiting.extend((path + step, part, depth + 1) for step, part in reversed(_steps(torch, holder)))


def _steps(torch: Any, value: Any) -> List[Tuple[str, Any]]:
    if isinstance(value, torch.nn.Module):
        return [("." + name, parameter) for name, parameter in value.named_parameters()]
    if isinstance(value, dict):
        return [("[%r]" % (key,), part) for key, part in value.items()]
    if isinstance(value, (list, tuple)):
        return [("[%d]" % index, part) for index, part in enumerate(value)]
    attributes = getattr(value, "__dict__", None)
    if isinstance(value, type) or not isinstance(attributes, dict) or callable(value):
        return []
    return [("." + name, part) for name, part in attributes.items()]
