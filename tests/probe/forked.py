"""Python programs in processes forked from one that has PyTorch: to import it takes longer than most of them do."""

from __future__ import annotations

import atexit
import json
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

SERVER = """
import atexit, json, os, runpy, sys
import numpy, torch
import torch._dynamo  # which optimizers import when they are made

for line in sys.stdin:
    words, cwd, files = json.loads(line)
    child = os.fork()
    if child == 0:
        os.chdir(cwd)
        for descriptor, path in enumerate(files, 1):
            os.dup2(os.open(path, os.O_WRONLY), descriptor)
        sys.argv, code = words, 0
        sys.path[0] = os.path.dirname(words[0])
        try:
            runpy.run_path(words[0], run_name="__main__")
        except SystemExit as ended:
            code = ended.code or 0
        atexit._run_exitfuncs()
        sys.stdout.flush()
        os._exit(code)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@cache
def _server() -> subprocess.Popen[str]:
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    atexit.register(server.kill)
    return server


def run(words: list[str], cwd: Path) -> subprocess.CompletedProcess[bytes]:
    """Run a Python file, or a folder with a ``__main__.py``, with arguments."""
    server = _server()
    assert server.stdin is not None and server.stdout is not None
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / name for name in ("out", "err")]
        for path in files:
            path.touch()
        print(json.dumps([words, str(cwd), list(map(str, files))]), file=server.stdin, flush=True)
        code = int(server.stdout.readline())
        return subprocess.CompletedProcess(words, code, *(path.read_bytes() for path in files))
