"""Clone a repository at a pinned commit, as a folder without history."""

from __future__ import annotations

import difflib
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from lmr_author.core import files, foreign
from lmr_author.core.errors import Hint, LmrError, Setting
from lmr_author.core.repo.address import Address, read_settings
from lmr_author.core.repo.git import Git, apply_patch, opened, resolve_lfs, without_filters
from lmr_author.core.repo.tree import RemovedEntry, clean, recognise_licence
from lmr_author.core.task import Progress
from lmr_author.core.texts import printable

if TYPE_CHECKING:
    from git import Repo

LOCAL_UPLOAD = (
    "env GIT_NO_LAZY_FETCH=1 GIT_ALLOW_PROTOCOL=none git -c uploadpack.allowAnySHA1InWant=true upload-pack"
)
"""Serves a local repository: any commit by its id; objects that it lacks are not fetched for us from elsewhere."""

_NO_NAME = re.compile(r"^$|^-|[\s~^:?*\[\\]|\.\.|@\{")
"""What git would read as an option or an expression, and not as the name of a commit."""

DEPTH = 5
"""Submodules of submodules are followed this deep."""

MOST_COMPARED_BYTES = 2 * 2**20
"""Larger files of a local folder are not compared with their commit."""


@dataclass(frozen=True)
class CloneOptions:
    """Options of a clone: leave out submodules or Git LFS files that cannot be had; apply a unified diff.

    ``seconds`` is the time limit of each git command.
    """

    skip_submodules: bool = False
    skip_lfs: bool = False
    patch: bytes = b""
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
    """A repository's work tree at one commit.

    Attributes:
        folder: the work tree; no ``.git`` in it.
        commit_date: in UTC.
        default_branch, last_date: of the whole repository: the branch and the date of its newest commit.
        commits: number of commits up to the pinned one; 0 where only a part of the history is present.
        licence: SPDX identifier, "" when not recognised; ``licence_file`` has it.
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
    removed: tuple[RemovedEntry, ...] = ()
    notes: tuple[str, ...] = ()


def clone(
    url: str,
    commit: str | None,
    into: Path,
    options: CloneOptions = CloneOptions(),
    progress: Progress | None = None,
) -> Clone:
    """Clone a repository as the new folder ``into``, without its history.

    ``commit`` is a commit, tag or branch; None for the default branch. Raises LmrError: address not allowed or not
    answering, no such commit, submodules or LFS files that cannot be had, a patch that does not apply; then ``into``
    does not exist.
    """
    address = Address.parse(url)
    if commit is not None and (not commit.isprintable() or _NO_NAME.search(commit)):
        raise LmrError(f"not a commit: {commit!r}", "give a commit's hexadecimal id, a tag or a branch")
    into = into.absolute()
    into.parent.mkdir(parents=True, exist_ok=True)
    with files.temporary_folder(".clone-", into.parent) as temporary:
        folder = temporary / "tree"
        made = _checkout(address, commit, folder, options, progress)
        changed = "" if commit or options.patch else _note_uncommitted(address, folder)
        removed = clean(folder)
        left = tuple(name for name in made.lfs_left if (folder / name).exists())
        licence, licence_file = recognise_licence(folder)
        folder.rename(into)
    return replace(
        made,
        folder=into,
        licence=licence,
        licence_file=licence_file,
        lfs_left=left,
        removed=removed,
        notes=(changed,) if changed else (),
    )


def _checkout(
    address: Address,
    commit: str | None,
    folder: Path,
    options: CloneOptions,
    progress: Progress | None,
    depth: int = 0,
) -> Clone:
    """Clone into ``folder`` with submodules and LFS files, and remove its ``.git``."""
    git = Git(folder.parent, options.seconds, (address.git, address.shown), progress)
    has_history = _fetch(git, address, commit, folder)
    git = replace(git, folder=folder)
    with opened(folder) as repository:
        sha = _resolve(git, repository, commit if has_history else "FETCH_HEAD", address.shown)
        with without_filters(folder):
            git.run("checkout", "--quiet", "--force", "--detach", sha)
        made = _describe(repository, sha, folder)
        links = list(_submodule_links(repository, sha))
    left, resolved = resolve_lfs(git, skip=options.skip_lfs)
    made = replace(made, lfs_left=left, lfs_resolved=resolved)
    for link in links:
        made = _with_submodule(made, link, address, options, progress, depth)
    if options.patch and depth == 0:
        # While .git is there: in a folder of another repository git would skip every file of the patch.
        apply_patch(git, options.patch)
    shutil.rmtree(folder / ".git")
    return made


def _fetch(git: Git, address: Address, commit: str | None, folder: Path) -> bool:
    """Get a repository's history without files, or a local one's with them; False where it is one commit alone."""
    # Files of other commits are not needed; a server that cannot leave them out sends everything. A local
    # repository sends all: where it is shallow or lacks objects, git asks for what is missing without end.
    how = ["--upload-pack", LOCAL_UPLOAD] if address.local else ["--filter=blob:none"]
    try:
        git.run("clone", "--no-checkout", "--progress", "--template=", *how, "--", address.git, str(folder))
        return True
    except LmrError as error:
        if not address.local:
            raise
        # A partial clone may lack files of old commits, and have those of the one that is wanted.
        with suppress(LmrError):
            git.run("init", "--quiet", "--template=", str(folder))
            inside = replace(git, folder=folder)
            inside.run("fetch", "--quiet", "--depth=1", *how, "--", address.git, commit or "HEAD")
            return False
        if "not read from remote" in error.message:
            raise LmrError(
                f"{address.shown} is not a git repository, or git may not read it",
                "name the folder of a clone; turn plain files into a repository with: git init, git add ., git commit",
            ) from error
        raise


def _resolve(git: Git, repository: Repo, commit: str | None, shown: str) -> str:
    from git.exc import BadName, BadObject

    wanted = commit or "HEAD"
    for name in (wanted, f"origin/{wanted}"):
        with suppress(BadName, BadObject, ValueError, IndexError):
            return str(repository.commit(name).hexsha)
    if commit is None:
        raise LmrError(f"{shown} has no readable commits", "check the address")
    if re.fullmatch(r"[0-9a-f]{40}", wanted):
        # A commit outside every branch (a pull request, a rewritten branch) can be asked for by its id.
        with suppress(LmrError):
            git.run("fetch", "--quiet", "origin", wanted)
            return wanted
    references = dict.fromkeys(ref.name.removeprefix("origin/") for ref in repository.references)
    names = [name for name in references if name != "HEAD"]
    close = difflib.get_close_matches(wanted, names, 5, 0.5) or names[:5]
    message = f"{shown} has no commit, tag or branch {wanted!r}"
    if (Path(repository.git_dir) / "shallow").exists():
        raise LmrError(
            f"{message}; its history is incomplete", "fetch the rest in that clone: git fetch --unshallow"
        )
    nearest = ", ".join(map(printable, close))
    hint = f"for example: {nearest}" if close else "check the commit"
    raise LmrError(message, Hint(hint, (Setting("--commit"),)))


def _describe(repository: Repo, sha: str, folder: Path) -> Clone:
    date = repository.commit(sha).committed_datetime.astimezone(UTC)
    shallow = Path(repository.git_dir, "shallow").exists()
    commits = 0 if shallow else int(repository.git.rev_list("--count", sha))
    with suppress(ValueError, TypeError, IndexError, AttributeError):
        head = repository.remotes.origin.refs.HEAD.reference
        last = head.commit.committed_datetime.astimezone(UTC)
        return Clone(folder, sha, date, printable(head.remote_head), last, commits)
    return Clone(folder, sha, date, commits=commits)  # a detached HEAD names no branch


def _submodule_links(repository: Repo, sha: str) -> Iterator[Submodule]:
    """Yield every submodule link of a commit, with its address in ``.gitmodules`` or ""."""
    tree = repository.commit(sha).tree
    urls: dict[str, str] = {}
    if ".gitmodules" in tree:
        for values in read_settings(tree[".gitmodules"].data_stream.read()).values():
            if "path" in values and "url" in values:
                urls[values["path"].rstrip("/")] = values["url"]
    for entry in tree.traverse():
        if entry.type == "submodule":
            yield Submodule(str(entry.path), urls.get(str(entry.path), ""), entry.hexsha)


def _with_submodule(
    outer: Clone,
    link: Submodule,
    parent: Address,
    options: CloneOptions,
    progress: Progress | None,
    depth: int,
) -> Clone:
    """Return the clone with one submodule taken over, or with the reason why it is left out."""
    shown = printable(link.path)
    if options.skip_submodules:
        url = re.sub(r"//[^/@]*@", "//", printable(link.url))
        left_out = Submodule(shown, url, link.commit, "left out by --skip submodules")
        return replace(outer, submodules=(*outer.submodules, left_out))
    skip = (Setting("--skip submodules", ("true",), "--skip submodules"),)
    hint = "pass {0} to leave out the submodules (recorded in the provenance)"
    if not link.url:
        message = f"{shown} is a submodule link, but .gitmodules gives no address for it"
        raise LmrError(message, Hint(hint, skip))
    if depth >= DEPTH:
        raise LmrError(f"submodules are nested more than {DEPTH} deep at {shown}", Hint(hint, skip))
    target = files.inside(outer.folder, link.path)
    if target.exists():
        target.rmdir()  # git made it as an empty folder
    try:
        # As git does: a clone's submodules are where it was cloned from.
        origin = parent.origin() if depth == 0 else ""
        address = (Address.parse(origin) if origin else parent).relative(link.url)
        below = _checkout(address, link.commit, target, options, progress, depth + 1)
    except LmrError as error:
        raise LmrError(
            f"cannot fetch the submodule {shown}: {error.message}", Hint(f"{hint}; or: {error.hint}", skip)
        ) from error
    inner = (replace(submodule, path=f"{link.path}/{submodule.path}") for submodule in below.submodules)
    return replace(
        outer,
        submodules=(*outer.submodules, Submodule(shown, address.shown, link.commit), *inner),
        lfs_left=(*outer.lfs_left, *(f"{link.path}/{name}" for name in below.lfs_left)),
        lfs_resolved=outer.lfs_resolved + below.lfs_resolved,
    )


def _note_uncommitted(address: Address, tree: Path) -> str:
    """Return a note about Python files of a local folder that differ from their last commit; "" for none.

    Compared here and not by `git status`, which runs what the repository's own settings name.
    """
    if not address.local:
        return ""
    theirs = os.path.realpath(address.folder)
    changed = []
    for path in files.walk(tree):
        if path.suffix == ".py":
            name = path.relative_to(tree).as_posix()
            data = foreign.read_inside(theirs, Path(theirs, name), MOST_COMPARED_BYTES)
            # A work tree can have other line ends than its commits.
            if data is not None and data.replace(b"\r\n", b"\n") != path.read_bytes().replace(b"\r\n", b"\n"):
                changed.append(printable(name))
    if not changed:
        return ""
    several = f"{changed[0]} and {len(changed) - 1} more" if changed[1:] else changed[0]
    return f"uncommitted changes left out: {several}; the task has the last commit"
