"""Read a unit test written by anybody: its helper modules, the files it reads and writes, its logs."""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from lmr_author.checks.lookup import is_file
from lmr_author.checks.view import TaskView
from lmr_author.source import Module, nodes

HOME = "@"
"""Stands for the repository's folder in the paths below: tests run there."""

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
_PATH_FUNCTIONS = frozenset(
    {
        "abspath",
        "realpath",
        "normpath",
        "expanduser",
        "Path",
        "PurePath",
        "str",
        "resolve",
        "absolute",
        "fspath",
    }
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


class Reading:
    """A unit test and the modules beside it that it imports."""

    def __init__(self, module: Module, relative: str, helpers: tuple[Module, ...]) -> None:
        self.module = module
        self.relative = relative
        self.helpers = helpers

    @property
    def modules(self) -> tuple[Module, ...]:
        """The test and its helpers."""
        return (self.module, *self.helpers)

    @cached_property
    def constants(self) -> frozenset[str]:
        """Every text constant of the test and its helpers, pieces of f-strings included, docstrings not."""
        return frozenset(text for module in self.modules for text in _texts(module.tree))

    @cached_property
    def calls(self) -> tuple[tuple[Module, ast.Call, str], ...]:
        """(module, call, dotted name of what is called) of every call."""
        return tuple(
            (module, node, dotted(node.func))
            for module in self.modules
            for node in nodes(module.tree)
            if isinstance(node, ast.Call)
        )

    @cached_property
    def environment(self) -> dict[str, ast.expr]:
        """Names that are assigned exactly once, with what they are set to."""
        return single_assignments(self.module.tree)

    @cached_property
    def uses(self) -> tuple[FileUse, ...]:
        """The files that the test itself reads and writes, where that can be told."""
        return tuple(self._uses())

    @cached_property
    def starts(self) -> tuple[str, ...]:
        """Folders of the repository that it may run in: its own, then those that it changes into."""
        found = [
            self.path_of(node.args[0]) for _, node, name in self.calls if name == "os.chdir" and node.args
        ]
        inside = [path.removeprefix(f"{HOME}/") for path in found if path and path.startswith(f"{HOME}/")]
        return ("", *dict.fromkeys(path for path in inside if ".." not in path and "*" not in path))

    @cached_property
    def makes_folders(self) -> bool:
        """Whether folders are made while it runs."""
        return any(
            name.rpartition(".")[2] in ("makedirs", "mkdir", "TemporaryDirectory", "mkdtemp")
            for _, _, name in self.calls
        )

    @cached_property
    def log_files(self) -> frozenset[str]:
        """The log files it writes, as paths from ``@`` or ``?``."""
        return frozenset(use.path for use in self.uses if use.log)

    @cached_property
    def log_folders(self) -> tuple[str, ...]:
        """The folders of logs where they are certain: in the repository, or absolute in an image."""
        paths = {use.path for use in self.uses if use.log or (use.writes and "/logs/" in use.path)}
        found = {path.rpartition("/")[0].removeprefix(f"{HOME}/") for path in paths if path.startswith(HOME)}
        found |= {path.rpartition("/")[0] for path in paths if path.startswith(("/workspace/", "/app/"))}
        return tuple(sorted(folder for folder in found - {HOME, "unit_test"} if "*" not in folder))

    def path_of(self, node: ast.expr | None) -> str | None:
        """What a path expression says, in the form of :class:`FileUse`; None when nothing of it is known."""
        text = self._path(node, 0)
        if text is None or not text.strip("?/"):
            return None
        if not text.startswith(("@", "?", "/")):
            text = f"{HOME}/{text}"
        return posixpath.normpath(text.replace("\\", "/"))

    def _path(self, node: ast.expr | None, depth: int) -> str | None:
        if node is None or depth > 12:
            return None
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, str) else None
        if isinstance(node, ast.Name):
            if node.id == "__file__":
                return f"{HOME}/{self.relative}"
            return self._path(self.environment.get(node.id), depth + 1)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
            values = node.right.elts if isinstance(node.right, ast.Tuple) else [node.right]
            return self._filled(node.left, r"%[sd]", values, depth)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div | ast.Add):
            left, right = self._path(node.left, depth + 1), self._path(node.right, depth + 1)
            if right is None:
                return None
            if isinstance(node.op, ast.Div):
                return posixpath.join(left or "?", right)
            unknown = (
                "*" if right.startswith((".", "_", "-")) else "?/"
            )  # a name without its ending, or a folder
            return (left or unknown) + right
        if isinstance(node, ast.JoinedStr):
            return self._formatted(node, depth)
        if isinstance(node, ast.Attribute) and node.attr in ("parent", "parents"):
            inner = self._path(node.value, depth + 1)
            return posixpath.dirname(inner) if inner else None
        if (
            isinstance(node, ast.Subscript)
            and isinstance(node.value, ast.Attribute)
            and node.value.attr == "parents"
        ):
            return self._parents(node, depth)
        return self._path_call(node, depth) if isinstance(node, ast.Call) else None

    def _formatted(self, node: ast.JoinedStr, depth: int) -> str | None:
        text = ""
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                known = self._path(part.value, depth + 1)
                text += known if known is not None else "*"
            elif isinstance(part, ast.Constant):
                text += str(part.value)
        return text

    def _filled(self, template: ast.expr, hole: str, values: list[ast.expr], depth: int) -> str | None:
        """A text with its holes, ``{}`` or ``%s``, filled in order; ``*`` for what is not known."""
        if not isinstance(template, ast.Constant) or not isinstance(template.value, str):
            return None
        pieces = re.split(hole, template.value)
        if len(pieces) != len(values) + 1:
            return None
        known = [self._path(value, depth + 1) or "*" for value in values]
        return pieces[0] + "".join(value + piece for value, piece in zip(known, pieces[1:], strict=True))

    def _parents(self, node: ast.Subscript, depth: int) -> str | None:
        assert isinstance(node.value, ast.Attribute)
        text = self._path(node.value.value, depth + 1)
        if text is None or not isinstance(node.slice, ast.Constant) or not isinstance(node.slice.value, int):
            return None
        for _ in range(min(node.slice.value, 20) + 1):
            text = posixpath.dirname(text)
        return text

    def _path_call(self, node: ast.Call, depth: int) -> str | None:
        name = dotted(node.func).rpartition(".")[2]
        inner = node.func.value if isinstance(node.func, ast.Attribute) else None
        if name == "format" and inner is not None and not node.keywords:
            return self._filled(inner, r"\{\d?\}", node.args, depth)
        if name == "getcwd" or (name == "cwd" and not node.args):
            return HOME
        if name == "dirname" and node.args:
            text = self._path(node.args[0], depth + 1)
            return posixpath.dirname(text) if text else None
        if name in ("join", "joinpath") and node.args:
            first = [inner] if name == "joinpath" and inner is not None else []
            parts = [self._path(item, depth + 1) for item in [*first, *node.args]]
            if parts[-1] is None:
                return None
            known = [part if part is not None else "?" for part in parts]
            return "?/" + str(known[-1]) if "?" in known[:-1] else posixpath.join(*known)
        if name in _PATH_FUNCTIONS:
            return self._path(node.args[0] if node.args else inner, depth + 1)
        return None

    def _uses(self) -> Iterator[FileUse]:
        for module, node, name in self.calls:
            if module is not self.module:
                continue
            last = name.rpartition(".")[2]
            if last in ("basicConfig", "FileHandler", "RotatingFileHandler"):
                yield from self._use(
                    node,
                    _argument(node, 0 if last != "basicConfig" else 99, "filename"),
                    writes=True,
                    log=True,
                )
            elif last == "open" and name in ("open", "io.open", "codecs.open", "gzip.open"):
                mode = _argument(node, 1, "mode")
                text = mode.value if isinstance(mode, ast.Constant) and isinstance(mode.value, str) else "r"
                yield from self._use(
                    node, _argument(node, 0, "file"), writes=any(char in text for char in "wax+")
                )
            elif last in READERS and name not in ("json.load", "pickle.load", "yaml.load"):
                first = _argument(node, 0, "path")
                own = (
                    node.func.value
                    if isinstance(node.func, ast.Attribute) and last in ("read_text", "read_bytes")
                    else first
                )
                yield from self._use(node, own, writes=False)
            elif last in WRITERS:
                place = (
                    1
                    if name
                    in (
                        "torch.save",
                        "save_file",
                        "safetensors.torch.save_file",
                        "safetensors.numpy.save_file",
                    )
                    else 0
                )
                own = (
                    node.func.value
                    if isinstance(node.func, ast.Attribute) and last in ("write_text", "write_bytes")
                    else _argument(node, place, "path")
                )
                if last == "save" and len(node.args) > 1 and self.path_of(own) is None:
                    own = node.args[1]  # torch under another name
                yield from self._use(node, own, writes=True)

    def _use(
        self, node: ast.Call, argument: ast.expr | None, *, writes: bool, log: bool = False
    ) -> Iterator[FileUse]:
        path = self.path_of(argument)
        if path is not None:
            is_log = writes and (log or path.endswith(".log"))
            yield FileUse(path, writes, is_log, node.lineno)


def reading(view: TaskView, path: Path | None) -> Reading | None:
    """A unit test read; None when it is absent or not Python 3."""
    if path is None:
        return None
    return view.memo(("reading", path), lambda: _read(view, path))


def _read(view: TaskView, path: Path) -> Reading | None:
    module = view.module(path)
    if module is None or view.repository is None:
        return None
    try:
        relative = path.relative_to(view.repository).as_posix()
    except ValueError:
        relative = path.name
    return Reading(module, relative, tuple(_helpers(view, path, module)))


def _helpers(view: TaskView, path: Path, module: Module) -> Iterator[Module]:
    """Modules below the test's own folder that it imports, directly or through each other."""
    waiting, seen = [(module, path)], {path}
    while waiting and len(seen) < 40:
        current, place = waiting.pop()
        for name, level in imported_modules(current.tree):
            for base in dict.fromkeys((place.parent, path.parent, path.parent.parent)):
                start = base if level <= 1 else base.parents[min(level - 2, len(base.parents) - 1)]
                stem = start.joinpath(*[part for part in name.split(".") if part]) if name else start
                for option in (stem.with_suffix(".py"), stem / "__init__.py"):
                    if option in seen or path.parent not in option.parents or not is_file(option):
                        continue
                    seen.add(option)
                    found = view.module(option)
                    if found is not None:
                        yield found
                        waiting.append((found, option))


def imported_modules(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """(dotted name, level) of every module that may be imported; for ``from a import b`` also ``a.b``."""
    for node in nodes(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, 0
        elif isinstance(node, ast.ImportFrom):
            yield node.module or "", node.level
            for alias in node.names:
                yield (f"{node.module}.{alias.name}" if node.module else alias.name), node.level


def dotted(node: ast.AST) -> str:
    """``a.b.c`` of a name or attribute; a call or subscript inside becomes ``()``; "" for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        inner = dotted(node.value)
        return f"{inner}.{node.attr}" if inner else f"().{node.attr}"
    return ""


def single_assignments(tree: ast.AST) -> dict[str, ast.expr]:
    """Names that a module assigns exactly once, with their values."""
    values: dict[str, list[ast.expr | None]] = {}
    for node in nodes(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            values.setdefault(node.targets[0].id, []).append(node.value)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            values.setdefault(node.target.id, []).append(node.value)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            values.setdefault(node.id, [])
        elif isinstance(node, ast.arg):
            values.setdefault(node.arg, []).append(None)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            values.setdefault(node.target.id, []).append(None)
    counts: dict[str, int] = {}
    for node in nodes(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            counts[node.id] = counts.get(node.id, 0) + 1
    return {
        name: found[0]
        for name, found in values.items()
        if len(found) == 1 and found[0] is not None and counts.get(name, 1) == 1
    }


def _argument(node: ast.Call, place: int, keyword: str) -> ast.expr | None:
    for item in node.keywords:
        if item.arg == keyword:
            return item.value
    return node.args[place] if place < len(node.args) else None


def _texts(tree: ast.AST) -> Iterator[str]:
    documentation = {
        id(node.body[0].value)
        for node in nodes(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in nodes(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation:
            yield node.value


def words(text: str) -> list[str]:
    """The words of a text, capitals kept."""
    return re.findall(r"[A-Za-z]+", text)
