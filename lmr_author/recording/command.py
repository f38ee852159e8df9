"""The annotator's command, as it is run in a sandbox: which files it needs, and where they are there."""

from __future__ import annotations

import itertools
import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from lmr_author.errors import UsageError
from lmr_author.replay.staging import PROBE_ROOT
from lmr_author.sandbox.base import Mount

PYTHONS = ("python", "python3", "python2")
MODULE_PROGRAMS = {
    "pytest": "pytest",
    "py.test": "pytest",
    "torchrun": "torch.distributed.run",
    "accelerate": "accelerate.commands.accelerate_cli",
}
"""Programs that are modules in fact, and run as ``python -m``."""

LAUNCHERS = ("torch.distributed.run", "torch.distributed.launch", "accelerate.commands.accelerate_cli")
"""Modules that start the script they are given in a process of its own."""

DRIVER = f"{PROBE_ROOT}/driver"


@dataclass(frozen=True)
class Driver:
    """A command ready to be run under the recorder.

    Attributes:
        arguments: what follows ``python``: a script or ``-m module``, and its arguments.
        mounts: the driver's folder, when it lies outside the repository.
        shown: the command as recorded, without paths of this machine.
        env: variables that the command sets.
        unseen: files and folders of this machine that it names and the sandbox does not show.
    """

    arguments: tuple[str, ...]
    mounts: tuple[Mount, ...]
    shown: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    unseen: tuple[Path, ...] = ()


def driver(command: Sequence[str], repository: Path, here: Path) -> Driver:
    """Read the annotator's command.

    A script is looked for in the repository first, then from the current folder; one that lies outside
    comes along with its folder, read-only. Other paths that the command names are changed to what they are
    inside, where they lie in the repository or in that folder.

    Args:
        command: as typed after ``--``.
        repository: the task's repository.
        here: the current folder.

    Raises:
        UsageError: no command, not a Python one, or a script that does not exist.
    """
    if not command:
        raise UsageError(
            "no command to record", "add it after --, as in: lmr-author record a.py::f -- python driver.py"
        )
    env = dict(word.split("=", 1) for word in itertools.takewhile(_is_assignment, command))
    if env:
        run = driver(command[len(env) :], repository, here)
        return replace(run, env=env, shown=(*command[: len(env)], *run.shown))
    arguments = _after_python(list(command))
    if not arguments or arguments[0] == "-c":
        raise UsageError("name a script or a module to run", "put the code into a file: -- python driver.py")
    if arguments[0] == "-m":
        if len(arguments) < 2:
            raise UsageError("-m needs a module", "as in: -- python -m package.train")
        return _module(arguments, repository, here)
    script, rest = arguments[0], arguments[1:]
    if script.startswith("-"):
        raise UsageError(
            f"python's option {script} cannot be recorded under", "give the script first: -- python driver.py"
        )
    found = _script(script, repository, here)
    if found is None:
        if Path(script).is_absolute():
            raise UsageError(f"there is no script {script}", "check the path")
        raise UsageError(
            f"there is no script {script!r} in {repository.name}/ or in {here}",
            "paths are looked for in the repository first, then from the current folder",
        )
    inside, shown, mounts = found
    return _with_paths(Driver((inside, *rest), mounts, ("python", shown, *rest)), repository, here)


def _with_paths(run: Driver, repository: Path, here: Path) -> Driver:
    """A command whose words name files where the sandbox has them; those that it has nowhere are ``unseen``."""
    arguments, shown = list(run.arguments), list(run.shown)
    unseen = list[Path]()
    ahead = len(shown) - len(arguments)
    for place, word in enumerate(arguments):
        option, separator, text = word.rpartition("=") if word.startswith("-") else ("", "", word)
        path = _on_this_machine(text, repository, here)
        if path is None:
            continue
        found = _place_inside(path, run.mounts, repository)
        if found is None:
            unseen.append(path)
            continue
        arguments[place], shown[place + ahead] = (f"{option}{separator}{name}" for name in found)
    return replace(run, arguments=tuple(arguments), shown=tuple(shown), unseen=tuple(unseen))


def _on_this_machine(text: str, repository: Path, here: Path) -> Path | None:
    """The file or folder that a word means, unless the repository has it where the command looks for it."""
    if "/" not in text or text.startswith(f"{PROBE_ROOT}/") or text.strip("/") == "":
        return None
    path = here / Path(text).expanduser()
    try:
        inside = not Path(text).is_absolute() and ".." not in Path(text).parts
        if not path.exists() or (inside and (repository / text).exists()):
            return None
        return path.resolve()
    except (OSError, RuntimeError, ValueError):  # no path at all, or one that leads in a circle
        return None


def _place_inside(path: Path, mounts: Sequence[Mount], repository: Path) -> tuple[str, str] | None:
    """Where the sandbox has a file of this machine, and how that is shown; None where it has not."""
    root = repository.resolve()
    if path.is_relative_to(root):
        inside = path.relative_to(root).as_posix()
        return inside, inside
    for mount in mounts:
        if path.is_relative_to(mount.source.resolve()):
            shown = path.relative_to(mount.source.resolve()).as_posix()
            return posixpath.normpath(f"{mount.target}/{shown}"), shown
    return None


def _is_assignment(word: str) -> bool:
    """``NAME=value`` in front of a command, as a shell reads it."""
    name, separator, _ = word.partition("=")
    return bool(separator) and name.isidentifier()


def _module(arguments: list[str], repository: Path, here: Path) -> Driver:
    """``-m module``; a launcher's script may lie outside the repository, as any other."""
    inside, shown = list(arguments), list(arguments)
    mounts: tuple[Mount, ...] = ()
    if arguments[1] in LAUNCHERS:
        place = next((n for n, word in enumerate(arguments) if word.endswith(".py")), None)
        found = _script(arguments[place], repository, here) if place is not None else None
        if place is not None and found is not None:
            inside[place], shown[place], mounts = found
    return _with_paths(Driver(tuple(inside), mounts, ("python", *shown)), repository, here)


def _script(script: str, repository: Path, here: Path) -> tuple[str, str, tuple[Mount, ...]] | None:
    """A script's path inside the sandbox, how it is shown, and what has to come along; None for none."""
    root = repository.resolve()
    for candidate in (repository / script, here / script):
        if not candidate.is_file():
            continue
        resolved = candidate.resolve()
        if resolved.is_relative_to(root):
            inside = resolved.relative_to(root).as_posix()
            return inside, inside, ()
        return f"{DRIVER}/{resolved.name}", resolved.name, (_mount(resolved),)
    return None


def _after_python(command: list[str]) -> list[str]:
    program = Path(command[0]).name
    if program in MODULE_PROGRAMS:
        return ["-m", MODULE_PROGRAMS[program], *command[1:]]
    if program.endswith(".py"):
        return command
    if program in PYTHONS or program.startswith("python3."):
        return command[1:]
    raise UsageError(
        f"{command[0]!r} is not a Python command",
        "run the code by Python: -- python driver.py, or -- python -m module",
    )


def _mount(script: Path) -> Mount:
    """The script's folder, or the script alone where its folder holds more than a driver's files."""
    folder = script.parent
    if folder in (Path.home(), Path("/"), Path("/tmp")):
        return Mount(script, f"{DRIVER}/{script.name}")
    return Mount(folder, DRIVER)
