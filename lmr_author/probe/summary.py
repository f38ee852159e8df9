"""What a recording says about itself: of each call, and of the whole run."""

from __future__ import annotations

import importlib.machinery
import inspect
import json
import os
import sys
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple

from . import objects
from .document import Document
from .instrument import TargetNotFound, instrument
from .leaves import first_paths
from .wording import describe

if TYPE_CHECKING:
    from .recorder import Recorder


def describe_call(inputs: Document, expected: Document, function: Any) -> Dict[str, Any]:
    """The ``meta.json`` of a call, without what the recorder adds."""
    arguments = {key: node for key, node in inputs.tree["v"] if not key.startswith("@")}
    outcome = dict(expected.tree["v"])
    ids = first_paths(inputs)[1]
    defaults = [name for name in inspect.signature(function).parameters if name not in arguments]
    return {
        "summary": {name: _kind(node, ids) for name, node in arguments.items()},
        "outcome": "raised" if outcome["@outcome"] == "raised" else "returned",
        "mutated": [name for name in outcome if name in arguments or name == "@argument value"],
        "defaults": defaults,
        "omitted": [{"path": item.path, "type": item.type, "advice": item.advice} for item in inputs.omitted],
        "text": len(json.dumps(inputs.tree)) + len(json.dumps(expected.tree)),
    }


def _kind(node: Any, ids: Dict[int, Any]) -> str:
    """A node as far as calls are alike: shapes and types, and the values of flags and short texts."""
    if isinstance(node, dict) and node["$"] == "ref":
        node = ids[node["id"]]
    if isinstance(node, (int, float)) and not isinstance(node, bool):
        return type(node).__name__
    text = describe(node)
    for article in ("a ", "an "):
        if isinstance(node, dict) and text.startswith(article):
            return text[len(article) :]
    return text


def shapes(arguments: Dict[str, Any]) -> str:
    """Shapes of arguments, as in ``" (x: [512, 768])"``: what there is to slice where a call is too large."""
    found = []
    for name, value in arguments.items():
        shape = getattr(value, "shape", None)
        if isinstance(shape, tuple) and shape and all(isinstance(size, int) for size in shape):
            found.append("%s: %s" % (name, list(shape)))
    return " (%s)" % ", ".join(found) if found else ""


def summarize(recorder: Recorder) -> Dict[str, Any]:
    """The ``summary.json`` of a run."""
    blocks, absent = _blocks(recorder)
    reasons = sorted(recorder.reasons.items(), key=lambda item: -item[1])
    return {
        "calls": recorder.calls,
        "stored": sorted(item.number for item in recorder.pool.kept),
        "blocks": {str(block): line for block, line in blocks.items()},
        "absent": {str(block): own for block, own in absent.items()},
        "module": _module(recorder),
        "sys_path": _sys_path(recorder.tree),
        "imported": _imported(recorder.tree),
        "near": [] if recorder.calls else recorder.near.report(),
        "not_stored": [{"kind": kind, "reason": reason, "count": n} for (kind, reason), n in reasons],
        "unstorable": _first(recorder, ("unstorable", "failed")),
        "too_large": _first(recorder, ("too_large",)),
        "misfit": _first(recorder, ("misfit",)),
    }


def _first(recorder: Recorder, kinds: Any) -> str:
    """The most frequent reason of some kinds, "" when calls were stored or there is none."""
    found = [(count, reason) for (kind, reason), count in recorder.reasons.items() if kind in kinds]
    return max(found)[1] if found and not recorder.pool.kept else ""


def _blocks(recorder: Recorder) -> Tuple[Dict[int, int], Dict[int, int]]:
    """The line of each block of the target, and those that stand for an ``else`` that is not written."""
    hook = recorder.hook
    found = hook.found
    if found is None:
        try:
            with open(hook.goal_file, "rb") as file:
                found = instrument(file.read(), hook.goal_file, hook.qualname, hook.line)
        except (OSError, TargetNotFound):
            return {}, {}
    return found.lines, found.absent


def _module(recorder: Recorder) -> Optional[str]:
    """The name by which the goal file can be imported again; None for a script."""
    if not recorder.modules:
        return None
    name = objects.recorded_module(recorder.modules[-1])
    return None if name == objects.MAIN else name


def name_module(recorder: Recorder, name: str) -> None:
    """See to it that the goal file's classes are recorded under a name that leads to it again.

    A file that was loaded by its path under an invented name is treated as a script.
    """
    if name == objects.MAIN:
        return
    package, _, last = name.rpartition(".")
    parent = sys.modules.get(package)
    places = getattr(parent, "__path__", None) if package else None
    if package and places is None:
        found = None
    else:
        try:
            found = importlib.machinery.PathFinder.find_spec(last if not package else name, places)
        except (ImportError, ValueError):
            found = None
    origin = getattr(found, "origin", None)
    if origin is None or os.path.realpath(origin) != recorder.hook.goal_file:
        objects.aliases[name] = objects.MAIN


def _inside(tree: str, path: str) -> Optional[str]:
    """A path relative to the tree, "" for the tree itself; None when it lies elsewhere."""
    real = os.path.realpath(path or os.getcwd())
    if real == tree:
        return ""
    return os.path.relpath(real, tree).replace(os.sep, "/") if real.startswith(tree + os.sep) else None


def _sys_path(tree: str) -> List[str]:
    found = []
    for entry in sys.path:
        place = _inside(tree, entry)
        if place is not None and place not in found and os.path.isdir(entry or "."):
            found.append(place)
    return found or [""]


def _imported(tree: str) -> List[str]:
    """Files of the repository that are loaded as modules."""
    found = set()
    for module in list(sys.modules.values()):
        path = getattr(module, "__file__", None)
        if isinstance(path, str) and os.path.isfile(path):
            place = _inside(tree, path)
            if place:
                found.add(place)
    return sorted(found)
