"""Precautions against candidates, which are hostile code: goldens in images, and forged verdicts."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import PurePosixPath

from lmr_author.core import code, files
from lmr_author.core.errors import SandboxError
from lmr_author.core.parsing import json_data
from lmr_author.runtime.sandbox.base import Command, ExecResult, Limits, Mount, OnLine, Sandbox

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


class HidingSandbox(Sandbox):
    """A prepared sandbox in which solutions inside the image are hidden. Closing it leaves the wrapped one open.

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
        return self._sandbox.prepare(on_line)

    def run(self, command: Command) -> ExecResult:
        """Run a command with empty folders and files mounted over the hidden paths, except below its own mounts."""
        targets = [mount.target for mount in command.mounts]
        empty = [
            Mount(self._folder if folder else self._file, place)
            for place, folder in self._places.items()
            if not any(PurePosixPath(place).is_relative_to(target) for target in targets)
            and not any(PurePosixPath(target).is_relative_to(place) for target in targets)
        ]
        return self._sandbox.run(replace(command, mounts=(*empty, *command.mounts)))

    def close(self) -> None:
        self._ending.close()


def _places(sandbox: Sandbox) -> dict[str, bool]:
    result = sandbox.run(Command(("python", "-I", "-c", _LOOK, *_FOLDERS), limits=Limits(seconds=_SECONDS)))
    try:
        listing: Sequence[tuple[str, bool]] = json_data(result.stdout)
        return {str(path): bool(folder) for path, folder in listing}
    except (ValueError, TypeError) as error:
        last = result.stderr.decode("utf-8", "replace")[-200:]
        raise SandboxError(f"the image's files cannot be listed: {last}", "see the image's Python") from error


_CALLED = "eval exec exit quit open compile __import__"
_NAMED = "__builtins__ SystemExit KeyboardInterrupt sys.modules"
_ATTRIBUTES = """
exit _exit abort kill killpg fork execv execve settrace setprofile _getframe currentframe get_referrers get_objects
addaudithook excepthook basicConfig import_module meta_path path_hooks f_back f_globals f_locals tb_frame gi_frame
__builtins__ __subclasses__ __globals__ __code__ listdir scandir walk glob rglob read_text read_bytes write_text
write_bytes load loadtxt fromfile memmap
"""
_MODULES = """
unittest pytest _pytest atexit signal ctypes inspect subprocess builtins importlib multiprocessing threading socket
__main__ sitecustomize pickle runpy
"""
_METHODS = "__eq__ __torch_function__ __array_ufunc__ __array_function__"
_TEXTS = "unit_test golden Passed conftest /proc/"


def _any(words: str) -> str:
    return "|".join(map(re.escape, words.split()))


_SUSPICIOUS = re.compile(
    rf"(?<![\w.])(?:{_any(_CALLED)})\(|(?<![\w.])(?:{_any(_NAMED)})\b|\.(?:{_any(_ATTRIBUTES)})\b"
    rf"|^\s*(?:import|from) (?:{_any(_MODULES)})\b|def (?:{_any(_METHODS)})\b|{_any(_TEXTS)}",
    re.MULTILINE,
)


def suspicions(answer: bytes, golden: bytes, masked: bytes) -> list[str]:
    """Return names that could forge a test's verdict, used by the answer but not by golden or masked file.

    A hand-written test shares a process with the code that it judges, so a candidate that passes with these is not
    trusted. Recorded tests do not need this: their outputs are compared outside the sandbox.
    """
    return sorted(_suspicious(answer) - _suspicious(golden) - _suspicious(masked))


def _suspicious(data: bytes) -> set[str]:
    try:
        tree = code.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    imported: set[str] = set()
    changed: list[ast.expr] = []
    for node in ast.walk(tree):
        match node:
            case ast.Import() | ast.ImportFrom():
                imported.update(code.bound_by(node))
            case ast.Expr(value=ast.Constant() as docstring):
                docstring.value = ""
            case ast.Attribute(ctx=ast.Store()) | ast.Subscript(ctx=ast.Store()):
                changed.append(node)
            case ast.Call(func=ast.Name(id="setattr"), args=[owner, *_]):
                changed.append(owner)
    patched = {f"{ast.unparse(node)} = …" for node in changed if code.root_name(node) in imported}
    return patched | {match[0].strip() for match in _SUSPICIOUS.finditer(ast.unparse(tree))}
