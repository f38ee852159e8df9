"""``judge --keep``: keep solved of tried by model beside each task's gates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from lmr_author.core import locks
from lmr_author.core.task import Task, difficulty
from lmr_author.core.task.difficulty import ModelAnswers, short_name
from lmr_author.proof.evaluation.candidates.results import CandidateResult
from lmr_author.proof.evaluation.verdict import Outcome

_FAILURES = (Outcome.FAILED, Outcome.TIMEOUT, Outcome.CRASHED, Outcome.INVALID, Outcome.UNJUDGED)


def keep(
    tasks: Sequence[Task], results: Sequence[CandidateResult], source: Path, contents: Mapping[str, str]
) -> int:
    """Keep results in the tasks that they are for; return the number of these tasks.

    Args:
        contents: name of each task → digest of its content when judging began.
    """
    date = datetime.now(UTC).isoformat(timespec="seconds")
    name, kept = short_name(source.resolve().name), 0
    for task in tasks:
        own = [result for result in results if result.task == task.name]
        if not own:
            continue
        with locks.held(task.root):
            difficulty.keep(task, _by_model(own, name, date, contents[task.name]))
        kept += 1
    return kept


def _by_model(results: Sequence[CandidateResult], source: str, date: str, content: str) -> list[ModelAnswers]:
    counts: dict[tuple[str, str, int], Counter[Outcome]] = {}
    for result in results:
        condition = ", ".join(filter(None, (result.agent, result.setting, result.input)))
        key = short_name(result.model), short_name(condition) if condition else "", result.index
        counts.setdefault(key, Counter())[result.outcome] += 1
    kept = []
    for (model, condition, index), outcomes in counts.items():
        failures = {outcome.value: outcomes[outcome] for outcome in _FAILURES}
        passed = outcomes[Outcome.PASSED]
        kept.append(ModelAnswers(model, condition, index, source, date, content, solved=passed, **failures))
    return kept
