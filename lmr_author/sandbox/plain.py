"""Commands without namespaces: mounts become folders, and paths in the command are rewritten to them.

For the annotator's own code where bubblewrap does not work. It isolates nothing.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path, PurePosixPath

from lmr_author import files
from lmr_author.errors import SandboxError
from lmr_author.sandbox import owner
from lmr_author.sandbox.base import Command, Limits, Mount
from lmr_author.sandbox.bubblewrap import limit_options, running_already

FOLDER_PREFIX = "lmr-author-run."

_LIMITER = """
import os, resource, sys
for option in sys.argv[1:sys.argv.index("--")]:
    name, value = option[2:].split("=")
    try:
        resource.setrlimit(getattr(resource, "RLIMIT_" + name.upper()), (int(value), int(value)))
    except (AttributeError, OSError, ValueError):
        pass
argv = sys.argv[sys.argv.index("--") + 1:]
try:
    os.execvp(argv[0], argv)
except OSError as error:
    print(argv[0], error, file=sys.stderr)
    sys.exit(127)
"""
"""Does what prlimit does, also where there is none (macOS)."""


@contextmanager
def laid_out(command: Command) -> Iterator[Command]:
    """Yield the command with the host's paths, its mounts realised in a private folder that is removed at the end.

    A writable mount is its source itself. A read-only one is a copy: what is written into it is lost
    with the folder, and the source is safe. Paths are rewritten where a mount's target, a folder above it, or
    /tmp stands at the start of the working folder, an argument or a variable, or after one of ``= : , ;``.
    """
    with files.temporary_folder(owner.folder_prefix(FOLDER_PREFIX)) as folder:
        real = {"/tmp": folder / "tmp"}
        try:
            real["/tmp"].mkdir()
            for mount in command.mounts_by_depth():
                real[mount.target] = _realise(mount, command.mounts, folder / "root")
                for parent in PurePosixPath(mount.target).parents[:-1]:
                    real.setdefault(str(parent), folder / "root" / str(parent).lstrip("/"))
        except (shutil.Error, OSError) as error:
            raise SandboxError(
                f"the run's files could not be copied: {error}", "check whether the disk is full"
            ) from error
        cwd = _rewrite(command.cwd, real)
        env = {name: _rewrite(value, real) for name, value in command.env.items()}
        own = {"HOME": str(real["/tmp"]), "TMPDIR": str(real["/tmp"]), **env, "PWD": os.path.normpath(cwd)}
        argv = tuple(_rewrite(text, real) for text in command.argv)
        yield replace(command, argv=argv, env=own, cwd=cwd)


def limiter(limits: Limits) -> list[str]:
    """Return the start of an argv that takes on the limits; the program's argv follows."""
    options = limit_options(limits, limits.processes + running_already())
    return [sys.executable, "-I", "-S", "-c", _LIMITER, *options, "--"]


def _realise(mount: Mount, mounts: tuple[Mount, ...], root: Path) -> Path:
    """Return the folder or file that stands for a mount: its source, or a copy below ``root``."""
    for outer in mounts:
        if outer.writable and outer is not mount and PurePosixPath(mount.target).is_relative_to(outer.target):
            raise SandboxError(
                f"without bubblewrap nothing can be mounted inside the writable {outer.target}",
                "install bubblewrap (apt-get install bubblewrap), or use --sandbox docker",
            )
    place = root / mount.target.lstrip("/")
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)
    place.parent.mkdir(parents=True, exist_ok=True)
    source = mount.source.resolve()
    if mount.writable:
        place.symlink_to(source)
        return source
    if source.is_dir():
        shutil.copytree(source, place, symlinks=True)
    else:
        shutil.copy2(source, place)
    return place


def _rewrite(text: str, real: Mapping[str, Path]) -> str:
    targets = "|".join(re.escape(target) for target in sorted(real, key=len, reverse=True))
    return re.sub(rf"(?<![^=:,;])({targets})(?=[/=:,;]|$)", lambda match: str(real[match[1]]), text)
