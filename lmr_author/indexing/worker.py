"""A process that reads files for the index: paths on stdin, a line for each on stdout.

    worker.py <PATHS.json >LINES

stdin is a JSON list of paths; each line is ``DIGEST RECORD`` (see ``records.read_file``), in the order of the
paths, so that a parser that dies can be laid on the file it died on.
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
    for path in json.load(sys.stdin):
        digest, record = read_file(path)
        out.write(digest.encode() + b" " + record + b"\n")
        out.flush()


if __name__ == "__main__":
    main()
