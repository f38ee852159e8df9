"""One requirement's text: a name with versions, or an address or path that cannot be used."""

from __future__ import annotations

import re

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from lmr_author.environment.recipe import Declared, Unused
from lmr_author.texts import printable


def parse_requirement(text: str, origin: str) -> Declared | Unused:
    """A requirement, or why it is not used: an address or path in place of a version, or no requirement."""
    try:
        requirement = Requirement(text)
    except (InvalidRequirement, ValueError, RecursionError):
        return _no_requirement(text, origin)
    name = canonicalize_name(requirement.name)
    if requirement.url:
        kind = _address_kind(requirement.url)
        return Unused(printable(text, 120), origin, kind, f"{name} comes from {_PLACES[kind]}", name)
    return Declared(name, str(requirement), origin)


_PLACES = {"git": "a repository", "url": "an address", "path": "a path"}


def _no_requirement(text: str, origin: str) -> Unused:
    """Pip also takes a bare address or path, and its package's name may follow as ``#egg=name``."""
    word = text.strip().split(" ")[0]
    kind = _address_kind(word)
    egg = word.partition("#egg=")[2].partition("&")[0].partition("[")[0]
    name = canonicalize_name(egg or (_wheel_name(word) if kind != "path" else ""))
    if kind == "path" and "/" not in word and not word.startswith(".") and not word.endswith((".whl", ".gz")):
        return Unused(printable(text, 120), origin, "unreadable", "no requirement by name and version")
    what = f"{name} comes" if name else "it comes"
    return Unused(printable(text, 120), origin, kind, f"{what} from {_PLACES[kind]}", name)


def _address_kind(address: str) -> str:
    if address.startswith(("git+", "hg+", "svn+", "bzr+", "git:", "git@")):
        return "git"
    if address.startswith("file:"):
        return "path"
    return "url" if "://" in address else "path"


def _wheel_name(address: str) -> str:
    """``https://…/torch-0.4.0-cp36-….whl`` → ``torch``; ``git+https://…/CLIP.git@main`` → ``clip``."""
    last = address.partition("#")[0].rstrip("/").rpartition("/")[2].partition("@")[0]
    if last.endswith((".whl", ".tar.gz", ".zip")):
        return last.partition("-")[0]
    return last.removesuffix(".git") if _address_kind(address) == "git" else ""


def wheel_version(unused: Unused) -> Declared | None:
    """The version in the name of a wheel that is given by its address: ``…/torch-0.4.0-cp36-….whl``."""
    match = re.search(r"/([A-Za-z0-9_.]+)-(\d[A-Za-z0-9_.]*)(?:(?:\+|%2B)[\w.]+)?-(?:cp|py)\d", unused.text)
    if unused.kind != "url" or match is None:
        return None
    made = parse_requirement(f"{match[1].replace('_', '-')}=={match[2]}", unused.origin)
    return made if isinstance(made, Declared) else None
