"""The repository's own tests, as what drives the target: ``python -m lmr_probe.suite FILES… [OPTIONS…]``.

By pytest where it is installed, else by unittest.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import unittest
from typing import List

OPTIONS = [
    "-q",
    "-p",
    "no:cacheprovider",
    "-p",
    "no:xdist",
    "-o",
    "addopts=",
    "--continue-on-collection-errors",
]
"""All in this process, and without options that the repository's configuration adds."""


def main(arguments: List[str]) -> int:
    """Run tests; returns the exit code."""
    if importlib.util.find_spec("pytest") is not None:
        return int(importlib.import_module("pytest").main([*OPTIONS, *arguments]))
    print(
        "pytest is not installed here: running unittest, which finds TestCase classes only", file=sys.stderr
    )
    files = [word for word in arguments if word.endswith(".py")]
    program = unittest.main(module=None, argv=["python -m unittest", *files], exit=False)
    return 0 if program.result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
