"""Modules that can be imported again where a call is replayed; others are of this run alone."""

from __future__ import annotations

import os
import sys
from typing import Dict, List, Set

from . import closures, objects

hidden: Set[str] = set()
"""Modules whose classes and functions cannot be found again: a driver outside the repository."""
_first_path: List[str] = []
_importable: Dict[str, bool] = {}


def install(first_path: List[str]) -> None:
    """Have the encoder name what lasting modules define, and nothing else.

    Args:
        first_path: the repository, and ``sys.path`` as it was before anything of it ran.
    """
    _first_path[:] = first_path
    objects.is_lasting = is_lasting
    closures.is_of_repository = is_of_repository


def is_lasting(home: str) -> bool:
    """Tell whether a module can be imported without what this run did to ``sys.path``, or lies in the repository.

    The code of a model that a hub downloads (``transformers_modules``) can be imported in this run alone.
    """
    file = getattr(sys.modules.get(home), "__file__", None)
    if home in hidden or not isinstance(file, str):
        return home not in hidden
    top = home.partition(".")[0]
    if top not in _importable:
        inside = os.path.realpath(file).startswith(_first_path[0] + os.sep)
        later, sys.path[:] = list(sys.path), _first_path
        try:
            finders = [finder.find_spec for finder in sys.meta_path if hasattr(finder, "find_spec")]
            _importable[top] = inside or any(find(top, None) is not None for find in finders)
        except Exception:  # a finder of the repository's own
            _importable[top] = True
        finally:
            sys.path[:] = later
    return _importable[top]


def is_of_repository(home: str) -> bool:
    """Tell whether a module lies in the repository, and can be imported again."""
    file = getattr(sys.modules.get(home), "__file__", None)
    return is_lasting(home) and os.path.realpath(str(file)).startswith(_first_path[0] + os.sep)


def adopt(path: str) -> None:
    """Record a helper that the driver imported in its own way (``import fixtures``) under its usual name."""
    path = os.path.realpath(path)
    name = "%s.%s" % (objects.HELPERS, os.path.splitext(os.path.basename(path))[0])
    for module in list(sys.modules.values()):
        origin = getattr(module, "__dict__", {}).get("__file__") or ""
        if os.path.basename(origin) == os.path.basename(path) and os.path.realpath(origin) == path:
            objects.aliases[module.__name__] = name
            sys.modules[name] = module
            return
