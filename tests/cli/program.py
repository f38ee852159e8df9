"""The program as a user starts it: a process of its own, on real files."""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lmr_author.core import resources
from tests.cli import forked

ROOT = Path(resources.__file__).resolve().parents[2]
"""The folder that holds the package: on PYTHONPATH of every process, whether it is installed or not."""

TEMPORARY = Path(tempfile.mkdtemp(prefix="lmr-tests-"))
"""Where the processes put temporary files: nothing else writes there, so what they leave can be seen."""
TEMPORARY.chmod(0o755)
atexit.register(shutil.rmtree, TEMPORARY, ignore_errors=True)

PROGRAM = (sys.executable, "-m", "lmr_author")
ENVIRONMENT = {
    **{key: value for key, value in os.environ.items() if not key.startswith(("GIT_", "LMR_", "COVERAGE"))},
    "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH")))),
    "TMPDIR": str(TEMPORARY),
    "LMR_AUTHOR_CACHE": os.environ["LMR_AUTHOR_CACHE"],
    "UV_OFFLINE": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
}


@dataclass(frozen=True)
class Ended:
    """How a process ended, and what it wrote."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        """The one JSON document on stdout."""
        return json.loads(self.out)


def lmr(
    *arguments: str | Path, cwd: Path, env: dict[str, str] | None = None, seconds: float = 280, **popen: Any
) -> Ended:
    """Run ``lmr-author`` with arguments, in a new process. No run ever shows a traceback."""
    done = subprocess.run(
        [*PROGRAM, *map(str, arguments)],
        cwd=cwd,
        env={**ENVIRONMENT, **(env or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=seconds,
        **popen,
    )
    assert_no_traceback(done.stdout + done.stderr)
    return Ended(done.returncode, done.stdout, done.stderr)


def lmr_forked(
    *arguments: str | Path,
    cwd: Path,
    env: dict[str, str] | None = None,
    caller: forked.Caller = forked.USUAL,
    full: tuple[str, ...] = (),
) -> Ended:
    """As :func:`lmr`, but without waiting for the imports.

    Args:
        full: of "out" and "err", what takes nothing, as on a full disk.
    """
    with tempfile.TemporaryDirectory() as folder:
        written = {name: Path(folder) / name for name in ("out", "err")}
        for path in written.values():
            path.touch()
        files = [Path("/dev/full") if name in full else path for name, path in written.items()]
        variables = {**ENVIRONMENT, **(env or {})}
        code = forked.run([*map(str, arguments)], cwd, variables, 280, (files[0], files[1]), caller)
        out, err = (path.read_bytes().decode("utf-8", "backslashreplace") for path in written.values())
    assert_no_traceback(out + err)
    return Ended(code, out, err)


def succeed(*arguments: str | Path, cwd: Path, env: dict[str, str] | None = None) -> Ended:
    """Run ``lmr-author`` and demand exit code 0."""
    done = lmr_forked(*arguments, cwd=cwd, env=env)
    assert done.code == 0, done.out + done.err
    return done


def refuse(
    code: int, *arguments: str | Path, cwd: Path, env: dict[str, str] | None = None, **popen: Any
) -> tuple[str, str]:
    """Run ``lmr-author`` on wrong input: its code, one ``error:``, one ``hint:``, no file in ``cwd`` changed.

    Returns the error and the hint.
    """
    before = snapshot(cwd)
    run = lmr if popen else lmr_forked
    done = run(*arguments, cwd=cwd, env=env, **popen)
    lines = done.err.splitlines()
    errors = [line.removeprefix("error: ") for line in lines if line.startswith("error:")]
    hints = [line.removeprefix("hint: ") for line in lines if line.startswith("hint:")]
    assert done.code == code, (done.code, done.out, done.err)
    assert (len(errors), len(hints)) == (1, 1), done.err
    assert errors[0].strip() and hints[0].strip(), done.err
    assert done.out == ""
    assert snapshot(cwd) == before
    return errors[0], hints[0]


def snapshot(folder: Path) -> dict[str, str]:
    """Every file, folder and link below a folder with a hash of what it holds."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            found[name] = f"-> {os.readlink(path)}"
        elif path.is_file():
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
        else:
            found[name] = "folder"
    return found


def start(*arguments: str | Path, cwd: Path) -> subprocess.Popen[str]:
    """Start ``lmr-author`` in a session of its own, and wait until it is ready to be interrupted."""
    process = subprocess.Popen(
        [*PROGRAM, *map(str, arguments)],
        cwd=cwd,
        env=ENVIRONMENT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    wait_for(lambda: process.poll() is not None or _catches(process.pid, signal.SIGTERM))
    return process


def finish(process: subprocess.Popen[str]) -> Ended:
    """Wait for a process that was interrupted."""
    out, err = process.communicate(timeout=60)
    assert_no_traceback(out + err)
    return Ended(process.returncode, out, err)


def assert_no_traceback(text: str) -> None:
    """No line begins a traceback of Python."""
    assert not [line for line in text.splitlines() if line.lstrip().startswith("Traceback")], text


def wait_for(reached: Callable[[], object], seconds: float = 60) -> None:
    """Wait until something holds; fails after a time that only a fault needs."""
    end = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.005)


def processes_with(word: str) -> list[int]:
    """Running processes with a word on their command line."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                line = (folder / "cmdline").read_bytes()
            except OSError:
                continue
            if word.encode() in line:
                found.append(int(folder.name))
    return found


def validate_with(schema: str, document: Any) -> None:
    """Check a JSON document against ``schemas/<schema>.schema.json``."""
    import jsonschema
    from referencing import Registry, Resource

    texts = [json.loads(path.read_bytes()) for path in resources.folder("schemas").glob("*.schema.json")]
    registry: Any = Registry().with_resources((text["$id"], Resource.from_contents(text)) for text in texts)
    wanted = json.loads((resources.folder("schemas") / f"{schema}.schema.json").read_bytes())
    jsonschema.Draft202012Validator(wanted, registry=registry).validate(document)


def _catches(pid: int, number: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
    caught = next(line for line in status.splitlines() if line.startswith("SigCgt:"))
    return bool(int(caught.split()[1], 16) >> (number - 1) & 1)
