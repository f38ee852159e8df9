"""Read answers from logs: Inspect AI's ``.eval`` files, and the trials in Harbor's job folders.

Each becomes an object with the keys of a line of predictions (``task``, ``index``, ``model``, ``agent``, ``run``,
``sample``, ``code``) and of results (``category``, ``setting``, ``input``, ``outcome``, ``judges``, ``golden_share``,
``actions``, ``usage``). So `judge` and `analyze` read a log as they read JSONL.

If a provider, client or machine failed, ``outcome`` is ``unjudged``, ``error`` names the failure and ``reason``
explains it; without ``code`` there is no answer to judge. Limits that a model or an agent reached, refusals and content
filters are its own failures: its last state is its answer.
"""

from __future__ import annotations

import glob
import math
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmr_author.core import files, foreign
from lmr_author.core.errors import LmrError, UnsafePathError
from lmr_author.proof.evaluation.candidates.answer import MAX_ANSWER
from lmr_author.proof.evaluation.verdict import Outcome

if TYPE_CHECKING:
    from inspect_ai.log import EvalError, EvalLog, EvalSample
    from inspect_ai.model import ModelOutput, ModelUsage
    from inspect_ai.scorer import Score

ANSWER = "lmr_author:answer"
"""Key of a sample's store with an agent's answer; without it, the answer is the model's last message."""
MOST_BYTES = 2 * 2**30
"""Size of a log, or of a file of predictions or results."""
BROKEN = "broken"
"""In a sample's metadata: why no prompt could be made; the key ``error`` names the failure."""
NO_OUTPUT = "NoModelOutput"
"""Name of the failure if a provider returned no output and no reason."""
AGENTS_OWN = frozenset(
    {
        "AgentTimeoutError",
        "NonZeroAgentExitCodeError",
        "ContextWindowExceededError",
        "ContextLengthExceededError",
        "OutputTokenExceededError",
        "OutputLengthExceededError",
        "AgentSafetyRefusalError",
        "ContentPolicyViolationError",
    }
)
"""Exceptions of a Harbor trial caused by the agent or the model: limits and refusals, as in Harbor 0.26's
harbor.models.trial.error_policy. Harbor blames the agent for unknown ones; here the machine is blamed."""
EDITOR_READS = "view"
_ACTIONS = {"bash": "run", "python": "run", "submit": "finish", "think": "message"}
"""Tool → kind of action in the paper's Figures 5 and 6; the editor's kind depends on its command."""
_TRIAL = "result.json"
_OF_TRIALS = ("artifacts", "exception.txt")
"""Beside a trial's result, not a job's: the collected files, or why there are none."""
TASK_AND_INDEX = re.compile(r"(?P<task>.+)-(?P<index>\d+)")
"""Name of one implementation of a task for harnesses with one name per problem."""

Answer = dict[str, Any]


def is_log(path: Path) -> bool:
    return path.suffix == ".eval" or path.name == _TRIAL


def find(folder: Path) -> list[Path]:
    """Return the logs of Inspect AI and of Harbor's trials below a folder.

    Raises UnsafePathError for a link, a pipe, a device, or a log that is too large.
    """
    trials = [
        path for path in folder.rglob(_TRIAL) if any((path.parent / name).exists() for name in _OF_TRIALS)
    ]
    found = sorted([*folder.rglob("*.eval"), *trials])
    for path in found:
        foreign.require_regular(path, MOST_BYTES)
    return found


def run_of(path: Path) -> str:
    """Return the run of the answers in a file or folder that name none: its name and path."""
    name = os.fsencode(path.name).decode("utf-8", "replace")
    return f"{name}@{files.sha256_bytes(os.fsencode(path.resolve()))[:8]}"


def read(path: Path) -> Iterator[tuple[str, Answer]]:
    """Yield each answer of a log with its location.

    Raises LmrError: not a log of our tasks, or Inspect AI is not installed.
    """
    if path.name == _TRIAL:
        yield str(path), _read_trial(path)
        return
    log = _read_inspect_log(path)
    for sample in log.samples or []:
        where = f"{path.name}, sample {sample.id} ({sample.epoch})"
        if not {"task", "index"} <= sample.metadata.keys():
            raise LmrError(f"{where}: not a sample of an lmr-author task", "leave this log out")
        yield where, _read_sample(log, sample)


def _read_inspect_log(path: Path) -> EvalLog:
    try:
        from inspect_ai.log import read_eval_log
    except ImportError as error:
        raise LmrError(
            f"reading {path.name} needs Inspect AI", "in the checkout of lmr-author: pip install '.[inspect]'"
        ) from error
    try:
        # The events are most of a log and repeat the messages.
        return read_eval_log(path, resolve_attachments="core", exclude_fields={"events"})
    except Exception as error:  # a file that is cut off or no log: zipfile's, pydantic's and others' errors
        raise LmrError(
            f"{path} is not an Inspect AI log: {error}", "name a file that `inspect` wrote"
        ) from error


def _read_sample(log: EvalLog, sample: EvalSample) -> Answer:
    about, scores = sample.metadata, sample.scores or {}
    answer: Answer = {
        key: about[key] for key in ("task", "index", "category", "setting", "input") if key in about
    }
    answer["model"] = about.get("model") or log.eval.model
    answer["agent"] = log.eval.solver or about.get("agent") or ""
    # `eval-retry` keeps the task's id and copies finished samples: they must not count twice.
    answer["run"] = about.get("run") or log.eval.task_id
    answer["sample"] = about.get("sample") or sample.epoch
    if "unit_test" in scores:
        verdict = scores["unit_test"].metadata or {}
        answer["outcome"] = verdict.get("outcome", Outcome.UNJUDGED.value)
        answer["error"], answer["reason"] = verdict.get("error", ""), verdict.get("reason", "")
    if failure := _failure(sample):
        answer["outcome"] = Outcome.UNJUDGED.value
        answer["error"], answer["reason"] = failure
    else:
        answer["code"] = sample.store.get(ANSWER, sample.output.completion)
        answer["is_file"] = ANSWER in sample.store
    answer["judges"] = _grades_of_judges(scores)
    answer["usage"] = _usage(sample)
    share = scores["golden_share"].value if "golden_share" in scores else None
    if isinstance(share, int | float) and math.isfinite(share):  # NaN where nothing was scored
        answer["golden_share"] = share
    if actions := _count_actions(sample):
        answer["actions"] = actions
    return answer


def _grades_of_judges(scores: Mapping[str, Score]) -> dict[str, str]:
    """Return the grade by judge: its model, and its prompt unless it is the default.

    ``inspect score --action append`` names the score of a second judge ``judge1``.
    """
    grades: dict[str, str] = {}
    for score_name, score in scores.items():
        if not re.fullmatch(r"judge\d*", score_name) or not isinstance(score.value, str):
            continue
        about = score.metadata or {}
        prompt = str(about.get("prompt", "")).partition("@")[0]
        name = about.get("grader", "") + (f" ({prompt})" if prompt not in ("", "function") else "")
        grades[f"{name} {score_name}" if name in grades else name] = score.value
    return grades


def _usage(sample: EvalSample) -> dict[str, float | None]:
    """Return a sample's usage without the grader's tokens; its time excludes waits and includes scoring."""
    of_model = [*sample.model_usage.values()]
    grader = sample.role_usage.get("grader")
    usage: dict[str, float | None] = {"seconds": sample.working_time}
    if of_model:
        costs = [each.total_cost for each in of_model if each.total_cost is not None]
        usage |= {
            "tokens_in": sum(map(_tokens_in, of_model)) - (_tokens_in(grader) if grader else 0),
            "tokens_out": sum(each.output_tokens for each in of_model)
            - (grader.output_tokens if grader else 0),
            "cost": sum(costs) - ((grader.total_cost or 0) if grader else 0) if costs else None,
        }
    return usage


def _tokens_in(usage: ModelUsage) -> int:
    return usage.input_tokens + (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)


def _failure(sample: EvalSample) -> tuple[str, str] | None:
    if BROKEN in sample.metadata:
        return sample.metadata.get("error") or BROKEN, sample.metadata[BROKEN]
    if sample.error is not None:  # with `--score-on-error` it has scores, too
        return name_of_error(sample.error), sample.error.message
    has_answer = sample.limit is not None or ANSWER in sample.store
    return None if has_answer else missing_output(sample.output)


def missing_output(output: ModelOutput) -> tuple[str, str] | None:
    """Return name and message if a provider returned no output at all, or stopped without text and reason.

    A refusal or a filter has a reason to stop, and is the model's answer.
    """
    ended = bool(output.choices) and (output.completion.strip() or output.stop_reason != "unknown")
    return None if ended else (NO_OUTPUT, output.error or "the provider returned no output")


def name_of_error(error: EvalError) -> str:
    """Return the class of an error, without its module: the last name in its traceback."""
    names = re.findall(r"^(?:\w+\.)*(\w+)(?::|$)", error.traceback, re.MULTILINE)
    return names[-1] if names else "Error"


def _count_actions(sample: EvalSample) -> Mapping[str, int]:
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
    trial = files.read_json(path)
    try:
        # The folder has the task's name, task.toml its lower-case form: "lmr-author/1-dpo-1".
        names = [Path(trial["task_id"]["path"]).name, trial["task_name"].rpartition("/")[2]]
        agent = trial["agent_info"]
        model = (agent.get("model_info") or {}).get("name") or agent["name"]
        answer: Answer = {"model": model, "agent": agent["name"], **_verdict_of_trial(path, trial)}
        answer["usage"] = _usage_of_trial(trial)
    except (TypeError, KeyError, ValueError, AttributeError) as error:
        raise LmrError(f"{path}: not the result of a Harbor trial", "name a folder of Harbor jobs") from error
    match = next(filter(None, map(TASK_AND_INDEX.fullmatch, names)), None)
    if match is None:
        raise LmrError(f"{path}: {names[0]} is not an exported task", "exported tasks are named TASK-INDEX")
    place = {"task": match["task"], "index": int(match["index"]), "sample": _number(path.parent)}
    return {
        **answer,
        **place,
        "run": trial.get("id") or run_of(path.parent),
        "setting": "agent",
        "input": "repository",
    }


def _verdict_of_trial(path: Path, trial: Answer) -> Answer:
    """Return outcome, error and code of a trial.

    A failure after the verifier began leaves the agent's work intact: `judge` can still judge it.
    """
    rewards = (trial.get("verifier_result") or {}).get("rewards") or {}
    failure = trial.get("exception_info")
    verifying = (trial.get("verifier") or {}).get("started_at")
    code = {"code": _read_artifact(path.parent / "artifacts"), "is_file": True}
    if failure and _is_agents_own(failure):
        failure = None if "reward" in rewards else failure
    elif failure and not (verifying and _time(failure["occurred_at"]) >= _time(verifying)):
        code = {}
    if failure:
        about = {"error": failure["exception_type"], "reason": failure["exception_message"]}
        return {"outcome": Outcome.UNJUDGED.value, **about, **code}
    if "reward" not in rewards:
        return code
    return {"outcome": (Outcome.PASSED if rewards["reward"] == 1 else Outcome.FAILED).value, **code}


def _usage_of_trial(trial: Answer) -> dict[str, float | None]:
    """Return the agent's usage; input tokens include cached ones."""
    took, phase = trial.get("agent_result") or {}, trial.get("agent_execution") or {}
    started, finished = phase.get("started_at"), phase.get("finished_at")
    return {
        "tokens_in": took.get("n_input_tokens"),
        "tokens_out": took.get("n_output_tokens"),
        "cost": took.get("cost_usd"),
        "seconds": (_time(finished) - _time(started)).total_seconds() if started and finished else None,
    }


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _is_agents_own(failure: Answer) -> bool:
    policy = failure.get("policy_override") or {}
    return bool(policy.get("has_valid_reward", failure["exception_type"] in AGENTS_OWN))


def _number(trial: Path) -> int:
    alike = trial.parent.glob(f"{glob.escape(trial.name.partition('__')[0])}__*")
    return sorted(path.name for path in alike).index(trial.name) + 1 if "__" in trial.name else 1


def _read_artifact(folder: Path) -> str:
    """Return the goal file that a trial left, the only one collected from the repository; "" if missing."""
    if folder.is_symlink():
        raise UnsafePathError(f"{folder} is a symbolic link", "replace it with the folder itself", folder)
    for path in files.walk(folder):
        if path.relative_to(folder).parts[0] == "workspace" and path.stat().st_size <= MAX_ANSWER:
            return path.read_text("utf-8", errors="replace")
    return ""
