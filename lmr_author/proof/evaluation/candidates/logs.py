"""Answers in the logs of engines: Inspect AI's ``.eval`` files, and the trials in Harbor's job folders.

Each becomes an object with the keys of a line of predictions (``task``, ``index``, ``model``, ``sample``, ``code``)
and of results (``category``, ``setting``, ``input``, ``outcome``, ``judge``, ``golden_share``, ``actions``). So
`judge --predictions`, `score` and `analyze` read a log as they read JSONL.
"""

from __future__ import annotations

import glob
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmr_author.core import files, foreign
from lmr_author.core.errors import LmrError, UnsafePathError
from lmr_author.proof.evaluation.candidates.answer import MAX_ANSWER

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample

ANSWER = "lmr_author:answer"
"""Key of a sample's store with the answer that an agent left; without it, the answer is the model's last message."""
MOST_BYTES = 2 * 2**30
"""Size of a log, or of a file of predictions or results."""
EDITOR_READS = "view"
_ACTIONS = {"bash": "run", "python": "run", "submit": "finish", "think": "message"}
"""Tool → kind of action in the paper's Figures 5 and 6; the editor's depend on its command."""
_TRIAL = "result.json"
_TASK_AND_INDEX = re.compile(r"(?P<task>.+)-(?P<index>\d+)")

Answer = dict[str, Any]


def is_log(path: Path) -> bool:
    """Return true for a log that :func:`read` reads."""
    return path.suffix == ".eval" or path.name == _TRIAL


def find(folder: Path) -> list[Path]:
    """Return the logs below a folder: of Inspect AI, and of Harbor's trials.

    Raises UnsafePathError for one that is a link, a pipe or a device, or too large.
    """
    trials = [path for path in folder.rglob(_TRIAL) if (path.parent / "artifacts").is_dir()]
    found = sorted([*folder.rglob("*.eval"), *trials])
    for path in found:
        foreign.require_regular(path, MOST_BYTES)
    return found


def read(path: Path) -> Iterator[tuple[str, Answer]]:
    """Yield each answer of a log with its place; one without ``code`` if the engine failed before there was any.

    Raises LmrError: not a log of our tasks, or Inspect AI is not installed.
    """
    if path.name == _TRIAL:
        yield str(path), _read_trial(path)
        return
    log = _read_inspect_log(path)
    for sample in log.samples or []:
        where = f"{path.name}, sample {sample.id} ({sample.epoch})"
        if not {"task", "index"} <= sample.metadata.keys():
            raise LmrError(f"{where}: not a sample of lmr-author's tasks", "leave this log out")
        yield where, _read_sample(log, sample)


def _read_inspect_log(path: Path) -> EvalLog:
    try:
        from inspect_ai.log import read_eval_log
    except ImportError as error:
        raise LmrError(
            f"reading {path.name} needs Inspect AI", "in the checkout of lmr-author: pip install '.[inspect]'"
        ) from error
    try:
        # The events are most of a log, and repeat what the messages say.
        return read_eval_log(path, resolve_attachments="core", exclude_fields={"events"})
    except Exception as error:  # a file that is cut off or no log: zipfile's, pydantic's and others' errors
        raise LmrError(
            f"{path} is no log of Inspect AI: {error}", "name a file that `inspect` wrote"
        ) from error


def _read_sample(log: EvalLog, sample: EvalSample) -> Answer:
    about = sample.metadata
    answer: Answer = {
        key: about[key] for key in ("task", "index", "category", "setting", "input") if key in about
    }
    answer["model"] = about.get("model") or log.eval.model
    answer["sample"] = about.get("sample") or sample.epoch
    if sample.error is None:
        answer["code"] = sample.store.get(ANSWER, sample.output.completion)
        answer["is_file"] = ANSWER in sample.store
    scores = sample.scores or {}
    if "unit_test" in scores:
        answer["outcome"] = (scores["unit_test"].metadata or {}).get("outcome", "infrastructure")
    if "judge" in scores:
        grade = scores["judge"].value
        answer["judge"] = grade if isinstance(grade, str) else "unparsable"
    if "golden_share" in scores:
        answer["golden_share"] = scores["golden_share"].value
    if actions := _count_actions(sample):
        answer["actions"] = actions
    return answer


def _count_actions(sample: EvalSample) -> Mapping[str, int]:
    """Count an agent's actions by kind; none in a sample without tool calls."""
    counts: Counter[str] = Counter()
    asked = [message for message in sample.messages if message.role == "assistant"]
    for message in asked:
        for call in message.tool_calls or []:
            edits = call.arguments.get("command") != EDITOR_READS
            editor = "edit" if edits else "read"
            counts[_ACTIONS.get(call.function, editor if call.function == "text_editor" else "run")] += 1
    if counts:
        counts["message"] += sum(not message.tool_calls for message in asked)
    return +counts


def _read_trial(path: Path) -> Answer:
    """Read a trial of a task that ``export --to harbor`` wrote: ``TASK-INDEX``."""
    trial = files.read_json(path)
    try:
        # The folder has the task's name as it is, task.toml in small letters: "lmr-author/1-dpo-1".
        names = [Path(trial["task_id"]["path"]).name, trial["task_name"].rpartition("/")[2]]
        agent = trial["agent_info"]
        model = (agent.get("model_info") or {}).get("name") or agent["name"]
        rewards = (trial.get("verifier_result") or {}).get("rewards") or {}
    except (TypeError, KeyError, AttributeError) as error:
        raise LmrError(f"{path}: not the result of a Harbor trial", "name a folder of Harbor jobs") from error
    match = next(filter(None, map(_TASK_AND_INDEX.fullmatch, names)), None)
    if match is None:
        raise LmrError(f"{path}: {names[0]} is no exported task", "they are named TASK-INDEX")
    outcome = "infrastructure"
    if "reward" in rewards:
        outcome = "passed" if rewards["reward"] == 1 else "failed"
    return {
        "task": match["task"],
        "index": int(match["index"]),
        "model": model,
        "sample": _number(path.parent),
        "setting": "agent",
        "input": "repository",
        "code": _read_artifact(path.parent / "artifacts"),
        "is_file": True,
        "outcome": outcome,
    }


def _number(trial: Path) -> int:
    """Number a trial, ``TASK-INDEX__RANDOM``, among those of the same task in a job."""
    alike = trial.parent.glob(f"{glob.escape(trial.name.partition('__')[0])}__*")
    return sorted(path.name for path in alike).index(trial.name) + 1 if "__" in trial.name else 1


def _read_artifact(folder: Path) -> str:
    """Return the goal file that a trial left, the only file collected from the repository; "" without one."""
    if folder.is_symlink():
        raise UnsafePathError(f"{folder} is a symbolic link", "replace it by the folder itself", folder)
    for path in files.walk(folder):
        if path.relative_to(folder).parts[0] == "workspace" and path.stat().st_size <= MAX_ANSWER:
            return path.read_text("utf-8", errors="replace")
    return ""
