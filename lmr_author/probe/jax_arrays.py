"""JAX arrays in a document: as numpy's, with a mark. JAX is only looked at where it is loaded already."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any, Dict, Optional

from .dtypes import EXTENDED, descr

if TYPE_CHECKING:
    from .encoder import Encoder

CLS = "jax"
"""What marks an array's node as JAX's."""

_WIDE = ("<f8", "<i8", "<u8", "<c16")
"""numpy's names of what JAX makes narrower unless it is told not to."""


def encode(encoder: Encoder, value: Any, path: str) -> Optional[Dict[str, Any]]:
    """The node of a JAX array or key; None when it is none."""
    jax: Any = sys.modules.get("jax")
    kind = getattr(getattr(jax, "numpy", None), "ndarray", None)
    if kind is None or not isinstance(value, kind):
        return None
    if isinstance(value, jax.core.Tracer):
        return encoder.problem(
            path,
            value,
            "it stands for an array while jit, grad, vmap or scan trace the code; call the function outside of them, "
            "or run the command as JAX_DISABLE_JIT=1 python …",
        )
    if str(value.dtype).startswith("key<"):
        parts = [sys.modules["numpy"].asarray(jax.random.key_data(value)), str(jax.random.key_impl(value))]
        return {"$": "value", "type": "jax.key", "args": encoder.items(parts, path)}
    array = sys.modules["numpy"].asarray(value)
    if array.dtype.kind not in "biufc" and array.dtype.name not in EXTENDED:
        return encoder.problem(
            path, value, "arrays of %s cannot be stored; drive it with float32" % array.dtype
        )
    node = {"$": "ndarray", "b": "", "dtype": descr(array.dtype), "shape": list(array.shape), "cls": CLS}
    encoder.grow(path, array.nbytes)
    encoder.pending.append((node, array, path))
    return encoder.remember(value, node)


def from_numpy(array: Any) -> Any:
    """The JAX array of a numpy array. One of 64 bits exists only where JAX may make such."""
    jax: Any = importlib.import_module("jax")
    if array.dtype.str in _WIDE and not jax.config.jax_enable_x64:
        jax.config.update("jax_enable_x64", True)
    return importlib.import_module("jax.numpy").array(array)


def make_key(data: Any, implementation: str) -> Any:
    """A typed random key from its numbers."""
    return importlib.import_module("jax").random.wrap_key_data(data, impl=implementation)
