"""The gates, in the order in which they run. The one-line docstring of each states when it passes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from lmr_author.core import files
from lmr_author.core.errors import LmrError, SandboxError
from lmr_author.core.task import GateResult, GateStatus, Progress
from lmr_author.core.task import recording as recorded
from lmr_author.core.task.evaluation import NOTHING, GateDetail, OwnTest
from lmr_author.core.texts import Step
from lmr_author.proof.evaluation.judges import Judge, ScriptJudge, judges_for
from lmr_author.proof.evaluation.trees import TargetTrees
from lmr_author.proof.evaluation.verdict import UnprovenGate, Verdict
from lmr_author.runtime.environment.failures import Failure, explain
from lmr_author.runtime.replay import replaying

NO_GUARANTEE = (
    "it shares a process with the code it judges, which can read the expected values and forge the verdict: "
    "it catches mistakes, not cheating"
)
"""The limits of a test script."""


@dataclass
class TargetUnderGates:
    """An implementation while its gates run.

    Attributes:
        golden: verdicts of the golden's runs; filled by golden-passes, read by those after it.
        masked: verdict of the deciding judge about the masked repository; filled by masked-fails.
    """

    trees: TargetTrees
    repeats: int
    golden: list[Verdict] = field(default_factory=list)
    masked: Verdict | None = None

    @cached_property
    def judges(self) -> Sequence[Judge]:
        """The judges, the deciding one first. They trust the recording, so it must be untampered."""
        return judges_for(self.trees)

    @property
    def handwritten(self) -> bool:
        return self.trees.recording is None

    def own_test(self, verdicts: Iterable[Verdict]) -> OwnTest | None:
        if not self.handwritten:
            return None
        run = list(verdicts)
        return OwnTest(
            len(run), sum(verdict.by_exit_code for verdict in run), sum(verdict.by_log for verdict in run)
        )


Gate = Callable[[TargetUnderGates], GateResult]
"""Proves a property by running code; raises UnprovenGate if that is impossible here."""


def passed(message: str, detail: GateDetail = NOTHING) -> GateResult:
    return GateResult("", GateStatus.PASSED, message, detail=detail)


def failed(message: str, hint: str, detail: GateDetail = NOTHING) -> GateResult:
    return GateResult("", GateStatus.FAILED, message, hint, detail=detail)


def unproven(message: str, hint: str, detail: GateDetail = NOTHING) -> GateResult:
    return GateResult("", GateStatus.UNPROVEN, message, hint, detail=detail)


def untampered(on: TargetUnderGates) -> GateResult:
    """Tests and expected outputs are the recorded ones."""
    trees = on.trees
    if trees.recording is None:
        if not trees.task.unit_test(trees.info, trees.implementation).is_file():
            return failed("neither a recording nor a test", "run `lmr-author record`")
        return passed(f"hand-written test without a recording; {NO_GUARANTEE}")
    if not trees.recording.cases:
        return failed("the recording has no cases", "record again: `lmr-author record --force`")
    problems = recorded.tampered(trees.recording_folder, trees.recording)
    if problems:
        hint = "record again: `lmr-author record --force`"
        return failed("; ".join(problems[:3]), hint, GateDetail(files=tuple(problems)))
    count = sum(len(case.files) for case in trees.recording.cases)
    return passed(f"{count} files of {len(trees.recording.cases)} cases unchanged since recording")


def golden_passes(on: TargetUnderGates) -> GateResult:
    """The golden passes N times with the same outputs."""
    trees, repeats, judge = on.trees, on.repeats, on.judges[0]
    for number in range(repeats):
        line = f"golden-passes, run {number + 1} of {repeats}: {trees.implementation.target}"
        trees.progress(Step(line, number, repeats))
        verdict = judge.golden(seed=number)
        on.golden.append(verdict)
        if not verdict.passed:
            lock = files.read_text_or_empty(trees.task.lock)
            return _golden_failed(verdict, number + 1, repeats, on.own_test(on.golden), lock)
    for other in on.judges[1:]:
        verdict = other.golden(seed=0)
        if not verdict.passed:
            return failed(
                f"{other.method}: {verdict.reason}",
                "the shipped test file must also pass on the golden; record again",
                GateDetail(log=verdict.log[-4000:]),
            )
    if isinstance(judge, ScriptJudge):
        signs = ", ".join(["exit code 0", *sorted(judge.passing.evidence if judge.passing else ())])
        message = f"passed {repeats} of {repeats} runs (test script: {signs})"
        return passed(message, GateDetail(own_test=on.own_test(on.golden)))
    same = len({verdict.identity for verdict in on.golden}) == 1
    how = "bit-identical" if same and on.golden[0].identity else "within the tolerances"
    message = f"passed {repeats} of {repeats} runs ({judge.method}), outputs {how}"
    return passed(message, GateDetail(bitwise=same))


def _golden_failed(verdict: Verdict, number: int, repeats: int, own: OwnTest | None, lock: str) -> GateResult:
    detail = GateDetail(log=verdict.log[-4000:], own_test=own)
    if verdict.obstacle and number == 1:
        message = f"the test cannot run here: {verdict.obstacle} ({verdict.reason})"
        return unproven(message, verdict.hint, detail)
    lacking = explain(Failure("import", "", verdict.reason, lock=lock))
    because = f"{lacking.cause}: {lacking.advice}" if lacking else ""
    hint = verdict.hint or because or "the function may draw from an unseeded random generator; see the log"
    if number > 1:
        hint = "the result varies between runs: seed every random generator that the test and the target use"
    return failed(f"run {number} of {repeats}: {verdict.reason or 'no outcome'}", hint, detail)


def masked_fails(on: TargetUnderGates) -> GateResult:
    """The masked repository fails every test because of the mask, not because of an import."""
    reason, own = "", None
    for judge in on.judges:
        verdict = judge.masked()
        reason, own = reason or verdict.reason, on.own_test([verdict])
        on.masked = on.masked or verdict
        if verdict.passed:
            return failed(
                f"the masked repository passes ({judge.method})",
                "make the test depend on what the function returns",
                GateDetail(passes=True, own_test=own),
            )
        if not verdict.by_mask:
            return failed(
                f"the masked repository fails, but not because of the mask: {verdict.reason}",
                "the masked file must still import, and the test must reach the masked function",
                GateDetail(log=verdict.log[-4000:], own_test=own),
            )
    if not on.handwritten:
        return passed("every case raises the mask's NotImplementedError")
    return passed(f"fails, and only the mask differs from the golden: {reason}", GateDetail(own_test=own))


def target_entered(on: TargetUnderGates) -> GateResult:
    """The test executes the target in the agent's tree, not a copy."""
    trees, wanted = on.trees, on.trees.implementation.goal_file
    if on.handwritten:  # golden and masked repository differ only in the target's body
        if on.masked is None or on.masked.passed or not on.masked.by_mask:
            return failed(
                "the test gives the same result with and without the mask: nothing shows that it calls the target",
                "the test must call the function of the goal file, not a copy of it",
            )
        return passed("masking the target's body alone makes the test fail")
    verdict = on.golden[0]
    if not verdict.entered:
        return failed(
            "a case never enters the body of the target", "record again: `lmr-author record --force`"
        )
    if verdict.file != wanted:
        return failed(
            f"the test executes {verdict.file}, not the {wanted} of the agent's tree",
            "an installed package of the same name shadows the repository; uninstall it",
        )
    return passed(f"executed {trees.inside}/{verdict.file}", GateDetail(file=verdict.file))


def isolated(on: TargetUnderGates) -> GateResult:
    """The tests pass without network, as non-root, with a read-only root, within the time and memory limits."""
    trees = on.trees
    facts = next((dict(verdict.facts) for verdict in on.golden if verdict.facts), None) or _facts(trees)
    if not trees.sandbox.isolating:
        return unproven(
            "this sandbox does not isolate (no bubblewrap): network, user and root are not checked",
            "install bubblewrap (Debian: apt install bubblewrap), or use --sandbox docker",
        )
    problems = list(_holes(facts))
    if problems:
        return failed(
            "; ".join(problems), "this is a bug in the sandbox: please report it", GateDetail(facts=facts)
        )
    peak = facts.get("peak_rss")
    memory = f", used at most {int(peak) // 2**20} MB" if isinstance(peak, int) else ""
    return passed(f"no network, not root, read-only root file system{memory}", GateDetail(facts=facts))


DECISIVE = ("untampered", "golden-passes")
"""If one of these does not pass, the gates after it are skipped."""


def run_gates(
    gates: Mapping[str, Gate], trees: TargetTrees, repeats: int, progress: Progress
) -> Iterator[GateResult]:
    """Run every gate of one implementation, by name; skip the rest after a decisive one that does not pass.

    Raises SandboxError when the sandbox itself fails.
    """
    subject = TargetUnderGates(trees, repeats)
    skipped = ""
    for name, gate in gates.items():
        progress(f"{name}: {trees.implementation.target}")
        started = time.monotonic()
        try:
            result = GateResult(name, GateStatus.SKIPPED, skipped) if skipped else gate(subject)
        except SandboxError:
            raise
        except UnprovenGate as error:
            result = unproven(error.message, error.hint)
        except LmrError as error:  # a task too broken to be run
            result = failed(error.message, error.hint)
        seconds = 0.0 if skipped else time.monotonic() - started
        yield replace(result, gate=name, implementation=trees.implementation.index, seconds=seconds)
        if name in DECISIVE and result.status is not GateStatus.PASSED:
            skipped = skipped or f"skipped: {name} {result.status}"


def _facts(trees: TargetTrees) -> dict[str, Any]:
    target = trees.implementation
    tree = trees.tree("golden", trees.golden_overlay)
    plan = replaying.ReplayPlan(target.goal_file, target.qualname, 1, None, ("",), trees.recording_folder, ())
    return dict(replaying.replay(trees.sandbox, tree, trees.inside, plan, []).facts)


def _holes(facts: Mapping[str, Any]) -> Iterator[str]:
    if not facts:
        yield "the sandbox reported nothing about itself"
        return
    if facts.get("uid") == 0:
        yield "the code runs as root"
    if facts.get("root_writable") or facts.get("tree_writable"):
        yield "the root file system or the tree is writable"
    if facts.get("network"):
        yield "the network is reachable"
