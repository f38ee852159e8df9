"""Take out of the agent's tree what gives an answer away, put it back, and report what can still be read.

Files that a run or a build made are moved to ``authoring/removed/``; a file that somebody wrote is the annotator's to
decide.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from lmr_author.core import files
from lmr_author.core.errors import LmrError
from lmr_author.core.task import UNIT_TEST, Finding, Implementation, Severity, Task, accepted
from lmr_author.proof import leaks
from lmr_author.proof.contents import TaskContents
from lmr_author.proof.leaks import FileLeak, Leak
from lmr_author.proof.leaks.search import BACKUP_SUFFIXES

HISTORY_FOLDERS = frozenset({".git", ".hg", ".svn"})
"""Version histories: the original is one command away. They never come back: a task's tree has no history."""

GENERATED_SUFFIXES = frozenset({".pyc", ".pyo"})
GENERATED_NAMES = frozenset({".DS_Store", "Thumbs.db"})

RECORD = "from-repository.json"
"""In the folder that keeps what was moved: path in the repository → path in that folder.

Format: ``schemas/from-repository.schema.json``.
"""


@dataclass(frozen=True)
class ReturnedFiles:
    """Files that were moved away: ``done`` are back, ``left`` are histories, or something new is in their place."""

    done: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


def clean(repository: Path, keep: Path, goal_files: tuple[str, ...]) -> tuple[str, ...]:
    """Move generated files, histories, build output and backups of goal files to ``keep``; return what was moved.

    A generated file whose first version is in ``keep`` already was made again by a run, and is deleted.

    Args:
        repository: the agent's tree.
        keep: folder outside of it.
        goal_files: masked files; backups of them (``trainers.py.bak``) are moved away.
    """
    names = {Path(goal).name for goal in goal_files}
    backups = {name + suffix for name in names for suffix in BACKUP_SUFFIXES}
    backups |= {f".{name}.swp" for name in names}
    earlier, unwanted = taken_out(keep), list[str]()
    for path in list(_unwanted(repository, backups)):
        relative = path.relative_to(repository).as_posix()
        if is_generated(path.name) and relative in earlier:
            _delete(path)
        else:
            unwanted.append(relative)
    return take_out(repository, keep, sorted(unwanted))


def is_generated(name: str) -> bool:
    if name in files.CACHE_FOLDERS or name in GENERATED_NAMES:
        return True
    return PurePosixPath(name).suffix in GENERATED_SUFFIXES


def _unwanted(repository: Path, backups: set[str]) -> Iterator[Path]:
    """Yield what does not belong into the agent's tree; nothing that lies in another of them."""
    for folder, names, file_names in os.walk(repository):
        here = Path(folder)
        for name in sorted(names):
            path = here / name
            if (name in files.CACHE_FOLDERS and not path.is_symlink()) or _is_kept_apart(path):
                names.remove(name)
                yield path
        for name in sorted(file_names):
            if name in backups or name == ".git" or (name not in files.CACHE_FOLDERS and is_generated(name)):
                yield here / name


def _is_kept_apart(path: Path) -> bool:
    """Return True for histories, old states of notebooks (nothing makes them again) and the output of a build."""
    if path.name in {*HISTORY_FOLDERS, ".ipynb_checkpoints"} or path.name.endswith(".egg-info"):
        return True
    if path.name not in ("build", "dist") or (path / "__init__.py").is_file():
        return False
    made = ("lib", "lib.*", "bdist.*") if path.name == "build" else ("*.whl", "*.tar.gz")
    return any(any(path.glob(pattern)) for pattern in made)


def removable(places: Iterable[Leak], repository: Path) -> tuple[str, ...]:
    """Return the generated files that surely contain the solution; they are removed without asking.

    A file that somebody wrote is the annotator's to decide, as is one of a package that happens to be called ``dist``.
    """
    paths = {leak.path for leak in places if leak.sure and leak.generated}
    return tuple(sorted(path for path in paths if not _is_in_package(repository, PurePosixPath(path))))


def _is_in_package(repository: Path, path: PurePosixPath) -> bool:
    if path.suffix != ".py":
        return False
    outputs = [folder for folder in path.parents if folder.name in ("build", "dist")]
    return any((repository / folder / "__init__.py").is_file() for folder in outputs)


def take_out(repository: Path, keep: Path, paths: Iterable[str]) -> tuple[str, ...]:
    """Move files and folders of a repository to free places in ``keep``; return those that existed."""
    names: dict[str, str] = {}
    for path in paths:
        if not os.path.lexists(repository / path):
            continue
        name, number = path, 1
        while os.path.lexists(keep / name):
            number += 1
            name = f"{path}.{number}"
        names[path] = name
    if names:
        # Before the first move: an entry without its file does no harm. What is kept already stays what comes
        # back: it was the repository's own, and whatever is moved from its place later is not.
        earlier = {path: name for path, name in taken_out(keep).items() if os.path.lexists(keep / name)}
        files.write_json(keep / RECORD, names | earlier)
    for path, name in names.items():
        (keep / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.move(repository / path, keep / name)
    return tuple(names)


def put_back(repository: Path, keep: Path) -> ReturnedFiles:
    """Move what was moved to ``keep`` back into the repository, but for version histories.

    Files that a run has recreated are replaced; a file whose path holds something else stays in ``keep``.
    """
    moved = taken_out(keep)
    done, left = list[str](), list[str]()
    for relative, name in moved.items():
        path, source = files.inside(repository, relative), files.inside(keep, name)
        if not os.path.lexists(source):
            continue  # somebody took it from there
        if is_generated(path.name):
            _delete(path)
        if path.name in HISTORY_FOLDERS or os.path.lexists(path):
            left.append(relative)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(source, path)
        done.append(relative)
    if left:
        files.write_json(keep / RECORD, {relative: moved[relative] for relative in left})
    elif moved:
        (keep / RECORD).unlink()
    return ReturnedFiles(tuple(done), tuple(left))


def taken_out(keep: Path) -> dict[str, str]:
    """Return path in the repository → path in ``keep`` of what was moved away. Raises LmrError for a damaged record."""
    names = files.read_object_to_change(keep / RECORD)
    if not all(isinstance(name, str) for name in names.values()):
        raise LmrError(f"{keep / RECORD}: not file names", "restore it from version control")
    return names


def _delete(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


# what can still be read


@dataclass(frozen=True)
class OpenLeak:
    """A finding as ``validate`` reports it, and the places in that file that leak the answer, the likest first."""

    finding: Finding
    places: tuple[Leak, ...] = ()

    @property
    def also(self) -> tuple[str, ...]:
        """Node ids of the functions that ``mask --also`` takes."""
        nodes = [leak.node for leak in self.places if not leak.path.startswith(f"{UNIT_TEST}/")]
        return tuple(dict.fromkeys(node for node in nodes if node))


def search_tree(task: Task, masked: Iterable[Implementation]) -> tuple[tuple[str, ...], tuple[OpenLeak, ...]]:
    """Search the agent's tree for what was masked, and remove generated files that surely contain the answer.

    Returns what was removed, relative to the repository, and the leaks that are left and not accepted.
    """
    contents = TaskContents(task)
    if contents.repository is None:
        return (), ()
    indices = {implementation.index for implementation in masked}
    all_leaks = list(leaks.search(contents))
    places = [place for leak in all_leaks for place in leak.places]
    moved = take_out(contents.repository, task.removed_folder, removable(places, contents.repository))
    still_open: list[OpenLeak] = []
    for leak in all_leaks:
        concerns = leak.implementation is None or leak.implementation.index in indices
        if not concerns or not os.path.lexists(leak.file(contents)):  # it may have been taken out just now
            continue
        for finding in accepted.sort(task, [_finding(contents, leak)]).open:
            still_open.append(OpenLeak(finding, leak.places))
    severities = list(Severity)
    still_open.sort(key=lambda leak: severities.index(leak.finding.severity))
    return moved, tuple(still_open)


def _finding(contents: TaskContents, leak: FileLeak) -> Finding:
    return Finding(
        leak.code,
        leak.severity,
        contents.name,
        leak.message,
        leak.hint,
        leak.implementation.index if leak.implementation else None,
        contents.relative(leak.file(contents)),
        f"L{leak.line}" if leak.line else "",
    )
