"""Clone a repository at a pinned commit, as a folder without history."""

from __future__ import annotations

import difflib
import os
import re
import shutil
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from lmr_author import files
from lmr_author.errors import LmrError
from lmr_author.repo import lfs, licences, tree, uncommitted
from lmr_author.repo.address import Address
from lmr_author.repo.git import Git
from lmr_author.repo.tree import Removed
from lmr_author.task import Progress
from lmr_author.texts import printable

LOCAL_UPLOAD = (
    "env GIT_NO_LAZY_FETCH=1 GIT_ALLOW_PROTOCOL=none git -c uploadpack.allowAnySHA1InWant=true upload-pack"
)
"""What serves a local repository: any commit by its id. What it lacks itself is not fetched for us from elsewhere."""

DEPTH = 5
"""Submodules of submodules are followed this deep."""


@dataclass(frozen=True)
class CloneOptions:
    """How to clone.

    Attributes:
        skip_submodules: leave submodules out instead of refusing those that cannot be had.
        skip_lfs: leave Git LFS pointers in place instead of refusing the repository.
        seconds: time limit of each git command.
    """

    skip_submodules: bool = False
    skip_lfs: bool = False
    seconds: float = 1800.0


@dataclass(frozen=True)
class Submodule:
    """A repository inside the repository: taken over at its pinned commit, or left out (``reason``)."""

    path: str
    url: str
    commit: str
    reason: str = ""


@dataclass(frozen=True)
class Clone:
    """A repository's work tree at one commit, and what is known about it.

    Attributes:
        folder: the work tree; no ``.git`` in it.
        commit: 40 hexadecimal digits (64 in a SHA-256 repository).
        commit_date: when it was committed, UTC.
        default_branch, last_date, commits: of the whole repository: the branch, its newest commit, and
            how many commits the pinned one has behind it.
        licence: SPDX identifier, "" when not recognised; ``licence_file`` where it stands.
        submodules, lfs_left, lfs_resolved, removed, notes: what was taken over, left and removed.
    """

    folder: Path
    commit: str
    commit_date: datetime
    default_branch: str = ""
    last_date: datetime | None = None
    commits: int = 0
    licence: str = ""
    licence_file: str = ""
    submodules: tuple[Submodule, ...] = ()
    lfs_left: tuple[str, ...] = ()
    lfs_resolved: int = 0
    removed: tuple[Removed, ...] = ()
    notes: tuple[str, ...] = field(default=())


def clone(
    url: str,
    commit: str | None,
    into: Path,
    options: CloneOptions = CloneOptions(),
    progress: Progress | None = None,
) -> Clone:
    """Clone a repository as the new folder ``into``, without its history.

    Args:
        url: see :meth:`Address.parse`.
        commit: a commit, tag or branch; None for the default branch.

    Raises LmrError: address not allowed or not answering, no such commit, submodules or LFS files that
    cannot be had. Then ``into`` does not exist.
    """
    address = Address.parse(url)
    if commit is not None:
        _require_revision(commit)
    into = into.absolute()
    into.parent.mkdir(parents=True, exist_ok=True)
    with files.temporary_folder(".clone-", into.parent) as temporary:
        folder = temporary / "tree"
        found = _checkout(address, commit, folder, options, progress)
        changed = "" if commit else uncommitted.note(address, folder)
        report = tree.clean(folder)
        left = tuple(name for name in found.lfs_left if (folder / name).exists())
        licence, licence_file = licences.recognise(folder)
        folder.rename(into)
    return replace(
        found,
        folder=into,
        licence=licence,
        licence_file=licence_file,
        lfs_left=left,
        removed=report.removed,
        notes=(*([changed] if changed else []), *found.notes, *report.notes),
    )


def _require_revision(commit: str) -> None:
    if (
        not commit
        or commit.startswith("-")
        or not commit.isprintable()
        or re.search(r"[\s~^:?*\[\\]|\.\.|@\{", commit)
    ):
        raise LmrError(f"not a commit: {commit!r}", "give a commit's hexadecimal id, a tag or a branch")


def _checkout(
    address: Address,
    commit: str | None,
    folder: Path,
    options: CloneOptions,
    progress: Progress | None,
    depth: int = 0,
) -> Clone:
    """Clone into ``folder`` with submodules and LFS files, and remove its ``.git``."""
    git = _clone_history(address, folder, options, progress)
    sha = _resolve(git, commit, address.shown)
    git.run("checkout", "--quiet", "--force", "--detach", sha)
    found = _facts(git, sha, folder, address)
    left, resolved = lfs.resolve(git, folder, skip=options.skip_lfs)
    submodules = []
    for path, pinned, link in _gitlinks(git, sha):
        taken = _submodule(address, folder, path, pinned, link, options, progress, depth)
        prefix = f"{path}/"
        submodules.append(taken[0])
        if taken[1] is not None:
            below = taken[1]
            submodules += [replace(item, path=prefix + item.path) for item in below.submodules]
            left += tuple(prefix + name for name in below.lfs_left)
            resolved += below.lfs_resolved
    shutil.rmtree(folder / ".git")
    return replace(found, submodules=tuple(submodules), lfs_left=left, lfs_resolved=resolved)


def _clone_history(address: Address, folder: Path, options: CloneOptions, progress: Progress | None) -> Git:
    git = Git(folder.parent, options.seconds, (address.git, address.shown), progress)
    # Files of other commits are not needed; a server that cannot leave them out sends everything. A local
    # repository sends all: where it is shallow or lacks objects, git asks for what is missing without end.
    how = ["--upload-pack", LOCAL_UPLOAD] if address.local else ["--filter=blob:none"]
    try:
        git.run("clone", "--no-checkout", "--progress", "--template=", *how, "--", address.git, str(folder))
    except LmrError as error:
        if address.local and "not read from remote" in error.message:
            raise LmrError(
                f"{address.shown} is no git repository, or git may not read it",
                "name the folder of a clone; of files without history make one: git init, git add ., git commit",
            ) from error
        raise
    return replace(git, folder=folder)


def _resolve(git: Git, commit: str | None, shown: str) -> str:
    """The full id of a commit. Raises LmrError with what there is instead."""
    wanted = commit or "HEAD"
    for name in (wanted, f"refs/remotes/origin/{wanted}"):
        found = git.try_run("rev-parse", "--quiet", "--verify", "--end-of-options", f"{name}^{{commit}}")
        if found:
            return found.decode().strip()
    if commit is None:
        raise LmrError(f"{shown} has no commits", "check the address")
    # A commit outside every branch (a pull request, a rewritten branch) can be asked for by its id.
    is_id = re.fullmatch(r"[0-9a-f]{40}", wanted) is not None
    if is_id and git.try_run("fetch", "--quiet", "origin", wanted) is not None:
        return wanted
    names = git.run("for-each-ref", "--format=%(refname:strip=-1)", "refs/tags", "refs/remotes/origin")
    known = [name for name in names.decode("utf-8", "replace").split() if name != "HEAD"]
    close = difflib.get_close_matches(wanted, known, 5, 0.5) or known[:5]
    if git.try_run("rev-parse", "--is-shallow-repository") == b"true\n":
        raise LmrError(
            f"{shown} has no commit, tag or branch {wanted!r}, and only a part of the history",
            "fetch the rest there: git fetch --unshallow",
        )
    raise LmrError(
        f"{shown} has no commit, tag or branch {wanted!r}",
        f"there are, for example: {', '.join(map(printable, close))}" if close else "check the commit",
    )


def _facts(git: Git, sha: str, folder: Path, address: Address) -> Clone:
    import git as gitpython

    with gitpython.Repo(folder) as repository:
        pinned = repository.commit(sha)
        date = pinned.committed_datetime.astimezone(UTC)
        head = (git.try_run("symbolic-ref", "--short", "refs/remotes/origin/HEAD") or b"").decode().strip()
        last = repository.commit(head).committed_datetime.astimezone(UTC) if head else None
        commits = int(repository.git.rev_list("--count", sha))
    return Clone(folder, sha, date, printable(head.removeprefix("origin/")), last, commits)


def _gitlinks(git: Git, sha: str) -> list[tuple[str, str, str]]:
    """Every submodule link of a commit, as (path, pinned commit, address in ``.gitmodules`` or "")."""
    links = []
    for entry in git.run("ls-tree", "-r", "-z", sha).split(b"\0"):
        mode, _, rest = entry.partition(b" ")
        if mode == b"160000":
            head, _, path = rest.partition(b"\t")
            links.append((os.fsdecode(path), head.split()[1].decode()))
    if not links:
        return []
    urls = _gitmodules(git, sha)
    return [(path, pinned, urls.get(path, "")) for path, pinned in links]


def _gitmodules(git: Git, sha: str) -> dict[str, str]:
    listed = git.try_run(
        "config", "--blob", f"{sha}:.gitmodules", "-z", "--get-regexp", r"^submodule\..*\.(path|url)$"
    )
    values: dict[str, dict[str, str]] = {}
    for entry in (listed or b"").split(b"\0"):
        key, _, value = os.fsdecode(entry).partition("\n")
        section, _, name = key.rpartition(".")
        values.setdefault(section, {})[name.lower()] = value
    return {
        item["path"].rstrip("/"): item["url"] for item in values.values() if "path" in item and "url" in item
    }


def _submodule(
    parent: Address,
    folder: Path,
    path: str,
    pinned: str,
    url: str,
    options: CloneOptions,
    progress: Progress | None,
    depth: int,
) -> tuple[Submodule, Clone | None]:
    """Take one submodule over; a reason in place of its content when it is left out."""
    shown = printable(path)
    if options.skip_submodules:
        return Submodule(shown, _shown(url), pinned, "left out by --skip-submodules"), None
    hint = "pass --skip-submodules to go on without the repository's submodules (it is recorded)"
    if not url:
        raise LmrError(f"{shown} is a submodule link, but .gitmodules gives no address for it", hint)
    if depth >= DEPTH:
        raise LmrError(f"submodules are nested more than {DEPTH} deep at {shown}", hint)
    target = files.inside(folder, path)
    if target.exists():
        target.rmdir()  # git made it as an empty folder
    try:
        address = parent.relative(url)
        below = _checkout(address, pinned, target, options, progress, depth + 1)
    except LmrError as error:
        raise LmrError(
            f"the submodule {shown} cannot be had: {error.message}", f"{hint}; or: {error.hint}"
        ) from error
    return Submodule(shown, address.shown, pinned), below


def _shown(url: str) -> str:
    try:
        return Address.parse(url).shown if url and "@" in url else printable(url)
    except LmrError:
        return printable(re.sub(r"//[^/@]*@", "//", url))
