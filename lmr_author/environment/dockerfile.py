"""Write the Dockerfile and its ``.dockerignore``: pure functions of recipe, base image and folder name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from lmr_author import resources
from lmr_author.environment import own_version
from lmr_author.environment.base_images import BaseImage
from lmr_author.environment.recipe import Recipe, SystemPackage
from lmr_author.environment.stamp import stamped
from lmr_author.environment.system import known_name
from lmr_author.errors import LmrError
from lmr_author.model import TORCH_FAMILY
from lmr_author.texts import printable

if TYPE_CHECKING:
    from jinja2 import Template

LISTED = 10
"""How many downloads and missing packages a Dockerfile's comments name."""

_NLTK = re.compile(r"^[a-z][a-z0-9_-]*$")
_COLLECTIONS = frozenset({"all", "all-corpora", "all-nltk", "book", "popular", "tests", "third-party"})
"""What NLTK's downloader takes beside single packages; `all` has 3 GB."""

_FOLDER = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]*$")


def render(
    recipe: Recipe, base: BaseImage, repo_folder: str, *, pinned: bool = True, compiled: Sequence[str] = ()
) -> str:
    """The Dockerfile. What a repository says goes into its comments only, and its requirements into the lock.

    Packages of the system come from our own table. Nothing is downloaded but packages, and data of NLTK by their names.

    Args:
        repo_folder: the repository's folder; default of the build argument ``DIR``.
        pinned: whether the lock names every package, so that pip need not resolve (and cannot replace torch).
        compiled: packages of the lock that have no wheel, so that a compiler is needed.

    Raises LmrError for a folder name that is none.
    """
    _require_folder(repo_folder)
    system = _system(recipe, base, compiled)
    text = _template("Dockerfile.j2").render(
        image=base.reference,
        folder=repo_folder,
        source_folder=recipe.source_folder,
        own=own_version.folder(recipe.project, recipe.own_version),
        own_lines=own_version.lines(recipe.project, recipe.own_version),
        pinned=pinned,
        system=system,
        # Java's packages link their manual pages into a folder that slim images lack, and fail without it.
        java=any(item.name.startswith("default-j") for item in system),
        nltk=_nltk_data(recipe),
        missing=_missing(recipe),
        downloads=_downloads(recipe),
    )
    return stamped(text)


def _system(recipe: Recipe, base: BaseImage, compiled: Sequence[str]) -> list[SystemPackage]:
    """What is installed of the system; a compiler only where something is compiled and the image has none."""
    found = {item.name: item for item in recipe.system if known_name(item.name) == item.name}
    if compiled:
        reason = f"compiled when they are installed: {', '.join(compiled)}"
        found["build-essential"] = SystemPackage("build-essential", _plain(reason), "requirements.lock")
    if "build-essential" in found and not base.torch:
        # PyTorch's images have Python's headers; Debian's Python has them in a package of its own.
        headers = SystemPackage("python3-dev", "headers for what is compiled", "requirements.lock")
        found["python3-dev"] = headers
    if base.kind == "devel":
        found.pop("build-essential", None)
    return [replace(item, reason=_plain(item.reason)) for _, item in sorted(found.items())]


def _missing(recipe: Recipe) -> list[str]:
    """Packages that the repository takes from elsewhere than the index, one line each."""
    there = TORCH_FAMILY | {item.name for item in recipe.requirements} | {""}
    kinds = ("git", "url", "path", "unavailable")
    items = [item for item in recipe.unused if item.kind in kinds and item.name not in there]
    lines = (f"{item.name} ({item.origin})" for item in items)
    return _some(lines)


def _nltk_data(recipe: Recipe) -> list[str]:
    """What NLTK's downloader is given: single packages of a few MB, never a whole collection."""
    if not any(item.name == "nltk" for item in recipe.requirements):
        return []
    wanted = {item.what for item in recipe.downloads if item.kind == "nltk" and _NLTK.match(item.what)}
    # Since NLTK 3.8.2 the tokenizer reads the same tables from a package without pickles.
    return sorted((wanted | ({"punkt_tab"} if "punkt" in wanted else set())) - _COLLECTIONS)


def _downloads(recipe: Recipe) -> list[str]:
    """Models and data, each once, those fetched at import first."""
    there = _nltk_data(recipe)
    ordered = sorted(
        (item for item in recipe.downloads if item.kind != "nltk" or item.what not in there),
        key=lambda item: not item.at_import,
    )
    unique = {(item.kind, item.what): item for item in reversed(ordered)}
    lines = [
        f"{item.kind} {item.what} ({item.origin})" for item in ordered if unique[item.kind, item.what] is item
    ]
    return _some(lines)


def _some(lines: Iterable[str]) -> list[str]:
    listed = list(dict.fromkeys(map(_plain, lines)))
    more = [f"and {len(listed) - LISTED} more (lmr-author env detect)"] if len(listed) > LISTED else []
    return [*listed[:LISTED], *more]


def _plain(text: str) -> str:
    """Text that can stand in a comment whatever a repository wrote: no control, quote, dollar, backslash."""
    return re.sub(r"[^A-Za-z0-9 .,:;/_()\[\]<>=!~+@#%-]", "_", printable(text, 160))


def render_dockerignore(repo_folder: str) -> str:
    """The ``.dockerignore``: only lock and repository are sent to the engine, without expected values."""
    _require_folder(repo_folder)
    return _template("dockerignore.j2").render(folder=repo_folder)


def _template(name: str) -> Template:
    from jinja2 import Environment, StrictUndefined

    # Not HTML: escaping would change the file. What is put in is checked before.
    environment = Environment(
        autoescape=False, undefined=StrictUndefined, keep_trailing_newline=True, trim_blocks=True
    )
    return environment.from_string(resources.template(name))


def _require_folder(name: str) -> None:
    if not _FOLDER.match(name):
        raise LmrError(
            f"not a folder name for a Dockerfile: {name!r}", "use letters, digits, '.', '_' and '-'"
        )
