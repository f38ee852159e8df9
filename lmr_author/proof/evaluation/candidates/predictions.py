"""Read models' answers: a file of predictions, a log of Inspect AI or Harbor, or task folders that agents worked in."""

from __future__ import annotations

import itertools
import json
import os
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lmr_author.core import files, processes
from lmr_author.core.errors import LmrError
from lmr_author.core.task import TaskInfo
from lmr_author.core.texts import printable
from lmr_author.proof.evaluation.candidates import logs
from lmr_author.proof.evaluation.candidates.answer import Invalid

MAX_FILE = 8 * 2**20
"""Bytes of a changed file; a larger one is no source."""
MAX_FILES = 500
"""Changed files that are read."""
_HINT = 'it needs "task", "model" and "code", or "instance_id", "model_name_or_path" and "model_patch"'
_APPLY_SECONDS = 60
_LENIENCE = ((), ("--recount", "--unidiff-zero", "--ignore-whitespace"))
"""Options of ``git apply``, the strictest first: models miscount lines and leave out context."""

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
        kind, about: what it is meant to be, as ``misreading``, and what is special about it, for ``challenge``.
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
    kind: str = ""
    about: str = ""

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
    ours: list[Prediction] = []
    elsewhere: Counter[str] = Counter()
    for prediction in given:
        name = _find_task(prediction.task, tasks)
        if name is None:
            elsewhere[prediction.task] += 1
            continue
        known = [implementation.index for implementation in tasks[name].implementations]
        indices = [prediction.index] if prediction.index else known
        if not set(indices) <= set(known):
            message = f"{prediction.where}: {name} has no implementation {prediction.index}"
            raise LmrError(message, f"it has {known}")
        ours += [replace(prediction, task=name, index=index) for index in indices]
    if not ours:
        named = ", ".join(sorted(elsewhere)[:5])
        raise LmrError(f"{path} has predictions for {named}, none of them a task here", "name those tasks")
    return Given(tuple(_numbered(ours)), elsewhere)


def _find_task(text: str, tasks: Mapping[str, TaskInfo]) -> str | None:
    """Return the task of a name, a folder's or a number. Raises LmrError when it may be one of several tasks."""
    if text in tasks:
        return text
    same = []
    for name, info in tasks.items():
        if text.lower() in (name.lower(), info.folder_name.lower(), str(info.instance_id)):
            same.append(name)
    if len(same) > 1:
        message = f"predictions for {text!r} may be for {' or '.join(same)}"
        raise LmrError(message, "name the task by its folder in them")
    return same[0] if same else None


def _numbered(predictions: Iterable[Prediction]) -> Iterator[Prediction]:
    """Yield predictions with the number of their sample: the one given, or the next free one."""
    seen: set[Key] = set()
    for prediction in predictions:
        numbers = itertools.count(1)
        while not prediction.sample or prediction.key in seen:
            prediction = replace(prediction, sample=next(numbers))
        seen.add(prediction.key)
        yield prediction


def _from_file(path: Path) -> Iterator[Prediction]:
    if logs.is_log(path):
        for where, data in logs.read(path):
            if "code" in data:  # a sample that ended with an error has none
                yield _prediction(data, where)
        return
    with path.open("rb") as file:
        is_list = file.read(64).lstrip()[:1] == b"["
    if is_list:
        for number, entry in enumerate(files.read_json(path), 1):
            yield _prediction(entry, f"{path.name}, entry {number}")
        return
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield _prediction(_object(line, f"{path.name}:{number}"), f"{path.name}:{number}")


def _object(line: bytes, where: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise LmrError(f"{where}: not JSON ({error})", "each line is one prediction as JSON") from error


def _prediction(data: Any, where: str) -> Prediction:
    if not isinstance(data, dict):
        raise LmrError(f"{where}: not a JSON object", _HINT)
    task, model = data.get("task", data.get("instance_id")), data.get("model", data.get("model_name_or_path"))
    code, patch = data.get("code"), data.get("model_patch")
    index, sample = data.get("index", 0), data.get("sample", 0)
    if isinstance(task, bool) or not isinstance(task, str | int) or task == "":
        raise LmrError(f"{where}: names no task", _HINT)
    if not isinstance(model, str) or not model:
        raise LmrError(f"{where}: names no model", _HINT)
    if not isinstance(index, int) or isinstance(index, bool) or index < 0:
        raise LmrError(f"{where}: index {index!r} is no number of an implementation", "count from 1")
    if not {"code", "model_patch"} & data.keys():
        raise LmrError(f"{where}: has neither code nor a patch", _HINT)
    patch = patch if isinstance(patch, str) and not isinstance(code, str) else None
    if patch is None and not isinstance(code, str):
        code = ""  # null: a model that gave no answer
    return Prediction(
        str(task),
        index,
        model,
        where,
        sample if isinstance(sample, int) and sample > 0 else 0,
        code=None if patch is not None else code,
        patch=patch,
        setting=str(data.get("setting") or ""),
        input=str(data.get("input") or ""),
        kind=str(data.get("kind") or ""),
        about=str(data.get("about") or ""),
    )


def _from_folder(root: Path, tasks: Mapping[str, TaskInfo]) -> Iterator[Prediction]:
    """Yield the answers of logs, and one for each task folder below a folder; the folders above it name the model."""
    for path in logs.find(root):
        yield from _from_file(path)
    for above, names, _ in os.walk(root):
        names.sort()
        for name in list(names):
            folder = Path(above, name)
            task = None if name.isdecimal() or folder.is_symlink() else _find_task(name, tasks)
            if task is None:
                continue
            info = tasks[task]
            inner = folder / info.repo_folder_name
            repository = inner if inner.is_dir() and not inner.is_symlink() else folder
            goals = {implementation.goal_file for implementation in info.implementations}
            has_goal = any(files.is_file_inside(repository, goal) for goal in goals)
            if has_goal or (folder / "info.json").is_file():
                names.remove(name)
                model = "/".join(folder.relative_to(root).parts[:-1]) or root.resolve().name
                yield Prediction(task, 0, model, folder.relative_to(root).as_posix(), tree=repository)


def content(prediction: Prediction, goal_files: Sequence[str]) -> bytes:
    """Return the bytes that identify a prediction, for its digest.

    For a tree these are its Python files (not an agent's logs and data) and the goal files.
    """
    if prediction.tree is None:
        kind, text = ("patch", prediction.patch) if prediction.code is None else ("code", prediction.code)
        return f"{kind}\0{text}".encode("utf-8", "surrogatepass")
    parts = []
    for path in files.walk(prediction.tree):
        relative = path.relative_to(prediction.tree).as_posix()
        if relative in goal_files or (path.suffix == ".py" and not relative.startswith("unit_test/")):
            parts.append(f"{relative}\0{files.sha256_file(path)}\n".encode("utf-8", "surrogateescape"))
    return b"tree\0" + b"".join(parts)


def changed_files(prediction: Prediction, repository: Path, goal_file: str) -> dict[str, bytes]:
    """Return the Python files that a patch or an agent's tree changes in a repository, as they are afterwards.

    A patch is applied in a private folder. No links, and not more than fits. Raises Invalid when it does not apply.
    """
    if prediction.patch is None:
        assert prediction.tree is not None
        return _changed(prediction.tree, repository, goal_file)
    with files.temporary_folder("lmr-author-patch-") as folder:
        for path in _sources(repository, goal_file):
            target = folder / path.relative_to(repository)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
        _apply(prediction.patch, folder, goal_file)
        return _changed(folder, repository, goal_file)


def _sources(root: Path, goal_file: str) -> Iterator[Path]:
    for path in files.walk(root):
        is_source = path.suffix == ".py" or path == root / goal_file
        if is_source and not path.is_symlink() and path.is_file() and path.stat().st_size <= MAX_FILE:
            yield path


def _changed(root: Path, repository: Path, goal_file: str) -> dict[str, bytes]:
    changed: dict[str, bytes] = {}
    for path in _sources(root, goal_file):
        name, data = path.relative_to(root).as_posix(), path.read_bytes()
        is_new = not files.is_file_inside(repository, name)
        if is_new or files.inside(repository, name).read_bytes() != data:
            changed[name] = data
        if len(changed) >= MAX_FILES:
            break
    return changed


def _apply(patch: str, folder: Path, goal_file: str) -> None:
    """Apply a unified diff of sources, made at the repository's root or above it. Raises Invalid."""
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CEILING_DIRECTORIES": str(folder.parent),
    }
    data = (patch.replace("\r\n", "\n").rstrip("\n") + "\n").encode("utf-8", "replace")
    only, error = ("--include=*.py", f"--include={goal_file}"), ""
    for strip, options in itertools.product((1, 2, 0), _LENIENCE):
        done = processes.run(
            ["git", "apply", f"-p{strip}", "--whitespace=nowarn", *only, *options, "-"],
            cwd=folder,
            seconds=_APPLY_SECONDS,
            env=environment,
            stdin=data,
        )
        if done.exit_code == 0:
            return
        error = error or printable(done.stderr.removeprefix("error: "), 200)
    raise Invalid(f"the patch does not apply: {error or 'git apply failed'}")
