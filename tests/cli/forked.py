"""The program in a process forked from one that has its modules: to import them takes longer than most commands."""

from __future__ import annotations

import atexit
import multiprocessing
import os
import runpy
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

MODULES = (
    "lmr_author.cli.app", "lmr_author.cli.ui", "lmr_author.cli.findings", "lmr_author.masking",
    "lmr_author.recording.record", "lmr_author.evaluation.evaluate", "lmr_author.validation.run",
)  # fmt: skip


@cache
def _context() -> Any:
    """The server is a process of its own, without the threads of a test runner."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.cli.forked", *MODULES])
    return context


def run(
    arguments: Sequence[str], cwd: Path, env: Mapping[str, str], seconds: float, files: tuple[Path, Path]
) -> int:
    """``lmr-author`` with arguments; what it prints goes to two files, and its exit code is returned."""
    process = _context().Process(
        target=_as_command, args=(list(arguments), str(cwd), dict(env), list(map(str, files)))
    )
    process.start()
    try:
        process.join(seconds)
        assert process.exitcode is not None, "it did not end"
        return int(process.exitcode)
    finally:
        process.kill()
        process.join()


def _as_command(arguments: list[str], cwd: str, env: dict[str, str], files: list[str]) -> None:
    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd)
    tempfile.tempdir = None  # TMPDIR is read anew
    for descriptor, path in enumerate(files, 1):
        handle = os.open(path, os.O_WRONLY)
        os.dup2(handle, descriptor)
        os.close(handle)
    sys.argv = ["lmr-author", *arguments]
    try:
        runpy.run_module("lmr_author", run_name="__main__", alter_sys=True)
    finally:
        atexit._run_exitfuncs()
