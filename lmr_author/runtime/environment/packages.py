"""Names of packages, from ``packages.toml``: imports, conda's names, Debian's, and common mistakes."""

from __future__ import annotations

import sys
import tomllib
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name


@cache
def _tables() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("packages.toml").read_text("utf-8"))


def table(name: str) -> Any:
    return _tables()[name]


@cache
def names(name: str) -> frozenset[str]:
    return frozenset(table(name))


def package_of(requirement: str) -> str:
    """Return the normalised package name of a requirement; "" if it is invalid."""
    try:
        return canonicalize_name(Requirement(requirement).name)
    except InvalidRequirement:
        return ""


def is_standard(module: str) -> bool:
    return module in sys.stdlib_module_names or module in names("former_standard")


def distribution(module: str) -> str | None:
    """Return the distribution that provides a module: "" if the index has none, None if unknown.

    The longest known prefix decides: ``google.protobuf`` is protobuf's, ``google.cloud.storage`` is not.
    """
    parts = module.split(".")
    providers = table("imports")
    for length in range(len(parts), 0, -1):
        name = ".".join(parts[:length])
        if name in providers:
            return str(providers[name])
    return canonicalize_name(parts[0]) if parts[0] in names("imports_by_name") else None


def library_of(folder: str) -> str:
    provider = distribution(folder)
    return canonicalize_name(folder if provider is None else provider)


def interchangeable(name: str) -> frozenset[str]:
    return frozenset({name, *table("same_module").get(name, ())})


def debian(kind: str, name: str) -> str:
    """Return the Debian package with one of the ``headers``, ``programs`` or ``libraries``; "" if unknown."""
    for file in (name, PurePosixPath(name).name):
        for package, provided in table(kind).items():
            if file in provided:
                return str(package)
    return ""


def system_packages(name: str) -> list[str]:
    """Return the Debian packages that a Python package needs, only from our table: the Dockerfile installs them."""
    return [package for package, users in table("system").items() if name in users]


def newest_patch(python: str) -> str:
    """Return the newest release of a minor version: uv reads a bare ``3.7`` as 3.7.0."""
    return str(table("pythons").get(python, {}).get("newest", python))
