"""The forked process that imports one version of the goal file and makes the recorded calls."""

from __future__ import annotations

import os
import sys
from typing import Any, Dict, List, Optional

from .checking import load, to_bytes
from .document import BadDocument
from .encoding import DEFAULT_LIMIT
from .frames import write_frame
from .target import LoadError, Result, Target, describe

DONE = write_frame({"kind": "done"})
"""The last thing that a child sends."""
START = b'"kind":"start"'
"""What the frame that begins a case contains."""


def run_cases(request: Dict[str, Any], variant: Dict[str, Any], cases: List[str], out: int) -> None:
    """Run the cases of one variant; sends ``loaded`` after its import, ``start`` and ``case`` for each, then ``used``.

    The last of them, sent when ``variant["share"]`` is true, names modules that were loaded, some of them by the
    cases: to look at all modules costs a forked process a copy of the memory they lie in.
    """
    before = set(sys.modules) if variant.get("share") else None
    target = _target(request, variant)
    _enter(target)
    try:
        target.load()
    except LoadError as error:
        send(out, {"kind": "loaded"})
        failed = Result("import-error", None, False, "", 0.0, error.error)
        for case in cases:
            _report(out, case, failed, target.tree)
        send_bytes(out, DONE)
        return
    send(out, {"kind": "loaded"})
    _use_threads(int(request.get("threads") or 1))
    limit = int(request.get("max_bytes") or DEFAULT_LIMIT)
    for case in cases:
        send(out, {"kind": "start", "case": case})
        try:
            inputs = load(os.path.join(request["inputs"], case), "inputs")
        except BadDocument as error:
            bad = Result("bad-inputs", None, False, "", 0.0, describe(error, target.hook))
            _report(out, case, bad, target.tree)
            continue
        _report(out, case, target.call(inputs, limit), target.tree)
    if before is not None:  # an optimizer's first step loads a third of PyTorch
        send(out, {"kind": "used", "modules": _installed(before, target.tree)})
    send_bytes(out, DONE)


def _target(request: Dict[str, Any], variant: Dict[str, Any]) -> Target:
    """The function that a variant asks for, in the file as the variant has it."""
    source: Optional[bytes] = None
    if variant.get("source"):
        with open(variant["source"], "rb") as file:
            source = file.read()
    return Target(
        request["tree"],
        request["goal_file"],
        request["qualname"],
        variant.get("line") or request.get("line") or 0,
        request.get("module"),
        request.get("sys_path") or [""],
        source,
        request.get("fixtures"),
    )


def _enter(target: Target) -> None:
    """Stand where the repository's own runs stand."""
    sys.argv[:] = [target.path]
    sys.dont_write_bytecode = True
    try:
        os.chdir(target.tree)
    except OSError:
        pass


def _use_threads(number: int) -> None:
    """Compute with so many threads; sums depend on it in their last bits."""
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "set_num_threads"):
        torch.set_num_threads(number)


def _installed(before: Any, tree: str) -> List[str]:
    """Modules that were loaded from installed packages, in the order they were loaded."""
    base = os.path.realpath(tree) + os.sep
    found = []
    for name, module in list(sys.modules.items()):
        path = getattr(module, "__file__", None) if name not in before else None
        if isinstance(path, str) and not os.path.realpath(path).startswith(base):
            found.append(name)
    return found


def _in_tree(path: str, tree: str) -> str:
    """A path relative to the tree it lies in; as it is when it lies elsewhere."""
    real, base = os.path.realpath(path), os.path.realpath(tree)
    return os.path.relpath(real, base).replace(os.sep, "/") if real.startswith(base + os.sep) else path


def _report(out: int, case: str, result: Result, tree: str) -> None:
    payload = to_bytes(result.document) if result.document is not None else b""
    header = {
        "kind": "case",
        "case": case,
        "status": result.status,
        "entered": result.entered,
        "file": _in_tree(result.file, tree) if result.file else "",
        "seconds": round(result.seconds, 6),
        "error": result.error,
    }
    send(out, header, payload)


def send(out: int, header: Dict[str, Any], payload: bytes = b"") -> None:
    """Write a frame completely."""
    send_bytes(out, write_frame(header, payload))


def send_bytes(out: int, data: bytes) -> None:
    """Write all of some bytes."""
    view = memoryview(data)
    while view:
        view = view[os.write(out, view) :]
