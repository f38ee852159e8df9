"""``python FOLDER record CONFIG -- COMMAND…`` | ``replay REQUEST`` | ``import TREE FILE SECONDS`` | ``facts``.
Also as ``python -m``.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import sys
from typing import Any, Callable, Dict, List, Tuple


def _load(name: str) -> Any:
    """Return a module of ours; run by its path, the folder is loaded as the package ``lmr_probe`` first."""
    package = __package__ or "lmr_probe"
    if package not in sys.modules:
        folder = os.path.dirname(os.path.abspath(__file__))
        spec: Any = importlib.util.spec_from_file_location(
            package, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
        )
        sys.modules[package] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[package])
    return importlib.import_module("%s.%s" % (package, name))


def _read(path: str) -> Any:
    """Read a config or request. Its paths may be relative to the file itself, wherever a sandbox has put that."""
    with open(path, encoding="utf-8") as file:
        data = json.load(file)
    base = os.path.dirname(os.path.abspath(path))
    for holder in (data, *data.get("variants", ())):
        for key in ("tree", "out", "inputs", "fixtures", "source"):
            if holder.get(key):
                holder[key] = os.path.normpath(os.path.join(base, holder[key]))
    return data


def _facts() -> int:
    facts = _load("facts")
    print(json.dumps(dict(facts.versions(load=True), packages=facts.packages())))
    return 0


_VERBS: Dict[str, Tuple[int, Callable[..., Any]]] = {
    "replay": (1, lambda request: _load("replayer").replay(_read(request))),
    "import": (3, lambda tree, file, seconds: _load("drivers").try_import(tree, file, float(seconds))),
    "facts": (0, _facts),
}
"""Verb → number of its arguments, and the function that gets them; ``record`` takes any number."""


def main(arguments: List[str]) -> int:
    """Run a command; returns the exit code. 2: wrong usage."""
    verb, words = arguments[:1], arguments[1:]
    if verb == ["record"] and words[1:2] == ["--"] and words[2:]:
        return int(_load("driver").record(_read(words[0]), words[2:]))
    count, run = _VERBS.get("".join(verb), (-1, None))
    if run is not None and len(words) == count:
        return int(run(*words))
    print((__doc__ or "").strip(), file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
