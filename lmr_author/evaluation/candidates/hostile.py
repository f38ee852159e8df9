"""A precaution against candidates, which are hostile code: goldens that lie in images."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import PurePosixPath

from lmr_author import files
from lmr_author.errors import SandboxError
from lmr_author.sandbox.base import Command, ExecResult, Limits, Mount, OnLine, Sandbox

_SECONDS = 300
_FOLDERS = ("golden_files", "authoring", "unit_test")
_LOOK = """
import json, os, sys
skipped = {"proc", "sys", "dev", "site-packages", "dist-packages", "node_modules", "pkgs"}
folders, found = set(sys.argv[1:]), []
for folder, names, files in os.walk("/"):
    here = [name for name in names if name in folders]
    found += [[os.path.join(folder, name), True] for name in here]
    found += [[os.path.join(folder, name), False] for name in files if name.endswith("_golden.py")]
    names[:] = [name for name in names if name not in skipped and name not in here]
print(json.dumps(found))
"""


class Hiding(Sandbox):
    """A prepared sandbox in which some places of the image are empty. Closing it leaves the other one open.

    A hand-made Dockerfile's bare ``COPY . .`` puts goldens, records and unit tests into the image.

    Raises SandboxError when the image's files cannot be listed.
    """

    def __init__(self, sandbox: Sandbox) -> None:
        self.name, self.isolating = sandbox.name, sandbox.isolating
        self._sandbox = sandbox
        self._places = _places(sandbox)
        self._ending = ExitStack()
        root = self._ending.enter_context(files.temporary_folder("lmr-author-nothing-"))
        root.chmod(0o755)
        self._folder, self._file = root / "folder", root / "file"
        self._folder.mkdir()
        self._file.touch()

    def prepare(self, on_line: OnLine | None = None) -> Mapping[str, str]:
        """Prepare the other sandbox."""
        return self._sandbox.prepare(on_line)

    def run(self, command: Command) -> ExecResult:
        """Run a command with empty folders and files over the places, except below its own mounts."""
        targets = [mount.target for mount in command.mounts]
        empty = [
            Mount(self._folder if folder else self._file, place)
            for place, folder in self._places.items()
            if not any(PurePosixPath(place).is_relative_to(target) for target in targets)
            and not any(PurePosixPath(target).is_relative_to(place) for target in targets)
        ]
        return self._sandbox.run(replace(command, mounts=(*empty, *command.mounts)))

    def close(self) -> None:
        """Remove the empty folder."""
        self._ending.close()


def _places(sandbox: Sandbox) -> dict[str, bool]:
    """Return the places of an image with goldens, records or unit tests: path → whether it is a folder."""
    result = sandbox.run(Command(("python", "-I", "-c", _LOOK, *_FOLDERS), limits=Limits(seconds=_SECONDS)))
    try:
        found: Sequence[tuple[str, bool]] = json.loads(result.stdout)
        return {str(path): bool(folder) for path, folder in found}
    except (ValueError, TypeError) as error:
        last = result.stderr.decode("utf-8", "replace")[-200:]
        raise SandboxError(f"the image's files cannot be listed: {last}", "see the image's Python") from error
