"""Write the Dockerfile and its ``.dockerignore``: functions of needs, base image and folder name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from lmr_author.core import files, resources
from lmr_author.core.errors import LmrError
from lmr_author.core.task import TORCH_FAMILY, provenance
from lmr_author.core.task.provenance import EnvironmentOrigin
from lmr_author.core.texts import printable
from lmr_author.runtime.environment import lock_file
from lmr_author.runtime.environment.base_images import BaseImage
from lmr_author.runtime.environment.detect import detect
from lmr_author.runtime.environment.needs import Needs, SystemPackage
from lmr_author.runtime.environment.packages import known_debian
from lmr_author.runtime.environment.place import (
    RepositoryPlace,
    Written,
    changing,
    require_untouched,
    text_of,
    write,
)

if TYPE_CHECKING:
    from jinja2 import Template

LISTED = 10
"""Most missing packages that a Dockerfile's comments name."""
_NLTK = re.compile(r"^[a-z][a-z0-9_-]*$")
_COLLECTIONS = frozenset({"all", "all-corpora", "all-nltk", "book", "popular", "tests", "third-party"})
"""Collections of NLTK's downloader beside single packages; `all` has 3 GB."""
_FOLDER = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]*$")


def write_dockerfile(
    place: RepositoryPlace,
    *,
    base_image: str | None = None,
    python: str | None = None,
    force: bool = False,
    dry_run: bool = False,
) -> Written:
    """Write the Dockerfile and ``.dockerignore`` of a task; a dry run and a repository alone only give the text."""
    with changing(place, dry_run=dry_run):
        if not (force or dry_run):
            require_untouched(place, "Dockerfile")
        found = detect(place, base_image=base_image, python=python)
        lock = text_of(place.task.lock) if place.task is not None else ""
        pinned, compiled = lock_file.is_pinned(lock), lock_file.compiled(lock)
        made = render(found.needs, found.base, place.name, pinned=pinned, compiled=compiled)
        before = provenance.load(place.task).environment if place.task is not None else EnvironmentOrigin()
        origin = replace(before, base_image=found.base.to_record())
        written = write(found, "Dockerfile", made, dry_run=dry_run, origin=origin)
        if place.task is not None and written.path is not None and not place.task.dockerignore.is_file():
            files.write_text(place.task.dockerignore, render_dockerignore(place.name))
        return written


def render(
    needs: Needs, base: BaseImage, repo_folder: str, *, pinned: bool = True, compiled: Sequence[str] = ()
) -> str:
    """Return the Dockerfile. A repository's words go into its comments only, and its requirements into the lock.

    Packages of the system come from our own table. Nothing is downloaded but packages, and data of NLTK by their names.

    Args:
        repo_folder: the repository's folder; default of the build argument ``DIR``.
        pinned: whether the lock names every package, so that pip need not resolve (and cannot replace torch).
        compiled: packages of the lock that have no wheel, so that a compiler is needed.

    Raises LmrError for a folder name that is none.
    """
    _require_folder(repo_folder)
    system = _system(needs, base, compiled)
    text = _template("Dockerfile.j2").render(
        image=base.reference,
        folder=repo_folder,
        source_folder=needs.source_folder,
        own=_own_folder(needs) if needs.own_version else "",
        own_lines=_own_metadata(needs),
        pinned=pinned,
        system=system,
        # Java's packages link their manual pages into a folder that slim images lack, and fail without it.
        java=any(item.name.startswith("default-j") for item in system),
        nltk=_nltk_data(needs),
        missing=_missing(needs),
    )
    return lock_file.stamped(text)


def tell_own_version(packages: Path, needs: Needs) -> None:
    """Say in a folder of packages that the repository's own package is installed, where its code asks for its version.

    Its published form is never installed, as that holds the solution.
    """
    if needs.own_version:
        path = files.inside(packages, f"{_own_folder(needs)}/METADATA")
        path.parent.mkdir(exist_ok=True)
        files.write_text(path, "".join(f"{line}\n" for line in _own_metadata(needs)))


def _own_folder(needs: Needs) -> str:
    return f"{needs.project.replace('-', '_')}-{needs.own_version}.dist-info"


def _own_metadata(needs: Needs) -> tuple[str, ...]:
    return ("Metadata-Version: 2.1", f"Name: {needs.project}", f"Version: {needs.own_version}")


def _system(needs: Needs, base: BaseImage, compiled: Sequence[str]) -> list[SystemPackage]:
    """Debian packages; a compiler only where something is compiled and the image has none."""
    found = {item.name: item for item in needs.system if known_debian(item.name) == item.name}
    if compiled:
        reason = f"compiled when they are installed: {', '.join(compiled)}"
        found["build-essential"] = SystemPackage("build-essential", _plain(reason), "requirements.lock")
    if "build-essential" in found and not base.torch:
        # PyTorch's images have Python's headers; Debian's Python has them in a package of its own.
        found["python3-dev"] = SystemPackage(
            "python3-dev", "headers for what is compiled", "requirements.lock"
        )
    if base.kind == "devel":
        found.pop("build-essential", None)
    return [replace(item, reason=_plain(item.reason)) for _, item in sorted(found.items())]


def _missing(needs: Needs) -> list[str]:
    """Packages that the repository takes from elsewhere than the index, one line each."""
    known = TORCH_FAMILY | {item.name for item in needs.requirements} | {""}
    lines = [
        _plain(f"{item.name} ({item.origin})")
        for item in needs.unused
        if item.kind in ("git", "url", "path") and item.name not in known
    ]
    more = [f"and {len(lines) - LISTED} more (lmr-author env detect)"] if len(lines) > LISTED else []
    return [*dict.fromkeys(lines[:LISTED]), *more]


def _nltk_data(needs: Needs) -> list[str]:
    """Single packages of NLTK's data, a few MB each, never a whole collection."""
    if not any(item.name == "nltk" for item in needs.requirements):
        return []
    # Since NLTK 3.8.2 the tokenizer reads the same tables from a package without pickles.
    more = {"punkt_tab"} if "punkt" in needs.nltk else set()
    return sorted({name for name in {*needs.nltk, *more} if _NLTK.match(name)} - _COLLECTIONS)


def _plain(text: str) -> str:
    """Text that is safe in a comment whatever a repository wrote: no control, quote, dollar, backslash."""
    return re.sub(r"[^A-Za-z0-9 .,:;/_()\[\]<>=!~+@#%-]", "_", printable(text, 160))


def render_dockerignore(repo_folder: str) -> str:
    """Return the ``.dockerignore``: only lock and repository are sent to the engine, without expected values."""
    _require_folder(repo_folder)
    return _template("dockerignore.j2").render(folder=repo_folder)


def _template(name: str) -> Template:
    from jinja2 import Environment, StrictUndefined

    # Not HTML: escaping would change the file. The values are checked before.
    environment = Environment(
        autoescape=False, undefined=StrictUndefined, keep_trailing_newline=True, trim_blocks=True
    )
    return environment.from_string(resources.template(name))


def _require_folder(name: str) -> None:
    if not _FOLDER.match(name):
        raise LmrError(
            f"not a folder name for a Dockerfile: {name!r}", "use letters, digits, '.', '_' and '-'"
        )
