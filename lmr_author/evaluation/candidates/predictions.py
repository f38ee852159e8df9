"""Read models' answers: a file of predictions, a log of Inspect AI or Harbor, or task folders that agents worked in."""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lmr_author import files, processes
from lmr_author.errors import LmrError
from lmr_author.evaluation.candidates import logs
from lmr_author.evaluation.candidates.answer import Invalid
from lmr_author.task import TaskInfo
from lmr_author.texts import printable

MAX_FILE = 8 * 2**20
"""Bytes of a changed file; a larger one is no source."""
MAX_FILES = 500
"""Changed files that are read."""
_WITH_INDEX = re.compile(
    r"(?P<name>.+?)(?:(?:__|[#/:]|[-_.]impl(?:ementation)?[-_]?)(?P<index>\d+)|[-_.]\d+)$"
)
"""``1-DPO#2``, ``1-DPO__2`` and ``1-DPO-impl-2`` name an implementation, ``1-DPO_2`` a copy of the task."""
_DEPTH = 6
"""Depth to which task folders are searched in a folder of predictions."""
_APPLY_SECONDS = 60
_LENIENCE = ((), ("--recount", "--unidiff-zero", "--ignore-whitespace"))
"""Options of ``git apply``, the strictest first: models miscount lines and leave out context."""
_PATCHED = re.compile(r'^(?:---|\+\+\+) "?([^"\t\n]+)"?|^(?:rename|copy) (?:from|to) (.+)$', re.MULTILINE)


Key = tuple[str, int, str, str, str, int]
"""Task, index, model, setting, input, sample."""


@dataclass(frozen=True)
class Prediction:
    """One answer.

    Attributes:
        task: the task folder's name, or its number, as written there.
        index: the implementation; 0 for all of the task's.
        model: name of the model.
        where: place in the input, for messages.
        sample: number of the answer among those of one model to one implementation, from 1; 0 before it is known.
        setting, input: how the model was asked, and with what, as in a log; "" when not given.
        code: the answer as text; None when it is given otherwise.
        patch: a unified diff of the repository, or None.
        tree: the repository folder that an agent left, or None.
    """

    task: str
    index: int
    model: str
    where: str
    sample: int = 0
    code: str | None = None
    patch: str | None = None
    tree: Path | None = None
    setting: str = ""
    input: str = ""

    @property
    def key(self) -> Key:
        """The answer that this is."""
        return self.task, self.index, self.model, self.setting, self.input, self.sample


@dataclass(frozen=True)
class Given:
    """The predictions of a file or folder.

    Attributes:
        items: for the known tasks: one for each implementation, samples numbered.
        elsewhere: names of other tasks, as written there → number of predictions.
    """

    items: tuple[Prediction, ...]
    elsewhere: Mapping[str, int]


def read(path: Path, tasks: Mapping[str, TaskInfo]) -> Given:
    """Return all predictions of a file or folder.

    Args:
        path: a JSONL (or JSON) file, a log, or a folder.
        tasks: task folder's name → its ``info.json``.

    Raises LmrError: no such file, a line that is no prediction, nothing for these tasks.
    """
    if not path.exists():
        raise LmrError(f"there is no {path}", "name the file or folder with the predictions")
    given = list(_from_folder(path, tasks) if path.is_dir() else _from_file(path))
    if not given:
        raise LmrError(f"{path} holds no predictions", "see docs/evaluating-models.md for what is read")
    found = [one for item in given for one in _expanded(item, tasks)]
    if not found:
        named = ", ".join(sorted({item.task for item in given})[:5])
        raise LmrError(f"{path} has predictions for {named}, none of them a task here", "name those tasks")
    elsewhere = Counter(item.task for item in given if _find_task(item.task, tasks)[0] is None)
    return Given(tuple(_numbered(found)), elsewhere)


def _numbered(items: Iterable[Prediction]) -> Iterator[Prediction]:
    """Yield predictions with the number of their sample: the one given, or the next free one."""
    seen: set[Key] = set()
    for item in items:
        numbers = itertools.count(1)
        while not item.sample or item.key in seen:
            item = replace(item, sample=next(numbers))
        seen.add(item.key)
        yield item


def _expanded(item: Prediction, tasks: Mapping[str, TaskInfo]) -> Iterator[Prediction]:
    """Yield a prediction with its task's real name, once for each implementation that it answers."""
    name, index = _find_task(item.task, tasks)
    if name is None:
        return
    index = item.index or index
    known = [one.index for one in tasks[name].implementations]
    for number in known if index == 0 else [index]:
        if number not in known:
            raise LmrError(f"{item.where}: {name} has no implementation {number}", f"it has {known}")
        yield replace(item, task=name, index=number)


def _find_task(text: str, tasks: Mapping[str, TaskInfo]) -> tuple[str | None, int]:
    """Return the task and the index (0 for none) of a name: a folder's, maybe with an index, or a number.

    Raises LmrError when it may be one of several tasks.
    """
    names = [(text, 0)]
    if match := _WITH_INDEX.match(text):
        names.append((match["name"], int(match["index"] or 0)))
    for name, index in names:
        if name in tasks:
            return name, index
        same = [one for one, info in tasks.items() if name.lower() in (one.lower(), info.folder_name.lower())]
        if not same and (index or name == text):
            same = [one for one, info in tasks.items() if str(info.instance_id) == name]
        if len(same) > 1:
            raise LmrError(
                f"predictions for {text!r} may be for {' or '.join(same)}",
                "name the task by its folder in them",
            )
        if same:
            return same[0], index
    return None, 0


def _from_file(path: Path) -> Iterator[Prediction]:
    if logs.is_log(path):
        yield from _from_log(path)
        return
    for where, data in _entries(path):
        if not isinstance(data, dict):
            raise LmrError(
                f"{where}: not a JSON object", "a prediction is an object with task, model and code"
            )
        yield _prediction(data, where)


def _from_log(path: Path) -> Iterator[Prediction]:
    """Yield the answers in a log; a sample that ended with an error has none."""
    for where, data in logs.read(path):
        if "code" in data:
            yield replace(_prediction(data, where), sample=data["sample"])


def _entries(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield each entry of a JSONL file, or of a JSON list, with its place."""
    with path.open("rb") as file:
        head = file.read(64).lstrip()[:1]
    if head == b"[":
        for number, entry in enumerate(files.read_json(path), 1):
            yield f"{path.name}, entry {number}", entry
        return
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            where = f"{path.name}:{number}"
            try:
                yield where, json.loads(line)
            except (ValueError, RecursionError) as error:
                raise LmrError(
                    f"{where}: not JSON ({error})", "each line is one prediction as JSON"
                ) from error


def _prediction(data: Mapping[str, Any], where: str) -> Prediction:
    task = data.get("task", data.get("instance_id", data.get("folder_name")))
    model = data.get("model", data.get("model_name_or_path"))
    code = data.get("code", data.get("completion", data.get("response")))
    patch, index = data.get("model_patch", data.get("patch")), data.get("index", 0)
    if isinstance(task, int) and not isinstance(task, bool):
        task = str(task)
    hint = 'it needs "task", "model" and "code", or "instance_id", "model_name_or_path" and "model_patch"'
    if not isinstance(task, str) or not task:
        raise LmrError(f"{where}: names no task", hint)
    if not isinstance(model, str) or not model:
        raise LmrError(f"{where}: names no model", hint)
    if not isinstance(index, int) or isinstance(index, bool) or index < 0:
        raise LmrError(f"{where}: index {index!r} is no number of an implementation", "count from 1")
    if not isinstance(code, str) and not isinstance(patch, str):
        if "code" in data or "model_patch" in data:  # a model that gave no answer: null
            code = ""
        else:
            raise LmrError(f"{where}: has neither code nor a patch", hint)
    given = Prediction(
        task, index, model, where, setting=str(data.get("setting") or ""), input=str(data.get("input") or "")
    )
    return replace(given, code=code) if isinstance(code, str) else replace(given, patch=str(patch))


def _from_folder(root: Path, tasks: Mapping[str, TaskInfo]) -> Iterator[Prediction]:
    """Yield the answers of logs, and one for each task folder below a folder; the folders above it name the model."""
    for path in logs.find(root):
        yield from _from_log(path)
    for folder, info in _task_folders(root, tasks, _DEPTH):
        repository = _repository(folder, info)
        model = "/".join(folder.relative_to(root).parts[:-1]) or root.resolve().name
        where = folder.relative_to(root).as_posix()
        yield Prediction(folder.name, 0, model, where, tree=repository)


def _task_folders(folder: Path, tasks: Mapping[str, TaskInfo], depth: int) -> Iterator[tuple[Path, TaskInfo]]:
    try:
        below = sorted(item for item in folder.iterdir() if item.is_dir() and not item.is_symlink())
    except OSError:
        return
    for item in below:
        name = None if item.name.isdecimal() else _find_task(item.name, tasks)[0]
        if name is not None and ((item / "info.json").is_file() or _has_goal(item, tasks[name])):
            yield item, tasks[name]
        elif depth > 1:
            yield from _task_folders(item, tasks, depth - 1)


def _has_goal(folder: Path, info: TaskInfo) -> bool:
    repository = _repository(folder, info)
    return any(files.is_file_inside(repository, item.goal_file) for item in info.implementations)


def _repository(folder: Path, info: TaskInfo) -> Path:
    inner = folder / info.repo_folder_name
    return inner if info.repo_folder_name and inner.is_dir() and not inner.is_symlink() else folder


def content(item: Prediction, goal_files: Sequence[str]) -> bytes:
    """Return the bytes that identify a prediction, for its digest.

    For a tree these are its Python files (not an agent's logs and data) and the goal files.
    """
    if item.code is not None:
        return b"code\0" + item.code.encode("utf-8", "surrogatepass")
    if item.patch is not None:
        return b"patch\0" + item.patch.encode("utf-8", "surrogatepass")
    assert item.tree is not None
    parts = []
    for path in files.walk(item.tree):
        relative = path.relative_to(item.tree).as_posix()
        if relative in goal_files or (path.suffix == ".py" and not relative.startswith("unit_test/")):
            parts.append(f"{relative}\0{files.sha256_file(path)}\n".encode("utf-8", "surrogateescape"))
    return b"tree\0" + b"".join(parts)


def changed_files(item: Prediction, repository: Path, goal_file: str) -> dict[str, bytes]:
    """Return the files that a patch or an agent's tree changes in a repository. Raises Invalid."""
    if item.patch is not None:
        return patched(item.patch, repository)
    assert item.tree is not None
    paths = (path for path in files.walk(item.tree) if path.suffix == ".py" or path == item.tree / goal_file)
    return _changed(item.tree, paths, repository)


def patched(patch: str, repository: Path) -> dict[str, bytes]:
    """Return the files that a unified diff changes, as they are afterwards; it is applied in a private folder.

    Raises Invalid when it does not apply.
    """
    patch = re.sub(r"\r\n", "\n", patch).rstrip("\n") + "\n"
    named = {old or new for old, new in _PATCHED.findall(patch)} - {"/dev/null"}
    reason = "it names no file"
    for strip in (1, 2, 0, 3):
        paths = {"/".join(name.strip().split("/")[strip:]) for name in named}
        present = [path for path in paths if path and files.is_file_inside(repository, path)]
        if not present:
            continue
        with files.temporary_folder("lmr-author-patch-") as folder:
            for path in present:
                target = files.inside(folder, path)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(files.inside(repository, path), target)
            reason = _apply(patch, strip, folder)
            if not reason:
                return _changed(folder, files.walk(folder), repository)
    raise Invalid(f"the patch does not apply: {reason}")


def _apply(patch: str, strip: int, folder: Path) -> str:
    """Apply a patch in a folder; return git's error, "" when it worked."""
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CEILING_DIRECTORIES": str(folder.parent),
    }
    error = ""
    for options in _LENIENCE:
        done = processes.run(
            ["git", "apply", f"-p{strip}", "--whitespace=nowarn", *options, "-"],
            cwd=folder,
            seconds=_APPLY_SECONDS,
            env=environment,
            stdin=patch.encode("utf-8", "replace"),
        )
        if done.exit_code == 0:
            return ""
        error = error or printable(done.stderr.removeprefix("error: "), 200) or "git apply failed"
    return error


def _changed(root: Path, paths: Iterable[Path], repository: Path) -> dict[str, bytes]:
    """Return the content of files that differ from the repository's; no links, and not more than fits."""
    found: dict[str, bytes] = {}
    for path in paths:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > MAX_FILE:
            continue
        name, data = path.relative_to(root).as_posix(), path.read_bytes()
        known = files.is_file_inside(repository, name)
        if not known or files.inside(repository, name).read_bytes() != data:
            found[name] = data
        if len(found) >= MAX_FILES:
            break
    return found
