"""``python FOLDER record CONFIG -- COMMAND…`` | ``replay REQUEST`` | ``judge REQUEST`` | ``import TREE FILE SECONDS``
| ``facts``. Also as ``python -m``.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import sys
from typing import Any, List


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
    for holder in (data, *data.get("variants", ()), *data.get("items", ())):
        for key in ("tree", "out", "inputs", "checkers", "fixtures", "source", "expected", "actual"):
            if holder.get(key):
                holder[key] = os.path.normpath(os.path.join(base, holder[key]))
    return data


def main(arguments: List[str]) -> int:
    """Run a command; returns the exit code. 2: wrong usage."""
    if len(arguments) >= 4 and arguments[0] == "record" and arguments[2] == "--":
        return int(_load("driver").record(_read(arguments[1]), arguments[3:]))
    if len(arguments) == 2 and arguments[0] == "replay":
        return int(_load("replayer").replay(_read(arguments[1])))
    if len(arguments) == 2 and arguments[0] == "judge":
        return int(_load("judge").judge(_read(arguments[1])))
    if len(arguments) == 4 and arguments[0] == "import":
        _load("drivers").try_import(arguments[1], arguments[2], float(arguments[3]))
    if arguments == ["facts"]:
        facts = _load("facts")
        print(json.dumps(dict(facts.versions(load=True), packages=facts.packages())))
        return 0
    print((__doc__ or "").strip(), file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
