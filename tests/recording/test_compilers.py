"""Functions that a decorator compiles: their Python is what is recorded."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from lmr_author.recording import compilers, failed
from lmr_author.sandbox.base import ExecResult

NUMBA = {"NUMBA_DISABLE_JIT": "1"}
JAX = {"JAX_DISABLE_JIT": "1"}


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("from numba import njit\n@njit()\ndef f(x): ...", NUMBA),
        ("import numba as nb\n@nb.vectorize(['f8(f8)'])\ndef f(x): ...", NUMBA),
        ("import torch\n@torch.jit.script\ndef f(x): ...", {"PYTORCH_JIT": "0"}),
        ("import torch\n@torch.compile(dynamic=True)\ndef f(x): ...", {"TORCHDYNAMO_DISABLE": "1"}),
        (
            "import jax\nfrom functools import partial\n@partial(jax.jit, static_argnums=0)\ndef f(x): ...",
            JAX,
        ),
        ("import numba\ndef f(x): ...\nfast = numba.njit(f)", NUMBA),
        ("import numba\n@numba.njit\ndef g(x): ...\ndef f(x): ...", {}),
        ("import torch\n@torch.jit.export\ndef f(x): ...", {}),
        ("import torch\n@torch.jit.script_if_tracing\ndef f(x): ...", {"PYTORCH_JIT": "0"}),
        ("import torch\n@torch.no_grad()\ndef f(x): ...", {}),
        ("from mine import njit\n@njit\ndef f(x): ...", {}),
    ],
)
def test_a_compiler_is_known_by_what_was_imported(code: str, found: dict[str, str]) -> None:
    module = ast.parse(code)
    function = next(item for item in module.body if isinstance(item, ast.FunctionDef) and item.name == "f")
    assert compilers.switches(module, function) == found


def test_an_error_of_a_compiler_comes_with_its_switch(tmp_path: Path) -> None:
    said = "numba.core.errors.TypingError: Failed in nopython mode pipeline (step: nopython frontend)"
    result = ExecResult(1, b"", said.encode(), 0.1)
    assert "run the command as NUMBA_DISABLE_JIT=1 python" in failed.advice(tmp_path, said, result)
