"""``--fix``: change a task's Dockerfile and lock as failures ask for, and take back what did not help."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from lmr_author import files
from lmr_author.environment import lock_file, place
from lmr_author.environment.base_images import BaseImage, choose_base, followed
from lmr_author.environment.detect import read_recipe
from lmr_author.environment.failures import Explanation, Fix
from lmr_author.environment.lock import lock, next_wheel
from lmr_author.environment.lock_file import held, with_requirement, without_requirement
from lmr_author.environment.packages import table
from lmr_author.environment.pinning import LockOptions, pin
from lmr_author.environment.recipe import Declared, Recipe, is_exact
from lmr_author.environment.requirements import parse_requirement
from lmr_author.errors import LmrError
from lmr_author.task import Progress, Task

ROUNDS = 10
"""So many repairs at most: each is followed by a build."""
_ALTERNATIVES = {
    "older": ("older", "much-older"),
    "newest": ("newer", "newest"),
    # What makes the whole lock fit this Python comes before a later version of one package.
    "wheel": ("instead", "relock", "wheel", "drop"),
    "built-with": ("built-with", "wheel", "drop"),
}
"""Kind of a fix → the kinds that are tried in turn, as far as they can be made and until one helps."""
Resolve = Callable[[tuple[str, ...], tuple[str, ...]], list[str]]
"""Requirements, and pins to keep if possible → pinned lines, with what they need in turn; [] when there are none."""
MARK = "# Added by lmr-author env build --fix."
_APT = re.compile(r"apt-get install(?:[ \t]+-\S+|[ \t]*\\\n[ \t]*)*[ \t]*(?=[a-z0-9])")
_LOCK_COPIED = re.compile(r"^COPY requirements\.lock /opt/lmr-author/requirements\.lock\n", re.M)
_INSTALL = r"""# hadolint ignore=DL3008
RUN apt-get update && \
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends {names} && \
    rm -rf /var/lib/apt/lists/*"""
_ARCHIVE = r"""RUN sed -i -e 's|deb.debian.org|archive.debian.org|g' -e 's|security.debian.org|archive.debian.org|g' \
        -e '/-updates/d' /etc/apt/sources.list"""
_OLD_NAMES = r'''# Python gets back the names that the code still imports; a .pth file is read whenever Python starts.
RUN set -eu; \
    place=$(python3 -c 'import sysconfig; print(sysconfig.get_path("purelib"))'); \
    printf '%s\n' \
{lines}        > "${{place}}/lmr_old_names.py"; \
    echo 'import lmr_old_names' > "${{place}}/lmr_old_names.pth"'''
_APART = r"""{mark}
# {name} is built before the others, with what its source needs and without pip's build isolation.
RUN set -eu; \
    sed -n '/^{name}==/p' /opt/lmr-author/requirements.lock > /opt/lmr-author/apart.txt; \
    if [ -s /opt/lmr-author/apart.txt ]; then \
        python3 -m pip install --target /opt/lmr-author/build {needs}; \
        PYTHONPATH=/opt/lmr-author/build python3 -m pip install --no-deps --no-build-isolation \
            -r /opt/lmr-author/apart.txt; \
        rm -rf /opt/lmr-author/build; \
    fi

"""


@dataclass(frozen=True)
class Texts:
    """The two files that an image is made from."""

    dockerfile: str
    lock: str


@dataclass(frozen=True)
class Repair:
    """A change that was made, or undone.

    Attributes:
        cause: the failure that it was made for.
        diff: the difference that it made to Dockerfile and lock.
        undone: it did not help, and the files are as they were before it.
    """

    cause: str
    fix: Fix
    diff: str
    undone: bool = False


class Repairs:
    """The repairs of one command.

    Attributes:
        made: in order.
    """

    def __init__(self, task: Task, base_image: str | None, say: Progress) -> None:
        self._task = task
        self._base_image = base_image
        self._say = say
        self._before: Texts | None = None
        self._relocked = False
        self.made: list[Repair] = []
        self._kept: list[str] = []  # names of files of which a copy is in authoring/removed/

    def repair(self, found: Explanation | None, python: str) -> Repair | None:
        """Make the change that an explanation asks for; None when there is none to be made.

        Args:
            python: the version inside the image, "" when it was not built.
        """
        if found is None or found.fix is None or len(self.made) >= ROUNDS:
            return None
        known = place.known(self._task, self._base_image)
        minor = ".".join(python.split(".")[:2]) or known.python
        base = choose_base(Recipe(), known.base.reference or None, minor)
        before = self._texts()
        for kind in _ALTERNATIVES.get(found.fix.kind, (found.fix.kind,)):
            fix = Fix(kind, () if kind == "relock" else found.fix.names)
            if found.fix.kind != kind and kind in ("wheel", "drop"):
                fix = Fix(kind, found.fix.names[:1])
            if kind == "instead":
                fix = Fix(kind, (*fix.names[:1], table("wheels_instead").get(fix.names[0], "")))
            if any(item.fix == fix for item in self.made) or (kind == "instead" and not fix.names[1]):
                continue
            self._say(f"repairing: {fix}")
            after = self._changed(fix, before, base, known)
            if after is not None and after != before:
                self._write(before, after, keep=True)
                self._before = before
                self.made.append(Repair(found.cause, fix, _difference(before, after)))
                return self.made[-1]
        return None

    def _changed(self, fix: Fix, texts: Texts, base: BaseImage, known: place.Known) -> Texts | None:
        """The texts with a change made; None when it cannot or may not be made."""
        name = canonicalize_name(fix.names[0]) if fix.names else ""
        if fix.kind == "relock":
            return self._relock(texts, base.python)
        if fix.kind == "drop":
            if name not in self._droppable(known) or name not in held(texts.lock):
                return None
            why = "nobody declares it" if name in known.guessed else "no code imports it at once"
            reason = f"it cannot be installed, and {why}"
            return replace(texts, lock=without_requirement(texts.lock, name, reason))
        if fix.kind in ("older", "much-older") and name in self._pinned():
            return None

        def resolve(wanted: tuple[str, ...], pins: tuple[str, ...]) -> list[str]:
            return _resolved(wanted, pins, base, _day(fix.kind, known.date, base))

        return changed(fix, texts, resolve, lambda text: next_wheel(text, base))

    def _relock(self, texts: Texts, python: str) -> Texts | None:
        """As `env lock --relax` makes it; None for a lock that somebody edited, or that this does not change."""
        if self._relocked or not lock_file.is_untouched(texts.lock) or "--hash=" in texts.lock:
            return None
        self._relocked = True  # it may take minutes, and the repository does not change meanwhile
        without = re.findall(r"^# (\S+) \(\S+\) is left out: as asked with --without", texts.lock, re.M)
        options = LockOptions(
            base_image=self._base_image, python=python, relax=True, dry_run=True, without=tuple(without),
            only_goal="(--only-goal)" in texts.lock,
        )  # fmt: skip
        try:
            made = lock(place.place_of(self._task), options, self._say).text
        except LmrError:
            return None
        same = lock_file.requirements(made) == lock_file.requirements(texts.lock)
        return None if same else replace(texts, lock=made)

    def did_not_help(self, found: Explanation | None) -> bool:
        """Return whether the failure that the last repair was made for is still there."""
        return bool(self.made) and found is not None and found.cause == self.made[-1].cause

    def undo(self) -> Repair:
        """Take the last repair back."""
        assert self._before is not None
        self._write(self._texts(), self._before)
        self.made[-1] = replace(self.made[-1], undone=True)
        return self.made[-1]

    def _texts(self) -> Texts:
        return Texts(place.text_of(self._task.dockerfile), place.text_of(self._task.lock))

    def _write(self, before: Texts, after: Texts, *, keep: bool = False) -> None:
        pairs: tuple[tuple[Path, str, str], ...] = (
            (self._task.dockerfile, before.dockerfile, after.dockerfile),
            (self._task.lock, before.lock, after.lock),
        )
        for path, old, new in pairs:
            if old == new:
                continue
            if keep and path.is_file() and path.name not in self._kept:
                self._kept.append(self._task.put_aside(path, copy=True))
            files.write_text(path, new)

    def _droppable(self, known: place.Known) -> frozenset[str]:
        """Packages that nobody declares (guesses, and those of an earlier repair), or that no code imports at once."""
        added = (text for item in self.made if item.fix.kind == "requirements" for text in item.fix.names)
        own = {canonicalize_name(Requirement(text).name) for text in added}
        declared = {item.name for item in self._recipe.requirements}
        return known.guessed | own | (declared - self._recipe.imported)

    def _pinned(self) -> frozenset[str]:
        """Packages of which the repository itself names a version."""
        declared = (item for item in self._recipe.requirements if not item.mentioned and not item.guessed)
        return frozenset(item.name for item in declared if is_exact(item))

    @cached_property
    def _recipe(self) -> Recipe:
        return read_recipe(self._task.repository(self._task.load()))


def _day(kind: str, date: datetime | None, base: BaseImage) -> datetime | None:
    """The day as of which a change takes versions."""
    if kind in ("newest", "instead"):
        return None  # the other package most often came after the commit
    if kind in ("older", "much-older"):
        return (date or datetime.now(UTC)) - timedelta(days=365 * (1 if kind == "older" else 3))
    first = followed(base.python)
    if kind in ("newer", "built-with") and date and first:
        return max(date, first)  # what builds has to know the image's Python, too
    return date


def _resolved(
    wanted: tuple[str, ...], pins: tuple[str, ...], base: BaseImage, day: datetime | None
) -> list[str]:
    """Requirements and what they need, pinned; [] when the index does not answer or nothing fits."""
    parsed = [parse_requirement(text, "--fix") for text in wanted]
    held = [parse_requirement(text, "requirements.lock") for text in pins]
    recipe = Recipe(
        requirements=tuple(item for item in parsed if isinstance(item, Declared)),
        constraints=tuple(item for item in held if isinstance(item, Declared)),
        date=day,
    )
    made = pin(recipe, base)
    return lock_file.requirements(made.text) if made.pinned else []


def changed(fix: Fix, texts: Texts, resolve: Resolve, wheel: Callable[[str], str]) -> Texts | None:
    """Return the texts with a change made; None when it cannot be made.

    Args:
        wheel: a pin → the first later version that has a wheel; "" when there is none.
    """
    name = canonicalize_name(fix.names[0]) if fix.names else ""
    pinned = held(texts.lock)
    instruction = {
        "variable": "ENV " + " ".join(fix.names),
        "archive": _ARCHIVE,
        "manual-pages": "RUN mkdir -p /usr/share/man/man1",
        "old-names": _given_back() if fix.kind == "old-names" else "",
    }.get(fix.kind)
    if instruction:
        return replace(texts, dockerfile=_inserted(texts.dockerfile, instruction))
    if fix.kind == "system":
        return replace(texts, dockerfile=with_packages(texts.dockerfile, fix.names))
    if fix.kind == "built-with":
        return _built_with(fix, texts, resolve)
    if "--hash=" in texts.lock:
        return None  # a line without hashes would make pip refuse the whole file
    if fix.kind == "requirements":
        return _with_requirements(fix.names, texts, resolve)
    if name not in pinned:
        return None
    if fix.kind == "instead":
        why = f"{fix.names[1]} is taken in its place"
        without = replace(texts, lock=without_requirement(texts.lock, name, why))
        return _with_requirements(fix.names[1:], without, resolve)
    if fix.kind == "wheel":
        line = wheel(pinned[name])
        return replace(texts, lock=with_requirement(texts.lock, line)) if line else None
    mark = ">" if fix.kind in ("newer", "newest") else "<"
    wanted = pinned[name].split(";")[0].strip()
    return _with_requirements((wanted.replace("==", mark),), texts, resolve) if "==" in wanted else None


def _given_back() -> str:
    """An instruction that gives Python's modules back what 3.8 to 3.11 took from them.

    Since 3.11 what has no hash is refused as a dataclass's default, a dataclass among it: fairseq and the hydra that
    it needs are full of these. While such a field is looked at, its class has one.
    """
    lines = Path(__file__).with_name("old_names.txt").read_text("utf-8").splitlines()
    return _OLD_NAMES.format(lines="".join(f"        '{line}' \\\n" for line in lines))


def _built_with(fix: Fix, texts: Texts, resolve: Resolve) -> Texts | None:
    """A Dockerfile that builds a package after the lock is copied and before it is installed.

    None for a lock with hashes, or a Dockerfile that was not made by this program. A module that the lock has (numpy)
    is taken in the lock's version.
    """
    name, needs = fix.names[0], fix.names[1:]
    pinned = held(texts.lock)
    match = _LOCK_COPIED.search(texts.dockerfile)
    if name not in pinned or "--hash=" in texts.lock or match is None or f"/^{name}==/p" in texts.dockerfile:
        return None
    others = tuple(text for text in needs if text not in pinned)
    lines = [pinned[text] for text in needs if text in pinned]
    resolved = resolve(others, ()) if others else []
    if others and not resolved:
        return None
    quoted = " ".join(f"'{line.split(';')[0].strip()}'" for line in sorted({*lines, *resolved}))
    block = _APART.format(mark=MARK, name=name, needs=quoted)
    # The comments on what follows stay above it.
    end = match.end()
    return replace(texts, dockerfile=f"{texts.dockerfile[:end]}\n{block}{texts.dockerfile[end:]}")


def with_packages(dockerfile: str, names: tuple[str, ...]) -> str:
    """Return a Dockerfile that installs Debian packages: in its apt-get line, else in an instruction of their own."""
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


def _with_requirements(wanted: tuple[str, ...], texts: Texts, resolve: Resolve) -> Texts | None:
    """The lock with requirements and what they need; of what it has already, only what does not fit is replaced."""
    pinned = held(texts.lock)
    named = {canonicalize_name(Requirement(text).name): Requirement(text) for text in wanted}
    unmet = {name: item for name, item in named.items() if not _is_met(pinned.get(name, ""), item)}
    others = tuple(line for name, line in pinned.items() if name not in unmet)
    lines = resolve(tuple(map(str, unmet.values())), others) if unmet else []
    lock = texts.lock
    for line in lines:
        if line not in others:
            lock = with_requirement(lock, line)
    return replace(texts, lock=lock) if lines else None


def _is_met(pin: str, wanted: Requirement) -> bool:
    """Return whether the lock has a version that fits already."""
    pins = [part.version for part in Requirement(pin).specifier if part.operator == "=="] if pin else []
    return bool(pins) and pins[0] in wanted.specifier


def _difference(before: Texts, after: Texts) -> str:
    pieces = (
        ("Dockerfile", before.dockerfile, after.dockerfile),
        ("requirements.lock", before.lock, after.lock),
    )
    return "".join(
        "".join(
            difflib.unified_diff(old.splitlines(True), new.splitlines(True), f"a/{name}", f"b/{name}", n=1)
        )
        for name, old, new in pieces
    )
