"""Pin a repository's packages as they were on the day of the commit: which versions, and what had to be put aside."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from lmr_author.core.task import TORCH_FAMILY, Progress
from lmr_author.core.texts import listed, printable
from lmr_author.runtime.environment import lock_file, resolver
from lmr_author.runtime.environment.base_images import BaseImage, asking, first_day, torchtext, unmet
from lmr_author.runtime.environment.lock_file import Lock, LockOptions, Unpinned
from lmr_author.runtime.environment.needs import Declared, Needs, has_version, is_exact, is_freeze
from lmr_author.runtime.environment.packages import built_for, names
from lmr_author.runtime.environment.resolver import Package, Question

_ROUNDS = 40
"""So often something is put aside before giving up."""
_LONGEST = 600
"""Characters of a comment in a lock."""
_UNBUILDABLE = (
    r"Failed to (?:build|download and build|prepare|download)[^`]*`([\w.-]+?)(?:==[^`]*|@[^`]*)?`",
    r"Failed to fetch: \S*/([\w.-]+?)-\d[^/\s]*\.(?:tar\.gz|zip) ",
    r"Wheels are required for `([\w.-]+)`",
)
"""uv's words for a package whose source cannot tell what it needs."""


def pin(
    needs: Needs,
    base: BaseImage,
    options: LockOptions | None = None,
    progress: Progress | None = None,
    *,
    changes: tuple[str, ...] = (),
    frozen: bool | None = None,
    stoppable: bool = False,
) -> Lock:
    """Pin needs for a base image; when the index does not answer, or no versions fit, it is not, and says why.

    PyTorch and CUDA packages are left to the base image. For code older than the image's Python, versions are as of
    the day from which packages are made for that Python.

    Args:
        changes: what the caller changed of the repository's own requirements, for the lock's comments.
        frozen: whether the requirements are a whole environment, installed as it stands; None judges by the list.
        stoppable: an interrupt ends the resolution, not the program: the lock is not pinned, and says why.
    """
    options = options or LockOptions()
    search = _search(needs, base, options, frozen)
    declared = search.question.requirements
    try:
        if not declared:
            made = Lock("", True, ("the repository needs nothing beside PyTorch",))
        elif options.seconds > 0:
            made = search.run(options.seconds, progress or (lambda _: None))
        elif all(map(is_exact, declared)):
            note = "pinned as the repository pins them; the package index was not asked"
            made = replace(
                search.unpinned(Unpinned.STOPPED, ""),
                pinned=True,
                failure=None,
                remarks=(note, *search.remarks),
            )
        else:
            made = search.unpinned(Unpinned.STOPPED, "the package index was not asked")
    except KeyboardInterrupt:
        if not stoppable:
            raise
        made = search.unpinned(Unpinned.STOPPED, "it was interrupted")
    made = replace(made, changes=(*changes, *search.changes, *made.changes), left_out=tuple(search.left_out))
    return commented(made, needs, base, options.again())


def commented(made: Lock, needs: Needs, base: BaseImage, again: str = "") -> Lock:
    """Return a lock with the comments in its text that say what it is.

    Args:
        again: see :meth:`LockOptions.again`.
    """
    comments = [f"CHANGED: {change}" for change in made.changes]
    comments += [*made.remarks, f"for Python {base.python}; PyTorch and CUDA are the base image's"]
    if unmet(needs, base.python):
        comments.append(f"{asking(needs)}, and this is for {base.python}")
    comments += made.left_out
    lines = [f"# {printable(comment, _LONGEST)}\n" for comment in comments]
    if again:
        lines.append(f"# options: {printable(again, 4000)}\n")
    if made.compiled:
        # Whole, however long: what reads a lock takes the names from here.
        lines.append(f"# compiled when installed, there is no wheel: {', '.join(made.compiled)}\n")
    plain = "".join(line for line in made.text.splitlines(keepends=True) if not line.startswith("#"))
    return replace(made, text=lock_file.stamped("".join(lines) + plain, before="(?=[^#])"))


def _search(needs: Needs, base: BaseImage, options: LockOptions, frozen: bool | None) -> _Search:
    """Take from the needs what every lock leaves out, and what belongs to the image's PyTorch."""
    question = Question([], base, needs.date)
    search, declared = _Search(question), question.requirements
    version = torchtext(base)
    for item in needs.requirements:
        if item.name in options.without:
            search.leave_out(item, "as asked with --without")
        elif item.name in names("backports"):
            # pip refuses to install it, or it hides Python's own.
            search.leave_out(item, "it is part of Python itself")
        elif item.name in names("built_with_torch"):
            search.leave_out(item, "its source needs PyTorch and a CUDA compiler to be installed")
        elif item.name == "torchtext" and version and version not in Requirement(item.text).specifier:
            declared.append(replace(item, text=f"torchtext=={version}"))
            search.remarks.append(
                f"torchtext=={version} in place of {item}: it belongs to PyTorch {base.torch}"
            )
        else:
            declared.append(item)
    question.excluded = (*resolver.excluded(base, needs.project, declared), *options.without)
    # A full list is an environment that existed: installed as it is, contradictory as it may be.
    question.resolve = not (is_freeze(declared) if frozen is None else frozen)
    if not question.resolve:
        search.remarks.append("the repository lists a whole environment, which is installed as it stands")
        question.date = None if all(map(is_exact, declared)) else needs.date
        return search
    left = TORCH_FAMILY | ({"torchtext"} if version else frozenset())
    search.bounds = bounds(base)
    question.constraints = [item for item in needs.constraints if item.name not in left] + search.bounds
    first = first_day(base.python)
    if needs.date and needs.date < first:
        why = f"earlier packages are not made for the image's Python {base.python}"
        search.changes.append(f"versions as of {first.date()} in place of {needs.date.date()}: {why}")
        question.date = first
    return search


def bounds(base: BaseImage) -> list[Declared]:
    """Return the versions of other packages that the image's PyTorch needs: it is not part of the resolution."""
    bounding = []
    for row in built_for():
        if base.torch and Version(base.torch) < Version(row["torch_before"]):
            text = f"{row['package']}{row['versions']}"
            bounding.append(Declared(row["package"], text, f"PyTorch {base.torch} {row['why']}"))
    return bounding


@dataclass
class _Search:
    """Asks uv until it succeeds, putting aside what is not the repository's own word, or cannot be had.

    Attributes:
        bounds: constraints of the image's PyTorch.
        kept: requirements that go into the lock as they are: they cannot be built here to learn what they need.
    """

    question: Question
    bounds: list[Declared] = field(default_factory=list)
    kept: list[Declared] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    changes: list[str] = field(default_factory=list)

    def run(self, seconds: float, progress: Progress) -> Lock:
        """Return the lock, or why there is none."""
        deadline = time.monotonic() + seconds
        for _ in range(_ROUNDS):
            left = deadline - time.monotonic()
            done = resolver.ask(self.question, left) if left > 1 else None
            if done is None or done.timed_out:
                return self.unpinned(Unpinned.SLOW, f"uv took longer than {seconds:.0f} s")
            if done.packages is not None:
                return self._made(done.packages)
            known = {*self.remarks, *self.left_out}
            if made := self._adapt(done.stderr):
                return made
            for remark in (*self.remarks, *self.left_out):
                if remark not in known:
                    progress(remark)
        return self.unpinned(Unpinned.STOPPED, f"more than {_ROUNDS} requirements prevent a solution")

    def _made(self, packages: dict[str, Package]) -> Lock:
        lines = [*(item.text for item in self.kept)]
        lines += [f"{name}=={package.version}" for name, package in packages.items()]
        compiled = {name for name, package in packages.items() if not package.has_wheel}
        date = self.question.date
        bounded = [
            f"{item.text}: {item.origin}"
            for item in self.bounds
            if item in self.question.constraints and item.name in packages
        ]
        return Lock(
            "".join(f"{line}\n" for line in sorted(lines)),
            True,
            (f"pinned as of {date.date()}" if date else "pinned", *bounded, *self.remarks),
            compiled=tuple(sorted(compiled | {item.name for item in self.kept})),
        )

    def _adapt(self, stderr: str) -> Lock | None:
        """Change the question by uv's message; a lock that is not pinned where only a person can decide."""
        text = resolver.message(stderr)
        if failure := resolver.index_failure(text):
            return self.unpinned(*failure)
        early = re.findall(r"`([\w.-]+)` was requested with a pre-release marker", text)
        early += re.findall(r"Pre-releases are available for `([\w.-]+)`", text)
        if new := [name for name in early if name not in self.question.prereleases]:
            self.question.prereleases += new
            return None
        dated = r"`([\w.-]+)` was filtered by `exclude-newer`.*? published at (\d{4}-\d\d-\d\d)"
        if (match := re.search(dated, text)) and match[1] not in self.question.later:
            self.question.later[match[1]] = date.fromisoformat(match[2]) + timedelta(days=1)
            why = "because the repository asks for it"
            self.remarks.append(f"{match[1]} is newer than the commit ({match[2]}), {why}")
            return None
        if match := re.search(r"Because ([\w.-]+) was not found in the package registry", text):
            return self._gone(canonicalize_name(match[1]), "it is not on the package index", text)
        for pattern in _UNBUILDABLE:
            match = re.search(pattern, text)
            if match and canonicalize_name(match[1]) not in self.question.only_wheels:
                self._unbuildable(canonicalize_name(match[1]))
                return None
        return self._in_conflict(text, stderr)

    def _requirement(self, name: str) -> Declared | None:
        for requirement in self.question.requirements:
            if requirement.name == name:
                return requirement
        return None

    def _unbuildable(self, name: str) -> None:
        """A package that cannot be built here may still be built in the image, with its Python and a compiler."""
        item = self._requirement(name)
        if item is not None and item.mentioned and has_version(item):
            self._without_version(item, "cannot be built here")
        elif item is not None and is_exact(item):
            self.question.requirements.remove(item)
            self.kept.append(item)
            if self.question.resolve:
                why = "it cannot be built here to learn what it needs"
                self.remarks.append(f"{item} is installed as it is: {why}")
        else:
            self.question.only_wheels.append(name)

    def _in_conflict(self, text: str, stderr: str) -> Lock | None:
        """Nothing fits: what is not the repository's own word is dropped; its own word is not changed here."""
        blamed = _named(self.question.requirements, text)
        versioned = guess = None
        for item in reversed(blamed):  # so that the first of each kind is left
            if item.guessed:
                guess = item
            if has_version(item) and (item.guessed or item.mentioned):
                versioned = item
        if self.question.constraints:
            self._drop_constraints(_named(self.question.constraints, text))
        elif versioned:
            self._without_version(versioned, "does not fit")
        elif guess:
            return self._gone(guess.name, "no version of it fits, and nobody declares it", text)
        else:
            return self.unpinned(Unpinned.CONFLICT, resolver.cause(stderr), blamed)
        return None

    def _drop_constraints(self, named: list[Declared]) -> None:
        """Drop the constraints that a message names, else all of them.

        PyTorch's own bounds go last: without them the image's PyTorch may not be imported.
        """
        others = [item for item in named or self.question.constraints if item not in self.bounds]
        unfit = others or named or self.question.constraints
        places = ", ".join(dict.fromkeys(item.origin.partition(":")[0] for item in unfit))
        which = listed([item.text for item in unfit], 5)
        self.remarks.append(f"versions of {places} that do not fit here are not used: {which}")
        self.question.constraints = [item for item in self.question.constraints if item not in unfit]

    def _gone(self, name: str, why: str, text: str) -> Lock | None:
        item = self._requirement(name)
        if item is not None:
            self.question.requirements.remove(item)
            self.leave_out(item, why)
            return None
        cause = f"{name}, which another package needs, cannot be had: {printable(text, 300)}"
        return self.unpinned(Unpinned.CONFLICT, cause, _named(self.question.requirements, text))

    def leave_out(self, item: Declared, why: str) -> None:
        """Put a requirement aside."""
        self.left_out.append(f"{item} is left out: {why}")

    def _without_version(self, item: Declared, why: str) -> None:
        self.question.requirements[self.question.requirements.index(item)] = replace(item, text=item.name)
        self.remarks.append(f"{item.name} without a version: {item} {why}")

    def unpinned(self, failure: Unpinned, cause: str, blamed: Sequence[Declared] = ()) -> Lock:
        """Return the requirements as they are declared, with the reason why they are not pinned."""
        every = sorted([*self.question.requirements, *self.kept], key=lambda item: item.name)
        lines = "".join(f"{item.text}\n" for item in every)
        said = f"{failure}: {cause}" if failure is Unpinned.CONFLICT else cause
        why = f"NOT pinned: {said}"
        return Lock(lines, False, (why, *self.remarks), failure=failure, cause=cause, blamed=tuple(blamed))


def _named(items: list[Declared], text: str) -> list[Declared]:
    """The requirements that a message names."""
    return [item for item in items if re.search(rf"(?<![\w-]){re.escape(item.name)}(?![\w-])", text)]
