"""Time the index of a folder against ``ast.parse`` of all its files: the budget is 3 times.

python benchmarks/index.py [FOLDER]
"""

from __future__ import annotations

import ast
import sys
import sysconfig
import time
import warnings
from contextlib import suppress
from pathlib import Path

from lmr_author.indexing import build


def main() -> None:
    """Print both times and their ratio."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else sysconfig.get_paths()["stdlib"])
    started = time.perf_counter()
    index = build(folder)
    built = time.perf_counter() - started
    warnings.simplefilter("ignore")
    started = time.perf_counter()
    for path in index.files:
        with suppress(SyntaxError, ValueError):
            ast.parse((folder / path).read_bytes())
    parsed = time.perf_counter() - started
    ratio = built / parsed
    print(f"{len(index.files)} files: index {built:.1f} s, ast.parse {parsed:.1f} s, ratio {ratio:.2f}")


if __name__ == "__main__":
    main()
