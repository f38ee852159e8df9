"""Virtual environments on this machine, made by uv from a task's lock, for work without Docker.

They lie in the user's cache folder, one for each lock, Python and set of extra packages, so that the next task with
the same lock finds it made. One is built beside its place and renamed: a folder with its name is complete.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from packaging.utils import canonicalize_name

from lmr_author import files, processes
from lmr_author.environment import lock_file, resolver
from lmr_author.environment.failures import Failure, explain
from lmr_author.environment.interpreters import UV_SETTINGS, Interpreter
from lmr_author.errors import LmrError
from lmr_author.task import Progress

MANIFEST = "lmr-environment.json"
_SECONDS = 3600.0
_DIGITS = 16
PARTIAL = ".partial"


@dataclass(frozen=True)
class LocalEnvironment:
    """A complete environment.

    Attributes:
        path: its folder.
        python: version of its interpreter, as ``3.11.7``.
        extra: requirements beside the lock's.
        made: whether it was made just now rather than found.
    """

    path: Path
    python: str
    extra: tuple[str, ...] = ()
    made: bool = False

    @property
    def interpreter(self) -> Path:
        """Return its Python."""
        return self.path / "bin" / "python"

    @property
    def packages(self) -> Path:
        """Return the folder of its packages."""
        return self.path / "lib" / f"python{'.'.join(self.python.split('.')[:2])}" / "site-packages"


def folder() -> Path:
    """Return the folder of all environments: ``environments/`` in the user's cache folder."""
    return files.user_cache() / "environments"


def lock_digest(lock: str) -> str:
    """Return a digest of a lock's requirements, whatever its comments and order."""
    return hashlib.sha256("\n".join(sorted(lock_file.held(lock).values())).encode()).hexdigest()[:_DIGITS]


def find(lock: str) -> LocalEnvironment | None:
    """Return the environment made last for a lock; None when there is none."""
    found = [
        (manifest.stat().st_mtime_ns, item)
        for manifest in folder().glob(f"{lock_digest(lock)}-*/{MANIFEST}")
        if (item := load(manifest.parent)) is not None and item.interpreter.exists()
    ]
    return max(found, key=lambda pair: pair[0])[1] if found else None


def load(path: Path) -> LocalEnvironment | None:
    """Return the environment in a folder; None when that is none."""
    try:
        data = json.loads((path / MANIFEST).read_bytes())
        return LocalEnvironment(path, str(data["python"]), tuple(map(str, data["extra"])))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def touch(local: LocalEnvironment) -> None:
    """Mark an environment as used: `env prune` counts from here."""
    with contextlib.suppress(OSError):
        os.utime(local.path)


def make(
    lock: str, python: Interpreter, extra: Sequence[str], *, cuda: bool, say: Progress
) -> LocalEnvironment:
    """Return the environment for a lock, a Python and extra packages: found, or made.

    Of several processes that want the same one, one makes it and the others wait.

    Args:
        extra: requirements installed first, with what they need (PyTorch, which a base image brings in Docker), and
            in place of the lock's.
        cuda: whether CUDA libraries may be installed, gigabytes of them.

    Raises LmrError when something cannot be installed; then there is no environment.
    """
    extra = tuple(sorted(extra))
    rest = hashlib.sha256("\n".join(extra).encode()).hexdigest()[:8]
    path = folder() / f"{lock_digest(lock)}-{python.version}-{rest}"
    with _alone(path, say):
        found = load(path)
        if found is not None and found.interpreter.exists():
            touch(found)
            return found
        shutil.rmtree(path, ignore_errors=True)  # its interpreter was removed from this machine
        for stale in path.parent.glob(f".{path.name}.*{PARTIAL}"):
            shutil.rmtree(stale, ignore_errors=True)  # nobody else is making it: we hold its lock
        with files.staged_folder(path) as staging:
            say(f"making a virtual environment with Python {python.version}")
            # It is moved when it is complete: nothing in it may name the folder in which it is made.
            new = ["venv", "--relocatable", "--allow-existing", "--python", str(python.path), str(staging)]
            _uv(new, "uv venv")
            if extra and not cuda:
                _refuse_cuda(staging, extra)
            _fill(staging, lock, python, extra, say)
    return LocalEnvironment(path, python.version, extra, made=True)


@contextlib.contextmanager
def _alone(path: Path, say: Progress) -> Iterator[None]:
    """Hold off other processes that would make, or remove, the same environment, until it ends or is killed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with (path.parent / f".{path.name}.lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting for another process that makes the same environment")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def is_free(path: Path) -> bool:
    """Return whether no process is making this environment now."""
    with (path.parent / f".{path.name}.lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def _refuse_cuda(staging: Path, extra: tuple[str, ...]) -> None:
    """Raise LmrError when the extra packages bring CUDA libraries, before anything is fetched."""
    dry_run = ["pip", "install", "--dry-run", "--python", str(staging / "bin" / "python")]
    planned = _uv([*dry_run, *extra], f"uv pip install {' '.join(extra)}")
    if re.search(r"^\s*\+\s+nvidia-", planned, re.M):
        torch = next((text for text in extra if text.startswith("torch")), " ".join(extra))
        raise LmrError(
            f"{torch} comes with CUDA libraries here, several gigabytes, and this machine has no GPU",
            "take a CPU build: UV_TORCH_BACKEND=cpu lmr-author env local (from PyTorch's own index), or a"
            " folder of wheels in UV_FIND_LINKS; --cuda takes it all the same",
        )


def has_gpu() -> bool:
    """Return whether this machine has an NVIDIA driver."""
    return Path("/dev/nvidiactl").exists() or shutil.which("nvidia-smi") is not None


def _fill(staging: Path, lock: str, python: Interpreter, extra: tuple[str, ...], say: Progress) -> None:
    pinned = lock_file.is_pinned(lock)  # then nothing has to be resolved
    # Compiled here: a sandbox cannot write what Python compiles, and each run would compile all that it imports anew.
    install = ["pip", "install", "--compile-bytecode", "--python", str(staging / "bin" / "python")]
    named = {canonicalize_name(re.split(r"[\s\[<>=!~;@]", text)[0]) for text in extra}
    pins = sorted(line for name, line in lock_file.held(lock).items() if name not in named)
    wanted = staging / "requirements.txt"
    wanted.write_text("".join(f"{line}\n" for line in pins), "utf-8")
    if extra:
        say(f"installing {', '.join(extra)}")
        _uv([*install, *extra], f"uv pip install {' '.join(extra)}", say)
    if pins:
        say(f"installing {len(pins)} packages of requirements.lock")
        # Without --no-deps what the lock does not pin is resolved, together with the extra packages.
        rest = ("--no-deps",) if pinned else extra
        _uv([*install, *rest, "-r", str(wanted)], "uv pip install -r requirements.lock", say)
    files.write_json(staging / MANIFEST, {"python": python.version, "extra": list(extra)})


def _uv(arguments: list[str], shown: str, say: Progress | None = None) -> str:
    """Run uv, which must succeed; returns what it wrote to stderr. It never fetches a Python."""
    import uv

    def show(line: str) -> None:
        if say is not None and PARTIAL not in line:  # a folder that nobody will find under this name
            say(line)

    done = processes.run(
        [uv.find_uv_bin(), *arguments], cwd=folder(), env=_environment(), seconds=_SECONDS, on_line=show
    )
    if done.exit_code == 0:
        return done.stderr
    found = explain(Failure("install", shown, done.stderr))
    if done.timed_out:
        raise LmrError(
            f"{shown} took longer than {_SECONDS / 60:.0f} minutes", "check the connection, and try again"
        )
    other = "another Python with --python, or the image (`lmr-author env build`)"
    if found is None:
        raise LmrError(f"{shown} failed: {resolver.cause(done.stderr) or 'it says nothing'}", f"try {other}")
    raise LmrError(f"{shown} failed: {found.cause}", f"{found.advice}; or {other}")


def _environment() -> dict[str, str]:
    ignored = ("VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME")
    env = {key: value for key, value in os.environ.items() if key not in ignored}
    env |= UV_SETTINGS
    # uv does not read pip's settings, which say where wheels lie on this machine, PyTorch's among them.
    if links := os.environ.get("PIP_FIND_LINKS"):
        env.setdefault("UV_FIND_LINKS", ",".join(links.split()))
    if (index := os.environ.get("PIP_INDEX_URL")) and "UV_INDEX_URL" not in env:
        env.setdefault("UV_DEFAULT_INDEX", index)
    return env


def all_of_them() -> list[Path]:
    """Return the folders of all environments, complete or abandoned."""
    made = [path.parent for path in folder().glob(f"*/{MANIFEST}") if not path.parent.name.startswith(".")]
    return sorted([*made, *folder().glob(f".*{PARTIAL}")])
