"""Code that insists on a GPU, run on the CPU: PyTorch's devices and queries of CUDA mean the CPU."""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
import re
import sys
import types
from typing import Any, Callable, Dict

_FACTORIES = """
    arange as_tensor asarray bartlett_window blackman_window empty empty_like empty_strided eye frombuffer full
    full_like hamming_window hann_window kaiser_window linspace logspace normal ones ones_like rand rand_like randint
    randint_like randn randn_like randperm range scalar_tensor sparse_coo_tensor tensor tril_indices triu_indices
    zeros zeros_like
"""
_METHODS = "new_empty new_empty_strided new_full new_ones new_tensor new_zeros"
_ANSWERS: Dict[str, Any] = {
    "current_device": 0, "empty_cache": None, "get_arch_list": [], "get_device_capability": (8, 0),
    "get_device_name": "CPU", "init": None, "ipc_collect": None, "is_bf16_supported": True,
    "is_current_stream_capturing": False, "is_initialized": True, "max_memory_allocated": 0,
    "max_memory_cached": 0, "max_memory_reserved": 0, "mem_get_info": (2**34, 2**34), "memory_allocated": 0,
    "memory_cached": 0, "memory_reserved": 0, "memory_summary": "", "reset_max_memory_allocated": None,
    "reset_peak_memory_stats": None, "set_device": None, "synchronize": None, "utilization": 0,
}  # fmt: skip
_LIBRARY = re.compile(r"[/\\](site|dist)-packages[/\\]")


def use_cpu_for_cuda() -> None:
    """Run everything in PyTorch that names CUDA on the CPU, in this process.

    The code's own queries see one GPU. Installed libraries see none, so that DataParallel and autocast turn themselves
    off. ``x.cuda()`` is ``x``, as for a tensor on the GPU.
    """
    # TorchScript compiles what it finds under the names that are replaced here.
    os.environ.update(CUDA_VISIBLE_DEVICES="", PYTORCH_JIT="0")
    try:
        torch: Any = importlib.import_module("torch")
    except ImportError:
        return
    if hasattr(torch.cuda, "__lmr_cpu__"):
        return
    torch.cuda.__lmr_cpu__ = True
    for name in _FACTORIES.split():
        _convert_devices(torch, name)
    for name in _METHODS.split():
        _convert_devices(torch.Tensor, name)
    for owner, name, convert in (
        (torch.Tensor, "to", _device_on_cpu),
        (torch.nn.Module, "to", _device_on_cpu),
        (torch.nn.Module, "to_empty", _device_on_cpu),
        (torch.Tensor, "type", _on_cpu),
        (torch, "set_default_tensor_type", _on_cpu),
        (torch, "set_default_device", _device_on_cpu),
        (torch, "load", _on_cpu),
    ):
        _convert_devices(owner, name, convert)
    load = torch.load
    torch.load = lambda *args, **kwargs: load(
        *args, **dict({} if args[1:] else {"map_location": "cpu"}, **kwargs)
    )
    torch.Tensor.cuda = torch.Tensor.pin_memory = lambda self, *args, **kwargs: self
    _answer_queries(torch)


def _on_cpu(value: Any) -> Any:
    torch: Any = sys.modules["torch"]
    if isinstance(value, str):
        return "cpu" if value.partition(":")[0] == "cuda" else value.replace("torch.cuda.", "torch.")
    return torch.device("cpu") if isinstance(value, torch.device) and value.type == "cuda" else value


def _device_on_cpu(value: Any) -> Any:
    # `.to(0)` is a GPU; `.to(True)` is not.
    return "cpu" if type(value) is int else _on_cpu(value)


def _convert_devices(owner: Any, name: str, convert: Callable[[Any], Any] = lambda value: value) -> None:
    """Wrap a function that takes a device by keyword. ``convert``: applied to positional arguments."""
    function = getattr(owner, name, None)
    if function is None:  # in another version of PyTorch
        return

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        for key in kwargs.keys() & {"device", "map_location"}:
            kwargs[key] = _device_on_cpu(kwargs[key])
        return function(*map(convert, args), **kwargs)

    setattr(owner, name, call)


def _answer_queries(torch: Any) -> None:
    cuda = torch.cuda
    for name, answer in _ANSWERS.items():
        setattr(cuda, name, lambda *args, answer=answer, **kwargs: answer)
    for name, answer in (("is_available", True), ("device_count", 1)):
        setattr(cuda, name, functools.partial(_answer, getattr(cuda, name), answer))
    for name in dir(torch):
        if name.endswith("Tensor") and hasattr(cuda, name):
            setattr(cuda, name, getattr(torch, name))
    cuda.device = cuda.device_of = cuda.stream = contextlib.nullcontext
    cuda.get_device_properties = lambda *args: types.SimpleNamespace(
        name="CPU", total_memory=2**34, major=8, minor=0, multi_processor_count=1
    )
    # The CPU's generator draws the GPU's random numbers. (`torch.manual_seed` calls these, too.)
    cuda.manual_seed = cuda.manual_seed_all = lambda seed: torch.default_generator.manual_seed(int(seed))
    cuda.get_rng_state = lambda *args: torch.get_rng_state()
    cuda.set_rng_state = lambda state, *args: torch.set_rng_state(state)
    cuda.get_rng_state_all = lambda: [torch.get_rng_state()]
    cuda.set_rng_state_all = lambda states: torch.set_rng_state(states[0])


def _answer(function: Any, answer: Any) -> Any:
    asking = sys._getframe(1).f_code.co_filename
    return function() if _LIBRARY.search(asking) else answer
