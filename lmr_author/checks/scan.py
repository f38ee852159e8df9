"""One pass over the repository's files, for every check that has to look into all of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from lmr_author import leaks
from lmr_author.checks.listing import Entry
from lmr_author.checks.pairing import Pair, pairs
from lmr_author.checks.view import MAX_PYTHON, MAX_TEXT, TaskView
from lmr_author.files import LFS_HEADER
from lmr_author.leaks import Leak, Solution, archives, compiled
from lmr_author.source import is_same

BINARY_SUFFIXES = frozenset(
    """
    .pdf .png .jpg .jpeg .gif .bmp .ico .tif .tiff .webp .mp3 .mp4 .wav .flac .ogg .avi .mov .ttf .otf
    .woff .woff2 .eot .npy .npz .pt .pth .ckpt .bin .safetensors .h5 .hdf5 .pkl .pickle .joblib .onnx
    .pb .tflite .msgpack .model .so .dll .dylib .o .a .exe .class .parquet .arrow .feather .db .sqlite
    .lmdb .mdb .csv .tsv .7z .rar .zst .lz4 .dat
    """.split()  # noqa: SIM905
)
"""Files that hold no source as text; tables are left out, too."""
VERSION_CONTROL = frozenset({".git", ".hg", ".svn"})
MAX_PYC = 8 * 1024 * 1024
_PACKED = archives.SUFFIXES | {".pyc", ".pyo"}
"""Endings of files whose words do not stand in them as they are."""
GIVEN = ("paper.json", "paper.pdf")
"""What the agent is meant to read."""


@dataclass(frozen=True)
class Scan:
    """What one pass found.

    Attributes:
        pointers: of Git LFS.
        naming: files of code in which the name of a target stands that is a function by itself, with a telling name.
    """

    pointers: tuple[Entry, ...]
    leaks: tuple[Leak, ...]
    naming: tuple[Entry, ...]


def search(view: TaskView) -> tuple[Leak, ...]:
    """Every place in the agent's tree where a golden body can be read: copies, near copies, histories.

    Read only; the same search is behind the checks LMR401 to LMR404. Paths are relative to the repository.
    """
    return (*histories(view), *scan(view).leaks)


def solutions(view: TaskView) -> list[Solution]:
    """Every golden function of the task, in comparable forms."""
    return view.memo("solutions", lambda: list(_solutions(view)))


def _solutions(view: TaskView) -> Iterator[Solution]:
    for one in pairs(view):
        for target in one.targets:
            if one.golden is None or target.golden is None or isinstance(target.golden.node, ast.ClassDef):
                continue
            masked = target.goal.node if target.goal else None
            if masked is not None and is_same(masked, target.golden.node):
                masked = None  # not masked at all (LMR303); copies elsewhere still count
            found = leaks.solution(
                one.implementation,
                target.qualname,
                one.golden,
                target.golden.node,
                None if isinstance(masked, ast.ClassDef) else masked,
            )
            if found is not None:
                yield found


def histories(view: TaskView) -> tuple[Leak, ...]:
    """Version histories: of Git, Mercurial and Subversion, links to one, bare repositories, bundles."""
    return view.memo("histories", lambda: tuple(_histories(view)))


def _histories(view: TaskView) -> Iterator[Leak]:
    bare = _bare_repositories(view)
    for entry in view.repository_entries:
        named = entry.name in VERSION_CONTROL
        if not named and entry.suffix != ".bundle" and entry.relative not in bare:
            continue
        path = view.in_repository(entry)
        if is_history(path.rpartition("/")[0]):
            continue
        if named:
            yield Leak("history", path, None, 1.0, entry.kind == "folder", True, where=entry.kind)
        elif entry.kind == "folder" and entry.relative in bare:
            yield Leak("history", path, None, 1.0, True, True, where="bare repository")
        elif entry.suffix == ".bundle" and entry.kind == "file":
            data = view.read_once(view.path(entry), MAX_TEXT) or b""
            if data.startswith(b"# v") and b"git bundle" in data[:32]:
                yield Leak("history", path, None, 1.0, True, True, where="bundle")


def is_history(path: str) -> bool:
    """Whether a path is that of a version history, or of something in one."""
    return ("/." in path or path.startswith(".")) and not VERSION_CONTROL.isdisjoint(path.split("/"))


def _bare_repositories(view: TaskView) -> set[str]:
    """Folders that are repositories without a work tree: with HEAD, objects/ and refs/."""
    folders = {entry.folder for entry in view.named("HEAD") if entry.kind == "file"}
    return {
        folder
        for folder in folders
        if view.kind(f"{folder}/objects") == view.kind(f"{folder}/refs") == "folder"
    }


def plain_names(view: TaskView) -> list[str]:
    """The names of targets that are functions by themselves, where a name tells which function it is."""
    return [one.name for one in solutions(view) if "." not in one.qualname and one.has_telling_name]


def scan(view: TaskView) -> Scan:
    """Look into every file of the repository, and of the goldens for LFS pointers, once."""
    return view.memo("scan", lambda: _scan(view))


def _scan(view: TaskView) -> Scan:
    wanted = solutions(view)
    pointers: list[Entry] = []
    found: list[Leak] = []
    naming: list[Entry] = []
    names = frozenset(name.encode() for name in plain_names(view))
    glance = leaks.Glance(wanted, names)
    masked = _targets(view)
    for entry, limit in _readable(view):
        searched = bool(wanted) and 0 < entry.size <= limit
        if not searched and not 60 <= entry.size <= 1024:
            continue
        data = view.read_entry(entry, max(limit, 1024))
        if data is None:
            continue
        if data.startswith(LFS_HEADER):
            pointers.append(entry)
        elif searched:
            words = glance.words(data)
            if entry.suffix == ".py" and not names.isdisjoint(words):
                naming.append(entry)
            if entry.suffix in _PACKED:
                relative = view.in_repository(entry)
                found += leaks.in_file(relative, data, wanted, bytecode=lambda: _features(view))
            elif left := glance.left(data, words):
                relative = view.in_repository(entry)
                found += leaks.in_text(relative, data, left, masked.get(relative, frozenset()))
    return Scan(tuple(pointers), tuple(found), tuple(naming))


def _readable(view: TaskView) -> Iterator[tuple[Entry, int]]:
    """Every file, with the bytes up to which it is searched: 0 where no solution is looked for."""
    repository = view.relative_raw(view.repository) if view.repository else "\0"
    folders: dict[str, bool | None] = {}
    for entry in view.entries:
        if entry.kind != "file" or entry.name in VERSION_CONTROL:
            continue
        folder = entry.folder
        if folder not in folders:
            folders[folder] = _is_searched(folder, repository)
        searched = folders[folder]
        if searched is None:
            continue
        given = folder == repository and entry.name in GIVEN
        yield entry, _limit(entry.suffix) if searched and not given else 0


def _is_searched(folder: str, repository: str) -> bool | None:
    """Whether a folder's files are searched; None when they are not even looked at."""
    below = f"{folder}/"
    if is_history(folder) or below.startswith("authoring/"):
        return None
    if not below.startswith(f"{repository}/"):
        return False
    inside = below[len(repository) + 1 :]
    # Recorded values, and what is LMR405's business.
    own = inside.startswith(("authoring/", "unit_test/recordings/"))
    return not own and "golden_files" not in inside.split("/")


def _limit(suffix: str) -> int:
    """Bytes up to which a file with an ending is searched; 0 for what is not."""
    if suffix in BINARY_SUFFIXES:
        return 0
    if suffix in _PACKED:
        return archives.MAX_ARCHIVE if suffix in archives.SUFFIXES else MAX_PYC
    return MAX_TEXT if suffix == ".ipynb" else MAX_PYTHON


def _targets(view: TaskView) -> dict[str, frozenset[str]]:
    """File, relative to the repository → names of its functions that are masked."""
    found: dict[str, frozenset[str]] = {}
    for one in pairs(view):
        path = view.in_repository_path(one.goal_path)
        found[path] = found.get(path, frozenset()) | {target.qualname for target in one.targets}
    return found


def _features(view: TaskView) -> list[compiled.Features]:
    """What the golden functions look like when they are compiled."""
    return view.memo("bytecode", lambda: [item for one in pairs(view) for item in _compiled(view, one)])


def _compiled(view: TaskView, one: Pair) -> list[compiled.Features]:
    golden, masked = compiled.code_of(one.golden), compiled.code_of(one.goal)
    own = [item for item in solutions(view) if item.implementation is one.implementation]
    return [item for item in (compiled.features(each, golden, masked) for each in own) if item is not None]
