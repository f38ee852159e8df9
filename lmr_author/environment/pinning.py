"""Pin a recipe's packages as they were on the day of the commit: which versions, and what had to be put aside."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field, replace
from datetime import date as Day
from datetime import datetime, timedelta

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from lmr_author.environment import resolver
from lmr_author.environment.base_images import BaseImage, first_day, torchtext
from lmr_author.environment.lock_file import Conflict, Lock, LockOptions, commented
from lmr_author.environment.packages import names
from lmr_author.environment.recipe import Declared, Recipe, has_version, is_exact, is_freeze
from lmr_author.environment.resolver import Resolution
from lmr_author.task import TORCH_FAMILY, Progress
from lmr_author.texts import listed, printable

_ROUNDS = 40
"""So often something is put aside before giving up."""
_OLD = timedelta(days=3 * 365)
"""Code is seldom run with a version this much older than itself, where newer ones are available."""
_UNBUILDABLE = (
    r"Failed to (?:build|download and build|prepare|download)[^`]*`([\w.-]+?)(?:==[^`]*|@[^`]*)?`",
    r"Failed to fetch: \S*/([\w.-]+?)-\d[^/\s]*\.(?:tar\.gz|zip) ",
    r"Wheels are required for `([\w.-]+)`",
)
"""uv's words for a package whose source cannot tell what it needs."""


def pin(
    recipe: Recipe,
    base: BaseImage,
    options: LockOptions | None = None,
    progress: Progress | None = None,
    *,
    changes: tuple[str, ...] = (),
    frozen: bool = False,
    stoppable: bool = False,
) -> Lock:
    """Pin a recipe for a base image; when the index does not answer, or no versions fit, it is not, and says why.

    PyTorch and CUDA packages are left to the base image. For code older than the image's Python, versions are as of
    the day from which packages are made for that Python.

    Args:
        changes: what the caller changed of the repository's own requirements, for the lock's comments.
        frozen: the requirements are a whole environment, installed as it stands, whatever the list looks like.
        stoppable: an interrupt ends the resolution, not the program: the lock is not pinned, and says why.
    """
    options = options or LockOptions()
    search = _Search(recipe, base, options, frozen)
    try:
        if not search.declared:
            made = Lock("", True, "the repository needs nothing beside PyTorch")
        elif options.seconds > 0:
            made = search.run(time.monotonic() + options.seconds, progress or (lambda _: None))
        elif all(map(is_exact, search.declared)):
            note = "pinned as the repository pins them; the package index was not asked"
            made = replace(search.unpinned(""), pinned=True, note=note)
        else:
            made = search.unpinned("the package index was not asked")
    except KeyboardInterrupt:
        if not stoppable:
            raise
        made = search.unpinned("it was interrupted")
    made = replace(made, changes=(*changes, *search.changes, *made.changes), left_out=tuple(search.left_out))
    return commented(made, recipe, base, options.again())


@dataclass
class _Search:
    """Asks uv until it succeeds, putting aside what is not the repository's own word, or cannot be had.

    Attributes:
        kept: requirements that go into the lock as they are: they cannot be built here to learn what they need.
        later: package → day until which it may be newer than the commit.
        only_wheels: packages whose source cannot be built here.
        prereleases: packages of which a pre-release is taken.
    """

    recipe: Recipe
    base: BaseImage
    options: LockOptions
    frozen: bool
    declared: list[Declared] = field(default_factory=list)
    constraints: list[Declared] = field(default_factory=list)
    kept: list[Declared] = field(default_factory=list)
    later: dict[str, Day] = field(default_factory=dict)
    only_wheels: list[str] = field(default_factory=list)
    prereleases: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    changes: list[str] = field(default_factory=list)
    date: datetime | None = None

    def __post_init__(self) -> None:
        """Take from the recipe what every lock leaves out, and what belongs to the image's PyTorch."""
        version = torchtext(self.base)
        for item in self.recipe.requirements:
            if item.name in self.options.without:
                self._leave_out(item, "as asked with --without")
            elif item.name in names("backports"):
                # pip refuses to install it, or it hides Python's own.
                self._leave_out(item, "it is part of Python itself")
            elif item.name in names("built_with_torch"):
                self._leave_out(item, "its source needs PyTorch and a CUDA compiler to be installed")
            elif item.name == "torchtext" and version and version not in Requirement(item.text).specifier:
                self.declared.append(replace(item, text=f"torchtext=={version}"))
                self.remarks.append(
                    f"torchtext=={version} in place of {item}: it belongs to PyTorch {self.base.torch}"
                )
            else:
                self.declared.append(item)
        # A full list is an environment that existed: installed as it is, contradictory as it may be.
        if is_freeze(self.declared) and not self.frozen:
            self.frozen = True
            self.remarks.append("the repository lists a whole environment, which is installed as it stands")
        first, self.date = first_day(self.base.python), self.recipe.date
        if self.frozen:
            self.date = None if all(map(is_exact, self.declared)) else self.date
            return
        left = TORCH_FAMILY | ({"torchtext"} if version else frozenset())
        self.constraints = [item for item in self.recipe.constraints if item.name not in left]
        if self.date and self.date < first:
            why = f"earlier packages are not made for the image's Python {self.base.python}"
            self.changes.append(f"versions as of {first.date()} in place of {self.date.date()}: {why}")
            self.date = first

    def run(self, deadline: float, progress: Progress) -> Lock:
        """Return the lock, or why there is none."""
        for _ in range(_ROUNDS):
            left = deadline - time.monotonic()
            done = resolver.ask(self._question(), left) if left > 1 else None
            if done is None or done.timed_out:
                return self.unpinned(f"uv took longer than {self.options.seconds:.0f} s")
            if not done.failed:
                return self._made(done, max(deadline - time.monotonic(), 5))
            before = len(self.remarks)
            if made := self._adapt(done.stderr):
                return made
            if len(self.remarks) > before:
                progress(self.remarks[-1])
        return self.unpinned(f"more than {_ROUNDS} requirements prevent a solution")

    def _question(self) -> Resolution:
        constraints = [*(item.text for item in self.constraints)]
        constraints += [f"{name}>=0.dev0" for name in self.prereleases]
        own = resolver.excluded(self.base, self.recipe.project, self.declared)
        return Resolution(
            tuple(item.text for item in self.declared), self.base, self.date, tuple(constraints),
            (*own, *self.options.without), tuple(self.only_wheels), self.later,
            resolve=not self.frozen,
        )  # fmt: skip

    def _made(self, done: resolver.ResolverOutput, seconds: float) -> Lock:
        lines = [*(item.text for item in self.kept)]
        lines += [f"{name}=={package.version}" for name, package in done.packages.items()]
        compiled = {name for name, package in done.packages.items() if not package.has_wheel}
        return Lock(
            "".join(f"{line}\n" for line in sorted(lines)),
            True,
            "; ".join((f"pinned as of {self.date.date()}" if self.date else "pinned", *self.remarks)),
            compiled=tuple(sorted(compiled | {item.name for item in self.kept})),
            old=self._outdated(done.packages, seconds),
        )

    def _outdated(self, packages: dict[str, resolver.Package], seconds: float) -> tuple[str, ...]:
        """Declared packages whose locked version is years older than the commit, though newer ones were available."""
        if self.recipe.date is None:
            return ()
        own, day = {item.name for item in self.declared}, self.recipe.date.date()
        ages = {name: day - one.uploaded for name, one in packages.items() if name in own and one.uploaded}
        old = tuple(sorted(name for name, age in ages.items() if age > _OLD))
        question = Resolution(old, self.base, self.recipe.date, resolve=False)
        latest = resolver.ask(question, seconds).packages if old else {}
        return tuple(
            f"{name}=={packages[name].version} is {round(ages[name].days / 365)} years older than the commit;"
            f" {latest[name].version} was the newest then"
            for name in old
            if name in latest and latest[name].version != packages[name].version
        )

    def _adapt(self, stderr: str) -> Lock | None:
        """Change the question by uv's message; a lock that is not pinned where only a person can decide."""
        text = resolver.message(stderr)
        if failure := resolver.index_failure(text):
            return self.unpinned(failure)
        early = re.findall(r"`([\w.-]+)` was requested with a pre-release marker", text)
        early += re.findall(r"Pre-releases are available for `([\w.-]+)`", text)
        if new := [name for name in early if name not in self.prereleases]:
            self.prereleases += new
            return None
        dated = r"`([\w.-]+)` was filtered by `exclude-newer`.*? published at (\d{4}-\d\d-\d\d)"
        if (match := re.search(dated, text)) and match[1] not in self.later:
            self.later[match[1]] = Day.fromisoformat(match[2]) + timedelta(days=1)
            why = "because the repository asks for it"
            self.remarks.append(f"{match[1]} is newer than the commit ({match[2]}), {why}")
            return None
        if match := re.search(r"Because ([\w.-]+) was not found in the package registry", text):
            return self._gone(canonicalize_name(match[1]), "it is not on the package index", text)
        for pattern in _UNBUILDABLE:
            match = re.search(pattern, text)
            if match and canonicalize_name(match[1]) not in self.only_wheels:
                self._unbuildable(canonicalize_name(match[1]))
                return None
        return self._in_conflict(text, stderr)

    def _unbuildable(self, name: str) -> None:
        """A package that cannot be built here may still be built in the image, with its Python and a compiler."""
        item = next((one for one in self.declared if one.name == name), None)
        if item is not None and item.mentioned and has_version(item):
            self._without_version(item, "cannot be built here")
        elif item is not None and is_exact(item):
            self.declared.remove(item)
            self.kept.append(item)
            if not self.frozen:
                why = "it cannot be built here to learn what it needs"
                self.remarks.append(f"{item} is installed as it is: {why}")
        else:
            self.only_wheels.append(name)

    def _in_conflict(self, text: str, stderr: str) -> Lock | None:
        """Nothing fits: what is not the repository's own word is dropped; its own word is not changed here."""
        blamed = _named(self.declared, text)
        spoken = [one for one in blamed if one.guessed or one.mentioned]
        versioned = next(filter(has_version, spoken), None)
        guess = next((one for one in spoken if one.guessed), None)
        if self.constraints:
            unfit = _named(self.constraints, text) or self.constraints
            places = ", ".join(dict.fromkeys(item.origin.partition(":")[0] for item in unfit))
            which = listed([item.text for item in unfit], 5)
            self.remarks.append(f"versions of {places} that do not fit here are not used: {which}")
            self.constraints = [item for item in self.constraints if item not in unfit]
        elif versioned:
            self._without_version(versioned, "does not fit")
        elif guess:
            return self._gone(guess.name, "no version of it fits, and nobody declares it", text)
        else:
            cause = resolver.cause(stderr)
            failed = self.unpinned(f"no versions fit together: {cause}")
            return replace(failed, conflict=Conflict(cause, tuple(blamed)))
        return None

    def _gone(self, name: str, why: str, text: str) -> Lock | None:
        item = next((one for one in self.declared if one.name == name), None)
        if item is not None:
            self.declared.remove(item)
            self._leave_out(item, why)
            return None
        cause = f"{name}, which another package needs, cannot be had: {printable(text, 300)}"
        return replace(self.unpinned(cause), conflict=Conflict(cause, tuple(_named(self.declared, text))))

    def _leave_out(self, item: Declared, why: str) -> None:
        self.left_out.append(f"{item} is left out: {why}")
        self.remarks.append(self.left_out[-1])

    def _without_version(self, item: Declared, why: str) -> None:
        self.declared[self.declared.index(item)] = replace(item, text=item.name)
        self.remarks.append(f"{item.name} without a version: {item} {why}")

    def unpinned(self, cause: str) -> Lock:
        """Return the requirements as they are declared, with the reason why they are not pinned."""
        every = sorted([*self.declared, *self.kept], key=lambda item: item.name)
        lines = "".join(f"{item.text}\n" for item in every)
        return Lock(lines, False, "; ".join((f"NOT pinned: {cause}", *self.remarks)))


def _named(items: list[Declared], text: str) -> list[Declared]:
    """The requirements that a message names."""
    return [one for one in items if re.search(rf"(?<![\w-]){re.escape(one.name)}(?![\w-])", text)]
