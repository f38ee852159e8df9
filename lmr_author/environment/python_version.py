"""Which Python a repository asks for, of all places that name one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from packaging.specifiers import SpecifierSet

from lmr_author.environment.recipe import Fact, Manifest, Recipe

_CLASSIFIERS = ", classifiers"
_INSTALLED_BY = ("pyproject.toml", "setup.cfg", "setup.py")
"""Files whose Python is demanded: pip installs the repository in no other."""


def asked_for(found: Sequence[Manifest]) -> Fact:
    """What decides the Python version: an exact one that fits the declared range, else the range.

    A file that declares requirements (conda, Pipfile) and a version file count more than what a README or a
    Dockerfile mentions; CI and classifiers, which name several versions, count only when nothing else says anything.
    """
    asked = [item for item in found if item.python]
    spoken = [item for item in asked if not _lists_several(item.python_origin)]
    ranges = [item for item in spoken if not item.python.startswith("==")]
    exact = [item for item in spoken if item.python.startswith("==")]
    for item in exact:
        version = item.python.removeprefix("==").removesuffix(".*")
        if all(allows(other.python, version) for other in ranges):
            return Fact(item.python, item.python_origin)
    chosen = (ranges or exact or asked)[:1]
    return Fact(chosen[0].python, chosen[0].python_origin) if chosen else Fact("", "")


def allows(specifier: str, version: str) -> bool:
    """Whether some patch release of ``version`` satisfies a specifier."""
    full = version if version.count(".") > 1 else ""
    patches = [full] if full else [f"{version}.{patch}" for patch in range(30)]
    return any(patch in SpecifierSet(specifier, prereleases=True) for patch in patches)


def of_classifiers(lines: Iterable[tuple[str, str]]) -> Fact:
    """The lowest Python that ``Programming Language :: Python :: 3.12`` and the like name, each with its origin."""
    read = [
        (re.fullmatch(r"\s*Programming Language :: Python :: 3\.(\d+)\s*", text), at) for text, at in lines
    ]
    minors = [(int(match[1]), at) for match, at in read if match]
    if not minors:
        return Fact("", "")
    lowest, at = min(minors)
    return Fact(f">=3.{lowest}", f"{at}{_CLASSIFIERS}")


def unmet(recipe: Recipe, python: str) -> tuple[Fact, ...]:
    """The places that ask for a Python other than ``python``, and that matter.

    None does where the file by which pip installs the repository accepts it. What asks for an older one seldom does:
    code runs in later Pythons by and large, and a build tells where it does not.
    """
    demands = [fact for fact in recipe.pythons if _is_demand(fact.origin)]
    if demands and all(allows(fact.text, python) for fact in demands):
        return ()
    return tuple(
        fact
        for fact in recipe.pythons
        if not allows(fact.text, python)
        and (fact in demands or _asks_newer(fact.text, python))
        and (fact.origin == recipe.python_origin or not _lists_several(fact.origin))
    )


def asking(facts: Sequence[Fact]) -> str:
    """``the repository asks for Python >=3.12 (pyproject.toml:5)``."""
    return f"the repository asks for Python {', '.join(map(str, facts))}"


def _lists_several(origin: str) -> bool:
    return origin.startswith(".github") or origin.endswith(_CLASSIFIERS)


def _is_demand(origin: str) -> bool:
    return origin.startswith(_INSTALLED_BY) and not _lists_several(origin)


def _asks_newer(specifier: str, python: str) -> bool:
    return not any(allows(specifier, f"3.{minor}") for minor in range(int(python.partition(".")[2]) + 1))
