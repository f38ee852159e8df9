"""Which Python a repository asks for, of all places that name one."""

from __future__ import annotations

from collections.abc import Sequence

from packaging.specifiers import SpecifierSet

from lmr_author.environment.recipe import Fact, Manifest


def asked_for(found: Sequence[Manifest]) -> Fact:
    """What decides the Python version: an exact one that fits the declared range, else the range.

    A file that declares requirements (conda, Pipfile) and a version file count more than what a README or a
    Dockerfile mentions; CI, which tries several versions, counts only when nothing else says anything.
    """
    asked = [item for item in found if item.python]
    spoken = [item for item in asked if not item.path.startswith(".github")]
    ranges = [item for item in spoken if not item.python.startswith("==")]
    exact = [item for item in spoken if item.python.startswith("==")]
    for item in exact:
        version = item.python.removeprefix("==").removesuffix(".*")
        if all(_allows(other.python, version) for other in ranges):
            return Fact(item.python, item.python_origin)
    chosen = (ranges or exact or asked)[:1]
    return Fact(chosen[0].python, chosen[0].python_origin) if chosen else Fact("", "")


def _allows(specifier: str, version: str) -> bool:
    """Whether some patch release of ``version`` satisfies a specifier."""
    full = version if version.count(".") > 1 else ""
    patches = [full] if full else [f"{version}.{patch}" for patch in range(30)]
    return any(patch in SpecifierSet(specifier, prereleases=True) for patch in patches)
