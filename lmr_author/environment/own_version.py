"""Code that asks which version of its own package is installed, and the answer that it is to get.

The repository's package is never installed: its published form holds the solution. But ``__version__ =
importlib.metadata.version("package")`` fails where nothing says that it is.
"""

from __future__ import annotations

import ast
import configparser
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from lmr_author import files
from lmr_author.environment import tables
from lmr_author.environment.requirements import read_text
from lmr_author.errors import LmrError
from lmr_author.source import each, imported_as

_ASKING = re.compile(
    r"(importlib\.metadata|importlib_metadata)\.(version|metadata|distribution)|pkg_resources\.(get_distribution|require)"
)
_OF_THE_FILE = frozenset({"__name__", "__package__"})
_IN_SETUP_PY = re.compile(r"""^\s*(?:version|__version__|VERSION)\s*=\s*["']([^"']+)["']""", re.M)
UNKNOWN = "0"


def asked_in(tree: ast.Module, text: str, path: str) -> Iterator[str]:
    """The packages, normalised, whose installed version a file asks for.

    Args:
        text: of the file.
        path: in the repository; ``__name__`` is the package that it lies in.
    """
    if "metadata" not in text and "pkg_resources" not in text:
        return
    aliases = imported_as(tree)
    for node in each(tree, ast.Call):
        if not (isinstance(node, ast.Call) and node.args):
            continue
        first, dot, rest = ast.unparse(node.func).partition(".")
        argument = node.args[0]
        if not _ASKING.fullmatch(f"{aliases.get(first, first)}{dot}{rest}"):
            continue
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
            yield canonicalize_name(argument.value)
        elif isinstance(argument, ast.Name) and argument.id in _OF_THE_FILE:
            yield from map(canonicalize_name, PurePosixPath(path).parts[:-1])


def version_of(repo: Path) -> str:
    """The version that a repository gives its package; ``0`` where it computes one, or says none."""
    for path, read in (("pyproject.toml", _pyproject), ("setup.cfg", _setup_cfg), ("setup.py", _setup_py)):
        try:
            found = read(read_text(files.inside(repo, path)))
            return str(Version(found))
        except (LmrError, OSError, ValueError, configparser.Error, InvalidVersion):
            continue
    return UNKNOWN


def _pyproject(text: str) -> str:
    data = tomllib.loads(text)
    poetry = tables.table(tables.table(data, "tool"), "poetry")
    return tables.text(tables.table(data, "project").get("version")) or tables.text(poetry.get("version"))


def _setup_cfg(text: str) -> str:
    parser = configparser.RawConfigParser()
    parser.read_string(text)
    return parser.get("metadata", "version", fallback="")


def _setup_py(text: str) -> str:
    match = _IN_SETUP_PY.search(text)
    return match[1] if match else ""


def folder(project: str, version: str) -> str:
    """The folder beside the packages that says that one is installed; "" where nobody asks."""
    return f"{project.replace('-', '_')}-{version}.dist-info" if version else ""


def lines(project: str, version: str) -> tuple[str, ...]:
    """Its ``METADATA``."""
    return ("Metadata-Version: 2.1", f"Name: {project}", f"Version: {version}")


def tell(packages: Path, project: str, version: str) -> None:
    """Write it into a folder of packages, where the code asks."""
    if version:
        path = packages / folder(project, version) / "METADATA"
        path.parent.mkdir(exist_ok=True)
        files.write_bytes(path, "".join(f"{line}\n" for line in lines(project, version)).encode())
