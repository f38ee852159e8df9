"""The program in a process forked from one that has its modules: to import them takes longer than most commands."""

from __future__ import annotations

import atexit
import ctypes
import multiprocessing
import os
import pkgutil
import resource
import runpy
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import lmr_author
from lmr_author.authoring.recording import explored
from lmr_author.proof.evaluation import exploring

PACKAGES = (
    "typer._adapters", "rich.console", "bibtexparser", "docker", "git", "jinja2", "jsonschema", "libcst",
    "inspect_ai", "openai", "snowballstemmer",
)  # fmt: skip
"""What most verbs import when they are used."""
NOT_LOADED = ("lmr_author.__main__", "lmr_author.runtime.probe", "lmr_author.release.models")
"""What is run, or copied, or registers tasks."""


@cache
def _context() -> Any:
    """The server is a process of its own, without the threads of a test runner."""
    context = multiprocessing.get_context("forkserver")
    modules = [
        found.name
        for found in pkgutil.walk_packages(lmr_author.__path__, "lmr_author.")
        if not found.name.startswith(NOT_LOADED)
    ]
    context.set_forkserver_preload(["tests.cli.forked", *PACKAGES, *modules])
    return context


@dataclass(frozen=True)
class Caller:
    """How the caller left the process.

    Attributes:
        closed: stdin, stdout and stderr are closed.
        encoding: of stdout and stderr.
        may_read_all: False takes from root what other users do not have: to read what permissions forbid.
        memory: a limit on its address space in bytes; 0 for none.
    """

    closed: bool = False
    encoding: str = ""
    may_read_all: bool = True
    memory: int = 0


USUAL = Caller()


def run(
    arguments: Sequence[str],
    cwd: Path,
    env: Mapping[str, str],
    seconds: float,
    files: tuple[Path, Path],
    caller: Caller = USUAL,
) -> int:
    """``lmr-author`` with arguments; what it prints goes to two files, and its exit code is returned."""
    process = _context().Process(
        target=_as_command, args=(list(arguments), os.fsencode(cwd), dict(env), list(map(str, files)), caller)
    )
    process.start()
    try:
        process.join(seconds)
        assert process.exitcode is not None, "it did not end"
        return int(process.exitcode)
    finally:
        process.kill()
        process.join()


def _as_command(
    arguments: list[str], cwd: bytes, env: dict[str, str], files: list[str], caller: Caller
) -> None:
    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd)
    tempfile.tempdir = None  # TMPDIR is read anew
    for descriptor, path in enumerate(files, 1):
        handle = os.open(path, os.O_WRONLY)
        os.dup2(handle, descriptor)
        os.close(handle)
    if caller.closed:
        os.closerange(0, 3)
        sys.stdin = sys.stdout = sys.stderr = sys.__stderr__ = None  # type: ignore[assignment, misc]
    elif caller.encoding:
        for stream in (sys.stdout, sys.stderr):
            stream.reconfigure(encoding=caller.encoding)  # type: ignore[union-attr]
    if not caller.may_read_all:
        _forget_to_read_all()
    if caller.memory:
        resource.setrlimit(resource.RLIMIT_AS, (caller.memory, caller.memory))
    if arguments[:1] in (["record"], ["evaluate"], ["judge"], ["make"], ["draft"]):
        # Hundreds of generated calls take longer than all the rest; the demo has some.
        explored.MOST = exploring.MOST = exploring.MOST_OF_ANSWER = 0
    elif arguments[:1] == ["demo"]:
        explored.MOST, exploring.MOST = 60, 150
    sys.argv = ["lmr-author", *arguments]
    try:
        runpy.run_module("lmr_author", run_name="__main__", alter_sys=True)
    finally:
        atexit._run_exitfuncs()


def _forget_to_read_all() -> None:
    """Drop CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH (capset(2)); without effect for who is not root."""
    libc = ctypes.CDLL(None)
    header, sets = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    libc.capget(header, sets)
    sets[0] &= ~0b110
    sets[1] &= ~0b110
    libc.capset(header, sets)
