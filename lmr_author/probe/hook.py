"""Serving the instrumented goal file to whatever imports it; every other file pays nothing.

The hook sits in :meth:`SourceFileLoader.get_code`, which ``import``, ``spec_from_file_location`` and
``python -m`` all use, and in the helper of ``runpy.run_path``. The goal file's ``.pyc`` is neither read
nor written.
"""

from __future__ import annotations

import builtins
import importlib.machinery
import linecache
import os
from types import CodeType
from typing import Any, Callable, Optional, Set

from .instrument import HIT, REGISTER, Instrumented, instrument


class Hook:
    """Instruments one function of one file while it is imported.

    Args:
        goal_file: the file, whichever path it is imported by.
        qualname, line: the target, see :func:`~.instrument.instrument`.
        register: called with the raw function when it is defined; its result takes its place.
        source: served instead of the file's content; None for the content itself.
        filename: what code objects say their file is; None for the path it is imported by.

    Attributes: ``hits`` (numbers of the blocks executed), ``served`` (how often the file was
    compiled), ``found`` (what was instrumented), ``error`` (why the target was not found).
    """

    def __init__(
        self,
        goal_file: str,
        qualname: str,
        line: int,
        register: Callable[[Any], Any],
        source: Optional[bytes] = None,
        filename: Optional[str] = None,
    ) -> None:
        self.goal_file = os.path.realpath(goal_file)
        self.qualname, self.line = qualname, line
        self.source, self.filename = source, filename
        self.hits: Set[int] = set()
        self.served = 0
        self.found: Optional[Instrumented] = None
        self.register = register
        self._name = os.path.basename(self.goal_file)

    def install(self) -> None:
        """Start serving. Replaces an earlier hook."""
        setattr(builtins, HIT, self.hits.add)
        setattr(builtins, REGISTER, self.register)
        _Serving.hook = self
        _patch()

    def is_goal(self, path: Any) -> bool:
        """Whether a path leads to the goal file."""
        try:
            if os.path.basename(path) != self._name and not os.path.islink(path):
                return False
            return bool(os.path.realpath(path) == self.goal_file)
        except (TypeError, ValueError, OSError):
            return False

    def code(self, path: str) -> CodeType:
        """The instrumented code of the goal file. Raises TargetNotFound."""
        source = self.source
        if source is None:
            with open(path, "rb") as file:
                source = file.read()
        filename = self.filename or path
        if self.source is not None:
            text = source.decode("utf-8", "replace")
            linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
        self.found = instrument(source, filename, self.qualname, self.line)
        self.served += 1
        return self.found.code


class _Serving:
    """The hook that serves now, and whether the import system was told."""

    hook: Optional[Hook] = None
    patched = False


def _patch() -> None:
    """Hook into the import system, once."""
    if _Serving.patched:
        return
    _Serving.patched = True
    loader: Any = importlib.machinery.SourceFileLoader
    original = loader.get_code

    def get_code(self: Any, fullname: str) -> Any:
        if _Serving.hook is not None and _Serving.hook.is_goal(self.path):
            return _Serving.hook.code(self.path)
        return original(self, fullname)

    loader.get_code = get_code
    _patch_runpy()


def _patch_runpy() -> None:
    import runpy

    original = getattr(runpy, "_get_code_from_file", None)
    if original is None:
        return

    def from_file(*args: Any) -> Any:
        result = original(*args)
        for path in args:
            if isinstance(path, str) and _Serving.hook is not None and _Serving.hook.is_goal(path):
                code = _Serving.hook.code(path)
                return (code, *result[1:]) if isinstance(result, tuple) else code
        return result

    runpy._get_code_from_file = from_file  # type: ignore[attr-defined]


def current() -> Optional[Hook]:
    """The hook that serves now."""
    return _Serving.hook
