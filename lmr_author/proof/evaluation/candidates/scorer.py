"""Judge the candidates of a task, each in its own sandbox run."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from statistics import median
from typing import Any

from lmr_author import __version__
from lmr_author.core import code, files, locks, resources
from lmr_author.core.errors import LmrError, SandboxBuildError, SandboxError
from lmr_author.core.task import Progress, Task, TaskInfo
from lmr_author.core.task import recording as recorded
from lmr_author.core.task.challenge import CallDifference
from lmr_author.core.task.recording import Case
from lmr_author.proof.evaluation.candidates.fitting import FittedAnswer, Slot, fit
from lmr_author.proof.evaluation.candidates.hostile import HidingSandbox, suspicions
from lmr_author.proof.evaluation.candidates.predictions import Prediction
from lmr_author.proof.evaluation.candidates.reply import InvalidAnswer
from lmr_author.proof.evaluation.candidates.results import CandidateResult
from lmr_author.proof.evaluation.exploring import calls_for_answers
from lmr_author.proof.evaluation.judges import Judge, RecordingJudge, ScriptJudge
from lmr_author.proof.evaluation.trees import TargetTrees
from lmr_author.proof.evaluation.verdict import Outcome
from lmr_author.proof.targets import MaskedFunctions, masked_functions
from lmr_author.runtime.environment.build import ask_inventory
from lmr_author.runtime.environment.where import DOCKER, HERE, Where, prepare
from lmr_author.runtime.sandbox.base import Limits, Sandbox

_GRACE_SECONDS = 5
_OUTPUT_BYTES = 16 * 2**20
_LOG = 4000

Stop = Callable[[], bool]


class GoldenFailsError(LmrError):
    """The implementation's golden does not pass here, so no answer can be judged."""


@dataclass(frozen=True)
class CandidateOptions:
    """Options of judging candidates.

    Attributes:
        scheduler: address of a Dask scheduler, whose workers judge; "" for this machine.
        seconds: time limit of one case.
        memory_mb: of all processes (docker), of each (local).
        start_seconds: extra time for starting and importing; PyTorch imports slowly on a busy machine.
    """

    out: Path
    jobs: int = 1
    where: Where = HERE
    scheduler: str = ""
    seconds: float = 60.0
    memory_mb: int = 8192
    start_seconds: float = 180.0

    @property
    def that_matter(self) -> dict[str, Any]:
        return {
            "seconds": self.seconds,
            "memory_mb": self.memory_mb,
            "gpus": self.where.gpus,
            "base_image": self.where.base_image,
            "python": str(self.where.python or "") if self.scheduler else "",
        }

    def limits(self, cases: Sequence[Case] = ()) -> Limits:
        return Limits(
            seconds=self.start_seconds + self.seconds * (len(cases) or 1),
            memory_mb=self.memory_mb,
            output_bytes=_OUTPUT_BYTES + 8 * sum(case.bytes for case in cases),
        )


class Scorer:
    """Judges the candidates of one implementation; thread-safe.

    Args:
        others: other masked functions of the same goal file.
    """

    def __init__(self, trees: TargetTrees, options: CandidateOptions, others: tuple[str, ...] = ()) -> None:
        self.trees = trees
        self.options = options
        self._others = others
        self._lock = threading.RLock()
        self._cost = 0.0
        self.judge: Judge
        if trees.recording is not None:
            self.judge = RecordingJudge(trees, trees.recording)
            self._limits = options.limits(trees.recording.cases)
        else:
            self.judge = ScriptJudge(trees)
            self._limits = options.limits()

    def check(self) -> None:
        """Run the golden, so that a broken task or environment does not count as wrong answers.

        Raises GoldenFailsError: it does not pass. SandboxError: the sandbox failed.
        """
        trees = self.trees
        if not trees.sandbox.isolating:
            raise SandboxError(
                "this sandbox does not isolate, and candidates are hostile code",
                "install bubblewrap (Debian: apt install bubblewrap), or use --sandbox docker",
            )
        if not trees.pairs:
            raise GoldenFailsError(
                "the target cannot be identified in golden and goal file", "run `lmr-author validate`"
            )
        if isinstance(self.judge, RecordingJudge):
            problems = recorded.tampered(trees.recording_folder, self.judge.recording)
            if problems:
                raise GoldenFailsError(f"the recording was changed: {problems[0]}", "record again")
        verdict = self.judge.golden(seed=0, limits=self._limits)
        if not verdict.passed:
            raise GoldenFailsError(
                f"its golden does not pass: {verdict.reason}", verdict.hint or "run `lmr-author evaluate`"
            )
        self._cost = median(case.seconds for case in verdict.cases)
        if isinstance(self.judge, ScriptJudge):
            seconds = self.options.seconds + 5 * verdict.seconds + _GRACE_SECONDS
            self._limits = replace(self._limits, seconds=seconds)

    def score(self, prediction: Prediction, stop: Stop) -> CandidateResult:
        """Judge a prediction; call :meth:`check` first.

        Args:
            stop: polled while it runs; True ends it.

        Raises SandboxError: the sandbox failed. KeyboardInterrupt: it was ended by ``stop``.
        """
        started = time.monotonic()
        result = CandidateResult.unjudged(prediction, self.trees.implementation.category)
        try:
            fitted = self.fit(prediction)
        except InvalidAnswer as error:
            result = replace(result, outcome=Outcome.INVALID, reason=error.message)
        else:
            result = replace(result, form=fitted.form, kept=fitted.kept, dropped=fitted.dropped)
            result = self._judged(result, fitted, stop)
        return replace(result, method=self.judge.method, seconds=round(time.monotonic() - started, 3))

    def _judged(self, result: CandidateResult, fitted: FittedAnswer, stop: Stop) -> CandidateResult:
        """Judge an answer; once more if a case timed out, as the machine may have been busy.

        Not if the whole run was killed: a hostile answer may stop its replayer to get another try.
        """
        if fitted.unchanged:
            reason = "nothing was implemented: the target is still masked"
            return replace(result, outcome=Outcome.FAILED, reason=reason)
        verdict = self.judge.answer(fitted.data, fitted.line, self._limits, stop)
        if verdict.outcome is Outcome.TIMEOUT and not verdict.cut_short:
            verdict = self.judge.answer(fitted.data, fitted.line, self._limits, stop)
        outcome, reason = verdict.outcome, verdict.reason
        if verdict.passed and isinstance(self.judge, ScriptJudge):
            trees, goal_file = self.trees, self.trees.implementation.goal_file
            used = suspicions(fitted.data, trees.golden_overlay[goal_file], trees.masked_overlay[goal_file])
            if used:
                outcome = Outcome.INVALID
                reason = f"passes a test whose verdict it could forge, and uses {', '.join(used[:5])}"
        result = replace(result, outcome=outcome, reason=reason, cases=verdict.cases, log=verdict.log[-_LOG:])
        return self._on_generated_calls(result, fitted, stop) if verdict.passed else result

    def _on_generated_calls(
        self, result: CandidateResult, fitted: FittedAnswer, stop: Stop
    ) -> CandidateResult:
        """Note the first generated call on which a passing answer differs; its verdict does not change.

        A separate run: a crash here must not end the run of the cases.
        """
        try:
            with self._lock:
                further = self._generated_calls
            if further is None:
                return result
            cases = further.recording.cases
            limits = replace(self.options.limits(cases), seconds=self._limits.seconds)
            verdict = further.answer(fitted.data, fitted.line, limits, stop)
        except SandboxError:
            return result
        differs = None
        for case, score in zip(cases, verdict.cases, strict=False):
            if score.outcome in (Outcome.FAILED, Outcome.CRASHED) and not verdict.cut_short:
                differs = CallDifference(case.call, message=score.reason, made_of=case.made_of)
                break
        return replace(result, generated=len(cases), differs=differs)

    @cached_property
    def _generated_calls(self) -> RecordingJudge | None:
        if not isinstance(self.judge, RecordingJudge):
            return None
        return calls_for_answers(self.judge, self._cost, self.trees.folder("generated"))

    def fit(self, prediction: Prediction) -> FittedAnswer:
        return fit(prediction.code, self._slot, is_file=prediction.is_file)

    @cached_property
    def _slot(self) -> Slot:
        trees, goal_file = self.trees, self.trees.implementation.goal_file
        path = trees.task.goal(trees.info, trees.implementation)
        shown = code.Module.parse(path.read_bytes() if path.is_file() else b"", goal_file)
        return Slot(trees.masked_module, tuple(masked for _, masked in trees.pairs), shown, self._others)


class TaskScorer:
    """A task whose candidates are judged: its sandbox, and a scorer for each implementation, created on demand."""

    def __init__(self, task: Task, options: CandidateOptions, say: Progress) -> None:
        self.task = task
        self.options = options
        self.environment: Mapping[str, Any] = {"kind": options.where.kind}
        self._say = say
        self.info: TaskInfo
        resolved: tuple[MaskedFunctions, ...]
        self.info, resolved = masked_functions(task)
        self._resolved = {intended.implementation.index: intended for intended in resolved}
        self._stack = ExitStack()
        self._sandbox: Sandbox | None = None
        self._broken: SandboxError | None = None
        self._scorers: dict[int, Scorer | GoldenFailsError] = {}
        self._lock = threading.RLock()

    @cached_property
    def content(self) -> str:
        return self.task.content_digest()

    def digest(self, prediction: Prediction) -> str:
        """Return the SHA-256 of everything that makes the result of a prediction. Prepares the environment.

        On a cluster the workers prepare it, and the Dockerfile or the interpreter's path represent it here.
        """
        if not self.options.scheduler:
            self._prepare()
        parts = {
            "tool": __version__,
            "probe": _probe_digest(),
            "task": self.content,
            "index": prediction.index,
            "answer": files.sha256_bytes(
                f"{'file' if prediction.is_file else 'code'}\0{prediction.code}".encode(
                    "utf-8", "surrogatepass"
                )
            ),
            "environment": dict(self.environment),
            "options": self.options.that_matter,
        }
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    def score(self, prediction: Prediction, stop: Stop) -> CandidateResult:
        """Judge a prediction. Prepares the environment and runs the golden before the first one.

        Raises GoldenFailsError, SandboxError, KeyboardInterrupt, as :meth:`ready` and :meth:`Scorer.score`.
        """
        return self.ready(prediction.index).score(prediction, stop)

    def ready(self, index: int) -> Scorer:
        """Return the scorer of an implementation, in a prepared environment and with a golden that passes.

        Raises GoldenFailsError: its golden does not pass. SandboxError: the sandbox failed.
        """
        with self._lock:
            self._prepare()
            if self._broken is not None:
                raise self._broken
            if index not in self._scorers:
                self._scorers[index] = self._checked(index)
            scorer = self._scorers[index]
        if isinstance(scorer, GoldenFailsError):
            raise scorer
        return scorer

    def unjudged(self, prediction: Prediction, reason: str, error: str) -> CandidateResult:
        category = self._resolved[prediction.index].implementation.category
        unjudged = CandidateResult.unjudged(prediction, category, reason, error)
        return replace(unjudged, environment=self.environment)

    def close(self) -> None:
        with self._lock:
            self._stack.close()

    def _prepare(self) -> None:
        """Prepare the environment once; raise a failure of the task itself again for each candidate."""
        with self._lock:
            if self._sandbox is not None or self._broken is not None:
                return
            self._say(f"{self.task.name}: preparing the environment")
            where = self.options.where
            sandbox: Sandbox = self._stack.enter_context(where.sandbox(self.task, self.info))
            try:
                with locks.held(self.task.root):  # a build writes its log there; judging writes nothing
                    facts = dict(prepare(sandbox, self._say))
                asked = ask_inventory(sandbox)
                if where.kind == DOCKER:
                    sandbox = self._stack.enter_context(HidingSandbox(sandbox))
            except SandboxBuildError as error:
                self._broken = error
                return
            known_facts = {name: facts.get(name, "") for name in ("isolation", "python", "image")}
            versions = {"torch": asked.torch, "numpy": asked.numpy, "cuda": asked.cuda}
            named = {"kind": where.kind, **known_facts, **versions}
            self.environment = {name: text for name, text in named.items() if text}
            self._sandbox = sandbox

    def _checked(self, index: int) -> Scorer | GoldenFailsError:
        resolved = self._resolved[index]
        others: list[str] = []
        for other in self._resolved.values():
            same_file = other.implementation.goal_file == resolved.implementation.goal_file
            if same_file and other is not resolved:
                others += other.qualnames
        assert self._sandbox is not None
        trees = TargetTrees(
            self.task,
            self.info,
            resolved.implementation,
            self._sandbox,
            self.options.seconds,
            qualnames=resolved.qualnames,
        )
        self._say(f"{self.task.name} {index}: running the golden")
        try:
            self._stack.enter_context(trees)
            scorer = Scorer(trees, self.options, tuple(others))
            scorer.check()
            return scorer
        except SandboxError:
            raise
        except LmrError as error:
            return GoldenFailsError(error.message, error.hint)


@cache
def _probe_digest() -> str:
    folder = resources.probe_folder()
    digests = [files.sha256_file(path) for path in files.walk(folder) if path.suffix == ".py"]
    return files.sha256_bytes("\n".join(digests).encode())
