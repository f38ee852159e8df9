"""``authoring/provenance.json``, ``environment.json``, ``drafted.json``: a task's origin, image, and drafting model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

import msgspec

from lmr_author import __version__
from lmr_author.core.errors import UnsafePathError, UsageError
from lmr_author.core.task.folder import Task
from lmr_author.core.task.record import Count, Digest, Record, Seconds, Text, Time

Moment = Annotated[str, msgspec.Meta(pattern=r"^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z)?$")]
Commit = Annotated[str, msgspec.Meta(pattern="^([0-9a-f]{40}|[0-9a-f]{64})?$")]


@dataclass(frozen=True, kw_only=True)
class MakingTool:
    """The program that made the task.

    Attributes:
        name: name of the program.
        version: its version.
        python: version of its Python.
        packages: versions of the libraries that decide the result.
    """

    name: Literal["lmr-author"] = "lmr-author"
    version: str = ""
    python: str = ""
    packages: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class PaperOrigin:
    """The PDF and the facts read from it.

    Attributes:
        source: kind of source.
        url: the paper's web address; "" when unknown.
        sha256: digest of the PDF.
        text_sha256: digest of paper.json, as new-task made it from the PDF.
        pages: number of pages.
        title: title as in info.json.
        year: year as in info.json.
        year_origin: place where the year was read; "given" when the annotator gave it.
        arxiv_id: arXiv id with version; "" without one.
        authors: in order; none where no source names them.
        venue: venue as page 1 or a citation names it; "" without one.
        repositories: links to code hosts in the paper.
        notes: anything unusual about the PDF.
    """

    source: Literal["file", "url", "arxiv"] = "file"
    url: str = ""
    sha256: Annotated[str, msgspec.Meta(pattern="^([0-9a-f]{64})?$")] = ""
    text_sha256: Annotated[str, msgspec.Meta(pattern="^([0-9a-f]{64})?$")] = ""
    pages: Count = 0
    title: str = ""
    year: Count = 0
    year_origin: str = ""
    arxiv_id: str = ""
    authors: tuple[str, ...] = ()
    venue: str = ""
    repositories: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class SubmoduleOrigin:
    """A repository inside the repository.

    Attributes:
        path: its path in the repository.
        url: its address as cloned, or as in .gitmodules.
        commit: the commit that the repository pins.
        left_out: reason for leaving it out; "" when it was taken over.
    """

    path: str
    url: str = ""
    commit: str = ""
    left_out: str = ""


@dataclass(frozen=True)
class RemovedFile:
    """A file that was removed from the repository.

    Attributes:
        path: its path in the repository.
        reason: reason for the removal.
        by_recipe: true if the task's recipe names it in ``repository.remove``.
    """

    path: str
    reason: str = ""
    by_recipe: bool = False


@dataclass(frozen=True, kw_only=True)
class PatchOrigin:
    """A patch on the pinned commit; it lies in authoring/patches/.

    Attributes:
        sha256: digest of the patch.
        reason: why the code is patched.
    """

    sha256: Digest
    reason: Text


@dataclass(frozen=True, kw_only=True)
class RepositoryOrigin:
    """The code before masking.

    Attributes:
        url: address it was cloned from, without credentials; "" for own code.
        commit: the pinned commit; "" for own code.
        own_code: true if the code lies beside the task's recipe: no address has this commit.
        patch: the patch that was applied to the commit; null without one.
        commit_date: committer's date of the pinned commit (UTC); requirements are pinned as of it.
        default_branch: default branch; "" without one.
        last_commit_date: date of the newest commit of the default branch (UTC).
        commits: number of commits up to the pinned one.
        folder: the repository's folder in the task.
        license: SPDX identifier; "" when not recognised.
        license_file: file of the licence; "" without one.
        submodules: repositories inside the repository.
        lfs_resolved: number of Git LFS pointers that were replaced by their files.
        lfs_left: files that are still Git LFS pointers.
        removed: files that were removed from the repository.
        notes: anything else unusual about the repository.
    """

    url: str = ""
    commit: Commit = ""
    own_code: bool = False
    patch: PatchOrigin | None = None
    commit_date: Moment = ""
    default_branch: str = ""
    last_commit_date: Moment | None = None
    commits: Count = 0
    folder: str = ""
    license: str = ""
    license_file: str = ""
    submodules: tuple[SubmoduleOrigin, ...] = ()
    lfs_resolved: Count = 0
    lfs_left: tuple[str, ...] = ()
    removed: tuple[RemovedFile, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class BaseImageOrigin:
    """The image that the Dockerfile starts from.

    Attributes:
        reference: name as after FROM.
        torch: PyTorch's version by the tag; "" when unknown.
        cuda: CUDA's version by the tag; "" when unknown.
        python: version that requirements.lock was made for.
        python_certain: true if the image was inspected, or the annotator gave the version.
        reason: reason for this image.
    """

    reference: str = ""
    torch: str = ""
    cuda: str = ""
    python: Annotated[str, msgspec.Meta(pattern=r"^(3\.\d{1,2})?$")] = ""
    python_certain: bool = False
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class LockOrigin:
    """The making of requirements.lock.

    Attributes:
        pinned: true if every package has one exact version.
        note: way it was made, or reason why it is not pinned.
        left_out: requirements that were left out, with reasons.
    """

    pinned: bool = False
    note: str = ""
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True)
class DeclaredRequirement:
    """A requirement of the repository.

    Attributes:
        requirement: requirement in PEP 508 form.
        origin: file and line, or the import it was derived from.
        guessed: true if it is derived from an import, and nobody declares it.
    """

    requirement: str
    origin: str = ""
    guessed: bool = False


@dataclass(frozen=True, kw_only=True)
class EnvironmentOrigin:
    """The making of Dockerfile and requirements.lock.

    Attributes:
        base_image: the image that the Dockerfile starts from.
        lock: the making of requirements.lock.
        requirements: requirements beside PyTorch.
        torch: requirements on PyTorch, which the base image brings.
        python: version specifier of the repository; "" without one.
        python_origin: file that names it.
        project: the repository's own package, which is never installed; "" without one.
        sources: files that declare something.
        problems: lines that were not used, and other remarks.
    """

    base_image: BaseImageOrigin = BaseImageOrigin()
    lock: LockOrigin = LockOrigin()
    requirements: tuple[DeclaredRequirement, ...] = ()
    torch: tuple[DeclaredRequirement, ...] = ()
    python: str = ""
    python_origin: str = ""
    project: str = ""
    sources: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Provenance(Record):
    """The origin of a task's paper, repository and environment; written by new-task, never by hand.

    Attributes:
        created: time at which new-task made the task (UTC).
        tool: the program that made it.
        paper: the PDF and the facts read from it.
        repository: the code before masking.
        environment: the making of Dockerfile and requirements.lock.
        drivers: script that ``record`` ran from outside of the repository → its folder, relative to the task's. It is
            shown to people; nothing there is run because of it.
    """

    created: Moment = ""
    tool: MakingTool = MakingTool()
    paper: PaperOrigin = PaperOrigin()
    repository: RepositoryOrigin = RepositoryOrigin()
    environment: EnvironmentOrigin = EnvironmentOrigin()
    drivers: Mapping[str, str] = field(default_factory=dict)


def load(task: Task) -> Provenance:
    """Return a task's provenance; an empty one when the file is missing, damaged, or a link out of the task."""
    try:
        return Provenance.read_if_valid(task.provenance_path) or Provenance()
    except UnsafePathError:  # `validate` names the link
        return Provenance()


DRAFTED = "drafted.json"


@dataclass(frozen=True, kw_only=True)
class DraftOrigin(Record):
    """The model that wrote a recipe.

    Attributes:
        format: version of this document.
        tool: version of lmr-author.
        model: the model, as Inspect AI names it.
        date: when it began.
        parts: what it wrote.
    """

    format: Literal["lmr-drafted/1"] = "lmr-drafted/1"
    tool: str = __version__
    model: Text
    date: Time
    parts: tuple[str, ...] = ("target", "instruction", "driver", "environment", "answers", "ledger")


def drafted_by(task: Task) -> DraftOrigin | None:
    return DraftOrigin.read_if_valid(task.drafted_path)


def require_other(task: Task, person: str) -> None:
    """Raise UsageError for a review by the model that drafted the task."""
    drafted = drafted_by(task)
    if drafted and person.casefold() == drafted.model.rpartition("/")[2].casefold():
        raise UsageError(
            f"{person} drafted this task and cannot review it", "a person must review it: add --reviewer NAME"
        )


FORMAT = "lmr-environment/1"


@dataclass(frozen=True)
class ImportedFile:
    """The result of importing one file of the repository.

    Attributes:
        file: path in the repository.
        ok: true if it can be imported.
        module: the name by which it was imported last.
        said: the last lines of the traceback.
        missing: modules that it needs and the image lacks.
        seconds: duration of the import.
        cause: what is likely wrong; "" when it was imported, or nobody knows.
        advice: what to try; "" likewise.
    """

    file: Text
    ok: bool
    module: str = ""
    said: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    seconds: Seconds = 0.0
    cause: str = ""
    advice: str = ""


@dataclass(frozen=True)
class BuiltEnvironment(Record):
    """The contents of a task's image, written by ``env build``.

    Attributes:
        format: name and version of this format.
        tool: version of lmr-author.
        built: time at which the image was built or found complete (RFC 3339).
        seconds: duration of that.
        image: the engine's identifier of the image.
        tag: the image's name.
        base_image: the image that it was built on; "" when the Dockerfile does not say.
        engine: version of the Docker engine.
        dockerfile_sha256: digest of the Dockerfile.
        lock_sha256: digest of requirements.lock; "" when there was none.
        python: version of the image's Python.
        platform: kernel, processor and C library.
        torch: its version; "" when it is not installed.
        cuda: the CUDA version that PyTorch was built for; "" when it was built without.
        numpy: its version; "" when it is not installed.
        packages: every installed distribution and its version.
        imports: files imported in the image without network, not as root, on a read-only root.
    """

    tool: str
    built: Time
    seconds: Seconds
    image: Annotated[str, msgspec.Meta(pattern="^sha256:[0-9a-f]{64}$")]
    tag: Text
    engine: str
    dockerfile_sha256: Digest
    python: Text
    lock_sha256: Annotated[str, msgspec.Meta(pattern="^([0-9a-f]{64})?$")] = ""
    base_image: str = ""
    platform: str = ""
    torch: str = ""
    cuda: str = ""
    numpy: str = ""
    packages: dict[str, str] = field(default_factory=dict)
    imports: tuple[ImportedFile, ...] = ()
    format: str = FORMAT
