"""What no honest implementation needs, and what lets code forge the verdict of a test that runs beside it.

Recorded tests need none of this: their expected outputs are not in the sandbox, and are compared outside.
A hand-written test script runs in the same process as the code that it judges. So there a candidate that
passes and uses one of these, where the golden does not, is not believed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from lmr_author import code

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
        tree = code.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    imported = {
        name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in code.bound_by(node)
    }
    documented = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        yield from _used(node)
        yield from _patched(node, imported)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documented:
            yield from (f"the text {word!r}" for word in _TEXTS if word in node.value)


def _used(node: ast.AST) -> Iterator[str]:
    """Modules, names, attributes and methods that no honest implementation needs."""
    match node:
        case ast.Import(names=names):
            yield from (f"import {item.name}" for item in names if item.name.partition(".")[0] in _MODULES)
        case ast.ImportFrom(module=str(module)) if module.partition(".")[0] in _MODULES:
            yield f"import {module}"
        case ast.Name(id=name) if name in _NAMES:
            yield name
        case ast.Attribute(attr=name) if name in _ATTRIBUTES:
            yield f".{name}"
        case ast.Attribute(attr="modules") if code.root_name(node) == "sys":
            yield ".modules"
        case ast.FunctionDef(name=name) if name in _METHODS:
            yield f"def {name}"


def _patched(node: ast.AST, imported: set[str]) -> Iterator[str]:
    """What belongs to an imported module and is set, as in ``torch.allclose = …``."""
    targets: list[ast.expr] = []
    match node:
        case ast.Assign():
            targets = node.targets
        case ast.AugAssign():
            targets = [node.target]
        case ast.Call(func=ast.Name(id="setattr"), args=[ast.Name() | ast.Attribute() as changed, *_]):
            if code.root_name(changed) in imported:
                yield f"setattr({ast.unparse(changed)}, …)"
    for target in targets:
        if isinstance(target, ast.Attribute | ast.Subscript) and code.root_name(target) in imported:
            yield f"{ast.unparse(target)} = …"
