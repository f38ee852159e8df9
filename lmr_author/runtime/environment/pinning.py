"""Pin a repository's packages to versions of the commit's day, dropping requirements that prevent a solution."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta

from packaging.utils import canonicalize_name
from packaging.version import Version

from lmr_author.core.task import Progress
from lmr_author.core.task.provenance import BaseImageOrigin
from lmr_author.core.texts import listed, printable
from lmr_author.runtime.environment import resolver
from lmr_author.runtime.environment.base_images import asking, first_day, unmet
from lmr_author.runtime.environment.lock_file import Lock, LockOptions, UnpinnedReason, stamped
from lmr_author.runtime.environment.needs import (
    DeclaredNeed,
    Needs,
    has_version,
    is_exact,
    is_freeze,
)
from lmr_author.runtime.environment.packages import names, table
from lmr_author.runtime.environment.resolver import Package, Question

_ROUNDS = 40
"""Most attempts, each dropping some requirements."""
_MOST_UNDATED = 5
"""Above this number of packages without an upload date, assume that the index gives none."""
_LONGEST = 4000
"""Limit of a comment's length in a lock."""
_UNBUILDABLE = (
    r"Failed to (?:build|download and build|prepare|download)[^`]*`([\w.-]+?)(?:==[^`]*|@[^`]*)?`",
    r"Failed to fetch: \S*/([\w.-]+?)-\d[^/\s]*\.(?:tar\.gz|zip) ",
    r"Wheels are required for `([\w.-]+)`",
)
"""uv's messages about a package whose source cannot be built to read its requirements."""


def pin(
    needs: Needs,
    base: BaseImageOrigin,
    options: LockOptions | None = None,
    progress: Progress | None = None,
    *,
    changes: tuple[str, ...] = (),
    stoppable: bool = False,
) -> Lock:
    """Pin needs for a base image; if there is no answer or no solution, the lock is not pinned and has the reason.

    PyTorch and CUDA packages come from the base image. For code older than the image's Python, versions are as of the
    day from which packages support that Python.

    Args:
        changes: the caller's changes of the repository's requirements, for the lock's comments.
        stoppable: an interrupt ends only the resolution: the lock is not pinned and has the reason.
    """
    options = options or LockOptions()
    search = _search(needs, base, options)
    try:
        if not search.question.requirements:
            made = Lock("", True, ("the repository needs nothing beside PyTorch",))
        elif options.seconds > 0:
            made = search.run(options.seconds, progress or (lambda _: None))
        else:
            made = search.without_index()
    except KeyboardInterrupt:
        if not stoppable:
            raise
        made = search.unpinned(UnpinnedReason.STOPPED, "it was interrupted")
    made = replace(made, changes=(*changes, *search.changes, *made.changes), left_out=tuple(search.left_out))
    comments = _comments(made, needs, base, options.again())
    head = "".join(f"# {printable(comment, _LONGEST)}\n" for comment in comments)
    return replace(made, text=stamped(head + made.text))


def _comments(made: Lock, needs: Needs, base: BaseImageOrigin, again: str) -> list[str]:
    """Return a lock's comments.

    Args:
        again: see :meth:`LockOptions.again`.
    """
    comments = [f"CHANGED: {change}" for change in made.changes]
    comments += [*made.remarks, f"for Python {base.python}; PyTorch and CUDA are the base image's"]
    if unmet(needs, base.python):
        comments.append(f"{asking(needs)}, and this is for {base.python}")
    comments += made.left_out
    if again:
        comments.append(f"options: {again}")
    if made.compiled:
        comments.append(f"compiled when installed, there is no wheel: {', '.join(made.compiled)}")
    return comments


def _search(needs: Needs, base: BaseImageOrigin, options: LockOptions) -> _Search:
    """Drop needs that never belong in a lock, or that the image's PyTorch provides."""
    question = Question([], base, needs.date)
    search, declared = _Search(question), question.requirements
    for requirement in needs.requirements:
        name = requirement.name
        if name in options.without:
            search.leave_out(requirement, "as asked with --without")
        elif name in names("backports"):
            # pip refuses to install it, or it hides Python's own.
            search.leave_out(requirement, "it is part of Python itself")
        elif name in names("built_with_torch"):
            search.leave_out(requirement, "its source needs PyTorch and a CUDA compiler to be installed")
        else:
            declared.append(requirement)
    question.excluded = (*resolver.excluded(base, needs, declared), *options.without)
    if is_freeze(declared):
        # A frozen environment existed: install it unchanged, even if its requirements conflict.
        question.resolve = False
        search.remarks.append("the repository lists a whole environment, which is installed as it stands")
        question.date = None if all(map(is_exact, declared)) else needs.date
        return search
    search.bounds = bounds(base)
    question.constraints = [*needs.constraints, *search.bounds]
    first = first_day(base.python)
    if needs.date and needs.date < first:
        why = f"earlier packages are not made for the image's Python {base.python}"
        search.changes.append(f"versions as of {first.date()} in place of {needs.date.date()}: {why}")
        question.date = first
    return search


def bounds(base: BaseImageOrigin) -> list[DeclaredNeed]:
    """Return constraints that the image's PyTorch puts on other packages: it is not part of the resolution."""
    bounding = []
    for row in table("built_for"):
        if base.torch and Version(base.torch) < Version(row["torch_before"]):
            text = f"{row['package']}{row['versions']}"
            bounding.append(DeclaredNeed(row["package"], text, f"PyTorch {base.torch} {row['why']}"))
    return bounding


@dataclass
class _Search:
    """Runs uv until it succeeds, dropping requirements that the repository does not declare or that are unavailable.

    Attributes:
        bounds: constraints of the image's PyTorch.
        unbuildable: requirements copied to the lock unresolved: they cannot be built here to read their dependencies.
    """

    question: Question
    bounds: list[DeclaredNeed] = field(default_factory=list)
    unbuildable: list[DeclaredNeed] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    changes: list[str] = field(default_factory=list)

    def run(self, seconds: float, progress: Progress) -> Lock:
        deadline = time.monotonic() + seconds
        for _ in range(_ROUNDS):
            left = deadline - time.monotonic()
            answer = resolver.ask(self.question, left) if left > 1 else None
            if answer is None or answer.timed_out:
                return self.unpinned(UnpinnedReason.SLOW, f"uv took longer than {seconds:.0f} s")
            if answer.packages is not None:
                if not self.question.undated or answer.packages.keys() - set(self.question.undated):
                    return self._made(answer.packages)
                self._drop_date()
                continue
            if failed := self._adapt(answer.stderr):
                return failed
            progress("trying again without the rejected requirements")
        return self.unpinned(UnpinnedReason.STOPPED, f"more than {_ROUNDS} requirements prevent a solution")

    def without_index(self) -> Lock:
        made = self.unpinned(UnpinnedReason.STOPPED, "the package index was not asked")
        if not all(map(is_exact, self.question.requirements)):
            return made
        note = "pinned as the repository pins them; the package index was not asked"
        return replace(made, pinned=True, failure=None, remarks=(note, *self.remarks))

    def _made(self, packages: dict[str, Package]) -> Lock:
        lines = [requirement.text for requirement in self.unbuildable]
        lines += [f"{name}=={package.version}" for name, package in packages.items()]
        compiled = {requirement.name for requirement in self.unbuildable}
        compiled |= {name for name, package in packages.items() if not package.has_wheel}
        remarks = [f"pinned as of {self.question.date.date()}" if self.question.date else "pinned"]
        for bound in self.bounds:
            if bound in self.question.constraints and bound.name in packages:
                remarks.append(f"{bound.text}: {bound.origin}")
        text = "".join(f"{line}\n" for line in sorted(lines))
        return Lock(text, True, (*remarks, *self.remarks), compiled=tuple(sorted(compiled)))

    def _adapt(self, stderr: str) -> Lock | None:
        """Adapt the question to uv's message; return an unpinned lock if a person must decide."""
        text = resolver.message(stderr)
        if failure := resolver.index_failure(text):
            return self.unpinned(*failure)
        if self._allow_prereleases(text) or self._allow_later(text):
            return None
        if undated := resolver.undated(text):
            self._allow_undated(undated)
            return None
        if match := re.search(r"Because ([\w.-]+) was not found in the package registry", text):
            return self._give_up(canonicalize_name(match[1]), "it is not on the package index", text)
        for pattern in _UNBUILDABLE:
            match = re.search(pattern, text)
            if match and canonicalize_name(match[1]) not in self.question.only_wheels:
                self._put_aside_unbuildable(canonicalize_name(match[1]))
                return None
        return self._in_conflict(text, stderr)

    def _allow_prereleases(self, text: str) -> bool:
        wanted = set(re.findall(r"`([\w.-]+)` was requested with a pre-release marker", text))
        wanted |= set(re.findall(r"Pre-releases are available for `([\w.-]+)`", text))
        new = sorted(wanted - set(self.question.prereleases))
        self.question.prereleases += new
        return bool(new)

    def _allow_later(self, text: str) -> bool:
        """Allow a package published after the commit if the repository requires it; return whether that is new."""
        match = re.search(
            r"`([\w.-]+)` was filtered by `exclude-newer`.*? published at (\d{4}-\d\d-\d\d)", text
        )
        if match is None or match[1] in self.question.later:
            return False
        self.question.later[match[1]] = date.fromisoformat(match[2]) + timedelta(days=1)
        why = "because the repository asks for it"
        self.remarks.append(f"{match[1]} is newer than the commit ({match[2]}), {why}")
        return True

    def _allow_undated(self, name: str) -> None:
        """Allow a package without an upload date, or all packages if many lack one."""
        if name in self.question.undated or len(self.question.undated) == _MOST_UNDATED:
            self._drop_date()
            return
        self.question.undated.append(name)
        self.remarks.append(
            f"{name} may be newer than the commit: the package index gives no upload date of it"
        )

    def _drop_date(self) -> None:
        self.question.date, self.question.undated = None, []
        self.changes.append("today's versions: the package index gives no upload dates")

    def _requirement(self, name: str) -> DeclaredNeed | None:
        return next((each for each in self.question.requirements if each.name == name), None)

    def _put_aside_unbuildable(self, name: str) -> None:
        """Defer a package that cannot be built here to the image, which has the right Python and a compiler."""
        requirement = self._requirement(name)
        if requirement is None or not has_version(requirement):
            self.question.only_wheels.append(name)
        elif requirement.mentioned:
            self._without_version(requirement, "cannot be built here")
        elif is_exact(requirement):
            self.question.requirements.remove(requirement)
            self.unbuildable.append(requirement)
            if self.question.resolve:
                why = "it cannot be built here to learn what it needs"
                self.remarks.append(f"{requirement} is installed as it is: {why}")
        else:
            self.question.only_wheels.append(name)

    def _in_conflict(self, text: str, stderr: str) -> Lock | None:
        """Resolve a conflict by dropping requirements that the repository does not declare; keep its own."""
        if self.question.constraints:
            self._drop_constraints(_named(self.question.constraints, text))
            return None
        blamed = _named(self.question.requirements, text)
        guessed = [each for each in blamed if each.guessed]
        versioned = [each for each in blamed if (each.guessed or each.mentioned) and has_version(each)]
        if versioned:
            self._without_version(versioned[0], "does not fit")
            return None
        if guessed:
            return self._give_up(guessed[0].name, "no version of it fits, and nobody declares it", text)
        return self.unpinned(UnpinnedReason.CONFLICT, resolver.cause(stderr), blamed)

    def _drop_constraints(self, named: list[DeclaredNeed]) -> None:
        """Drop the constraints in a message, or all if it names none.

        PyTorch's own bounds are dropped last: without them the image's PyTorch may fail to import.
        """
        candidates = named or self.question.constraints
        unfit = [bound for bound in candidates if bound not in self.bounds] or candidates
        origins = ", ".join(dict.fromkeys(bound.origin.partition(":")[0] for bound in unfit))
        which = listed([bound.text for bound in unfit], 5)
        self.remarks.append(f"versions of {origins} that do not fit here are not used: {which}")
        self.question.constraints = [bound for bound in self.question.constraints if bound not in unfit]

    def _give_up(self, name: str, why: str, text: str) -> Lock | None:
        requirement = self._requirement(name)
        if requirement is not None:
            self.question.requirements.remove(requirement)
            self.leave_out(requirement, why)
            return None
        cause = f"{name}, which another package needs, cannot be had: {printable(text, 300)}"
        return self.unpinned(UnpinnedReason.CONFLICT, cause, _named(self.question.requirements, text))

    def leave_out(self, requirement: DeclaredNeed, why: str) -> None:
        self.left_out.append(f"{requirement} is left out: {why}")

    def _without_version(self, requirement: DeclaredNeed, why: str) -> None:
        requirements = self.question.requirements
        requirements[requirements.index(requirement)] = replace(requirement, text=requirement.name)
        self.remarks.append(f"{requirement.name} without a version: {requirement} {why}")

    def unpinned(self, failure: UnpinnedReason, cause: str, blamed: Sequence[DeclaredNeed] = ()) -> Lock:
        every = [*self.question.requirements, *self.unbuildable]
        ordered = sorted(every, key=lambda requirement: requirement.name)
        lines = "".join(f"{requirement.text}\n" for requirement in ordered)
        prefix = f"{failure}: " if failure is UnpinnedReason.CONFLICT else ""
        why = f"NOT pinned: {prefix}{cause}"
        return Lock(lines, False, (why, *self.remarks), failure=failure, cause=cause, blamed=tuple(blamed))


def _named(requirements: list[DeclaredNeed], text: str) -> list[DeclaredNeed]:
    return [each for each in requirements if re.search(rf"(?<![\w-]){re.escape(each.name)}(?![\w-])", text)]
