"""Virtual environments on this machine, made by uv from a task's lock, for work without Docker.

They lie in the user's cache folder, one for each lock, Python and set of extra packages, so that the next task with
the same lock finds it made. One is built beside its place and renamed: a folder with its name is complete.

What is in one is foreign, also its files: a build may have written any of them.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from packaging.utils import canonicalize_name

from lmr_author.core import files
from lmr_author.core.errors import LmrError
from lmr_author.core.task import Progress
from lmr_author.core.texts import counted
from lmr_author.runtime.environment import lock_file, resolver, uv_command
from lmr_author.runtime.environment.failures import Failure, explain
from lmr_author.runtime.environment.interpreters import Interpreter

MANIFEST = "lmr-environment.json"
_SECONDS = 3600.0
_DIGITS = 16
PARTIAL = ".partial"


class ExtraError(LmrError):
    """The extra packages cannot be installed; the lock is not to blame."""


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
    with uv_command.alone(_lock_of(path), say):
        found = load(path)
        if found is not None and found.interpreter.exists():
            touch(found)
            return found
        shutil.rmtree(path, ignore_errors=True)  # its interpreter was removed from this machine
        for stale in path.parent.glob(f".{path.name}.*{PARTIAL}"):
            shutil.rmtree(stale, ignore_errors=True)  # nobody else is making it: we hold its lock
        with files.staged_folder(path) as staging:
            say(f"making a virtual environment with Python {python.version}")
            _Making(staging, python, extra, say).run(lock, cuda)
            files.write_json(staging / MANIFEST, {"python": python.version, "extra": list(extra)})
    return LocalEnvironment(path, python.version, extra, made=True)


def _lock_of(path: Path) -> Path:
    return path.parent / f".{path.name}.lock"


def remove(path: Path) -> bool:
    """Remove an environment; False, and nothing is removed, while a process makes it."""
    with _lock_of(path).open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        (path / MANIFEST).unlink(missing_ok=True)  # first: without it the rest is no environment
        shutil.rmtree(path, ignore_errors=True)
    return True


def has_gpu() -> bool:
    """Return whether this machine has an NVIDIA driver."""
    return Path("/dev/nvidiactl").exists() or shutil.which("nvidia-smi") is not None


@dataclass(frozen=True)
class _Making:
    """An environment that is being made, in a folder beside its place."""

    staging: Path
    base: Interpreter
    extra: tuple[str, ...]
    say: Progress

    def run(self, lock: str, cuda: bool) -> None:
        """Fill it. uv starts its Python before anything is in it, and later only in the sandbox."""
        # It is moved when it is complete: nothing in it may name the folder in which it is made.
        new = [
            "venv",
            "--relocatable",
            "--allow-existing",
            "--python",
            str(self.base.path),
            str(self.staging),
        ]
        self._uv(new, "uv venv")
        before = _way_to_python(self.staging, self.base)
        self._install(lock, cuda)
        if _way_to_python(self.staging, self.base) != before:
            raise LmrError(
                "a package replaced the Python of the environment, which is then not safe to start",
                "use the image, which keeps it apart from this machine: `lmr-author env build`",
            )

    def _install(self, lock: str, cuda: bool) -> None:
        names = {canonicalize_name(re.split(r"[\s\[<>=!~;@]", text)[0]) for text in self.extra}
        pins = {name: line for name, line in lock_file.held(lock).items() if name not in names}
        needed = self._needed_by_extra(cuda) if self.extra else {}
        if not pins and not needed:
            return
        if lock_file.is_pinned(lock):  # then nothing has to be resolved
            options, wanted = ["--no-deps"], sorted({**needed, **pins}.values())
        else:
            options, wanted = [], sorted([*pins.values(), *self.extra])
        if not uv_command.why_only_wheels(uv_command.settings_with_pip()):
            # A sandbox cannot write what Python compiles, and each run would compile all that it imports anew.
            options.append("--compile-bytecode")
        named = f" with {', '.join(self.extra)}" if self.extra else ""
        self.say(f"installing requirements.lock{named} ({counted(len(wanted), 'package')})")
        install = ["pip", "install", "--python", self._python(), *options, "-r", "requirements.in"]
        self._uv(install, "uv pip install -r requirements.lock", wanted, show=True)

    def _needed_by_extra(self, cuda: bool) -> dict[str, str]:
        """The extra packages with all that they need, by name.

        Raises ExtraError where they cannot be had, and for CUDA libraries before they come.
        """
        shown = f"uv pip install {' '.join(self.extra)}"
        resolve = ["pip", "compile", "--no-header", "--no-annotate", "--python", self._python()]
        try:
            needed = lock_file.held(self._uv([*resolve, "requirements.in"], shown, self.extra))
        except LmrError as error:
            raise ExtraError(error.message, error.hint) from error
        if not cuda and any(name.startswith("nvidia-") for name in needed):
            torch = next((text for text in self.extra if text.startswith("torch")), " ".join(self.extra))
            raise ExtraError(
                f"{torch} for Python {self.base.minor} comes with CUDA libraries here, several gigabytes,"
                " and this machine has no GPU",
                "take a CPU build: put UV_TORCH_BACKEND=cpu before the same command (from PyTorch's own index), or"
                f" UV_FIND_LINKS=FOLDER with a wheel for Python {self.base.minor}; `lmr-author env local --cuda` takes"
                " it all the same",
            )
        return needed

    def _python(self) -> str:
        return str(self.staging / "bin" / "python")

    def _uv(self, arguments: list[str], shown: str, wanted: Sequence[str] = (), *, show: bool = False) -> str:
        """Run uv, which must succeed, with a file of requirements; returns what it wrote to stdout."""

        def on_line(line: str) -> None:
            if show and PARTIAL not in line:  # a folder that nobody will find under this name
                self.say(line)

        with files.temporary_folder("lmr-author-env-") as folder:
            folder.chmod(0o755)
            (folder / "requirements.in").write_text("".join(f"{line}\n" for line in wanted), "utf-8")
            done = uv_command.run(
                arguments, uv_command.settings_with_pip(), folder=folder, python=self.base.path,
                seconds=_SECONDS, writable=[self.staging], say=on_line,
            )  # fmt: skip
        if done.exit_code == 0:
            return done.stdout.decode("utf-8", "replace")
        raise _explained(done, shown)


def _explained(done: uv_command.UvRun, shown: str) -> LmrError:
    if done.timed_out:
        return LmrError(
            f"{shown} took longer than {_SECONDS / 60:.0f} minutes", "check the connection, and try again"
        )
    other = "another Python with --python, or the image (`lmr-author env build`)"
    said = resolver.cause(done.stderr) or "it says nothing"
    if why := uv_command.why_only_wheels(uv_command.settings_with_pip()):
        return LmrError(f"{shown} failed: {said}", f"only wheels are installed: {why}; or try {other}")
    found = explain(Failure("install", shown, done.stderr))
    if found is None:
        return LmrError(f"{shown} failed: {said}", f"try {other}")
    return LmrError(f"{shown} failed: {found.cause}", f"{found.advice}; or {other}")


def _way_to_python(environment: Path, python: Interpreter) -> dict[str, str]:
    """What decides which program an environment's Python is, and where its packages lie."""
    lib = f"lib/python{python.minor}"
    programs = [f"bin/{name}" for name in ("python", "python3", f"python{python.minor}")]
    found = {}
    for name in ("pyvenv.cfg", "bin", "bin/pyvenv.cfg", "lib", lib, f"{lib}/site-packages", *programs):
        path = environment / name
        if path.is_symlink():
            found[name] = f"-> {path.readlink()}"
        else:
            found[name] = files.sha256_file(path) if path.is_file() else f"folder: {path.is_dir()}"
    return found


def all_of_them() -> list[Path]:
    """Return the folders of all environments, complete or abandoned."""
    made = [path.parent for path in folder().glob(f"*/{MANIFEST}") if not path.parent.name.startswith(".")]
    return sorted([*made, *folder().glob(f".*{PARTIAL}")])
