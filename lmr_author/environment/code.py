"""Read the repository's code once: imports, downloads, what needs a GPU, and who asks for an installed version."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from packaging.utils import canonicalize_name

from lmr_author import files
from lmr_author.code import each, gpu_lines
from lmr_author.environment.packages import distribution, interchangeable, is_standard, names, table
from lmr_author.environment.recipe import Declared, Download, Fact, Unused
from lmr_author.environment.requirements import read_text
from lmr_author.errors import LmrError
from lmr_author.texts import printable

_MAX_FILES = 5000
COMPILES = "compiles CUDA code when run (torch.utils.cpp_extension)"
"""A use of the GPU for which the image must have nvcc."""
_SKIPPED = re.compile(
    r"(^|/)(tests?|docs?|\.[^/]*|build|dist|site-packages|node_modules)/"
    r"|(^|/)(setup[^/]*|conftest|test_[^/]*|[^/]*_test)\.py$|^unit_test/",
    re.I,
)
_EXAMPLES = re.compile(r"(^|/)(examples?|bench[^/]*|demos?|notebooks?)/", re.I)
_ASIDE = re.compile(r"(^|/)(scripts?|tools?|util(s|ity|ities)?|[^/]*comparison)/", re.I)
_AVAILABLE = re.compile(r"_?(is|has|have)_\w+_(available|installed)|TYPE_CHECKING")
_PUBLISHED = re.compile(r"^(?![./~])[A-Za-z0-9][\w.+-]*(/[\w.+-]+)?$")
"""A name of a model or data set, or an address' beginning; no path."""
_FORMATS = re.compile("json|csv|text|parquet|arrow|pandas|imagefolder|audiofolder|webdataset|generator|xml")
"""Formats of files that ``load_dataset`` reads, in place of a data set's name."""
_ASKING = re.compile(
    r"(importlib\.metadata|importlib_metadata)\.(version|metadata|distribution)|pkg_resources\.(get_distribution|require)"
)


@dataclass(frozen=True)
class Import:
    """An import: dotted name, line, and whether it runs when the module is imported.

    ``needed`` is False where the code does without: under ``except ImportError``, ``TYPE_CHECKING``.
    """

    name: str
    line: int
    at_once: bool
    needed: bool


@dataclass
class SourceFile:
    """The facts of one Python file; ``path`` is relative to the repository.

    Attributes:
        imports: with relative ones by their absolute names.
        asked: packages whose installed version it asks for.
        insists: its path with the first line that insists on a GPU; "" for none.
    """

    path: str
    imports: list[Import] = field(default_factory=list)
    downloads: list[Download] = field(default_factory=list)
    cuda: list[Fact] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    insists: str = ""


@dataclass(frozen=True)
class CodeFiles:
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
        """Return the code without examples and ``parts``; all of it when nothing is left."""
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
            packages = (f"{parent}/__init__.py" for parent in PurePosixPath(path).parents)
            left += [package for package in packages if package in by_path]
            for item in found[path].imports:
                words = item.name.split(".")
                # The last word may be a name in the module.
                modules = (".".join(words[:length]) for length in range(len(words), 0, -1))
                left += next((by_module[module] for module in modules if module in by_module), [])
        return [found[path] for path in sorted(found)]


def read_code(root: Path) -> CodeFiles:
    """Parse every Python file below ``root`` once; nothing is run."""
    sources = [path for path in files.walk(root) if path.suffix == ".py"]
    found, unreadable = [], []
    for path in sources[:_MAX_FILES]:
        relative = path.relative_to(root).as_posix()
        if _SKIPPED.search(relative):
            continue
        try:
            reader = _Reader(relative)
            tree = parse_quietly(read_text(path))
            reader.visit(tree)
            found.append(reader.found)
            functions = each(tree, ast.FunctionDef, ast.AsyncFunctionDef)
            if lines := [line for item in functions for line in gpu_lines(item)]:
                reader.found.insists = f"{printable(relative)}:{min(lines)}"
        except (LmrError, SyntaxError, ValueError, RecursionError, MemoryError):
            unreadable.append(printable(relative))
    local = {path.stem for path in sources}
    local |= {part for path in sources for part in path.relative_to(root).parts[:-1]}
    return CodeFiles(tuple(found), frozenset(local), tuple(unreadable), max(0, len(sources) - _MAX_FILES))


def parse_quietly(text: str | bytes) -> ast.Module:
    """Parse code without the warnings of Python: the repository's invalid escapes are not ours to report."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


class _Reader(ast.NodeVisitor):
    """Reads one module in a single pass over its tree.

    The state says of the node being visited: does importing the module run it, and does the code need it.
    """

    def __init__(self, path: str) -> None:
        self.found = SourceFile(path)
        self._at_once, self._needed = True, True
        self._aliases: dict[str, str] = {}
        self._constants: dict[str, str] = {}
        self._seen: set[tuple[str, ...]] = set()

    def _visit_all(self, nodes: Iterable[ast.AST], *, at_once: bool = True, needed: bool = True) -> None:
        before = (self._at_once, self._needed)
        self._at_once, self._needed = self._at_once and at_once, self._needed and needed
        for node in nodes:
            self.visit(node)
        self._at_once, self._needed = before

    def visit_Module(self, node: ast.Module) -> None:
        for item in node.body:
            if isinstance(item, ast.Assign) and (value := _string(item.value)):
                self._constants |= {dotted_name(target): value for target in item.targets}
        self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        # Decorators and defaults are evaluated where the function is defined; its body when it is called.
        body = node.body if isinstance(node.body, list) else [node.body]
        self._visit_all([*getattr(node, "decorator_list", []), node.args])
        outside, ordered = self._constants, [*node.args.posonlyargs, *node.args.args]
        defaults = dict(zip(reversed(ordered), reversed(node.args.defaults), strict=False))
        defaults |= {
            arg: value
            for arg, value in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
            if value
        }
        self._constants = outside | {arg.arg: _string(value) for arg, value in defaults.items()}
        self._visit_all(body, at_once=False)
        self._constants = outside

    visit_AsyncFunctionDef = visit_FunctionDef
    visit_Lambda = visit_FunctionDef

    def visit_Try(self, node: ast.Try) -> None:
        caught = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}
        words = {_last(item) for one in node.handlers if one.type for item in ast.walk(one.type)}
        optional = bool(caught & words) or any(one.type is None for one in node.handlers)
        self._visit_all([*node.body, *node.handlers], needed=not optional)
        self._visit_all([*node.orelse, *node.finalbody])

    def visit_If(self, node: ast.If | ast.IfExp) -> None:
        words = [_last(word) for word in ast.walk(node.test) if isinstance(word, ast.Name | ast.Attribute)]
        body = node.body if isinstance(node.body, list) else [node.body]
        orelse = node.orelse if isinstance(node.orelse, list) else [node.orelse]
        self.visit(node.test)
        self._visit_all(
            body, at_once=words[:1] != ["__name__"], needed=not any(map(_AVAILABLE.fullmatch, words))
        )
        self._visit_all(orelse)

    visit_IfExp = visit_If

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        prefix = ""
        if isinstance(node, ast.ImportFrom):
            folders = PurePosixPath(self.found.path).parts[:-1]
            above = folders[: len(folders) - node.level + 1] if node.level else ()
            prefix = ".".join((*above, *filter(None, [node.module]))) + "."
            if node.level and not above:
                prefix = f"{node.module or PurePosixPath(self.found.path).stem}."
        for alias in node.names:
            # `from google.cloud import storage`: only the whole name tells the package.
            name = f"{prefix}{alias.name}"
            self.found.imports.append(Import(name, node.lineno, self._at_once, self._needed))
            self._aliases[alias.asname or alias.name] = name

    visit_ImportFrom = visit_Import

    def visit_Call(self, node: ast.Call) -> None:
        head, dot, rest = dotted_name(node.func).partition(".")
        name = f"{self._aliases.get(head, head)}{dot}{rest}"
        origin = f"{printable(self.found.path)}:{node.lineno}"
        when = "when imported" if self._at_once else "when run"
        if _compiles(node, name) and self._is_first(COMPILES, when):
            self.found.cuda.append(Fact(f"{COMPILES}, {when}", origin))
        kind, what = self._download(node, name)
        if what and self._is_first(kind, what, when):
            self.found.downloads.append(Download(kind, printable(what, 200), origin, self._at_once))
        if node.args and _ASKING.fullmatch(name):
            if asked := _string(node.args[0]):
                self.found.asked.append(canonicalize_name(asked))
            elif _last(node.args[0]) in ("__name__", "__package__"):
                self.found.asked += map(canonicalize_name, PurePosixPath(self.found.path).parts[:-1])
        self.generic_visit(node)

    def _is_first(self, *key: str) -> bool:
        new = key not in self._seen
        self._seen.add(key)
        return new

    def _download(self, call: ast.Call, name: str) -> tuple[str, str]:
        """The kind and the name of what a call fetches; "" for no name."""
        for end, row in table("downloads").items():
            if not f".{name}".endswith(f".{end}") or not name.startswith(row.get("module", "")):
                continue
            what = self._argument(call, row)
            if row["kind"] == "nltk" and not call.args and not call.keywords:
                what = "all"
            fits = "://" in what if row["kind"] == "file" else _PUBLISHED.match(what) or "://" in what
            return row["kind"], what if fits and not (
                end == "load_dataset" and _FORMATS.fullmatch(what)
            ) else ""
        yes = {word.arg for word in call.keywords if getattr(word.value, "value", None) is True}
        if "pretrained" in yes:
            return "model", f"{name} with pretrained weights"
        return "dataset", name if name.startswith("torchvision.datasets.") and "download" in yes else ""

    def _argument(self, call: ast.Call, row: dict[str, Any]) -> str:
        node = next((word.value for word in call.keywords if word.arg == row.get("keyword")), None)
        if node is None and len(call.args) > row["at"]:
            node = call.args[row["at"]]
        return self._constants.get(node.id, "") if isinstance(node, ast.Name) else _string(node)


def _compiles(call: ast.Call, name: str) -> bool:
    words = {word.arg for word in call.keywords}
    sources = {"cuda_sources", "cpp_sources", "extra_cuda_cflags", "extra_cflags"} & words
    return name.endswith(("load", "load_inline")) and ("cpp_extension" in name or bool(sources))


def _last(node: ast.AST) -> str:
    """``a.b.c`` → ``c``."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def dotted_name(node: ast.expr) -> str:
    """Return ``a.b.c`` of an expression, or its last attributes where it begins with something else."""
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
    """Return whether a path (or an origin, ``path:line``) lies among examples."""
    return bool(_EXAMPLES.search(path.partition(":")[0]))


def imported_packages(
    code: CodeFiles, sources: Iterable[SourceFile], *, at_once: bool = False
) -> list[Declared]:
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


def _foreign(code: CodeFiles, source: SourceFile) -> Iterator[tuple[Import, str, str | None]]:
    """Yield the needed imports of a file that are not the repository's or Python's, with top name and distribution."""
    for item in source.imports:
        top = item.name.partition(".")[0]
        if item.needed and top not in code.local and not is_standard(top):
            yield item, top, distribution(item.name.removesuffix(".*"))


def imported_names(
    code: CodeFiles, sources: Iterable[SourceFile], declared: Iterable[Declared]
) -> frozenset[str]:
    """Return the packages without which some of the files cannot be imported, with those that can replace them.

    Of a module that belongs to no known package, one that is declared under a similar name may be the package:
    ``trak`` is traker's. Names of three letters are in others by chance.
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
    for module in unknown - listed:
        for package in listed:
            short, long = sorted((module.replace("-", ""), package.replace("-", "")), key=len)
            if len(short) > 3 and short in long:
                found.add(package)
    return frozenset(found)


def unavailable(code: CodeFiles, parts: Sequence[str]) -> list[Unused]:
    """Return imports of the main code that no package on the index provides: from a repository, or compiled."""
    found: dict[str, Unused] = {}
    for source in code.main(parts):
        for item, top, known in _foreign(code, source):
            if item.at_once and known == "" and top not in names("elsewhere"):
                origin, reason = f"{printable(source.path)}:{item.line}", "it is not on the package index"
                found.setdefault(
                    top, Unused(f"import {top}", origin, "unavailable", reason, canonicalize_name(top))
                )
    return list(found.values())
