"""Generate the Dockerfile and its ``.dockerignore`` from needs, base image and folder name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from lmr_author.core import resources
from lmr_author.core.errors import LmrError
from lmr_author.core.task.provenance import BaseImageOrigin
from lmr_author.core.texts import printable
from lmr_author.runtime.environment.base_images import has_compiler
from lmr_author.runtime.environment.lock_file import stamped
from lmr_author.runtime.environment.needs import Needs, SystemPackage

if TYPE_CHECKING:
    from jinja2 import Template

_FOLDER = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]*$")


def render(
    needs: Needs,
    base: BaseImageOrigin,
    repo_folder: str,
    *,
    pinned: bool = True,
    compiled: Sequence[str] = (),
) -> str:
    """Return the Dockerfile. Text of the repository is used only in comments; its requirements are in the lock.

    System packages come from our own table. Only packages are downloaded.

    Args:
        repo_folder: the repository's folder; default of the build argument ``DIR``.
        pinned: the lock names every package, so that pip need not resolve (and cannot replace torch).
        compiled: packages of the lock without a wheel, which need a compiler.

    Raises LmrError for an invalid folder name.
    """
    _require_folder(repo_folder)
    system = _system(needs, base, compiled)
    metadata_folder, own_lines = "", list[str]()
    for path, metadata in needs.own_metadata().items():
        metadata_folder, own_lines = str(PurePosixPath(path).parent), metadata.splitlines()
    text = _template("Dockerfile.j2").render(
        image=base.reference,
        folder=repo_folder,
        source_folder=needs.source_folder,
        own=metadata_folder,
        own_lines=own_lines,
        pinned=pinned,
        system=system,
        # Java's packages fail without the folder of manual pages, which slim images lack.
        java=any(package.name.startswith("default-j") for package in system),
        credentials=needs.credentials,
    )
    return stamped(text)


def _system(needs: Needs, base: BaseImageOrigin, compiled: Sequence[str]) -> list[SystemPackage]:
    packages = {package.name: package for package in needs.system}
    if compiled:
        reason = f"compiled when they are installed: {', '.join(compiled)}"
        packages["build-essential"] = SystemPackage("build-essential", reason, "requirements.lock")
    if "build-essential" in packages and not base.torch:
        # PyTorch's images have Python's headers; Debian has a separate package for them.
        reason = "headers for what is compiled"
        packages["python3-dev"] = SystemPackage("python3-dev", reason, "requirements.lock")
    if has_compiler(base):
        packages.pop("build-essential", None)
    return [replace(packages[name], reason=_plain(packages[name].reason)) for name in sorted(packages)]


def _plain(text: str) -> str:
    """Make a repository's text safe for a comment: no control character, quote, dollar, backslash."""
    return re.sub(r"[^A-Za-z0-9 .,:;/_()\[\]<>=!~+@#%-]", "_", printable(text, 160))


def render_dockerignore(repo_folder: str) -> str:
    """Return the ``.dockerignore``: send only the lock and the repository to the engine, without expected values."""
    _require_folder(repo_folder)
    return _template("dockerignore.j2").render(folder=repo_folder)


def _template(name: str) -> Template:
    from jinja2 import Environment, StrictUndefined

    # Not HTML: escaping would change the file. The values are already checked.
    environment = Environment(
        autoescape=False, undefined=StrictUndefined, keep_trailing_newline=True, trim_blocks=True
    )
    return environment.from_string(resources.template(name))


def _require_folder(name: str) -> None:
    if not _FOLDER.match(name):
        raise LmrError(
            f"invalid folder name for a Dockerfile: {name!r}", "use letters, digits, '.', '_' and '-'"
        )
