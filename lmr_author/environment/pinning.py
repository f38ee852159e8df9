"""Pin a recipe's packages as they were on the day of the commit: which versions, and what had to be put aside."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field, replace
from datetime import date, timedelta

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from lmr_author.environment import resolver
from lmr_author.environment.base_images import BaseImage, followed, torchtext
from lmr_author.environment.lock_file import Conflict, Lock, LockOptions, with_changes
from lmr_author.environment.packages import names, table
from lmr_author.environment.recipe import Declared, Recipe, has_version, is_exact, is_freeze
from lmr_author.environment.resolver import Resolution
from lmr_author.errors import LmrError
from lmr_author.task import TORCH_FAMILY, Progress
from lmr_author.texts import listed, printable

_ROUNDS = 40
"""So often something is put aside before giving up."""
_UNFIT = 5
"""So often single versions of a lock file are put aside before all of them."""
_OLD = timedelta(days=3 * 365)
"""Code is seldom run with a version this much older than itself, where newer ones are available."""
_UNBUILDABLE = (
    r"Failed to (?:build|download and build|prepare|download)[^`]*`([\w.-]+?)(?:==[^`]*|@[^`]*)?`",
    r"Failed to fetch: \S*/([\w.-]+?)-\d[^/\s]*\.(?:tar\.gz|zip) ",
    r"Wheels are required for `([\w.-]+)`",
)
"""uv's words for a package whose source cannot tell what it needs."""
_NEEDS_TORCH = "its source needs PyTorch and a CUDA compiler to be installed"
_REPORT = "this uv prints what lmr-author does not know: report it, with `uv --version`"


def pin(
    recipe: Recipe,
    base: BaseImage,
    options: LockOptions | None = None,
    progress: Progress | None = None,
    *,
    changes: tuple[str, ...] = (),
    only_wheels: tuple[str, ...] = (),
    frozen: bool = False,
    stoppable: bool = False,
) -> Lock:
    """Pin a recipe for a base image; when the index does not answer, or no versions fit, it is not, and says why.

    PyTorch and CUDA packages are left to the base image.

    Args:
        changes: what the caller changed of the repository's own requirements, for the lock's comments.
        only_wheels: names of which a version with a wheel is needed.
        frozen: the requirements are a whole environment, installed as it stands, whatever the list looks like.
        stoppable: an interrupt ends the resolution, not the program: the lock is not pinned, and says why.
    """
    options = options or LockOptions()
    search = _Search(recipe, base, options, list(only_wheels), frozen)
    try:
        if not search.declared:
            made = Lock("", True, "the repository needs nothing beside PyTorch")
        elif options.seconds > 0:
            made = search.run(time.monotonic() + options.seconds, progress or (lambda _: None))
        elif all(map(is_exact, search.declared)):
            made = replace(
                search.unpinned(""),
                pinned=True,
                note="pinned as the repository pins them; the package index was not asked",
            )
        else:
            made = search.unpinned("the package index was not asked")
    except KeyboardInterrupt:
        if not stoppable:
            raise
        made = search.unpinned("it was interrupted")
    return with_changes(made, changes, recipe, base)


@dataclass
class _Search:
    """Asks uv until it succeeds, putting aside what is not the repository's own word, or cannot be had.

    Attributes:
        kept: requirements that go into the lock as they are: they cannot be built here to learn what they need.
        later: package → day until which it may be newer than the commit.
        only_wheels: packages whose source cannot be built here.
        prereleases: packages of which a pre-release is taken.
        wheels_day: for code older than the image's Python, the day from which there are wheels for that Python.
    """

    recipe: Recipe
    base: BaseImage
    options: LockOptions
    only_wheels: list[str]
    frozen: bool
    declared: list[Declared] = field(default_factory=list)
    constraints: list[Declared] = field(default_factory=list)
    own_constraints: list[str] = field(default_factory=list)
    kept: list[Declared] = field(default_factory=list)
    later: dict[str, date] = field(default_factory=dict)
    prereleases: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    unfit: int = 0
    wheels_day: date | None = None

    def __post_init__(self) -> None:
        """Take from the recipe what every lock leaves out, and what belongs to the image's PyTorch."""
        version = torchtext(self.base)
        for item in self.recipe.requirements:
            if item.name in self.options.without:
                self._leave_out(item, "as asked with --without")
            elif item.name in names("backports"):
                # pip refuses to install it, or it hides Python's own.
                self.remarks.append(f"{item} is left out: it is part of Python itself")
            elif item.name == "torchtext" and version and has_version(item):
                if version not in Requirement(item.text).specifier:
                    why = f"it belongs to PyTorch {self.base.torch}"
                    self.remarks.append(f"torchtext=={version} in place of {item}: {why}")
                self.declared.append(replace(item, text=f"torchtext=={version}"))
            else:
                self.declared.append(item)
        # A full list is an environment that existed: installed as it is, contradictory as it may be.
        if is_freeze(self.declared) and not self.frozen:
            self.frozen = True
            self.remarks.append("the repository lists a whole environment, which is installed as it stands")
        if self.frozen:
            return
        left = TORCH_FAMILY | {"torchtext"} if version else TORCH_FAMILY
        self.constraints = [item for item in self.recipe.constraints if item.name not in left]
        self.own_constraints = [f"torchtext=={version}"] if version else []
        first = followed(self.base.python)
        if first and self.recipe.date and self.recipe.date < first:
            self.wheels_day = first.date()

    def run(self, deadline: float, progress: Progress) -> Lock:
        """Return the lock, or why there is none."""
        for _ in range(_ROUNDS):
            left = deadline - time.monotonic()
            done = resolver.ask(self._question(), left) if left > 1 else None
            if done is None or done.timed_out:
                return self.unpinned(f"uv took longer than {self.options.seconds:.0f} s")
            before = len(self.remarks)
            made = self._made(done, deadline) if done.exit_code == 0 else self._adapt(done.stderr)
            if made is not None:
                return made
            if len(self.remarks) > before:
                progress(self.remarks[-1])
        return self.unpinned(f"more than {_ROUNDS} requirements prevent a solution")

    def _question(self) -> Resolution:
        constraints = [*(item.text for item in self.constraints), *self.own_constraints]
        constraints += [f"{name}>=0.dev0" for name in self.prereleases]
        own = resolver.excluded(self.base, self.recipe.project, self.declared)
        as_listed = self.frozen and all(map(is_exact, self.declared))
        return Resolution(
            tuple(item.text for item in self.declared), self.base, None if as_listed else self.recipe.date,
            tuple(constraints), (*own, *self.options.without), tuple(self.only_wheels), self.later,
            resolve=not self.frozen, hashes=self.options.hashes and not self.kept, offline=self.options.offline,
        )  # fmt: skip

    def _made(self, done: resolver.ResolverOutput, deadline: float) -> Lock | None:
        """The lock of a resolution; None to resolve again, where later versions have wheels for a new Python."""
        lines = _checked(done.stdout)
        pins = sorted(text.partition(";")[0].strip() for text in lines if "==" in text)
        left = max(deadline - time.monotonic(), 5)
        found = resolver.package_files(pins, self.base, left, self.options.offline)
        compiled = {name for name, one in found.items() if not one.has_wheel}
        if unusable := [item for item in self.declared if item.name in compiled & names("built_with_torch")]:
            for item in unusable:
                self._gone(item.name, _NEEDS_TORCH, "")
            return None
        if self.wheels_day:
            fixed = {item.name for item in self.declared if is_exact(item)}
            loose = [f"{name}=={found[name].version}" for name in sorted(compiled - fixed - set(self.later))]
            newer = [pin for pin in loose if resolver.newest_python(pin, self.base)]
            self.later |= {pin.partition("==")[0]: self.wheels_day for pin in newer}
            if newer:
                return None
        for item in self.kept:
            lines[_checked_line(item.text)] = ""
        if self.kept and self.options.hashes:
            self.remarks.append(
                f"without hashes: {self.kept[0].name} has no wheel whose hash could be asked for"
            )
        compiled |= {item.name for item in self.kept}
        how = f"pinned as of {self.recipe.date.date().isoformat()}" if self.recipe.date else "pinned"
        return Lock(
            "".join(f"{line}{lines[line]}\n" for line in sorted(lines)),
            all("==" in line and ".*" not in line for line in lines),
            "; ".join((how, *self.remarks)),
            tuple(self.left_out),
            resolver.yanked(done.stderr),
            tuple(sorted(compiled)),
            changes=self._later_change(),
            old=self._outdated(found, max(deadline - time.monotonic(), 5)),
        )

    def _later_change(self) -> tuple[str, ...]:
        later = sorted(name for name, until in self.later.items() if until == self.wheels_day)
        if not later or self.recipe.date is None:
            return ()
        released = table("pythons")[self.base.python]["released"]
        why = f"the image's Python {self.base.python} came out on {released}, and earlier packages are not made for it"
        day = f"versions as of {self.wheels_day} in place of {self.recipe.date.date()}"
        return (f"{', '.join(later)}: {day}: {why}",)

    def _outdated(self, found: dict[str, resolver.PackageFiles], seconds: float) -> tuple[str, ...]:
        """Declared packages whose locked version is years older than the commit, though newer ones were available."""
        if self.recipe.date is None:
            return ()
        own = {item.name for item in self.declared}
        ages = {
            name: self.recipe.date.date() - one.uploaded
            for name, one in sorted(found.items())
            if name in own and one.uploaded
        }
        old = tuple(name for name, age in ages.items() if age > _OLD)
        question = Resolution(old, self.base, self.recipe.date, resolve=False, offline=self.options.offline)
        latest = resolver.versions(resolver.ask(question, seconds).stdout) if old else {}
        return tuple(
            f"{name}=={found[name].version} is {round(ages[name].days / 365)} years older than the commit;"
            f" {latest[name]} was the newest then"
            for name in old
            if latest.get(name, found[name].version) != found[name].version
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
            self.later[match[1]] = date.fromisoformat(match[2]) + timedelta(days=1)
            why = "because the repository asks for it"
            self.remarks.append(f"{match[1]} is newer than the commit ({match[2]}), {why}")
            return None
        if match := re.search(r"Because ([\w.-]+) was not found in the package registry", text):
            return self._gone(canonicalize_name(match[1]), "it is not on the package index", text)
        for pattern in _UNBUILDABLE:
            match = re.search(pattern, text)
            if match and canonicalize_name(match[1]) not in self.only_wheels:
                return self._unbuildable(canonicalize_name(match[1]), text)
        return self._in_conflict(text, stderr)

    def _unbuildable(self, name: str, text: str) -> Lock | None:
        """A package that cannot be built here may still be built in the image, with its Python and a compiler."""
        item = next((one for one in self.declared if one.name == name), None)
        if item is not None and name in names("built_with_torch"):
            return self._gone(name, _NEEDS_TORCH, text)
        if item is not None and item.mentioned and has_version(item):
            self._without_version(item, "cannot be built here and is only mentioned")
        elif item is not None and is_exact(item):
            self.declared.remove(item)
            self.kept.append(item)
            if not self.frozen:
                why = "it cannot be built here to learn what it needs"
                self.remarks.append(f"{item} is installed as it is: {why}")
        elif self.wheels_day and name not in self.later:
            # An early source is seldom made for the image's Python; a later one, or its wheel, is.
            self.later[name] = self.wheels_day
        else:
            self.only_wheels.append(name)
        return None

    def _in_conflict(self, text: str, stderr: str) -> Lock | None:
        """Nothing fits: what is not the repository's own word is dropped; its own word is not changed here."""
        blamed = _named(self.declared, text)
        conda = next((one for one in blamed if one.conda), None)
        spoken = [one for one in blamed if one.guessed or one.mentioned]
        versioned = next(filter(has_version, spoken), None)
        guess = next((one for one in spoken if one.guessed), None)
        if conda and re.search(rf"no version of {re.escape(conda.name)}\b", text):
            if not has_version(conda):
                return self._gone(conda.name, "it is one of conda's packages", text)
            self._without_version(conda, "has a version that conda has and the package index has not")
        elif self.constraints:
            # A lock file for another Python has too many such versions to be asked about one by one.
            unfit = _named(self.constraints, text) if self.unfit < _UNFIT else []
            unfit = unfit or self.constraints
            self.unfit += 1
            places = ", ".join(dict.fromkeys(item.origin.partition(":")[0] for item in unfit))
            which = listed([item.text for item in unfit], 5)
            self.remarks.append(f"versions of {places} that do not fit here are not used: {which}")
            self.constraints = [item for item in self.constraints if item not in unfit]
        elif versioned:
            self._without_version(versioned, "does not fit and is only mentioned")
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
        return Lock(lines, False, "; ".join((f"NOT pinned: {cause}", *self.remarks)), tuple(self.left_out))


def _named(items: list[Declared], text: str) -> list[Declared]:
    """The requirements that a message names."""
    return [one for one in items if re.search(rf"(?<![\w-]){re.escape(one.name)}(?![\w-])", text)]


def _checked(output: str) -> dict[str, str]:
    """uv's lines as requirements, each with its hashes as the lock writes them."""
    found = {}
    for line in output.replace("\\\n", " ").splitlines():
        words = line.split(" --hash=")
        if words[0].strip() and not words[0].lstrip().startswith("#"):
            digests = [word.strip() for word in words[1:]]
            if not all(re.fullmatch(r"sha256:[0-9a-f]{64}", digest) for digest in digests):
                raise LmrError(f"uv wrote a hash that is none: {printable(line)}", _REPORT)
            hashes = "".join(f" \\\n    --hash={digest}" for digest in digests)
            found[_checked_line(words[0].strip())] = hashes
    return found


def _checked_line(line: str) -> str:
    try:
        requirement = Requirement(line)
    except InvalidRequirement as error:
        raise LmrError(f"uv wrote a line that is no requirement: {printable(line)}", _REPORT) from error
    if requirement.url:
        raise LmrError(f"uv wrote an address: {printable(line)}", _REPORT)
    return str(requirement)
