"""``python FOLDER record CONFIG -- COMMAND…`` | ``replay REQUEST`` | ``judge REQUEST`` | ``import TREE FILE SECONDS``
| ``facts``. Also as ``python -m``.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any, List, Tuple


def _package() -> str:
    """Name of our package; run by its path, the folder is loaded as the package ``lmr_probe`` first."""
    if __package__:
        return __package__
    import importlib.util

    folder = os.path.dirname(os.path.abspath(__file__))
    spec: Any = importlib.util.spec_from_file_location(
        "lmr_probe", os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules["lmr_probe"] = module
    spec.loader.exec_module(module)
    return "lmr_probe"


def _read(path: str) -> Any:
    """A config or request. Its paths may be relative to the file itself, wherever a sandbox has put that."""
    with open(path, encoding="utf-8") as file:
        data = json.load(file)
    base = os.path.dirname(os.path.abspath(path))
    holders: List[Tuple[Any, Tuple[str, ...]]] = [(data, ("tree", "out", "inputs", "checkers", "fixtures"))]
    holders += [(variant, ("source",)) for variant in data.get("variants", ())]
    holders += [(item, ("expected", "actual")) for item in data.get("items", ())]
    for holder, keys in holders:
        for key in keys:
            if holder.get(key):
                holder[key] = os.path.normpath(os.path.join(base, holder[key]))
    return data


def main(arguments: List[str]) -> int:
    """Run a command; returns the exit code. 2: wrong usage."""
    import importlib

    def load(name: str) -> Any:
        return importlib.import_module("%s.%s" % (_package(), name))

    if len(arguments) >= 4 and arguments[0] == "record" and arguments[2] == "--":
        config = _read(arguments[1])
        return int(load("driver").guarded(config, arguments[3:]))
    if len(arguments) == 2 and arguments[0] == "replay":
        request = _read(arguments[1])
        return int(load("replayer").replay(request))
    if len(arguments) == 2 and arguments[0] == "judge":
        out = load("replayer").take_stdout()
        return int(load("custom").judge(_read(arguments[1]), out))
    if len(arguments) == 4 and arguments[0] == "import":
        return int(load("importing").try_import(arguments[1], arguments[2], float(arguments[3])))
    if arguments == ["facts"]:
        facts = load("facts")
        print(json.dumps(dict(facts.versions(load=True), packages=facts.packages())))
        return 0
    print((__doc__ or "").strip(), file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
