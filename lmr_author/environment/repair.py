"""Putting a change into a Dockerfile and a lock: pure functions of their texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from lmr_author.environment.failures.changes import (
    ArchivedMirrors,
    BuiltWith,
    Change,
    Drop,
    Instead,
    ManualPages,
    Newer,
    Older,
    OldNames,
    Requirements,
    SystemPackages,
    Variable,
    Wheel,
)
from lmr_author.environment.lock_lines import entries, plain, with_requirement, without_requirement


@dataclass(frozen=True)
class Index:
    """What the package index is asked.

    Attributes:
        resolve: requirements → pinned lines, with what they need in turn, as of the day that the change asks for;
            [] when there are none.
        next_wheel: a pin → the first later version that has a wheel for the image's Python; "" when there is none.
        fit: whether two pins can be installed together.
    """

    resolve: Callable[[tuple[str, ...], Change], list[str]]
    next_wheel: Callable[[str], str]
    fit: Callable[[str, str], bool]


MARK = "# Added by lmr-author env build --fix."
_APT = re.compile(r"apt-get install(?:[ \t]+-\S+|[ \t]*\\\n[ \t]*)*[ \t]*(?=[a-z0-9])")
_INSTALL = (
    "# hadolint ignore=DL3008\n"
    "RUN apt-get update && \\\n"
    "    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends {names} && \\\n"
    "    rm -rf /var/lib/apt/lists/*"
)
_ARCHIVE = (
    "RUN sed -i -e 's|deb.debian.org|archive.debian.org|g' -e 's|security.debian.org|archive.debian.org|g' \\\n"
    "        -e '/-updates/d' /etc/apt/sources.list"
)


OLD_NAMES = (
    "import collections, collections.abc, dataclasses, fractions, inspect, math, time",
    "ABC = collections.abc",
    "vars(collections).update({n: getattr(ABC, n) for n in ABC.__all__ if not hasattr(collections, n)})",
    'Spec = collections.namedtuple("ArgSpec", "args varargs keywords defaults")',
    "inspect.getargspec = lambda function: Spec(*inspect.getfullargspec(function)[:4])",
    "fractions.gcd, time.clock = math.gcd, time.perf_counter",
    "get_field = dataclasses._get_field",
    "def lenient(cls, name, *rest):",
    "    value = getattr(cls, name, None)",
    "    kind = type(value.default if isinstance(value, dataclasses.Field) else value)",
    "    if kind.__hash__ is not None or not dataclasses.is_dataclass(kind):",
    "        return get_field(cls, name, *rest)",
    "    kind.__hash__ = object.__hash__",
    "    try:",
    "        return get_field(cls, name, *rest)",
    "    finally:",
    "        kind.__hash__ = None",
    "dataclasses._get_field = lenient",
)
"""A module that gives Python's modules back what 3.8 to 3.11 took from them.

Since 3.11 what has no hash is refused as a dataclass's default, a dataclass among it: fairseq and the hydra that it
needs are full of these. While such a field is looked at, its class has one.
"""

_GIVEN_BACK = (
    "# Python gets back the names that the code still imports; a .pth file is read whenever Python starts.\n"
    "RUN set -eu; \\\n"
    "    place=$(python3 -c 'import sysconfig; print(sysconfig.get_path(\"purelib\"))'); \\\n"
    "    printf '%s\\n' \\\n"
    + "".join(f"        '{line}' \\\n" for line in OLD_NAMES)
    + '        > "${place}/lmr_old_names.py"; \\\n'
    "    echo 'import lmr_old_names' > \"${place}/lmr_old_names.pth\""
)


@dataclass(frozen=True)
class Texts:
    """What an image is made by: the Dockerfile and requirements.lock."""

    dockerfile: str
    lock: str


def repaired(change: Change, texts: Texts, index: Index, droppable: Collection[str]) -> Texts | None:
    """The texts with a change made; None when it cannot or may not be made, or is there already.

    Args:
        droppable: names of the requirements that may be dropped: nobody declares them, or no code imports them.
    """
    after = _changed(change, texts, index, droppable)
    return None if after is None or after == texts else after


def _changed(change: Change, texts: Texts, index: Index, droppable: Collection[str]) -> Texts | None:
    if isinstance(change, SystemPackages):
        return replace(texts, dockerfile=with_packages(texts.dockerfile, change.names))
    if isinstance(change, Variable):
        return replace(texts, dockerfile=_inserted(texts.dockerfile, f"ENV {change.name}={change.value}"))
    if isinstance(change, ArchivedMirrors):
        return replace(texts, dockerfile=_inserted(texts.dockerfile, _ARCHIVE))
    if isinstance(change, ManualPages):
        return replace(texts, dockerfile=_inserted(texts.dockerfile, "RUN mkdir -p /usr/share/man/man1"))
    if isinstance(change, OldNames):
        return replace(texts, dockerfile=_inserted(texts.dockerfile, _GIVEN_BACK))
    if isinstance(change, BuiltWith):
        return _built_with(change, texts, index)
    if isinstance(change, Requirements):
        return _with_requirements(change.texts, texts, change, index)
    if isinstance(change, Instead):
        return _instead(change, texts, index)
    if isinstance(change, Drop | Newer | Older | Wheel):
        return _with_another(change, texts, index, droppable)
    return None


_APART = (
    "{mark}\n"
    "# {name} is built before the others, with what its source needs and without pip's build isolation.\n"
    "RUN set -eu; \\\n"
    "    sed -n '/^{name}==/p' /opt/lmr-author/requirements.lock > /opt/lmr-author/apart.txt; \\\n"
    "    if [ -s /opt/lmr-author/apart.txt ]; then \\\n"
    "        python3 -m pip install --target /opt/lmr-author/build {needs}; \\\n"
    "        PYTHONPATH=/opt/lmr-author/build python3 -m pip install --no-deps --no-build-isolation \\\n"
    "            -r /opt/lmr-author/apart.txt; \\\n"
    "        rm -rf /opt/lmr-author/build; \\\n"
    "    fi\n\n"
)
_LOCK_COPIED = re.compile(r"^COPY requirements\.lock /opt/lmr-author/requirements\.lock\n", re.M)


def _built_with(change: BuiltWith, texts: Texts, index: Index) -> Texts | None:
    """A Dockerfile that builds a package after the lock is there and before it is installed.

    None for a lock with hashes, or a Dockerfile that was not made by this program. A module that the lock has (numpy)
    is taken in the lock's version.
    """
    held = {name: plain(text) for name, text in entries(texts.lock) if name}
    match = _LOCK_COPIED.search(texts.dockerfile)
    if change.name not in held or "--hash=" in texts.lock or match is None:
        return None
    ours = tuple(held[text] for text in change.needs if text in held)
    others = tuple(text for text in change.needs if text not in held)
    lines = [*ours, *(index.resolve(others, change) if others else [])]
    if others and len(lines) == len(ours):
        return None
    needs = " ".join(f"'{line.split(';')[0].strip()}'" for line in sorted(set(lines)))
    block = _APART.format(mark=MARK, name=change.name, needs=needs)
    if f"/^{change.name}==/p" in texts.dockerfile:
        return None
    # The comments on what follows stay above it.
    return replace(
        texts, dockerfile=f"{texts.dockerfile[: match.end()]}\n{block}{texts.dockerfile[match.end() :]}"
    )


def _with_another(
    change: Drop | Newer | Older | Wheel, texts: Texts, index: Index, droppable: Collection[str]
) -> Texts | None:
    """The lock with another version of a package that it has, or without the package."""
    held = next((plain(text) for name, text in entries(texts.lock) if name == change.name), "")
    if isinstance(change, Drop):
        if change.name not in droppable or not held:
            return None
        return replace(texts, lock=without_requirement(texts.lock, change.name, change.reason))
    if isinstance(change, Newer | Older):
        mark = ">" if isinstance(change, Newer) else "<"
        wanted = (held.split(";")[0].strip().replace("==", mark),) if "==" in held else ()
        return _with_requirements(wanted, texts, change, index)
    # A line without hashes would make pip refuse the whole file.
    line = index.next_wheel(held) if held and "--hash=" not in texts.lock else ""
    return replace(texts, lock=with_requirement(texts.lock, line)) if line else None


def _instead(change: Instead, texts: Texts, index: Index) -> Texts | None:
    if all(name != change.name for name, _ in entries(texts.lock)):
        return None
    without = without_requirement(texts.lock, change.name, f"{change.other} is taken in its place")
    return _with_requirements((change.other,), replace(texts, lock=without), change, index)


def with_packages(dockerfile: str, names: tuple[str, ...]) -> str:
    """A Dockerfile that installs Debian packages: in its apt-get line if it has one, else in one of their own."""
    missing = [
        name for name in names if not re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w.+-])", dockerfile)
    ]
    if not missing:
        return dockerfile
    match = _APT.search(dockerfile)
    if match:
        return f"{dockerfile[: match.end()]}{' '.join(missing)} {dockerfile[match.end() :]}"
    return _inserted(dockerfile, _INSTALL.format(names=" ".join(missing)))


def _inserted(dockerfile: str, instruction: str) -> str:
    """Put an instruction before the first of the last stage that installs or copies."""
    if instruction in dockerfile:
        return dockerfile
    lines = dockerfile.splitlines(keepends=True)
    start = max((n for n, line in enumerate(lines) if re.match(r"\s*FROM\s", line, re.I)), default=-1) + 1
    place = next(
        (n for n in range(start, len(lines)) if re.match(r"\s*(RUN|COPY|ADD)\s", lines[n], re.I)), len(lines)
    )
    while place > start and lines[place - 1].lstrip().startswith("#"):
        place -= 1
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    return "".join([*lines[:place], f"{MARK}\n{instruction}\n\n", *lines[place:]])


def _with_requirements(wanted: tuple[str, ...], texts: Texts, change: Change, index: Index) -> Texts | None:
    """The lock with requirements and what they need; of what it has already, only what does not fit is replaced."""
    if "--hash=" in texts.lock:
        return None  # a line without hashes would make pip refuse the whole file
    held = {name: plain(text) for name, text in entries(texts.lock) if name}
    named = {canonicalize_name(Requirement(text).name): Requirement(text) for text in wanted}
    unmet = {name: item for name, item in named.items() if not _met(texts.lock, name, item)}
    lines = index.resolve(tuple(str(item) for item in unmet.values()), change) if unmet else []
    if not lines:
        return None
    made = {canonicalize_name(Requirement(line).name): line for line in lines}
    lock = texts.lock
    for name, line in made.items():
        fits = name in held and name not in unmet
        if not fits or any(not index.fit(made[one], held[name]) for one in unmet if one in made):
            lock = with_requirement(lock, line)
    if isinstance(change, Requirements) and change.of in held:
        for line in _unfit(held[change.of], held, change, index):
            lock = with_requirement(lock, line)
    return replace(texts, lock=lock)


def _unfit(pin: str, held: dict[str, str], change: Requirements, index: Index) -> list[str]:
    """What a pin needs and a lock has in a version that does not fit it, as lines that do."""
    lines = index.resolve((pin, *change.texts), change)
    made = {canonicalize_name(Requirement(line).name): line for line in lines}
    others = {name: line for name, line in made.items() if name in held and held[name] not in (pin, line)}
    return [line for name, line in others.items() if not index.fit(pin, held[name])]


def _met(lock: str, name: str, wanted: Requirement) -> bool:
    """Whether the lock has a version of it that fits already."""
    for held, text in entries(lock):
        if held != name:
            continue
        pins = [part.version for part in Requirement(plain(text)).specifier if part.operator == "=="]
        return bool(pins) and pins[0] in wanted.specifier
    return False
