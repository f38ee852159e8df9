"""The files that a test reads and writes, where that can be told without running it."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from lmr_author.checks.syntax import argument

READERS = frozenset(
    [
        "load",
        "load_file",
        "read_csv",
        "read_json",
        "read_table",
        "read_pickle",
        "read_parquet",
        "read_excel",
        "loadtxt",
        "genfromtxt",
        "read_text",
        "read_bytes",
        "imread",
        "safe_open",
        "load_from_disk",
        "loadmat",
        "read_lines",
        "load_model",
        "load_word2vec_format",
    ]
)
WRITERS = frozenset(
    [
        "save",
        "save_file",
        "to_csv",
        "to_json",
        "to_pickle",
        "to_parquet",
        "savez",
        "savetxt",
        "savez_compressed",
        "write_text",
        "write_bytes",
        "imsave",
    ]
)


@dataclass(frozen=True)
class FileUse:
    """A file that a test reads or writes.

    Attributes:
        path: as far as it can be told without running: from ``@`` (the repository's folder) when it is
            certain, ``?/name`` when only its end is known, ``*`` for a piece that is not known.
        writes: whether it is written.
        log: whether it is a log.
        line: where.
    """

    path: str
    writes: bool
    log: bool
    line: int

    @property
    def name(self) -> str:
        """Last part of the path."""
        return self.path.rpartition("/")[2]


PathOf = Callable[[ast.expr | None], str | None]


def file_uses(calls: Iterable[tuple[ast.Call, str]], path_of: PathOf) -> Iterator[FileUse]:
    """Each use of a file.

    Args:
        calls: (call, dotted name of what is called).
        path_of: what a path expression says.
    """
    for node, name in calls:
        last = name.rpartition(".")[2]
        if last in ("basicConfig", "FileHandler", "RotatingFileHandler"):
            file = argument(node, 0 if last != "basicConfig" else 99, "filename")
            yield from _use(path_of, node, file, writes=True, log=True)
        elif last == "open" and name in ("open", "io.open", "codecs.open", "gzip.open"):
            mode = argument(node, 1, "mode")
            text = mode.value if isinstance(mode, ast.Constant) and isinstance(mode.value, str) else "r"
            writes = any(char in text for char in "wax+")
            yield from _use(path_of, node, argument(node, 0, "file"), writes=writes)
        elif last in READERS and name not in ("json.load", "pickle.load", "yaml.load"):
            own = _owner(node, last) or argument(node, 0, "path")
            yield from _use(path_of, node, own, writes=False)
        elif last in WRITERS:
            own = _owner(node, last) or argument(node, 1 if name in _FILE_SECOND else 0, "path")
            if last == "save" and len(node.args) > 1 and path_of(own) is None:
                own = node.args[1]  # torch under another name
            yield from _use(path_of, node, own, writes=True)
        elif name in _SHELLS or (name in _PROGRAMS and _by_shell(node)):
            yield from _redirected(path_of, node)


_SHELLS = frozenset({"os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput"})
_PROGRAMS = frozenset(f"subprocess.{name}" for name in ("run", "call", "check_call", "check_output", "Popen"))
_REDIRECTED = re.compile(r"(?:>{1,2}|\btee\s+(?:-a\s+)?)\s*['\"]?((?!&)[^\s'\";|&<>]+)")


def _by_shell(node: ast.Call) -> bool:
    """Whether a program is started by way of a shell, which reads ``>``."""
    return any(
        item.arg == "shell" and not (isinstance(item.value, ast.Constant) and not item.value.value)
        for item in node.keywords
    )


def _redirected(path_of: PathOf, node: ast.Call) -> Iterator[FileUse]:
    """The files that a command of a shell writes: ``python check.py > check.log 2>&1``, ``… | tee check.log``."""
    for path in _REDIRECTED.findall(path_of(argument(node, 0, "args")) or ""):
        yield from _use(path_of, node, ast.Constant(path), writes=True)


_FILE_SECOND = frozenset(
    {"torch.save", "save_file", "safetensors.torch.save_file", "safetensors.numpy.save_file"}
)


def _owner(node: ast.Call, last: str) -> ast.expr | None:
    """``x`` of ``x.read_text()``; None where the path is an argument."""
    of_path = last in ("read_text", "read_bytes", "write_text", "write_bytes")
    return node.func.value if of_path and isinstance(node.func, ast.Attribute) else None


def _use(
    path_of: PathOf, node: ast.Call, argument: ast.expr | None, *, writes: bool, log: bool = False
) -> Iterator[FileUse]:
    path = path_of(argument)
    if path is not None:
        is_log = writes and (log or path.endswith(".log"))
        yield FileUse(path, writes, is_log, node.lineno)
