"""The gates, in the order they are run. Each explains itself: what ran, what it showed, what to do."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from lmr_author import replaying
from lmr_author.errors import LmrError, SandboxError
from lmr_author.evaluation.bench import Bench
from lmr_author.evaluation.gate import Gate
from lmr_author.evaluation.judges import RecordingJudge, ScriptJudge, judges_for
from lmr_author.evaluation.mutants_die import MutantsDie
from lmr_author.evaluation.trivial import trivial_sources
from lmr_author.evaluation.verdict import BUSY, Verdict
from lmr_author.task import GateResult, GateStatus, Progress
from lmr_author.task import recording as recorded

NO_GUARANTEE = (
    "it runs beside the code that it judges, which can read what it expects and can forge what it says: "
    "sound against mistakes, not against code that cheats"
)
"""What a test script cannot guarantee."""


class Untampered(Gate):
    """Tests and expected outputs are the recorded ones."""

    name = "untampered"
    decisive = True

    def run(self, bench: Bench, golden: list[Verdict], repeats: int) -> GateResult:
        """Compare digests with the recording's manifest."""
        if bench.recording is None:
            if not bench.task.unit_test(bench.info, bench.implementation).is_file():
                return self.failed("there is neither a recording nor a test", "make one: `lmr-author record`")
            return self.passed(f"a hand-written test, nothing recorded to compare with; {NO_GUARANTEE}")
        if not bench.recording.cases:
            return self.failed("the recording has no cases", "record again: `lmr-author record --force`")
        problems = recorded.tampered(bench.recording_folder, bench.recording)
        if problems:
            return self.failed(
                "; ".join(problems[:3]), "record again: `lmr-author record --force`", files=problems
            )
        count = sum(len(case.files) for case in bench.recording.cases)
        return self.passed(f"{count} files of {len(bench.recording.cases)} cases are as recorded")


class GoldenPasses(Gate):
    """The golden passes N times, same outputs each time."""

    name = "golden-passes"
    decisive = True

    def run(self, bench: Bench, golden: list[Verdict], repeats: int) -> GateResult:
        """Run the golden ``repeats`` times in fresh processes with different hash seeds."""
        judges = judges_for(bench)
        for number in range(repeats):
            bench.progress(f"{self.name}, run {number + 1} of {repeats}: {bench.implementation.target}")
            verdict = judges[0].golden(seed=number)
            golden.append(verdict)
            if not verdict.passed:
                return self.failed(
                    f"run {number + 1} of {repeats}: {verdict.reason or 'no outcome'}",
                    verdict.advice
                    or "the environment lacks something, or the function is random beyond the recorded seeds",
                    log=verdict.log[-4000:],
                )
        for judge in judges[1:]:
            verdict = judge.golden(seed=0)
            if not verdict.passed:
                return self.failed(
                    f"{judge.method}: {verdict.reason}",
                    "the shipped test file must pass on the golden too; record again",
                    log=verdict.log[-4000:],
                )
        same = len({verdict.identity for verdict in golden}) == 1
        how = (
            "outputs identical to the bit" if same and golden[0].identity else "outputs within the tolerances"
        )
        if isinstance(judges[0], ScriptJudge):
            needs = judges[0].profile.described if judges[0].profile else ""
            return self.passed(f"passed {repeats} of {repeats} (test script: {needs})")
        return self.passed(f"passed {repeats} of {repeats} ({judges[0].method}), {how}", bitwise=same)


class MaskedFails(Gate):
    """The masked repository fails every test, because of the mask, not of an import."""

    name = "masked-fails"

    def run(self, bench: Bench, golden: list[Verdict], repeats: int) -> GateResult:
        """Run the repository as the agent gets it."""
        reason = ""
        for judge in judges_for(bench):
            verdict = judge.masked()
            reason = reason or verdict.reason
            if verdict.passed:
                return self.failed(
                    f"the masked repository passes ({judge.method})",
                    "the test does not notice that the function is missing",
                )
            if not verdict.by_mask:
                return self.failed(
                    f"it fails, but not because of the mask: {verdict.reason}",
                    "the masked file must still import, and the test must reach the masked function",
                    log=verdict.log[-4000:],
                )
        if bench.recording is not None:
            return self.passed("every case ends in the mask's NotImplementedError")
        return self.passed(f"it fails, and only the mask differs from the golden: {reason}")


class TargetEntered(Gate):
    """The test really executes the target of the agent's tree."""

    name = "target-entered"

    def run(self, bench: Bench, golden: list[Verdict], repeats: int) -> GateResult:
        """Look where the executed code came from."""
        judge = judges_for(bench)[0]
        verdict = judge.entered() if isinstance(judge, ScriptJudge) else golden[0]
        wanted = bench.implementation.goal_file
        if not verdict.entered:
            return self.failed(
                verdict.reason or "a case never enters the body of the target",
                "the test must call the function of the goal file, not a copy of it",
            )
        if verdict.file != wanted:
            return self.failed(
                f"the test executes {verdict.file}, not the {wanted} of the agent's tree",
                "an installed package of the same name hides the repository; remove it from the environment",
            )
        return self.passed(f"executed {bench.inside}/{verdict.file}", file=verdict.file)


class TrivialFails(Gate):
    """Return-None, return-an-argument, zeros of the right shape all fail."""

    name = "trivial-fails"

    def run(self, bench: Bench, golden: list[Verdict], repeats: int) -> GateResult:
        """Judge each trivial version."""
        judge = judges_for(bench)[0]
        expected = []
        if isinstance(judge, RecordingJudge):
            expected = [
                replaying.load_document(bench.recording_folder / case.name, "expected")
                for case in judge.recording.cases
            ]
        sources = trivial_sources(bench, expected)
        if not sources:
            return self.failed(
                "the target cannot be told in golden and goal file", "run `lmr-author validate`"
            )
        verdicts = judge.versions(sources)
        survivors = [name for name, verdict in verdicts.items() if verdict.passed]
        if survivors:
            return self.failed(
                f"passes although it does nothing: {'; '.join(survivors)}",
                "record cases whose outcome differs from it (other inputs, other options)",
                survivors=survivors,
            )
        untold = {name: verdict.untold for name, verdict in verdicts.items() if verdict.untold}
        if untold:
            return self.result(
                GateStatus.UNPROVEN,
                f"{len(untold)} of {len(verdicts)} trivial implementations could not be told: "
                f"{next(iter(untold.values()))}",
                BUSY,
                untold=sorted(untold),
            )
        return self.passed(f"{len(verdicts)} trivial implementations fail", tried=sorted(verdicts))


class Isolated(Gate):
    """The tests pass without network, as non-root, on a read-only root, within time and memory."""

    name = "isolated"

    def run(self, bench: Bench, golden: list[Verdict], repeats: int) -> GateResult:
        """Read what the golden's own sandbox reported; a test script is asked for separately."""
        facts = next((dict(verdict.facts) for verdict in golden if verdict.facts), None) or _facts(bench)
        if not bench.sandbox.isolating:
            return self.result(
                GateStatus.UNPROVEN,
                "this sandbox does not isolate (no bubblewrap): network, user and root are not shown",
                "install bubblewrap (Debian: apt install bubblewrap), or use --sandbox docker",
            )
        facts.pop("packages", None)  # the build gate has them
        problems = list(_holes(facts))
        if problems:
            return self.failed(
                "; ".join(problems), "this is a fault of the sandbox: please report it", facts=facts
            )
        peak = facts.get("peak_rss")
        memory = f", {int(peak) // 2**20} MB at most" if isinstance(peak, int) else ""
        return self.passed(f"no network, uid {facts.get('uid')}, read-only root{memory}", facts=facts)


GATES: tuple[type[Gate], ...] = (
    Untampered,
    GoldenPasses,
    MaskedFails,
    TargetEntered,
    TrivialFails,
    MutantsDie,
    Isolated,
)
"""The gates of an implementation, in order; ``build`` comes before them, once for the task."""


def run_gates(bench: Bench, repeats: int, progress: Progress) -> Iterator[GateResult]:
    """Run every gate of one implementation; after a decisive failure the rest is skipped.

    Raises SandboxError when the sandbox itself fails.
    """
    golden: list[Verdict] = []
    stopped_by = ""
    for kind in GATES:
        gate = kind()
        index = bench.implementation.index
        if stopped_by:
            yield replace(
                gate.result(GateStatus.SKIPPED, f"skipped: {stopped_by} failed"),
                implementation=index,
            )
            continue
        progress(f"{gate.name}: {bench.implementation.target}")
        started = time.monotonic()
        result = _guarded(gate, bench, golden, repeats)
        yield replace(result, implementation=index, seconds=time.monotonic() - started)
        if gate.decisive and result.status is GateStatus.FAILED:
            stopped_by = gate.name


def _guarded(gate: Gate, bench: Bench, golden: list[Verdict], repeats: int) -> GateResult:
    """A task too broken to be run is a failed gate; only the sandbox's own failure is an exception."""
    try:
        return gate.run(bench, golden, repeats)
    except SandboxError:
        raise
    except LmrError as error:
        return gate.failed(error.message, error.hint)


def _facts(bench: Bench) -> dict[str, Any]:
    """What the sandbox reports about itself, from a replay of no cases."""
    target = bench.implementation
    tree = bench.tree("golden", bench.golden_overlay)
    plan = replaying.Plan(target.goal_file, target.qualname, 1, None, ("",), bench.recording_folder, ())
    return dict(replaying.replay(bench.sandbox, tree, bench.inside, plan, []).facts)


def _holes(facts: Mapping[str, Any]) -> Iterator[str]:
    """What a sandbox's own report shows to be open."""
    if not facts:
        yield "the sandbox reported nothing about itself"
        return
    if facts.get("uid") == 0:
        yield "it runs as root"
    if facts.get("root_writable") or facts.get("tree_writable"):
        yield "its root or the tree can be written"
    if facts.get("network"):
        yield "the network can be reached"
