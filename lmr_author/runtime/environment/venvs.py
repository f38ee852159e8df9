"""Virtual environments on this machine, created by uv from a task's lock, for work without Docker.

They are in the user's cache folder. A name is a digest of the requested contents, so tasks with the same request share
an environment. A task stores the name of its own.

All files in an environment are untrusted: a build may have written any of them.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lmr_author.core import files
from lmr_author.core.errors import Hint, LmrError, SandboxError, Setting
from lmr_author.core.files import HeldInterrupts
from lmr_author.core.parsing import json_data
from lmr_author.core.task import Progress, Task
from lmr_author.core.texts import counted
from lmr_author.runtime.environment import lock_file, resolver, uv_command
from lmr_author.runtime.environment.failures import Failure, explain
from lmr_author.runtime.environment.interpreters import Interpreter
from lmr_author.runtime.environment.packages import package_of

MANIFEST = "lmr-environment.json"
"""Written last: a folder without it is incomplete."""
_SECONDS = 3600.0


@dataclass(frozen=True)
class Contents:
    """The requested contents of an environment.

    Attributes:
        lock: text of the lock.
        python: its base interpreter.
        extra: requirements in addition to the lock's, or instead of them (such as PyTorch, which comes with the
            base image in Docker).
        added_files: path below site-packages → text.
    """

    lock: str
    python: Interpreter
    extra: tuple[str, ...] = ()
    added_files: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        lines = [*sorted(self.extra), *(f"{path}\n{text}" for path, text in sorted(self.added_files.items()))]
        return f"{_lock_digest(self.lock)}-{self.python.version}-{_digest(lines)[:8]}"


@dataclass(frozen=True)
class LocalEnvironment:
    """A complete environment.

    Attributes:
        path: its folder.
        version: version of its Python, as ``3.11.7``.
        extra: requirements in addition to the lock's.
        made: it was created by this call.
        fails: this call imported the goal files, and one failed.
    """

    path: Path
    version: str
    extra: tuple[str, ...] = ()
    made: bool = False
    fails: bool = False

    @property
    def python(self) -> Interpreter:
        return Interpreter(self.path / "bin" / "python", self.version)

    @property
    def made_by(self) -> tuple[str, ...]:
        return (f"--python={self.python.minor}", *(f"--with={requirement}" for requirement in self.extra))

    @property
    def packages(self) -> Path:
        return self.path / "lib" / f"python{self.python.minor}" / "site-packages"


def folder() -> Path:
    return files.user_cache() / "environments"


def _digest(lines: Sequence[str]) -> str:
    return files.sha256_bytes("\n".join(lines).encode())


def _lock_digest(lock: str) -> str:
    return _digest(sorted(lock_file.requirements(lock).values()))[:16]


def assign(task: Task, environment: LocalEnvironment) -> None:
    files.write_text(task.local_environment_path, f"{environment.path.name}\n")


def find(task: Task) -> LocalEnvironment | None:
    """Return a task's environment; None if there is none, or the lock has changed since."""
    name = files.read_text_or_empty(task.local_environment_path).strip()
    lock = f"{_lock_digest(files.read_text_or_empty(task.lock))}-"
    return load(folder() / name) if name.startswith(lock) and "/" not in name else None


def load(path: Path) -> LocalEnvironment | None:
    """Return the environment in a folder; None if it is incomplete, or its Python was removed."""
    try:
        manifest = json_data((path / MANIFEST).read_bytes())
        environment = LocalEnvironment(path, str(manifest["python"]), tuple(map(str, manifest["extra"])))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return environment if environment.python.path.exists() else None


def make(contents: Contents, *, cuda: bool, say: Progress) -> LocalEnvironment:
    """Return an existing or new environment with some contents.

    A lock serialises processes, so that several with the same request create it only once.

    Args:
        cuda: allow CUDA libraries (gigabytes).

    Raises LmrError if an installation fails, and removes the environment.
    """
    extra = tuple(sorted(contents.extra))
    new = LocalEnvironment(folder() / contents.name, contents.python.version, extra, made=True)
    with uv_command.alone(folder() / ".lock", say):
        if existing := load(new.path):
            return existing
        shutil.rmtree(new.path, ignore_errors=True)  # incomplete, or without its interpreter
        try:
            _Installation(new, contents, say).run(cuda)
            files.write_json(new.path / MANIFEST, {"python": new.version, "extra": extra})
        except BaseException:
            with HeldInterrupts():
                shutil.rmtree(new.path, ignore_errors=True)
            raise
    return new


def has_gpu() -> bool:
    return Path("/dev/nvidiactl").exists() or shutil.which("nvidia-smi") is not None


@dataclass(frozen=True)
class _Installation:
    environment: LocalEnvironment
    contents: Contents
    say: Progress

    def run(self, cuda: bool) -> None:
        """Fill the folder. uv runs its Python outside of the sandbox only while the environment is empty."""
        path, base = self.environment.path, self.contents.python
        self.say(f"creating a virtual environment with Python {base.version}")
        path.mkdir(parents=True)
        self._uv(["venv", "--allow-existing", "--python", str(base.path), str(path)], "uv venv")
        before = _way_to_python(self.environment)
        self._install(cuda)
        if _way_to_python(self.environment) != before:
            raise LmrError(
                "a package replaced the environment's Python, which is not safe to run",
                "use the isolated image: `lmr-author env build`",
            )
        for name, text in self.contents.added_files.items():
            target = files.inside(self.environment.packages, name)
            target.parent.mkdir(exist_ok=True)
            files.write_text(target, text)

    def _install(self, cuda: bool) -> None:
        lock, extra = self.contents.lock, self.contents.extra
        replaced = set(map(package_of, extra))
        pins = {name: line for name, line in lock_file.requirements(lock).items() if name not in replaced}
        needed = self._needed_by_extra(cuda) if extra else {}
        if not pins and not needed:
            return
        if lock_file.is_pinned(lock):  # no resolution needed
            options, wanted = ["--no-deps"], sorted({**needed, **pins}.values())
        else:
            options, wanted = [], sorted([*pins.values(), *extra])
        if not uv_command.why_only_wheels(uv_command.settings_with_pip()):
            # Sandbox runs cannot write bytecode and would recompile every import each time.
            options.append("--compile-bytecode")
        beside = f" with {', '.join(extra)}" if extra else ""
        self.say(f"installing requirements.lock{beside} ({counted(len(wanted), 'package')})")
        install = ["pip", "install", *self._python, *options, "-r", "requirements.in"]
        self._uv(install, "uv pip install -r requirements.lock", wanted, show=True)

    def _needed_by_extra(self, cuda: bool) -> dict[str, str]:
        """Return the extra packages with their dependencies, by name.

        Raises LmrError if they are not available, and for CUDA libraries before downloading them.
        """
        extra, minor = self.contents.extra, self.contents.python.minor
        resolve = ["pip", "compile", "--no-header", "--no-annotate", *self._python, "requirements.in"]
        needed = lock_file.requirements(self._uv(resolve, f"uv pip install {' '.join(extra)}", extra))
        if not cuda and any(name.startswith("nvidia-") for name in needed):
            raise SandboxError(
                f"{', '.join(extra)} for Python {minor}: PyTorch comes with CUDA libraries here, several gigabytes,"
                " and this machine has no GPU",
                "use a CPU build: put UV_TORCH_BACKEND=cpu (PyTorch's own index) before the same command, or"
                f" UV_FIND_LINKS=FOLDER with a wheel for Python {minor}; `lmr-author env local --cuda` installs it"
                " anyway",
            )
        return needed

    @property
    def _python(self) -> tuple[str, str]:
        return "--python", str(self.environment.python.path)

    def _uv(self, arguments: list[str], shown: str, wanted: Sequence[str] = (), *, show: bool = False) -> str:
        """Run uv with a file of requirements; return its stdout. Raises LmrError if it fails."""
        with files.temporary_folder("lmr-author-env-") as work:
            work.chmod(0o755)
            (work / "requirements.in").write_text("".join(f"{line}\n" for line in wanted), "utf-8")
            done = uv_command.run(
                arguments, uv_command.settings_with_pip(), folder=work, python=self.contents.python.path,
                seconds=_SECONDS, writable=[self.environment.path], say=self.say if show else None,
            )  # fmt: skip
        if done.exit_code == 0:
            return done.stdout.decode("utf-8", "replace")
        raise _explained(done, shown)


def _explained(done: uv_command.UvRun, shown: str) -> LmrError:
    if done.timed_out:
        return LmrError(
            f"{shown} took longer than {_SECONDS / 60:.0f} minutes", "check the connection and try again"
        )
    other = "another Python with {0}, or the image (`lmr-author env build`)"
    python = (Setting("--python"),)
    message = resolver.cause(done.stderr) or "without a message"
    if why := uv_command.why_only_wheels(uv_command.settings_with_pip()):
        hint = f"only wheels are installed: {why}; or try {other}"
        return LmrError(f"{shown} failed: {message}", Hint(hint, python))
    explanation = explain(Failure("install", shown, done.stderr))
    if explanation is None:
        return LmrError(f"{shown} failed: {message}", Hint(f"try {other}", python))
    hint = f"{explanation.advice}; or {other}"
    return LmrError(f"{shown} failed: {explanation.cause}", Hint(hint, python))


def _way_to_python(environment: LocalEnvironment) -> dict[str, str]:
    """Return the state of the files that determine an environment's Python and package folders."""
    python = f"python{environment.python.minor}"
    states = {}
    for name in (
        "pyvenv.cfg", "bin", "bin/pyvenv.cfg", "bin/python", "bin/python3", f"bin/{python}",
        "lib", f"lib/{python}", f"lib/{python}/site-packages",
    ):  # fmt: skip
        path = environment.path / name
        if path.is_symlink():
            states[name] = f"-> {path.readlink()}"
        else:
            states[name] = files.sha256_file(path) if path.is_file() else f"folder: {path.is_dir()}"
    return states
