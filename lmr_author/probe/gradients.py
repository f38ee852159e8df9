"""Gradients of what a call returned with respect to its inputs, where the annotator asks for them."""

from __future__ import annotations

import sys
from typing import Any, Dict, Iterator, List, Set, Tuple

DEEPEST = 8
"""Nesting of containers below which no tensor is looked for."""


def gradients(inputs: Dict[str, Any], value: Any) -> Dict[str, Any]:
    """Return path of each input that requires a gradient → its gradient; None where the result does not depend on it.

    The gradient is that of a weighted sum of all floating tensors in ``value``, with fixed weights that are not all
    alike: the plain sum of a softmax does not depend on anything. ``.grad`` of no tensor is touched, and the graph is
    kept for whoever made the call. Raises what autograd raises.
    """
    torch: Any = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "Tensor"):
        return {}
    results = [item for _, item in _tensors(torch, {"": value})]
    wanted = list(_tensors(torch, inputs))
    if not results or not wanted:
        return {}
    with torch.enable_grad():
        total = sum((item * _weights(torch, item)).sum() for item in results)
        found = torch.autograd.grad(total, [item for _, item in wanted], retain_graph=True, allow_unused=True)
    return {path: gradient for (path, _), gradient in zip(wanted, found)}


def _weights(torch: Any, tensor: Any) -> Any:
    """Numbers between -1 and 1, one for each element, the same ones each time."""
    places = torch.arange(tensor.numel(), dtype=torch.float64)
    return torch.cos(1.7 * places + 0.3).reshape(tensor.shape).to(tensor)


def _tensors(torch: Any, values: Dict[str, Any]) -> Iterator[Tuple[str, Any]]:
    """The real tensors in containers, objects and modules that require a gradient, each once, under its first path."""
    seen: Set[int] = set()
    waiting = [(path, value, 0) for path, value in reversed(list(values.items()))]
    while waiting:
        path, item, depth = waiting.pop()
        if id(item) in seen or depth > DEEPEST or isinstance(item, (str, bytes, int, float)):
            continue
        seen.add(id(item))
        if isinstance(item, torch.Tensor):
            if item.requires_grad and item.is_floating_point():
                yield path, item
            continue
        waiting.extend((path + step, part, depth + 1) for step, part in reversed(_parts(torch, item)))


def _parts(torch: Any, value: Any) -> List[Tuple[str, Any]]:
    if isinstance(value, torch.nn.Module):
        return [("." + name, parameter) for name, parameter in value.named_parameters()]
    if isinstance(value, dict):
        return [("[%r]" % (key,), item) for key, item in value.items()]
    if isinstance(value, (list, tuple)):
        return [("[%d]" % place, item) for place, item in enumerate(value)]
    attributes = getattr(value, "__dict__", None)
    if isinstance(value, type) or not isinstance(attributes, dict) or callable(value):
        return []
    return [("." + name, item) for name, item in attributes.items()]
