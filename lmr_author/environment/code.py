"""Read the repository's code once: imports, downloads, what needs a GPU, and who asks for an installed version."""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from packaging.utils import canonicalize_name

from lmr_author import files
from lmr_author.environment.packages import distribution, interchangeable, is_standard, names, table
from lmr_author.environment.recipe import Declared, Download, Fact, Unused
from lmr_author.environment.requirements import MAX_BYTES, read_text
from lmr_author.errors import LmrError
from lmr_author.texts import printable

MAX_FILES = 5000
MAX_NOTEBOOK = 32 * 1024 * 1024
"""Notebooks hold the pictures that they show."""
COMPILES = "compiles CUDA code when run (torch.utils.cpp_extension)"
"""A use of the GPU for which the image must have nvcc."""
_SKIPPED = re.compile(
    r"(^|/)(tests?|docs?|\.[^/]*|build|dist|site-packages|node_modules)/"
    r"|(^|/)(setup[^/]*|conftest|test_[^/]*|[^/]*_test)\.py$|^unit_test/",
    re.I,
)
_EXAMPLES = re.compile(
    r"(^|/)(examples?|bench[^/]*|demos?|notebooks?|experiments?/notebooks?)/|\.ipynb$", re.I
)
_ASIDE = re.compile(r"(^|/)(scripts?|tools?|util(s|ity|ities)?|[^/]*comparison)/", re.I)
_GUARD = re.compile(r"cuda|gpu|device", re.I)
_AVAILABLE = re.compile(r"_?(is|has|have)_\w+_(available|installed)")
_NAME = re.compile(r"^(?![./~])[A-Za-z0-9][\w.+-]*(/[\w.+-]+)?$")
_LOCAL_DATA = frozenset(
    [
        "json",
        "csv",
        "text",
        "parquet",
        "arrow",
        "pandas",
        "imagefolder",
        "audiofolder",
        "webdataset",
        "generator",
        "xml",
    ]
)
"""Formats of files that ``load_dataset`` reads, in place of a data set's name."""
_ASKING = re.compile(
    r"(importlib\.metadata|importlib_metadata)\.(version|metadata|distribution)|pkg_resources\.(get_distribution|require)"
)
_Visit = tuple[ast.AST, bool, bool, bool, dict[str, str]]
_LEAVES = {
    ast.Name,
    ast.Constant,
    ast.Load,
    ast.Store,
    ast.Pass,
    ast.arguments,
    ast.arg,
    ast.alias,
    ast.Break,
}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@dataclass(frozen=True)
class Import:
    """An import: dotted name, line (notebook: cell), and whether it runs when the module is imported.

    ``needed`` is False where the code does without: under ``except ImportError``, ``TYPE_CHECKING``.
    """

    name: str
    line: int
    at_once: bool
    needed: bool = True


@dataclass
class SourceFile:
    """The facts of one Python file or notebook; ``path`` is relative to the repository.

    Attributes:
        imports: with relative ones by their absolute names.
        asked: packages whose installed version it asks for.
    """

    path: str
    imports: list[Import] = field(default_factory=list)
    downloads: list[Download] = field(default_factory=list)
    cuda: list[Fact] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Code:
    """All files of a repository's code, and the names that it defines itself.

    Attributes:
        files: without tests, documentation and the task's own ``unit_test/``.
        local: names of its modules and folders, which an import can mean; research code extends ``sys.path``
            freely, so the place says little.
        unreadable: files that this version of Python cannot parse.
        left_out: number of files that were not read, because there are too many.
    """

    files: tuple[SourceFile, ...]
    local: frozenset[str]
    unreadable: tuple[str, ...] = ()
    left_out: int = 0

    def main(self, parts: Sequence[str]) -> list[SourceFile]:
        """Return the code without examples, notebooks and ``parts``; all of it when nothing is left."""
        main = [item for item in self.files if not _is_aside(item.path, parts)]
        return main if any(item.imports for item in main) else list(self.files)

    def reachable(self, goals: Iterable[str]) -> list[SourceFile]:
        """Return the files that importing some files reads, those files among them."""
        by_path = {item.path: item for item in self.files}
        by_module: dict[str, list[str]] = {}
        for path in by_path:
            parts = PurePosixPath(path).with_suffix("").parts
            parts = parts[:-1] if parts[-1] == "__init__" else parts
            for start in range(len(parts)):
                by_module.setdefault(".".join(parts[start:]), []).append(path)
        left = [path for path in goals if path in by_path]
        found: dict[str, SourceFile] = {}
        while left:
            path = left.pop()
            if path in found:
                continue
            found[path] = by_path[path]
            left += [f"{parent}/__init__.py" for parent in PurePosixPath(path).parents
                     if f"{parent}/__init__.py" in by_path]  # fmt: skip
            for item in found[path].imports:
                words = item.name.split(".")
                # The last word may be a name in the module.
                for length in range(len(words), 0, -1):
                    if hits := by_module.get(".".join(words[:length])):
                        left += hits
                        break
        return [found[path] for path in sorted(found)]


def read_code(root: Path) -> Code:
    """Parse every Python file and notebook below ``root`` once; nothing is run."""
    sources = [path for path in files.walk(root) if path.suffix in (".py", ".ipynb")]
    found, unreadable = [], []
    for path in sources[:MAX_FILES]:
        relative = path.relative_to(root).as_posix()
        if _SKIPPED.search(relative):
            continue
        try:
            found.append(_read(path, relative))
        except (LmrError, SyntaxError, ValueError, RecursionError, MemoryError):
            unreadable.append(printable(relative))
    local = {path.stem for path in sources}
    local |= {part for path in sources for part in path.relative_to(root).parts[:-1]}
    return Code(tuple(found), frozenset(local), tuple(unreadable), max(0, len(sources) - MAX_FILES))


def _read(path: Path, relative: str) -> SourceFile:
    if path.suffix == ".ipynb":
        return _notebook(read_text(path, MAX_NOTEBOOK), relative)
    return _Reader(relative).read(parse_quietly(read_text(path, MAX_BYTES)))


def parse_quietly(text: str | bytes) -> ast.Module:
    """Parse code without the warnings of Python: the repository's invalid escapes are not ours to report."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def _notebook(text: str, relative: str) -> SourceFile:
    data = json.loads(text)
    cells = data.get("cells", []) if isinstance(data, dict) else []
    found = SourceFile(relative)
    for number, cell in enumerate(cells if isinstance(cells, list) else [], 1):
        if not isinstance(cell, dict) or cell.get("cell_type") != "code":
            continue
        source = cell.get("source", "")
        lines = ("".join(map(str, source)) if isinstance(source, list) else str(source)).splitlines()
        code = "\n".join("" if line.lstrip().startswith(("!", "%", "?")) else line for line in lines)
        try:
            read = _Reader(relative).read(parse_quietly(code))
        except (SyntaxError, ValueError):
            continue
        found.imports += [replace(item, line=number) for item in read.imports]
    return found


class _Reader:
    """Reads one module in a single pass over its tree."""

    def __init__(self, path: str) -> None:
        self._found = SourceFile(path)
        self._shown = printable(path)
        self._aliases: dict[str, str] = {}
        self._options: dict[str, str] = {}
        self._seen: set[tuple[str, ...]] = set()

    def read(self, tree: ast.Module) -> SourceFile:
        """Return the facts of a module, in the order of its lines."""
        constants = {_last(item): _string(node.value) for node in tree.body if isinstance(node, ast.Assign)
                     for item in node.targets if _string(node.value)}  # fmt: skip
        calls: list[tuple[ast.Call, bool, bool, dict[str, str]]] = []
        # Each node with: does importing the module run it, does the code need it, is it under a test for a device,
        # and the strings that names stand for there.
        stack: list[_Visit] = [(tree, True, True, False, constants)]
        while stack:
            node, at_once, needed, guarded, known = stack.pop()
            below: list[ast.AST] = []
            if isinstance(node, ast.Import | ast.ImportFrom):
                self._import(node, at_once, needed)
                continue
            if isinstance(node, ast.Try) and _handles_import_error(node):
                stack += [(child, at_once, False, guarded, known) for child in (*node.body, *node.handlers)]
                below = [*node.orelse, *node.finalbody]
            elif isinstance(node, ast.If | ast.IfExp):
                words = [
                    _last(word) for word in ast.walk(node.test) if isinstance(word, ast.Name | ast.Attribute)
                ]
                inside = guarded or any(map(_GUARD.search, words))
                optional = "TYPE_CHECKING" in words or any(map(_AVAILABLE.fullmatch, words))
                run = at_once and not (isinstance(node, ast.If) and _is_main_guard(node.test))
                body = node.body if isinstance(node.body, list) else [node.body]
                stack += [(child, run, needed and not optional, inside, known) for child in body]
                orelse = node.orelse if isinstance(node.orelse, list) else [node.orelse]
                stack += [(child, at_once, needed, inside, known) for child in orelse]
                stack.append((node.test, at_once, needed, True, known))
                continue
            elif isinstance(node, _FUNCTIONS):
                # Decorators and defaults are evaluated where the function is defined; its body when it is called.
                outside = [*node.args.defaults, *(item for item in node.args.kw_defaults if item)]
                outside += getattr(node, "decorator_list", [])
                stack += [(child, at_once, needed, guarded, known) for child in outside]
                known = {**known, **_defaults(node.args)}
                below, at_once = [*(node.body if isinstance(node.body, list) else [node.body])], False
            else:
                if isinstance(node, ast.Call):
                    calls.append((node, at_once, guarded, known))
                below = _children(node)
            stack += [(child, at_once, needed, guarded, known) for child in reversed(below)]
        for call, *_ in calls:
            self._option(call)
        for call, at_once, guarded, known in sorted(
            calls, key=lambda item: (item[0].lineno, item[0].col_offset)
        ):
            self._call(call, at_once, guarded, known)
        self._found.imports.sort(key=lambda item: item.line)
        return self._found

    def _import(self, node: ast.Import | ast.ImportFrom, at_once: bool, needed: bool) -> None:
        prefix = ""
        if isinstance(node, ast.ImportFrom):
            folders = PurePosixPath(self._found.path).parts[:-1]
            above = folders[: len(folders) - node.level + 1] if node.level else ()
            prefix = ".".join((*above, *filter(None, [node.module]))) + "."
            if node.level and not above:
                prefix = f"{node.module or PurePosixPath(self._found.path).stem}."
        for alias in node.names:
            # `from google.cloud import storage`: only the whole name tells the package.
            name = f"{prefix}{alias.name}"
            self._found.imports.append(Import(name, node.lineno, at_once, needed))
            self._aliases[alias.asname or alias.name] = name if alias.asname or prefix else alias.name

    def _option(self, call: ast.Call) -> None:
        """The default of an option of argparse is what ``args.model`` most often stands for."""
        if _dotted(call.func).endswith("add_argument"):
            default = next((_string(word.value) for word in call.keywords if word.arg == "default"), "")
            for flag in map(_string, call.args):
                if flag.startswith("--") and default:
                    self._options[flag[2:].replace("-", "_")] = default

    def _call(self, call: ast.Call, at_once: bool, guarded: bool, known: dict[str, str]) -> None:
        dotted = _dotted(call.func)
        head, dot, rest = dotted.partition(".")
        name = f"{self._aliases.get(head, head)}{dot}{rest}"
        when = "when imported" if at_once else "when run"
        use = "" if guarded else _gpu(call, name)
        if use and self._first(use, when):
            self._found.cuda.append(Fact(f"{use}, {when}", f"{self._shown}:{call.lineno}"))
        kind, what = self._download(call, name, known)
        if what and self._first(kind, what, when):
            origin = f"{self._shown}:{call.lineno}"
            self._found.downloads.append(Download(kind, printable(what, 200), origin, at_once))
        if call.args and _ASKING.fullmatch(name):
            if asked := _string(call.args[0]):
                self._found.asked.append(canonicalize_name(asked))
            elif _last(call.args[0]) in ("__name__", "__package__"):
                self._found.asked += map(canonicalize_name, PurePosixPath(self._found.path).parts[:-1])

    def _first(self, *key: str) -> bool:
        new = key not in self._seen
        self._seen.add(key)
        return new

    def _download(self, call: ast.Call, name: str, known: dict[str, str]) -> tuple[str, str]:
        for end, row in _downloads().get(name.rpartition(".")[2], ()):
            if f".{name}".endswith(f".{end}") and name.startswith(row.get("module", "")):
                what = self._argument(call, row, known)
                if row["kind"] == "nltk" and not call.args and not call.keywords:
                    what = "all"
                fits = "://" in what if row["kind"] == "file" else _NAME.match(what) or "://" in what
                return row["kind"], what if fits and not (
                    end == "load_dataset" and what in _LOCAL_DATA
                ) else ""
        yes = {word.arg for word in call.keywords if getattr(word.value, "value", None) is True}
        if "pretrained" in yes:
            return "model", f"{name} with pretrained weights"
        return "dataset", name if name.startswith("torchvision.datasets.") and "download" in yes else ""

    def _argument(self, call: ast.Call, row: dict[str, Any], known: dict[str, str]) -> str:
        node = next((word.value for word in call.keywords if word.arg == row.get("keyword")), None)
        if node is None and len(call.args) > row["at"]:
            node = call.args[row["at"]]
        if isinstance(node, ast.Attribute):
            return self._options.get(node.attr, "")
        return known.get(node.id, "") if isinstance(node, ast.Name) else _string(node)


def _children(node: ast.AST) -> list[ast.AST]:
    """Return the nodes below that can hold a call or an import: names and constants are most of a tree."""
    found: list[ast.AST] = []
    for name in node._fields:
        value = getattr(node, name, None)
        if type(value) is list:
            found += [item for item in value if isinstance(item, ast.AST) and type(item) not in _LEAVES]
        elif isinstance(value, ast.AST) and type(value) not in _LEAVES:
            found.append(value)
    return found


@cache
def _downloads() -> dict[str, list[tuple[str, dict[str, Any]]]]:
    """Functions that fetch, by the last word of their names."""
    found: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    for end, row in table("downloads").items():
        found.setdefault(end.rpartition(".")[2], []).append((end, row))
    return found


def _gpu(call: ast.Call, name: str) -> str:
    """Return how a call cannot do without a GPU, or compiles for one; "" when it can."""
    last = name.rpartition(".")[2]
    if last == "cuda" and isinstance(call.func, ast.Attribute) and name != "torch.cuda":
        return ".cuda()"
    first = _string(call.args[0]) if call.args else ""
    if last == "to" and first.startswith("cuda"):
        return '.to("cuda")'
    if name == "torch.device" and first.startswith("cuda"):
        return 'torch.device("cuda")'
    if any(
        word.arg in ("device", "map_location") and _string(word.value).startswith("cuda")
        for word in call.keywords
    ):
        return 'device="cuda"'
    words = {word.arg for word in call.keywords}
    sources = {"cuda_sources", "cpp_sources", "extra_cuda_cflags", "extra_cflags"} & words
    if last in ("load", "load_inline") and ("cpp_extension" in name or sources):
        return COMPILES
    return ""


def _defaults(arguments: ast.arguments) -> dict[str, str]:
    """Parameters with a string as default; one without hides a constant of its name."""
    ordered = [*arguments.posonlyargs, *arguments.args]
    values = [None] * (len(ordered) - len(arguments.defaults)) + list(arguments.defaults)
    pairs = [
        *zip(ordered, values, strict=True),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    return {parameter.arg: _string(value) for parameter, value in pairs}


def _is_main_guard(test: ast.expr) -> bool:
    return isinstance(test, ast.Compare) and _last(test.left) == "__name__"


def _handles_import_error(node: ast.Try) -> bool:
    caught = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}
    return any(
        handler.type is None or any(_last(item) in caught for item in ast.walk(handler.type))
        for handler in node.handlers
    )


def _last(node: ast.AST) -> str:
    """``a.b.c`` → ``c``."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _dotted(node: ast.expr) -> str:
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join(reversed([*parts, node.id] if isinstance(node, ast.Name) else parts))


def _string(node: ast.expr | None) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _is_aside(path: str, parts: Sequence[str]) -> bool:
    return is_example(path) or any(path.startswith(f"{part}/") for part in parts)


def is_example(path: str) -> bool:
    """Return whether a path (or an origin, ``path:line``) lies among examples and notebooks."""
    return bool(_EXAMPLES.search(path.partition(":")[0]))


def imported_packages(code: Code, sources: Iterable[SourceFile], *, at_once: bool = False) -> list[Declared]:
    """Return the packages that some files need, by their names on the package index, sorted.

    Args:
        at_once: only what the code (no examples, scripts, tools) needs to be importable at all, and only packages
            whose name is known.
    """
    found: dict[str, Declared] = {}
    for source in sources:
        if at_once and (is_example(source.path) or _ASIDE.search(source.path)):
            continue
        for item, top, known in _foreign(code, source):
            name = known if known is not None else top if top.isidentifier() else ""
            if name and not (at_once and (known is None or not item.at_once)):
                origin = f"import {top} in {printable(source.path)}:{item.line}"
                made = Declared(canonicalize_name(name), name, origin, guessed=at_once or known is None)
                if made.name not in found or (found[made.name].guessed and not made.guessed):
                    found[made.name] = made
    return sorted(found.values(), key=lambda item: item.name)


def _foreign(code: Code, source: SourceFile) -> Iterator[tuple[Import, str, str | None]]:
    """Yield the needed imports of a file that are not the repository's or Python's, with top name and distribution."""
    for item in source.imports:
        top = item.name.partition(".")[0]
        if item.needed and top not in code.local and not is_standard(top):
            yield item, top, distribution(item.name.removesuffix(".*"))


def imported_names(code: Code, sources: Iterable[SourceFile], declared: Iterable[Declared]) -> frozenset[str]:
    """Return the packages without which some of the files cannot be imported, with those that can replace them.

    Of a module that belongs to no known package, one that is declared under a similar name may be the package:
    ``trak`` is traker's.
    """
    found: set[str] = set()
    unknown: set[str] = set()
    for source in sources:
        for item, top, known in _foreign(code, source):
            if item.at_once:
                name = canonicalize_name(known or top)
                found |= interchangeable(name)
                if top not in table("imports"):
                    unknown.add(name)
    listed = {item.name for item in declared}
    return frozenset(found | {name for name in listed for one in unknown - listed if _alike(one, name)})


def _alike(module: str, package: str) -> bool:
    """Return whether one name is in the other; names of three letters are in others by chance."""
    short, long = sorted((module.replace("-", ""), package.replace("-", "")), key=len)
    return len(short) > 3 and short in long


def unavailable(code: Code, parts: Sequence[str]) -> list[Unused]:
    """Return imports of the main code that no package on the index provides: from a repository, or compiled."""
    found: dict[str, Unused] = {}
    for source in code.main(parts):
        for item, top, known in _foreign(code, source):
            if item.at_once and known == "" and top not in names("elsewhere"):
                origin = f"{printable(source.path)}:{item.line}"
                reason = "it is not on the package index"
                found.setdefault(
                    top, Unused(f"import {top}", origin, "unavailable", reason, canonicalize_name(top))
                )
    return list(found.values())


def example_packages(code: Code, parts: Sequence[str]) -> list[Declared]:
    """Return the packages that only examples, notebooks and ``parts`` import, sorted: they are not installed."""
    main = {item.name for item in imported_packages(code, code.main(parts))}
    aside = [item for item in code.files if _is_aside(item.path, parts)]
    return [item for item in imported_packages(code, aside) if item.name not in main]
