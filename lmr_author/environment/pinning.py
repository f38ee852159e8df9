"""Pin a recipe's packages as they were on the day of the commit: which versions, and what had to be put aside."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from lmr_author.environment import resolver
from lmr_author.environment.base_images import BaseImage, torchtext
from lmr_author.environment.lock_file import stamped
from lmr_author.environment.packages import names, table
from lmr_author.environment.pythons import asking, followed, unmet
from lmr_author.environment.recipe import Declared, Recipe, exact_version, has_version, is_exact, is_freeze
from lmr_author.environment.resolver import Question
from lmr_author.errors import LmrError
from lmr_author.task import TORCH_FAMILY, Progress
from lmr_author.texts import printable

SECONDS = 300.0
"""A long list of requirements, on a busy machine and with an empty cache, has taken three minutes."""
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
_NEEDS_TORCH = "its source needs PyTorch and a CUDA compiler to be installed"
_LONGEST = 600
"""Characters of a comment in a lock."""


@dataclass(frozen=True)
class Conflict:
    """The reason why no versions fit together: the resolver's words on one line, and the requirements that it names."""

    cause: str
    blamed: tuple[Declared, ...]


@dataclass(frozen=True)
class Lock:
    """The content of ``requirements.lock``.

    Attributes:
        text: the file: comments, and one requirement a line; never an option or an address.
        pinned: every package, also indirect ones, has one exact version.
        note: how it was made, or why it is not pinned.
        left_out: requirements that were put aside, each with the reason.
        yanked: versions in it that were withdrawn from the index.
        compiled: packages without a wheel, which are compiled when they are installed.
        conflict: why no versions fit together; None when that is not the reason.
        changes: what was changed of what the repository asks for.
        old: versions years older than the commit, where newer ones were available.
        needed_by: package → the packages that need it.
    """

    text: str
    pinned: bool
    note: str
    left_out: tuple[str, ...] = ()
    yanked: tuple[str, ...] = ()
    compiled: tuple[str, ...] = ()
    conflict: Conflict | None = None
    changes: tuple[str, ...] = ()
    old: tuple[str, ...] = ()
    needed_by: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def roots(self, name: str) -> list[str]:
        """Return the packages that lead to one: those that need it, those that need these, and so on."""
        found = [name]
        for one in found:
            found += [other for other in self.needed_by.get(one, ()) if other not in found]
        return found[1:]

    @property
    def pins(self) -> list[str]:
        """Return its requirements, without comments and hashes."""
        lines = (line.rstrip(" \\") for line in self.text.splitlines())
        return [line for line in lines if line and not line.startswith(("#", " "))]

    @property
    def remarks(self) -> tuple[str, ...]:
        """Return the note, a sentence each, without those of ``left_out``."""
        return tuple(part for part in self.note.split("; ") if part not in self.left_out)


def pin(
    recipe: Recipe,
    base: BaseImage,
    *,
    seconds: float = SECONDS,
    progress: Progress | None = None,
    hashes: bool = False,
    offline: bool = False,
    without: Sequence[str] = (),
    changes: tuple[str, ...] = (),
    stoppable: bool = False,
) -> Lock:
    """Pin a recipe for a base image; when the index does not answer, or no versions fit, it is not, and says why.

    PyTorch and CUDA packages are left to the base image. With ``seconds`` 0 no index is asked at all: exact
    requirements are then taken as the repository names them.

    Args:
        hashes: write the hashes of each version's files.
        offline: answer from the resolver's cache alone.
        without: names that are not installed, whoever needs them.
        changes: what the caller changed of the repository's own requirements, for the lock's comments.
        stoppable: an interrupt ends the resolution, not the program: the lock is not pinned, and says why.
    """
    search = _Search(recipe, base, without, hashes=hashes, offline=offline)
    try:
        if not search.declared:
            made = Lock("", True, "the repository needs nothing beside PyTorch")
        elif seconds <= 0:
            made = search.as_declared()
        else:
            made = search.run(time.monotonic() + seconds, seconds, progress or (lambda _: None))
    except KeyboardInterrupt:
        if not stoppable:
            raise
        made = search.unpinned("it was interrupted")
    made = replace(made, changes=(*changes, *made.changes))
    return replace(made, text=_written(made, recipe, base))


@dataclass
class _Search:
    """Asks uv until it succeeds, putting aside what is not the repository's own word, or cannot be had.

    Attributes:
        kept: requirements that go into the lock as they are: they cannot be built here to learn what they need.
        later: packages that may be newer than the date.
        only_wheels: packages whose source cannot be built here.
    """

    recipe: Recipe
    base: BaseImage
    without: Sequence[str]
    hashes: bool
    offline: bool
    declared: list[Declared] = field(default_factory=list)
    constraints: list[Declared] = field(default_factory=list)
    kept: list[Declared] = field(default_factory=list)
    later: dict[str, date] = field(default_factory=dict)
    only_wheels: list[str] = field(default_factory=list)
    prereleases: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    changes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Take what every lock leaves out, and what belongs to the image's PyTorch, from the recipe."""
        version = torchtext(self.base)
        for item in self.recipe.requirements:
            if item.name in self.without:
                self._say_left_out(item, "as asked with --without")
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
        self.frozen = is_freeze(self.declared)
        if self.frozen:
            self.remarks.append("the repository lists a whole environment, which is installed as it stands")
            return
        left = TORCH_FAMILY | {"torchtext"} if version else TORCH_FAMILY
        self.constraints = [item for item in self.recipe.constraints if item.name not in left]
        self.own_constraints = [f"torchtext=={version}"] if version else []
        first = followed(self.base.python)
        self.wheels_from = first if first and self.recipe.date and self.recipe.date < first else None

    frozen: bool = False
    own_constraints: list[str] = field(default_factory=list)
    wheels_from: datetime | None = None

    def run(self, deadline: float, seconds: float, progress: Progress) -> Lock:
        """Return the lock, or why there is none."""
        for _ in range(_ROUNDS):
            left = deadline - time.monotonic()
            done = resolver.ask(self._question(), left) if left > 1 else None
            if done is None or done.timed_out:
                return self.unpinned(f"uv took longer than {seconds:.0f} s")
            before = len(self.remarks) + len(self.changes)
            if done.exit_code == 0:
                made = self._made(done.stdout, done.stderr, deadline)
                if made is not None:
                    return made
            elif (failed := self._put_aside(done.stderr)) is not None:
                return failed
            if len(self.remarks) + len(self.changes) > before:
                progress((self.remarks + self.changes)[-1])
        return self.unpinned(f"more than {_ROUNDS} requirements prevent a solution")

    def _question(self) -> Question:
        constraints = [*(item.text for item in self.constraints), *self.own_constraints]
        constraints += [f"{name}>=0.dev0" for name in self.prereleases]
        own = resolver.excluded(self.base, self.recipe.project, self.declared)
        as_listed = self.frozen and all(map(is_exact, self.declared))
        return Question(
            tuple(item.text for item in self.declared), self.base, None if as_listed else self.recipe.date,
            tuple(constraints), (*own, *self.without), tuple(self.only_wheels), self.later,
            resolve=not self.frozen, hashes=self.hashes and not self.kept, offline=self.offline,
        )  # fmt: skip

    def _made(self, output: str, stderr: str, deadline: float) -> Lock | None:
        """The lock of a resolution; None to resolve again, where later versions have wheels for a new Python."""
        lines = _checked(output)
        pins = sorted(text.partition(";")[0].strip() for text in lines if "==" in text)
        found = resolver.package_files(pins, self.base, max(deadline - time.monotonic(), 5), self.offline)
        compiled = {name for name, one in found.items() if not one.has_wheel}
        if unusable := [item for item in self.declared if item.name in compiled & names("built_with_torch")]:
            for item in unusable:
                self._gone(item.name, _NEEDS_TORCH, "")
            return None
        if self.wheels_from:
            fixed = {item.name for item in self.declared if is_exact(item)}
            open_ = [f"{name}=={found[name].version}" for name in sorted(compiled - fixed - set(self.later))]
            newer = [pin for pin in open_ if resolver.newest_python(pin, self.base)]
            if newer:
                for pin in newer:
                    self._allow_later(pin.partition("==")[0])
                return None
        for item in self.kept:
            lines[_checked_line(item.text)] = ""
        if self.kept and self.hashes:
            self.remarks.append(
                f"without hashes: {self.kept[0].name} has no wheel whose hash could be asked for"
            )
        compiled |= {item.name for item in self.kept}
        how = f"pinned as of {self.recipe.date.date().isoformat()}" if self.recipe.date else "pinned"
        text = "".join(f"{line}{lines[line]}\n" for line in sorted(lines))
        return Lock(
            text,
            all("==" in line and ".*" not in line for line in lines),
            "; ".join((how, *self.remarks)),
            tuple(self.left_out),
            resolver.yanked(stderr),
            tuple(sorted(compiled)),
            changes=(*self._later_change(), *self.changes),
            old=self._outdated(found, max(deadline - time.monotonic(), 5)),
            needed_by=_needed_by(output),
        )

    def _outdated(self, found: dict[str, resolver.PackageFiles], seconds: float) -> tuple[str, ...]:
        """Declared packages whose locked version is years older than the commit, though newer ones were available."""
        day = self.recipe.date.date() if self.recipe.date else None
        own = {item.name for item in self.declared}
        old = [name for name, one in sorted(found.items())
               if name in own and day and one.uploaded and one.uploaded < day - _OLD]  # fmt: skip
        if not old:
            return ()
        newest = Question(tuple(old), self.base, self.recipe.date, resolve=False, offline=self.offline)
        done = resolver.ask(newest, seconds)
        latest = resolver.versions(done.stdout)
        said = []
        for name in old:
            version, uploaded = found[name].version, found[name].uploaded
            if latest.get(name, version) != version and uploaded and day:
                years = round((day - uploaded).days / 365)
                said.append(
                    f"{name}=={version} is {years} years older than the commit; {latest[name]} was the newest then"
                )
        return tuple(said)

    def _put_aside(self, stderr: str) -> Lock | None:
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
            until = date.fromisoformat(match[2]) + timedelta(days=1)
            self.later[match[1]] = until
            self.remarks.append(
                f"{match[1]} is newer than the commit ({match[2]}), because the repository asks for it"
            )
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
            self._replace(item, item.name, "cannot be built here and is only mentioned")
        elif item is not None and is_exact(item):
            self.declared.remove(item)
            self.kept.append(item)
            if not self.frozen:
                self.remarks.append(
                    f"{item} is installed as it is: it cannot be built here to learn what it needs"
                )
        elif self.wheels_from and name not in self.later:
            # An early source is seldom made for the image's Python; a later one, or its wheel, is.
            self._allow_later(name)
        else:
            self.only_wheels.append(name)
        return None

    def _allow_later(self, name: str) -> None:
        assert self.wheels_from
        self.later[name] = self.wheels_from.date()

    def _later_change(self) -> list[str]:
        day = self.wheels_from.date() if self.wheels_from else None
        later = sorted(name for name, until in self.later.items() if until == day)
        if not later or day is None or self.recipe.date is None:
            return []
        released = table("pythons")[self.base.python]["released"]
        why = f"the image's Python {self.base.python} came out on {released}, and earlier packages are not made for it"
        return [f"{', '.join(later)}: versions as of {day} in place of {self.recipe.date.date()}: {why}"]

    def _in_conflict(self, text: str, stderr: str) -> Lock | None:
        """Nothing fits: what is not the repository's own word is dropped; its own word is not changed here."""
        blamed = [
            one for one in self.declared if re.search(rf"(?<![\w-]){re.escape(one.name)}(?![\w-])", text)
        ]
        conda = next((one for one in blamed if one.conda), None)
        if conda and re.search(rf"no version of {re.escape(conda.name)}\b", text):
            if not has_version(conda):
                return self._gone(conda.name, "it is one of conda's packages", text)
            self._replace(conda, conda.name, "has a version that conda has and the package index has not")
        elif self.constraints:
            places = ", ".join(dict.fromkeys(item.origin.partition(":")[0] for item in self.constraints))
            self.remarks.append(f"the versions of {places} do not fit together here and are not used")
            self.constraints = []
        elif spoken := next(
            (one for one in blamed if (one.guessed or one.mentioned) and has_version(one)), None
        ):
            self._replace(spoken, spoken.name, "does not fit and is only mentioned")
        elif guess := next((one for one in blamed if one.guessed), None):
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
            self._say_left_out(item, why)
            return None
        cause = f"{name}, which another package needs, cannot be had: {printable(text, 300)}"
        blamed = [
            one for one in self.declared if re.search(rf"(?<![\w-]){re.escape(one.name)}(?![\w-])", text)
        ]
        return replace(self.unpinned(cause), conflict=Conflict(cause, tuple(blamed)))

    def _say_left_out(self, item: Declared, why: str) -> None:
        self.left_out.append(f"{item} is left out: {why}")
        self.remarks.append(self.left_out[-1])

    def _replace(self, item: Declared, text: str, why: str) -> None:
        self.declared[self.declared.index(item)] = replace(item, text=text)
        self.remarks.append(f"{text} without a version: {item} {why}")

    def unpinned(self, cause: str) -> Lock:
        """Return the requirements as they are declared, with the reason why they are not pinned."""
        every = sorted([*self.declared, *self.kept], key=lambda item: item.name)
        lines = "".join(f"{item.text}\n" for item in every)
        return Lock(lines, False, "; ".join((f"NOT pinned: {cause}", *self.remarks)), tuple(self.left_out))

    def as_declared(self) -> Lock:
        """Return a lock without asking an index: only if the repository itself pins each requirement."""
        if not all(map(is_exact, self.declared)):
            return self.unpinned("the package index was not asked")
        made = self.unpinned("")
        return replace(
            made, pinned=True, note="pinned as the repository pins them; the package index was not asked"
        )


def _checked(output: str) -> dict[str, str]:
    """uv's lines as requirements, each with its hashes as the lock writes them."""
    found = {}
    for line in output.replace("\\\n", " ").splitlines():
        words = line.partition(" # via ")[0].split(" --hash=")
        if words[0].strip() and not words[0].lstrip().startswith("#"):
            digests = [word.strip() for word in words[1:]]
            if not all(re.fullmatch(r"sha256:[0-9a-f]{64}", digest) for digest in digests):
                raise LmrError(f"uv wrote a hash that is none: {printable(line)}", _REPORT)
            found[_checked_line(words[0].strip())] = "".join(
                f" \\\n    --hash={digest}" for digest in digests
            )
    return found


def _needed_by(output: str) -> dict[str, tuple[str, ...]]:
    """uv's annotations, ``numpy==1.24.3  # via scipy, pandas``: beside a line, or below it where it has hashes."""
    found: dict[str, tuple[str, ...]] = {}
    name = ""
    for line in output.splitlines():
        plain, _, needing = line.partition("# via ")
        if "==" in plain and not plain.startswith(" "):
            name = canonicalize_name(re.split(r"[\[=]", plain)[0])
        words = (word.strip() for word in needing.split(","))
        if names_ := tuple(canonicalize_name(word) for word in words if word and not word.startswith("-")):
            found[name] = names_
    return found


_REPORT = "this uv prints what lmr-author does not know: report it, with `uv --version`"


def _checked_line(line: str) -> str:
    try:
        requirement = Requirement(line)
    except InvalidRequirement as error:
        raise LmrError(f"uv wrote a line that is no requirement: {printable(line)}", _REPORT) from error
    if requirement.url:
        raise LmrError(f"uv wrote an address: {printable(line)}", _REPORT)
    return str(requirement)


def _written(made: Lock, recipe: Recipe, base: BaseImage) -> str:
    """The text of a lock with the comments that say what it is."""
    comments = [f"CHANGED: {change}" for change in made.changes]
    comments += [*made.remarks, f"for Python {base.python}; PyTorch and CUDA are the base image's"]
    if facts := unmet(recipe, base.python):
        comments.append(f"{asking(facts)}, and this is for {base.python}")
    comments += [*made.left_out, *made.yanked, *made.old]
    lines = [f"# {_shortened(comment)}\n" for comment in comments]
    if made.compiled:
        # Whole, however long: what reads a lock takes the names from here.
        lines.append(f"# compiled when installed, there is no wheel: {', '.join(made.compiled)}\n")
    return stamped("".join(lines) + made.text, before="(?=[^#])")


def _shortened(comment: str) -> str:
    comment = printable(comment, len(comment) + 1)
    if len(comment) <= _LONGEST:
        return comment
    kept = comment[:_LONGEST].rpartition(" ")[0] or comment[:_LONGEST]
    return f"{kept} … (and {len(comment) - len(kept)} more characters)"


def loosened(item: Declared) -> list[str]:
    """Return the weaker forms of a requirement, smallest change first: ``~=``, ``>=``, no extras, no version."""
    requirement = Requirement(item.text)
    marker = f"; {requirement.marker}" if requirement.marker else ""
    extras = f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""
    version = exact_version(item.text).partition("+")[0]
    found = []
    if version.count("."):
        found.append(f"{requirement.name}{extras}~={version}{marker}")
    if version:
        found.append(f"{requirement.name}{extras}>={version}{marker}")
    if has_version(item):
        found.append(f"{requirement.name}{extras}{marker}")
    return found + ([f"{requirement.name}{marker}"] if extras else [])
