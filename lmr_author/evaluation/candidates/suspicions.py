"""What no honest implementation needs, and what lets code forge the verdict of a test that runs beside it.

Recorded tests need none of this: their expected outputs are not in the sandbox, and are compared outside.
A hand-written test script runs in the same process as the code that it judges. So there a candidate that
passes and uses one of these, where the golden does not, is not believed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from lmr_author import source

_NAMES = {
    "eval", "exec", "exit", "quit", "open", "compile", "__import__", "__builtins__", "SystemExit",
    "KeyboardInterrupt",
}  # fmt: skip
_ATTRIBUTES = {
    "exit", "_exit", "abort", "kill", "killpg", "fork", "execv", "execve", "settrace", "setprofile",
    "_getframe", "currentframe", "get_referrers", "get_objects", "addaudithook", "excepthook", "basicConfig",
    "import_module", "meta_path", "path_hooks", "f_back", "f_globals", "f_locals", "tb_frame", "gi_frame",
    "__builtins__", "__subclasses__", "__globals__", "__code__", "listdir", "scandir", "walk", "glob", "rglob",
    "read_text", "read_bytes", "write_text", "write_bytes", "load", "loadtxt", "fromfile", "memmap",
}  # fmt: skip
_MODULES = {
    "unittest", "pytest", "_pytest", "atexit", "signal", "ctypes", "inspect", "subprocess", "builtins",
    "importlib", "multiprocessing", "threading", "socket", "__main__", "sitecustomize", "pickle", "runpy",
}  # fmt: skip
_TEXTS = ("unit_test", "golden", "Passed", "conftest", "/proc/")
_METHODS = {"__eq__", "__torch_function__", "__array_ufunc__", "__array_function__"}


def suspicions(answer: bytes, golden: bytes, given: bytes) -> list[str]:
    """What is suspicious in a goal file with an answer, and stands neither in the golden nor in the masked file."""
    known = {*_found(golden), *_found(given)}
    return sorted(set(_found(answer)) - known)


def _found(data: bytes) -> Iterator[str]:
    try:
        tree = source.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    imported = {
        name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in source.bound_by(node)
    }
    documented = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (
                f"import {item.name}" for item in node.names if item.name.partition(".")[0] in _MODULES
            )
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in _MODULES:
            yield f"import {node.module}"
        elif isinstance(node, ast.Name) and node.id in _NAMES:
            yield node.id
        elif isinstance(node, ast.Attribute) and (
            node.attr in _ATTRIBUTES or (node.attr == "modules" and source.root_name(node) == "sys")
        ):
            yield f".{node.attr}"
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documented:
            yield from (f"the text {word!r}" for word in _TEXTS if word in node.value)
        elif isinstance(node, ast.FunctionDef) and node.name in _METHODS:
            yield f"def {node.name}"
        if isinstance(node, ast.Assign | ast.AugAssign):
            targets: list[ast.expr] = [*node.targets] if isinstance(node, ast.Assign) else [node.target]
            yield from _patches(targets, imported)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "setattr":
            first = node.args[0] if node.args else None
            if isinstance(first, ast.Name | ast.Attribute) and source.root_name(first) in imported:
                yield f"setattr({ast.unparse(first)}, …)"


def _patches(targets: list[ast.expr], imported: set[str]) -> Iterator[str]:
    """Assignments to what belongs to an imported module, as in ``torch.allclose = …``."""
    for target in targets:
        if isinstance(target, ast.Attribute | ast.Subscript) and source.root_name(target) in imported:
            yield f"{ast.unparse(target)} = …"
