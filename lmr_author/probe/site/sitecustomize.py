"""Starts the recorder in Python processes that a recorded command starts itself.

``python`` imports a module of this name before anything else, wherever it finds it first; the recorder puts this
folder on PYTHONPATH of the commands that it runs.
"""

from __future__ import annotations

import os
import sys
from typing import Any


def _start(config: str) -> None:
    import importlib
    import importlib.util

    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if "lmr_probe" not in sys.modules:
        spec: Any = importlib.util.spec_from_file_location(
            "lmr_probe", os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
        )
        sys.modules["lmr_probe"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules["lmr_probe"])
    importlib.import_module("lmr_probe.driver").record_child(config)


if os.environ.get("LMR_PROBE_CONFIG"):
    try:
        _start(os.environ["LMR_PROBE_CONFIG"])
    except Exception as error:  # the command has to run as it does without us
        print("recorder: not started in process %d: %s" % (os.getpid(), error), file=sys.stderr)
