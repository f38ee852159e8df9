"""Read models' answers: predictions, logs of Inspect AI and Harbor, runs of coding agents, and folders they worked in.

Shapes as in SWE-agent 1.1.0 (``preds.json``, ``.pred``, ``.traj``), mini-SWE-agent 2.4.6 (``preds.json``,
``.traj.json``), and ``output.jsonl`` of OpenHands 0.62.0 and of OpenHands' benchmarks of June 2026. Where a provider or
a machine failed, a run has ``error`` and no patch: the files at that moment are not what the agent meant to submit.
"""

from __future__ import annotations

import itertools
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any

import msgspec

from lmr_author.core import files, foreign
from lmr_author.core.errors import LmrError
from lmr_author.core.parsing import NotParsed, json_data, yaml_data
from lmr_author.core.task import TaskInfo
from lmr_author.proof.evaluation.candidates import logs
from lmr_author.proof.evaluation.candidates.answer import MAX_ANSWER
from lmr_author.proof.evaluation.candidates.logs import AGENTS_OWN, MOST_BYTES, Answer

# runs of coding agents

_TRAJECTORIES = (".traj.json", ".traj")
_ENDINGS = (*_TRAJECTORIES, ".pred")
_NAMES = ("preds.json", "output.jsonl")
_OWN = AGENTS_OWN | {
    *("submitted", "exit_cost", "exit_context", "exit_format", "exit_forfeit", "exit_command"),
    *("exit_total_execution_time", "exit_command_timeout"),
    *("Submitted", "LimitsExceeded", "TimeExceeded", "RepeatedFormatError", "FormatError"),
}
"""Exit statuses of SWE-agent (lower case) and mini-SWE-agent for a finished run or a reached limit."""
_OWN_OF_OPENHANDS = re.compile(
    r"maximum iteration|maximum budget|AgentStuckInLoop|stuck|ContextWindowExceeded|ContentPolicyViolation|EvalTimeout"
    r"|^\W*Timeout \(",
    re.IGNORECASE,
)
"""Limits in OpenHands' errors, which have no codes."""
_CLASS = re.compile(r"\b\w*(?:Error|Exception|Timeout)\b")


def _is_json(path: Path) -> bool:
    return path.name.endswith((".json", *_ENDINGS))


def _find_runs(folder: Path) -> Iterator[tuple[Path, Path]]:
    for pattern in (*_NAMES, *(f"*{ending}" for ending in reversed(_ENDINGS))):
        for path in sorted(folder.rglob(pattern)):
            foreign.require_regular(path, MOST_BYTES)
            is_attempt = path.parent.name.startswith(
                "attempt_"
            )  # one of several, of which the run took the best
            if not is_attempt:
                yield path, path.parent if path.name in _NAMES else path.parent.parent


def _entries(path: Path, data: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(data, list):
        for number, entry in enumerate(data, 1):
            yield f"{path.name}, entry {number}", entry
    elif path.name.endswith(_TRAJECTORIES) or isinstance(_member(data, "info"), dict):
        yield path.name, _of_trajectory(path, data)
    elif isinstance(data, dict) and all(isinstance(entry, dict) for entry in data.values()):
        statuses = _statuses(path.parent)
        for name, entry in data.items():
            about = _beside(path.parent / name / name, statuses.get(name, ""))
            yield f"{path.name}, {name}", {"instance_id": name, **entry, **about}
    else:
        yield path.name, {**data, **_beside(path.with_suffix(""), "")} if isinstance(data, dict) else data


def _of_line(data: Any) -> Any:
    if not (isinstance(data, dict) and isinstance(data.get("test_result"), dict)):
        return data
    about = data.get("metadata")
    model = _member(_member(about, "llm"), "model") or _member(_member(about, "llm_config"), "model")
    answer: Answer = {
        "instance_id": data.get("instance_id", ""),
        "model": model or "OpenHands",
        "agent": _member(about, "agent_class") or "OpenHands",
        "setting": "agent",
    }
    error = str(data.get("error") or "")
    if error and not _OWN_OF_OPENHANDS.search(error):
        name = _CLASS.search(error)
        return {**answer, "error": name[0] if name else "OpenHandsError", "reason": error}
    return {**answer, "model_patch": data["test_result"].get("git_patch")}


def _of_trajectory(path: Path, data: Any) -> Answer:
    info = _member(data, "info")
    if not isinstance(info, dict):
        raise LmrError(f"{path}: not a trajectory", "name the .traj or .traj.json of a run")
    name = re.sub(r"\.traj(\.json)?$", "", path.name)
    model = _member(_member(_member(info, "config"), "model"), "model_name") or _model_of_replay(data)
    return {
        "instance_id": _member(data, "instance_id") or name,
        "model": model or path.resolve().parent.parent.name,
        **_ended(info),
    }


def _model_of_replay(data: Any) -> Any:
    try:
        return _member(
            _member(_member(json_data(_member(data, "replay_config") or "null"), "agent"), "model"), "name"
        )
    except (NotParsed, TypeError):
        return None


def _beside(place: Path, status: str) -> Answer:
    """Read how the run of a trajectory ended; without a trajectory, use its status."""
    for ending in _TRAJECTORIES:
        if files.is_file_inside(place.parent.parent, f"{place.parent.name}/{place.name}{ending}"):
            info = _member(files.read_json(place.parent / f"{place.name}{ending}"), "info")
            return _ended(info) if isinstance(info, dict) else {}
    return _failed(status, "") if status and not _is_own(status) else {}


def _ended(info: Answer) -> Answer:
    status = str(info.get("exit_status") or "NoExitStatus")
    agent = "mini-SWE-agent" if "mini_version" in info else "SWE-agent"
    patch = {"model_patch": info.get("submission")}
    failed = {} if _is_own(status) else _failed(status, str(info.get("exception_str") or ""))
    return {"agent": agent, "setting": "agent", **patch, **failed}


def _failed(status: str, reason: str) -> Answer:
    name = re.sub(r"^(?:Uncaught |submitted \()|\)$", "", status)
    return {"model_patch": None, "error": name, "reason": reason or f"the run ended with {status}"}


def _is_own(status: str) -> bool:
    """Return whether the agent or a limit ended the run, as in ``submitted (exit_cost)``."""
    return re.sub(r"^submitted \(|\)$", "", status) in _OWN


def _statuses(folder: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    for path in sorted(folder.glob("*exit_statuses*.yaml")):
        foreign.require_regular(path, MOST_BYTES)
        try:
            data = yaml_data(path.read_bytes(), as_text=True)
        except NotParsed:
            continue
        for status, names in (_member(data, "instances_by_exit_status") or {}).items():
            found |= dict.fromkeys(map(str, names), status)
    return found


def _member(data: Any, key: str) -> Any:
    return data.get(key) if isinstance(data, dict) else None


# predictions

_HINT = 'it needs "task", "model" and "code", or "instance_id", "model_name_or_path" and "model_patch"'
_OPTIONAL = ("agent", "setting", "input", "run", "error", "reason", "kind", "about")


@dataclass(frozen=True)
class Key:
    """The identity of an answer: two that differ in any field are two samples.

    Attributes:
        run: Inspect's eval, Harbor's trial, or the file of predictions.
        sample: number of the answer in that run, from 1.
    """

    task: str
    index: int
    model: str
    agent: str
    setting: str
    input: str
    run: str
    sample: int

    @classmethod
    def of(cls, answer: object) -> Key:
        return cls(**{each.name: getattr(answer, each.name) for each in fields(cls)})


@dataclass(frozen=True)
class Prediction:
    """One answer.

    Attributes:
        task: the task folder's name, or its number, as in the file.
        index: the implementation; 0 for all implementations.
        sample: number of the answer among those of one model to one implementation, from 1; 0 before it is known.
        agent, setting, input: agent, prompt setting and prompt input, as in a log; "" if not given.
        is_file: the code is the goal file that an agent left, not a reply.
        error, reason: name and message of the failure that left no answer; "" where there is one.
        kind, about: for ``challenge``: kind of the answer, such as ``misreading``, and its description.
    """

    task: str
    index: int
    model: str
    where: str
    sample: int = 0
    code: str = ""
    agent: str = ""
    setting: str = ""
    input: str = ""
    is_file: bool = False
    run: str = ""
    error: str = ""
    reason: str = ""
    kind: str = ""
    about: str = ""

    @property
    def key(self) -> Key:
        return Key.of(self)


class NoPredictionsError(LmrError):
    """A file or folder without predictions."""


@dataclass(frozen=True)
class PredictionSet:
    """The predictions of a file or folder.

    Attributes:
        items: for the known tasks: one for each implementation, samples numbered.
        elsewhere: names of other tasks, as in the file → number of predictions.
    """

    items: tuple[Prediction, ...]
    elsewhere: Mapping[str, int]

    @property
    def answered(self) -> list[Prediction]:
        return [prediction for prediction in self.items if not prediction.error]


def read(path: Path, tasks: Mapping[str, TaskInfo]) -> PredictionSet:
    """Return all predictions of a file or folder.

    Args:
        tasks: task folder's name → its ``info.json``.

    Raises LmrError: no such file, a line that is no prediction, nothing for these tasks.
    """
    if not path.exists():
        raise LmrError(f"{path} does not exist", "name the file or folder with the predictions")
    if not path.is_dir():
        foreign.require_regular(path, logs.MOST_BYTES, follow=True)
    if path.is_dir():
        predictions = list(_from_folder(path, tasks))
    elif path.suffix == ".py":
        predictions = list(_one_answer(path, tasks))
    else:
        predictions = list(_from_file(path))
    if not predictions:
        raise NoPredictionsError(
            f"{path} contains no predictions", "see docs/evaluating-models.md for the formats"
        )
    ours: list[Prediction] = []
    elsewhere: Counter[str] = Counter()
    for prediction in predictions:
        name = _find_task(prediction.task, tasks)
        if (
            name is None
            and not prediction.index
            and (match := logs.TASK_AND_INDEX.fullmatch(prediction.task))
        ):
            name = _find_task(match["task"], tasks)
            prediction = replace(prediction, index=int(match["index"])) if name else prediction
        if name is None:
            elsewhere[prediction.task] += 1
            continue
        indices = [implementation.index for implementation in tasks[name].implementations]
        if prediction.index and prediction.index not in indices:
            message = f"{prediction.where}: {name} has no implementation {prediction.index}"
            raise LmrError(message, f"it has {indices}")
        for index in [prediction.index] if prediction.index else indices:
            ours.append(replace(prediction, task=name, index=index))
    if not ours:
        named = ", ".join(sorted(elsewhere)[:5])
        raise LmrError(f"{path} has predictions only for other tasks: {named}", "name those tasks")
    return PredictionSet(tuple(_numbered(ours)), elsewhere)


def _one_answer(path: Path, tasks: Mapping[str, TaskInfo]) -> Iterator[Prediction]:
    """Yield a Python file as an answer to the functions of the task that it defines, or to all of them."""
    if len(tasks) != 1:
        raise LmrError(f"{path} is an answer to one of {len(tasks)} tasks", "name that task")
    ((name, info),) = tasks.items()
    code = path.read_text("utf-8", errors="replace")
    defined = []
    for implementation in info.implementations:
        function = implementation.qualname.rpartition(".")[2]
        if re.search(rf"\b(?:def|class)\s+{re.escape(function)}\b", code):
            defined.append(implementation)
    for implementation in defined or info.implementations:
        yield Prediction(name, implementation.index, path.stem, path.name, code=code)


def _find_task(text: str, tasks: Mapping[str, TaskInfo]) -> str | None:
    if text in tasks:
        return text
    matches = []
    for name, info in tasks.items():
        if text.lower() in (name.lower(), info.folder_name.lower(), str(info.instance_id)):
            matches.append(name)
    if len(matches) > 1:
        message = f"predictions for {text!r} may be for {' or '.join(matches)}"
        raise LmrError(message, "use the task's folder name in the predictions")
    return matches[0] if matches else None


def _numbered(predictions: Iterable[Prediction]) -> Iterator[Prediction]:
    taken: set[Key] = set()
    for prediction in predictions:
        numbers = itertools.count(1)
        while not prediction.sample or prediction.key in taken:
            prediction = replace(prediction, sample=next(numbers))
        taken.add(prediction.key)
        yield prediction


def _from_file(path: Path) -> Iterator[Prediction]:
    if logs.is_log(path):
        for where, data in logs.read(path):
            yield _prediction(data, where, "")
        return
    run = logs.run_of(path)
    with path.open("rb") as file:
        if file.read(64).lstrip()[:1] == b"[" or _is_json(path):
            for where, entry in _entries(path, files.read_json(path)):
                yield _prediction(entry, where, run)
            return
        file.seek(0)
        for number, line in enumerate(file, 1):
            where = f"{path.name}:{number}"
            if line.strip():
                try:
                    data = json_data(line)
                except NotParsed as error:
                    raise LmrError(
                        f"{where}: not JSON ({error.reason})", "each line is one prediction as JSON"
                    ) from error
                yield _prediction(_of_line(data), where, run)


class _Line(msgspec.Struct):
    """A line of predictions, with our keys or SWE-bench's.

    ``null`` as code means that the model gave no answer; with ``error``, that a provider or client failed.
    """

    task: str | int = ""
    instance_id: str | int = ""
    index: Annotated[int, msgspec.Meta(ge=0)] = 0
    model: str = ""
    model_name_or_path: str = ""
    sample: Annotated[int, msgspec.Meta(ge=0)] = 0
    code: str | msgspec.UnsetType | None = msgspec.UNSET
    model_patch: str | msgspec.UnsetType | None = msgspec.UNSET
    agent: str | None = None
    setting: str | None = None
    input: str | None = None
    is_file: bool = False
    run: str | None = None
    error: str | None = None
    reason: str | None = None
    kind: str | None = None
    about: str | None = None


def _prediction(data: Any, where: str, run: str) -> Prediction:
    try:
        line = msgspec.convert(data, _Line)
    except ValueError as error:  # msgspec's errors are ValueErrors
        raise LmrError(f"{where}: {error}", _HINT) from error
    task, model = str(line.task or line.instance_id), line.model or line.model_name_or_path
    if not task or not model:
        raise LmrError(f"{where}: no {'model' if task else 'task'}", _HINT)
    code = line.code or line.model_patch or ""
    if line.code is line.model_patch is msgspec.UNSET and not line.error:
        raise LmrError(f"{where}: has neither code nor a patch", _HINT)
    given = {name: getattr(line, name) or "" for name in _OPTIONAL}
    if code:  # any failure came after the answer
        given |= {"error": "", "reason": ""}
    given["run"] = given["run"] or run
    return Prediction(task, line.index, model, where, line.sample, code, is_file=line.is_file, **given)


def _from_folder(root: Path, tasks: Mapping[str, TaskInfo]) -> Iterator[Prediction]:
    # A log and its retry contain the same samples; one that failed in the first may have an answer in the other.
    logged = dict[Key, Prediction]()
    for path in logs.find(root):
        for prediction in _from_file(path):
            earlier = logged.get(prediction.key)
            if earlier is None or earlier.error:
                logged[prediction.key] = prediction
    yield from logged.values()
    taken: set[tuple[Path, str]] = set()
    for path, place in _find_runs(root):
        found = [each for each in _from_file(path) if (place, each.task) not in taken]
        taken |= {(place, each.task) for each in found}
        yield from found
    run = logs.run_of(root)
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
            goals = {part.index: _goal_text(repository, part.goal_file) for part in info.implementations}
            if any(goals.values()) or (folder / "info.json").is_file():
                names.remove(name)
                where = folder.relative_to(root)
                model = "/".join(where.parts[:-1]) or root.resolve().name
                for index, text in goals.items():
                    yield Prediction(task, index, model, where.as_posix(), code=text, is_file=True, run=run)


def _goal_text(repository: Path, goal_file: str) -> str:
    if not files.is_file_inside(repository, goal_file):
        return ""
    path = files.inside(repository, goal_file)
    return path.read_bytes().decode("utf-8", "replace") if path.stat().st_size <= MAX_ANSWER else ""
