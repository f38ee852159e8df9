"""``env build --fix`` and ``env local --fix``: what failures ask for, changed in a task's Dockerfile and lock."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from lmr_author import files
from lmr_author.environment import Recipe, choose_base, detect, lock, stamp
from lmr_author.environment.failures import Change, Explanation
from lmr_author.environment.failures.changes import (
    BuiltWith,
    Drop,
    Instead,
    Newer,
    Older,
    Relaxed,
    Requirements,
    Wheel,
)
from lmr_author.environment.lock_lines import pins, requirements
from lmr_author.environment.parsing import parse_requirement
from lmr_author.environment.recipe import Declared, is_exact
from lmr_author.environment.repair import Index, Texts, repaired
from lmr_author.environment.wheels import WITH_WHEELS, nearest, newest_python, not_before, only_for
from lmr_author.errors import LmrError
from lmr_author.model import Progress
from lmr_author.taskdir import TaskDir
from lmr_author.workflow import env_facts, env_lock
from lmr_author.workflow.env import place_of
from lmr_author.workflow.env_lock import LockOptions

OF_THE_LOCK = (Requirements, Drop, Wheel, Instead, BuiltWith, Relaxed, Newer, Older)
"""Changes that can be made in a lock, or have such a one to fall back on."""
ROUNDS = 10
"""So many repairs at most: each is followed by a build."""


@dataclass(frozen=True)
class Repair:
    """A change that was made, or undone.

    Attributes:
        cause: what it was made for.
        diff: the difference that it made to Dockerfile and lock.
        undone: it did not help, and the files are as they were before it.
    """

    cause: str
    change: Change
    diff: str
    undone: bool = False


class Repairs:
    """The repairs of one command.

    Attributes:
        made: in order.
    """

    def __init__(
        self, task: TaskDir, base_image: str | None, say: Progress, *, lock_only: bool = False
    ) -> None:
        """With ``lock_only`` the Dockerfile stays as it is: it has no part in a local environment."""
        self._task = task
        self._lock_only = lock_only
        self._base_image = base_image
        self._say = say
        self._before: Texts | None = None
        self._relaxed_once = False
        self.made: list[Repair] = []
        self._kept: list[str] = []  # names of files of which a copy is in authoring/removed/

    def repair(self, found: Explanation | None, python: str) -> Repair | None:
        """Make the change that an explanation asks for; None when there is none to be made.

        Args:
            python: the version inside the image, "" when it was not built.
        """
        if found is None or found.change is None or len(self.made) >= ROUNDS:
            return None
        known = env_facts.known(self._task, self._base_image)
        minor = ".".join(python.split(".")[:2]) or known.python
        before = self._texts()
        for change in self._candidates(found.change, known.guessed):
            if any(item.change == change for item in self.made):
                continue
            self._say(f"repairing: {change}")
            after = self._changed(change, before, known, minor)
            if after is not None and not (self._lock_only and after.dockerfile != before.dockerfile):
                self._keep(before, after)
                self._write(before, after)
                self._before = before
                self.made.append(Repair(found.cause, change, _difference(before, after)))
                return self.made[-1]
        return None

    def ahead(self, python: str) -> Repair | None:
        """Before anything is installed: lock again where the lock is for another Python, and does not fit this one.

        Args:
            python: the minor version in the image, or of the local interpreter; "" when nobody knows.
        """
        made_for = env_facts.lock_python(self._task)
        if not python or not made_for or python == made_for:
            return None
        known = env_facts.known(self._task, self._base_image)
        base = choose_base(Recipe(), known.base.reference or None, python)
        self._say(f"requirements.lock is for Python {made_for}, not {python}: looking whether it fits")
        held = [pin for _, pin in pins(env_facts.text(self._task.lock))]
        odd = only_for(made_for, held, base)
        if not odd:
            return None
        cause = f"requirements.lock is for Python {made_for}: {odd} has no wheel for Python {python}"
        return self.repair(Explanation("lock-for-another-python", cause, str(Relaxed()), Relaxed()), python)

    def _candidates(self, change: Change, guessed: frozenset[str]) -> tuple[Change, ...]:
        """A change, and what is tried when it cannot be made or does not help. ``guessed``: what nobody declares."""
        if isinstance(change, Older):
            return change, replace(change, years=3)
        if isinstance(change, Newer) and change.newest:
            return replace(change, newest=False), change
        if not isinstance(change, Wheel | BuiltWith):
            return (change,)
        why = "nobody declares it" if change.name in guessed else "no code imports it at once"
        drop = Drop(change.name, f"it cannot be installed, and {why}")
        if isinstance(change, BuiltWith):
            return change, Wheel(change.name), drop
        other = WITH_WHEELS.get(change.name)
        # What makes the whole lock fit this Python comes before a later version of one package.
        return (*((Instead(change.name, other),) if other else ()), Relaxed(), change, drop)

    def _changed(self, change: Change, before: Texts, known: env_facts.Known, minor: str) -> Texts | None:
        if isinstance(change, Relaxed):
            return self._relaxed(before, minor)
        if isinstance(change, Older) and change.name in self._pinned():
            return None
        index = Index(
            lambda wanted, change: _resolved(wanted, known, minor, change),
            lambda pin: _next_wheel(pin, known, minor),
            lambda pin, other: bool(_resolved((pin, other), known, minor, change)),
        )
        droppable = self._droppable(known) if isinstance(change, Drop) else frozenset[str]()
        return repaired(change, before, index, droppable)

    def _relaxed(self, before: Texts, minor: str) -> Texts | None:
        """As `env lock --relax` makes it; None for a lock that somebody edited, or that this does not change."""
        if self._relaxed_once or not stamp.is_untouched(before.lock) or "--hash=" in before.lock:
            return None
        self._relaxed_once = True  # it may take minutes, and the repository does not change meanwhile
        options = LockOptions(base_image=self._base_image, python=minor, relax=True, dry_run=True)
        try:
            made = env_lock.lock(place_of(self._task), options, self._say).lock
        except LmrError:
            return None
        same = made is None or requirements(made.text) == requirements(before.lock)
        return None if made is None or same else replace(before, lock=made.text)

    def did_not_help(self, found: Explanation | None) -> bool:
        """Whether what the last repair was made for is still so."""
        return bool(self.made) and found is not None and found.cause == self.made[-1].cause

    def undo(self) -> Repair:
        """Take the last repair back."""
        assert self._before is not None
        self._write(self._texts(), self._before)
        self.made[-1] = replace(self.made[-1], undone=True)
        return self.made[-1]

    def _texts(self) -> Texts:
        return Texts(env_facts.text(self._task.dockerfile), env_facts.text(self._task.lock))

    def _keep(self, before: Texts, after: Texts) -> None:
        for path, changed in self._files(before, after):
            if changed and path.is_file() and path.name not in self._kept:
                self._kept.append(self._task.put_aside(path, copy=True))

    def _write(self, before: Texts, after: Texts) -> None:
        for path, changed in self._files(before, after):
            if changed:
                files.write_text(path, after.lock if path == self._task.lock else after.dockerfile)

    def _files(self, before: Texts, after: Texts) -> tuple[tuple[Path, bool], ...]:
        return (
            (self._task.dockerfile, before.dockerfile != after.dockerfile),
            (self._task.lock, before.lock != after.lock),
        )

    def _droppable(self, known: env_facts.Known) -> frozenset[str]:
        """What nobody declares (guesses, and what an earlier repair put in), and what no code imports at once."""
        own = {
            canonicalize_name(Requirement(text).name)
            for item in self.made
            if isinstance(item.change, Requirements)
            for text in item.change.texts
        }
        return known.guessed | own | self._recipe().idle

    def _pinned(self) -> frozenset[str]:
        """What the repository itself names a version of."""
        declared = (item for item in self._recipe().requirements if not item.mentioned and not item.guessed)
        return frozenset(item.name for item in declared if is_exact(item))

    def _recipe(self) -> Recipe:
        return detect(self._task.repository(self._task.load()))


def _resolved(wanted: tuple[str, ...], known: env_facts.Known, python: str, change: Change) -> list[str]:
    """Requirements and what they need, pinned for the image's Python as of the day that a change asks for."""
    parsed = [parse_requirement(text, "env build --fix") for text in wanted]
    declared = tuple(item for item in parsed if isinstance(item, Declared))
    base = choose_base(Recipe(), known.base.reference or None, python)
    recipe = Recipe(requirements=declared, date=known.date)
    if isinstance(change, Newer | BuiltWith):
        # What builds has to know the image's Python, too.
        recipe, _ = not_before(recipe, base)
        if isinstance(change, Newer) and change.newest:
            recipe = replace(recipe, date=None)
    elif isinstance(change, Instead):
        recipe = replace(recipe, date=None)  # it most often came after the commit
    elif isinstance(change, Older):
        recipe = replace(recipe, date=(known.date or datetime.now(UTC)) - timedelta(days=365 * change.years))
    made = lock(recipe, base)
    # Not pinned: the index does not answer, or nothing fits. Then nothing is better than a guess.
    return requirements(made.text) if made.pinned else []


def _next_wheel(pin: str, known: env_facts.Known, python: str) -> str:
    """The first later version of a pin that has a wheel for the image's Python; "" when there is none."""
    item = parse_requirement(pin, "requirements.lock")
    base = choose_base(Recipe(), known.base.reference or None, python)
    return nearest(item, Recipe(date=known.date), base, tried=True) if isinstance(item, Declared) else ""


def with_its_python(found: Explanation, task: TaskDir, base_image: str | None) -> Explanation:
    """An explanation of a package that cannot be built, with the newest Python that its version has a wheel for."""
    if not isinstance(found.change, Wheel):
        return found
    pin = next((text for name, text in pins(env_facts.text(task.lock)) if name == found.change.name), "")
    known = env_facts.known(task, base_image)
    base = choose_base(Recipe(), known.base.reference or None, known.python)
    python = newest_python(pin, base) if pin else ""
    if not python:
        return found
    return replace(found, advice=f"{found.advice}; {pin} has wheels for Python {python} and older ones only")


def _difference(before: Texts, after: Texts) -> str:
    pieces = []
    for name, old, new in (
        ("Dockerfile", before.dockerfile, after.dockerfile),
        ("requirements.lock", before.lock, after.lock),
    ):
        lines = difflib.unified_diff(
            old.splitlines(keepends=True), new.splitlines(keepends=True), f"a/{name}", f"b/{name}", n=1
        )
        pieces.append("".join(lines))
    return "".join(pieces)
