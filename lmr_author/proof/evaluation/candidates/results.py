"""Results of candidates: lines of ``results.jsonl``, pass rates, and the summary that a task keeps."""

from __future__ import annotations

import json
import math
import os
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import mean, variance
from typing import Any, Literal, NoReturn

from lmr_author.core import files, locks
from lmr_author.core.errors import LmrError
from lmr_author.core.parsing import NotParsed, json_data
from lmr_author.core.task import Task, difficulty
from lmr_author.core.task.challenge import CallDifference
from lmr_author.core.task.difficulty import ModelAnswers, short_name
from lmr_author.core.task.record import Record
from lmr_author.proof.evaluation.candidates.predictions import Key, Prediction
from lmr_author.proof.evaluation.verdict import CaseScore, Outcome

# pass rates

Z95 = 1.959963984540054
"""Two-sided 95 % quantile of the normal distribution."""


COUNTS = (1, 2, 5, 10, 20, 50, 100)
"""The k of pass@k, with the number of samples that every problem has."""


@dataclass(frozen=True)
class PassRate:
    """The mean over problems of the chance that one of k samples passes (pass@k), and its 95 % interval; 0 to 1."""

    share: float
    low: float
    high: float


def pass_at(samples: Collection[Sequence[bool]]) -> dict[int, PassRate]:
    """Measure pass@k for each k of :data:`COUNTS` up to the number of samples that every problem has, and for that one.

    A problem without samples has failed, whatever k is.
    """
    fewest = min((len(each) for each in samples if each), default=0)
    return {k: pass_rate(samples, k) for k in sorted({*COUNTS, fewest}) if 1 <= k <= fewest}


def pass_rate(samples: Collection[Sequence[bool]], k: int = 1) -> PassRate:
    """Measure pass@k over problems; samples of one problem are not independent.

    A problem's chance is the unbiased estimate of Chen and others (2021, https://arxiv.org/abs/2107.03374).
    The interval is Wilson's with the effective sample size ``share * (1 - share) / variance of the share``, which
    Franco, Little, Louis and Slud recommend for clustered samples (2019, https://pmc.ncbi.nlm.nih.gov/articles/PMC6690503).
    The effective size is at least the number of problems, as if all samples of a problem were one, and at most that of
    independent samples. So one sample for each problem gives Wilson's own interval, and problems with equal rates do
    not give an interval of width zero.

    Args:
        samples: for each problem, whether each of its samples passed: k or more, or none for a problem that failed.
    """
    if not samples:
        return PassRate(0.0, 0.0, 1.0)
    rates = [_chance(len(each), sum(each), k) for each in samples]
    problems, share = len(rates), mean(rates)
    most = problems**2 / sum(k / max(len(each), k) for each in samples)
    between = variance(rates) / problems if problems > 1 else 0.0
    within = share * (1 - share)
    size = max(problems, min(most, within / between)) if between else most if within else problems
    return PassRate(share, *wilson(share, size))


def _chance(samples: int, passed: int, k: int) -> float:
    """Return the chance that one of k samples, drawn without replacement, passes; 0 without samples."""
    return 1 - math.comb(samples - passed, k) / math.comb(samples, k) if samples else 0.0


def wilson(share: float, size: float) -> tuple[float, float]:
    """Wilson's 95 % score interval of a share (Wilson 1927, https://doi.org/10.1080/01621459.1927.10502953)."""
    z = Z95
    scale = 1 + z * z / size
    middle = (share + z * z / (2 * size)) / scale
    half = z / scale * math.sqrt(share * (1 - share) / size + z * z / (4 * size * size))
    return (0.0 if share == 0 else middle - half), (1.0 if share == 1 else middle + half)


# results

RESULTS = "results.jsonl"
ALL = "all"


@dataclass(frozen=True, kw_only=True)
class CandidateResult(Record):
    """The result of one candidate: schemas/candidate.schema.json.

    Attributes:
        agent, setting, input: agent, prompt setting and prompt input, as in a log.
        run: the client's run, or the file, with the answer.
        reason: why it did not pass, one line.
        error: name of the failure that left it unjudged, such as ``RateLimitError``.
        method: ``recorded cases`` or ``test script``.
        cases: in detail.
        generated: number of generated calls on which a passing answer was run.
        differs: the first of them on which it differs from the golden; does not affect the outcome.
        form: ``function`` or ``body``.
        kept: helpers and imports of the answer that were added.
        dropped: its other changes, which were not applied.
        seconds: duration.
        tries: attempts; more than one if the sandbox failed.
        environment: the sandbox's kind, versions and image.
        log: the end of its output.
        digest: SHA-256 of everything that determines it: task, answer, judge, environment, options.
    """

    format: Literal["lmr-candidate/1"] = "lmr-candidate/1"
    task: str
    index: int
    model: str
    sample: int
    category: str
    outcome: Outcome
    reason: str
    method: str = ""
    cases: tuple[CaseScore, ...] = ()
    generated: int = 0
    differs: CallDifference | None = None
    form: str = ""
    kept: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    seconds: float = 0.0
    tries: int = 1
    environment: Mapping[str, Any] = field(default_factory=dict)
    agent: str = ""
    setting: str = ""
    input: str = ""
    run: str = ""
    error: str = ""
    log: str = ""
    digest: str = ""

    @classmethod
    def unjudged(
        cls, prediction: Prediction, category: str, reason: str = "", error: str = ""
    ) -> CandidateResult:
        return cls(
            **asdict(prediction.key),
            category=category,
            outcome=Outcome.UNJUDGED,
            reason=reason,
            error=error,
        )

    @property
    def key(self) -> Key:
        return Key.of(self)

    @property
    def who(self) -> str:
        more = ", ".join(text for text in (self.agent, self.setting, self.input) if text)
        return f"{self.model} ({more})" if more else self.model


class Store:
    def __init__(self, path: Path) -> None:
        self._path = path
        earlier = load(path) if path.is_file() else []
        self.results: dict[Key, CandidateResult] = {result.key: result for result in earlier}

    def add(self, result: CandidateResult) -> None:
        """Append a result and flush it to disk."""
        self.results[result.key] = result
        with self._path.open("ab") as file:
            file.write(_line(result).encode("ascii"))
            file.flush()
            os.fsync(file.fileno())

    def is_judged(self, key: Key, digest: str) -> bool:
        earlier = self.results.get(key)
        return earlier is not None and earlier.digest == digest and earlier.outcome is not Outcome.UNJUDGED

    def tidy(self, order: Sequence[Key]) -> None:
        """Rewrite the file with one line per candidate, in the order of the predictions, others first."""
        ordered = set(order)
        first = [key for key in self.results if key not in ordered]
        keys = [*first, *(key for key in order if key in self.results)]
        files.write_text(self._path, "".join(_line(self.results[key]) for key in keys))


def _line(result: CandidateResult) -> str:
    return json.dumps(result.to_json(), ensure_ascii=True) + "\n"


@contextmanager
def opened(folder: Path) -> Iterator[Store]:
    """Open the results of a folder for appending, for one process at a time.

    A last line that was cut off when its writer was killed is removed.

    Raises LmrError: another process is writing there, or the file contains other data.
    """

    def refuse() -> NoReturn:
        hint = "wait for it, or choose another folder with --out"
        raise LmrError(f"another evaluation is writing to {folder}", hint)

    with locks.exclusive(folder / ".lock", refuse):
        path = folder / RESULTS
        if path.is_file():
            end = path.read_bytes().rfind(b"\n") + 1
            if end < path.stat().st_size:
                os.truncate(path, end)
        yield Store(path)


class JsonLines:
    """The non-blank lines of a JSONL file with their numbers.

    A last line without a line end that is not JSON was cut off, by a full disk or a kill, and is skipped.

    Attributes:
        cut: number of the skipped line, once all lines are read; 0 for none.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.cut = 0

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        with self._path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if not line.strip():
                    continue
                try:
                    data = json_data(line.decode("utf-8", "replace"))
                except NotParsed as error:
                    if not line.endswith(b"\n"):
                        self.cut = number
                        return
                    hint = "remove the line; `lmr-author judge` with the same --out judges its answer again"
                    raise LmrError(f"{self._path}:{number}: not JSON ({error})", hint) from error
                yield number, data


def load(path: Path) -> list[CandidateResult]:
    results = []
    for number, data in JsonLines(path):
        try:
            results.append(CandidateResult.from_json(data))
        except (ValueError, LmrError) as error:
            hint = "remove the line, or choose another folder with --out"
            raise LmrError(f"{path}:{number}: not a result ({error})", hint) from error
    return results


@dataclass(frozen=True)
class ScoreRow:
    """Candidates of one model in one category, or in ``all``.

    Attributes:
        problems: implementations with a verdict.
        unjudged: name of a failure → number of candidates that it left unjudged.
        differing: candidates that pass but differ from the golden on a generated call.
        share: mean over problems of the share of samples that pass.
        pass_at: k → pass@k, up to the judged samples that every problem has.
        most: the largest number of judged samples of a problem.
    """

    model: str
    category: str
    problems: int
    judged: int
    passed: int
    failed: int
    timeout: int
    crashed: int
    invalid: int
    unjudged: Mapping[str, int]
    differing: int
    share: float
    low: float
    high: float
    pass_at: Mapping[int, PassRate]
    most: int

    def to_json(self) -> dict[str, Any]:
        return {
            **asdict(self),
            **_rounded(self),
            "pass_at": {str(k): _rounded(rate) for k, rate in self.pass_at.items()},
        }


def _rounded(rate: ScoreRow | PassRate) -> dict[str, float]:
    return {name: round(getattr(rate, name), 4) for name in ("share", "low", "high")}


def summary(results: Iterable[CandidateResult]) -> list[ScoreRow]:
    groups: dict[tuple[str, str], list[CandidateResult]] = {}
    for result in results:
        for category in (ALL, result.category or "(no category)"):
            groups.setdefault((result.who, category), []).append(result)
    order = sorted(groups, key=lambda group: (group[0], group[1] == ALL, group[1]))
    return [_row(*group, groups[group]) for group in order]


def _row(model: str, category: str, members: Sequence[CandidateResult]) -> ScoreRow:
    samples: dict[tuple[str, int], list[bool]] = defaultdict(list)
    counts = Counter(result.outcome for result in members)
    for result in members:
        if result.outcome is not Outcome.UNJUDGED:
            samples[result.task, result.index].append(result.outcome is Outcome.PASSED)
    unjudged = Counter(result.error for result in members if result.outcome is Outcome.UNJUDGED)
    verdicts = {outcome.value: counts[outcome] for outcome in Outcome if outcome is not Outcome.UNJUDGED}
    return ScoreRow(
        model,
        category,
        problems=len(samples),
        judged=sum(verdicts.values()),
        unjudged=dict(unjudged.most_common()),
        differing=sum(result.differs is not None for result in members),
        **verdicts,
        **asdict(pass_rate(samples.values())),
        pass_at=pass_at(samples.values()),
        most=max(map(len, samples.values()), default=0),
    )


def in_words(unjudged: Mapping[str, int]) -> str:
    causes = ", ".join(f"{number} {name or 'unknown'}" for name, number in unjudged.items())
    return f"{sum(unjudged.values())} unjudged: {causes}" if causes else ""


# `judge --keep`

_FAILURES = (Outcome.FAILED, Outcome.TIMEOUT, Outcome.CRASHED, Outcome.INVALID, Outcome.UNJUDGED)


def keep(
    tasks: Sequence[Task], results: Sequence[CandidateResult], source: Path, contents: Mapping[str, str]
) -> int:
    """Store results in their tasks; return the number of these tasks.

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
