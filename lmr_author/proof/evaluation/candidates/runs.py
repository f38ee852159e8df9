"""Answers in what coding agents leave: the patches of SWE-agent, mini-SWE-agent and OpenHands.

Shapes as in SWE-agent 1.1.0 (``preds.json``, ``.pred``, ``.traj``), mini-SWE-agent 2.4.6 (``preds.json``,
``.traj.json``), and ``output.jsonl`` of OpenHands 0.62.0 and of OpenHands' benchmarks of June 2026. An answer has the
keys of a line of predictions; where a provider or a machine failed it has ``error``, and no patch: what was there at
that moment is not what the agent meant to hand in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lmr_author.core import files, foreign
from lmr_author.core.errors import LmrError
from lmr_author.core.parsing import NotParsed, json_data, yaml_data
from lmr_author.proof.evaluation.candidates.logs import AGENTS_OWN, MOST_BYTES, Answer

_TRAJECTORIES = (".traj.json", ".traj")
_ENDINGS = (*_TRAJECTORIES, ".pred")
_NAMES = ("preds.json", "output.jsonl")
_OWN = AGENTS_OWN | {
    *("submitted", "exit_cost", "exit_context", "exit_format", "exit_forfeit", "exit_command"),
    *("exit_total_execution_time", "exit_command_timeout"),
    *("Submitted", "LimitsExceeded", "TimeExceeded", "RepeatedFormatError", "FormatError"),
}
"""How runs of SWE-agent (small letters) and mini-SWE-agent end by themselves or at a limit."""
_OWN_OF_OPENHANDS = re.compile(
    r"maximum iteration|maximum budget|AgentStuckInLoop|stuck|ContextWindowExceeded|ContentPolicyViolation|EvalTimeout"
    r"|^\W*Timeout \(",
    re.IGNORECASE,
)
"""Limits in OpenHands' errors, which are texts without a code."""
_CLASS = re.compile(r"\b\w*(?:Error|Exception|Timeout)\b")


def is_json(path: Path) -> bool:
    return path.name.endswith((".json", *_ENDINGS))


def find(folder: Path) -> Iterator[tuple[Path, Path]]:
    """Yield the files below a folder that hold answers, each with the folder of its run; the fullest kind first."""
    for pattern in (*_NAMES, *(f"*{ending}" for ending in reversed(_ENDINGS))):
        for path in sorted(folder.rglob(pattern)):
            foreign.require_regular(path, MOST_BYTES)
            is_attempt = path.parent.name.startswith(
                "attempt_"
            )  # one of several, of which the run took the best
            if not is_attempt:
                yield path, path.parent if path.name in _NAMES else path.parent.parent


def entries(path: Path, data: Any) -> Iterator[tuple[str, Any]]:
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


def of_line(data: Any) -> Any:
    """Return a line of OpenHands' ``output.jsonl`` as a line of predictions; any other as it is."""
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
    """Return how the run ended whose trajectory stands at a place; without one, by its status."""
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
    """Return true for a run that the agent ended, or a limit: ``submitted (exit_cost)`` is one."""
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
