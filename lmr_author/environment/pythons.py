"""Versions of Python: which one a repository asks for, and from which day on there are packages for each."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, time, timedelta

from packaging.specifiers import SpecifierSet

from lmr_author.environment.packages import table
from lmr_author.environment.recipe import Fact, Manifest, Recipe

_CLASSIFIERS = ", classifiers"
_INSTALLED_BY = ("pyproject.toml", "setup.cfg", "setup.py")
"""Files whose Python is demanded: pip installs the repository in no other."""
_FOLLOWED = timedelta(days=180)
"""After so long packages that have to be compiled have wheels for a new Python (sentencepiece took 170 days)."""
_BUILDS = datetime(2019, 2, 6, tzinfo=UTC)
"""The day after setuptools 40.8: uv and pip build no ``setup.py`` with an earlier one."""


def followed(python: str) -> datetime | None:
    """Return the day from which there are compiled packages for a Python; None when it is not known."""
    row = table("pythons").get(python)
    return datetime.combine(row["released"], time(), UTC) + _FOLLOWED if row else None


def builds_from(python: str) -> datetime:
    """Return the day from which there are tools that build a source with a Python."""
    return max(_BUILDS, followed(python) or _BUILDS)


def older(python: str) -> list[str]:
    """Return the Pythons before one, newest first."""
    every = list(table("pythons"))
    return list(reversed(every[: every.index(python)])) if python in every else []


def asked_for(found: Sequence[Manifest]) -> Fact:
    """Return what decides the Python version: an exact one that fits the declared range, else the range.

    A file that declares requirements (conda, Pipfile) and a version file count more than what a README or a
    Dockerfile mentions; classifiers, which name several versions, count only when nothing else says anything.
    """
    asked = [item for item in found if item.python]
    spoken = [item for item in asked if not item.python_origin.endswith(_CLASSIFIERS)]
    ranges = [item for item in spoken if not item.python.startswith("==")]
    exact = [item for item in spoken if item.python.startswith("==")]
    for item in exact:
        version = item.python.removeprefix("==").removesuffix(".*")
        if all(allows(other.python, version) for other in ranges):
            return Fact(item.python, item.python_origin)
    chosen = (ranges or exact or asked)[:1]
    return Fact(chosen[0].python, chosen[0].python_origin) if chosen else Fact("", "")


def allows(specifier: str, version: str) -> bool:
    """Return whether some patch release of ``version`` satisfies a specifier."""
    patches = [version] if version.count(".") > 1 else [f"{version}.{patch}" for patch in range(30)]
    return any(patch in SpecifierSet(specifier, prereleases=True) for patch in patches)


def unmet(recipe: Recipe, python: str) -> tuple[Fact, ...]:
    """Return the places that ask for a Python other than ``python``, and that matter.

    None does where the file by which pip installs the repository accepts it. Code runs in later Pythons by and
    large, so a request for an older one matters only where pip would refuse.
    """
    demands = [fact for fact in recipe.pythons if _is_demand(fact.origin)]
    if demands and all(allows(fact.text, python) for fact in demands):
        return ()
    minor = int(python.partition(".")[2])
    return tuple(
        fact
        for fact in recipe.pythons
        if not allows(fact.text, python)
        and (fact in demands or not any(allows(fact.text, f"3.{older}") for older in range(minor + 1)))
        and (fact.origin == recipe.python_origin or not fact.origin.endswith(_CLASSIFIERS))
    )


def asking(facts: Sequence[Fact]) -> str:
    """Return ``the repository asks for Python >=3.12 (pyproject.toml:5)``."""
    return f"the repository asks for Python {', '.join(map(str, facts))}"


def _is_demand(origin: str) -> bool:
    return origin.startswith(_INSTALLED_BY) and not origin.endswith(_CLASSIFIERS)
