"""A process that reads files for the index: paths on stdin, a line for each on stdout.

    worker.py <BATCHES >LINES

A line of stdin is JSON: whether words are wanted, and a list of paths. For each path, in their order, a line
``DIGEST RECORD`` is written (see ``records.read_file``), so that a parser that dies can be laid on the file it
died on.
"""

from __future__ import annotations

import gc
import json
import sys

from lmr_author.indexing.records import read_file


def main() -> None:
    """Read the files. Trees of syntax hold no cycles, so the cyclic collector would look at them in vain."""
    gc.disable()
    out = sys.stdout.buffer
    for batch in sys.stdin.buffer:
        words, paths = json.loads(batch)
        for path in paths:
            digest, record = read_file(path, words)
            out.write(digest.encode() + b" " + record + b"\n")
            out.flush()


if __name__ == "__main__":
    main()
