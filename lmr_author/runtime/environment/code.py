"""Read the imports of the repository's modules line by line, without parsing or running them.

An import inside ``try``, ``if`` or a function is indented, and not needed to import the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from packaging.utils import canonicalize_name

from lmr_author.core import files
from lmr_author.core.errors import LmrError
from lmr_author.core.texts import printable
from lmr_author.runtime.environment.needs import DeclaredNeed
from lmr_author.runtime.environment.packages import distribution, interchangeable, is_standard
from lmr_author.runtime.environment.requirements import read_text

_SKIPPED = re.compile(
    r"(^|/)(tests?|docs?|\.[^/]*|build|dist|site-packages|node_modules)/"
    r"|(^|/)(setup[^/]*|conftest|test_[^/]*|[^/]*_test)\.py$|^unit_test/",
    re.I,
)
_ASIDE = re.compile(r"(^|/)(examples?|bench[^/]*|demos?|notebooks?|scripts?|tools?|[^/]*comparison)/", re.I)
_IMPORT = re.compile(
    r"^(?:from[ \t]+(?P<module>\.*[\w.]*)[ \t]+import[ \t]*(?P<names>\([^)]*\)|[^\n#;]+)"
    r"|import[ \t]+(?P<modules>[^\n#;(]+))",
    re.M,
)
_ASKS_VERSION = re.compile(
    r"^\s*(from|import)\s+(importlib[._]metadata|importlib import metadata|pkg_resources)", re.M
)

_CREDENTIAL = re.compile(r"\benviron\[\s*['\"](\w*(?:KEY|TOKEN|SECRET)\w*)['\"]\s*\](?!\s*=[^=])")


@dataclass(frozen=True)
class Import:
    name: str
    line: int

    @property
    def top(self) -> str:
        return self.name.partition(".")[0]


@dataclass(frozen=True)
class Code:
    """The repository's code, without tests and documentation.

    Attributes:
        files: path → imports of the module.
        local: names of its modules and folders, wherever they are: research code extends ``sys.path`` freely.
        asks_version: some file reads the version of an installed package.
        keys: path → environment variables with keys that the file requires.
    """

    files: dict[str, list[Import]]
    local: frozenset[str]
    asks_version: bool
    keys: dict[str, list[str]]

    def main(self) -> list[str]:
        """Return the files that are not examples or scripts, or all files if none are left."""
        main = [path for path in self.files if not _ASIDE.search(path)]
        return main if any(self.files[path] for path in main) else list(self.files)

    def credentials(self) -> tuple[str, ...]:
        """Return the variables with keys in the main code, not in examples."""
        return tuple(sorted({name for path in self.main() for name in self.keys[path]}))

    def reachable(self, goals: Iterable[str]) -> list[str]:
        by_module = self._by_module()
        waiting, reached = list(goals), set[str]()
        while waiting:
            path = waiting.pop()
            if path in self.files and path not in reached:
                reached.add(path)
                waiting += [f"{parent}/__init__.py" for parent in PurePosixPath(path).parents]
                for imported in self.files[path]:
                    waiting += _longest_known(imported.name, by_module)
        return sorted(reached)

    def _by_module(self) -> dict[str, list[str]]:
        """Return the files by every dotted name that an import can use, whatever folder is on the path."""
        by_module: dict[str, list[str]] = {}
        for path in self.files:
            parts = PurePosixPath(path).with_suffix("").parts
            if parts[-1] == "__init__":
                parts = parts[:-1]
            for start in range(len(parts)):
                by_module.setdefault(".".join(parts[start:]), []).append(path)
        return by_module

    def foreign(self, paths: Iterable[str]) -> Iterator[tuple[str, Import]]:
        for path in paths:
            for imported in self.files[path]:
                top = imported.top
                if top.isidentifier() and top not in self.local and not is_standard(top):
                    yield path, imported


def _longest_known(name: str, by_module: dict[str, list[str]]) -> list[str]:
    while name and name not in by_module:
        name = name.rpartition(".")[0]
    return by_module.get(name, [])


def read_code(root: Path) -> Code:
    """Read the imports of every Python file below ``root``, one file at a time: all together may be large."""
    imports: dict[str, list[Import]] = {}
    keys: dict[str, list[str]] = {}
    local = set[str]()
    asks_version = False
    for file in files.walk(root):
        path = file.relative_to(root)
        if path.suffix != ".py":
            continue
        local.update((path.stem, *path.parts[:-1]))
        name = path.as_posix()
        if _SKIPPED.search(name):
            continue
        try:
            text = read_text(file)
        except LmrError:  # too large, or not text
            continue
        imports[name] = list(_imports(name, text))
        keys[name] = _CREDENTIAL.findall(text)
        asks_version |= _ASKS_VERSION.search(text) is not None
    return Code(imports, frozenset(local), asks_version, keys)


def _imports(path: str, text: str) -> Iterator[Import]:
    for match in _IMPORT.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        prefix, names = "", match["modules"]
        if names is None:
            prefix = _absolute(path, match["module"])
            names = re.sub(r"#.*", "", match["names"]).strip("() \t\n")
        for name in names.split(","):
            if name.strip():
                yield Import(f"{prefix}{name.split(' as ')[0].strip()}", line)


def _absolute(path: str, module: str) -> str:
    name = module.lstrip(".")
    dots = len(module) - len(name)
    folders = PurePosixPath(path).parts[:-1]
    above = folders[: len(folders) - dots + 1] if dots else ()
    if dots and not above:
        above = (PurePosixPath(path).stem,)
    return "".join(f"{part}." for part in (*above, name) if part)


def imported_packages(code: Code, paths: Iterable[str]) -> list[DeclaredNeed]:
    """Return the packages that some files import, by package index name, sorted.

    For a module of an unknown package, the name is ``guessed``: the module's own.
    """
    packages: dict[str, DeclaredNeed] = {}
    for path, imported in code.foreign(paths):
        provider = distribution(imported.name)
        if provider == "":
            continue
        origin = f"import {imported.top} in {printable(path)}:{imported.line}"
        text = provider or imported.top
        name = canonicalize_name(text)
        packages.setdefault(name, DeclaredNeed(name, text, origin, guessed=provider is None))
    return [packages[name] for name in sorted(packages)]


def providing(imported: DeclaredNeed, declared: Iterable[DeclaredNeed]) -> frozenset[str]:
    """Return the packages that may provide an import, including substitutes.

    A guessed one may be declared under a similar name: ``trak`` belongs to traker. Names of three letters match others
    by chance.
    """
    providers = set(interchangeable(imported.name))
    names = {requirement.name for requirement in declared}
    if imported.guessed and imported.name not in names:
        for name in names:
            short, long = sorted((imported.name.replace("-", ""), name.replace("-", "")), key=len)
            if len(short) > 3 and short in long:
                providers.add(name)
    return frozenset(providers)
