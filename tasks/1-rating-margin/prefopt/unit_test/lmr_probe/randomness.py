"""States of the random generators that a call may use, as plain values.

Only libraries that the process has loaded already are looked at. CUDA generators are not kept: replay
runs on the CPU.
"""

from __future__ import annotations

import random
import sys
from typing import Any, Dict

SEED = 0
"""Seeds every generator whose state was not recorded."""


def capture() -> Dict[str, Any]:
    """The state of each generator, comparable with ``==``."""
    states: Dict[str, Any] = {"python": random.getstate()}
    numpy = sys.modules.get("numpy")
    if numpy is not None and hasattr(numpy, "random"):
        kind, keys, position, has_gauss, gauss = numpy.random.get_state()
        states["numpy"] = (kind, keys.tobytes(), int(position), int(has_gauss), float(gauss))
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "get_rng_state"):
        state = torch.get_rng_state()
        states["torch"] = bytes(state.numpy().tobytes()) if numpy is not None else bytes(state.tolist())
    return states


def consumed(before: Dict[str, Any], after: Dict[str, Any]) -> Dict[str, Any]:
    """The states before a call of those generators that it used."""
    return {name: state for name, state in before.items() if after.get(name) != state}


def restore(states: Dict[str, Any]) -> None:
    """Put states back, and seed the generators that have none."""
    if "python" in states:
        random.setstate(states["python"])
    else:
        random.seed(SEED)
    if "numpy" in states:
        import numpy

        kind, keys, position, has_gauss, gauss = states["numpy"]
        array = numpy.frombuffer(keys, dtype=numpy.uint32)
        numpy.random.set_state((kind, array, position, has_gauss, gauss))
    elif "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(SEED)
    if "torch" in states:
        import torch as loaded

        loaded.set_rng_state(loaded.tensor(list(states["torch"]), dtype=loaded.uint8))
    elif "torch" in sys.modules:
        # torch.manual_seed would queue seeds for every device, with a stack trace each: slow, and not needed.
        torch = sys.modules["torch"]
        getattr(torch, "default_generator", torch).manual_seed(SEED)
