"""``authoring/evaluation.json``: the results of the gates, and the state of the task they belong to.

The last one counts, but for one rule: ``docs/decisions/0011-which-evaluation-counts.md``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from lmr_author.core import files
from lmr_author.core.task import equivalents
from lmr_author.core.task.folder import Task, TaskState
from lmr_author.core.task.mutation import LIMITS, Judgement, MutantTally, MutationScore, Survivor
from lmr_author.core.task.record import Count, Digest, Index, Record, Seconds, Text, Time
from lmr_author.core.texts import listed, whole_percent


@dataclass(frozen=True)
class UsedSandbox(Record):
    """The sandbox in which the gates ran, and its contents; a document has only what is known.

    Attributes:
        kind: kind of sandbox.
        other_base_image: base image used in place of the Dockerfile's.
        other_python: interpreter used in place of the task's own.
        sandbox: its name.
        image: the image's id, in Docker.
        isolation: what isolates, without Docker.
        python: version of the interpreter.
        engine: version of the Docker engine.
        platform: operating system and processor.
        numpy: its version, where it is installed.
        torch: its version, where it is installed.
        cuda: the version that PyTorch was built for; "" for none.
        packages: name → version of what is installed.
        off_lock: packages of requirements.lock that are missing or of another version, with both versions.
    """

    kind: Annotated[str, msgspec.Meta(extra_json_schema={"enum": ["docker", "local"]})]
    other_base_image: str = ""
    other_python: str = ""
    sandbox: str = ""
    image: str = ""
    isolation: str = ""
    python: str = ""
    engine: str = ""
    platform: str = ""
    numpy: str = ""
    torch: str = ""
    cuda: str = ""
    packages: Mapping[str, str] = field(default_factory=dict)
    off_lock: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return what is known; that PyTorch was built without CUDA is."""
        return {
            key: value for key, value in super().to_json().items() if value or (key == "cuda" and self.torch)
        }

    @property
    def weight(self) -> int:
        """The more, the closer to what is shipped: local, Docker on another base image, Docker on the task's own."""
        return 0 if self.kind != "docker" else 1 if self.other_base_image else 2


class GateStatus(StrEnum):
    """Outcome of a gate. UNPROVEN: this sandbox cannot show it; SKIPPED: an earlier gate failed."""

    PASSED = "passed"
    FAILED = "failed"
    UNPROVEN = "unproven"
    SKIPPED = "skipped"


MUTANTS_DIE = "mutants-die"
_INTERPRETERS = "interpreters.json"


@dataclass(frozen=True)
class OwnTest(Record):
    """Numbers of versions that passed a hand-written test, by each of its signs alone.

    Attributes:
        runs: the versions.
        exit_code: those with which it exited with 0.
        log: those of which a log says Passed, and none says Failed.
    """

    runs: Count = 0
    exit_code: Count = 0
    log: Count = 0


@dataclass(frozen=True)
class GateDetail(Record):
    """Measurements of a gate; each gate fills what concerns it, and a document has only that.

    Attributes:
        made: mutants that judge the test; accepted ones are among them.
        killed: those that fail.
        accepted: survivors that were accepted as equivalent.
        open: survivors that nobody accepted, and that are not indistinguishable.
        indistinguishable: survivors that equal the golden on hundreds of generated calls.
        untried: further mutants that could be made and were not tried.
        judgement: what these figures prove; null of another gate.
        method: how versions were judged: recorded cases, or a test script.
        survivors: mutants that pass, accepted ones too.
        tallies: mutants made and killed, by line and operator.
        passing: trivial implementations that pass.
        own_test: for a hand-written test.
        passes: the masked repository passes.
        needs: other targets without which the golden's test fails.
        bitwise: the golden's runs were identical to the bit.
        tried: trivial implementations.
        files: files of the recording that were changed.
        file: the file whose target was executed.
        facts: what the sandbox said about itself.
        log: the end of the log of what failed.
    """

    made: Count | None = None
    killed: Count | None = None
    accepted: Count | None = None
    open: Count | None = None
    untried: Count | None = None
    indistinguishable: Count | None = None
    judgement: Judgement | None = None
    method: str = ""
    survivors: tuple[Survivor, ...] = ()
    tallies: tuple[MutantTally, ...] = ()
    passing: tuple[str, ...] = ()
    own_test: OwnTest | None = None
    passes: bool = False
    needs: tuple[str, ...] = ()
    bitwise: bool | None = None
    tried: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    file: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    log: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return only what was measured; an empty list of survivors says that there are none."""
        data = super().to_json()
        figures = (
            ("made", "killed", "accepted", "open", "untried", "indistinguishable", "survivors")
            if self.made is not None
            else ()
        )
        measured = {
            key: value
            for key, value in data.items()
            if key in figures or value not in (None, "", [], {}, False)
        }
        if self.bitwise is False:
            measured["bitwise"] = False
        return measured

    @property
    def score(self) -> MutationScore:
        figures = (self.made, self.killed, self.accepted, self.untried, self.indistinguishable)
        return MutationScore(*(figure or 0 for figure in figures))


NOTHING = GateDetail()


@dataclass(frozen=True)
class GateResult(Record):
    """The result of one gate.

    Attributes:
        gate: its name.
        status: its outcome.
        message: the result in one line.
        hint: how to fix a failure.
        implementation: index of the implementation, from 1; null for the environment of the task.
        seconds: duration.
        detail: what the gate measured.
    """

    gate: Text
    status: GateStatus
    message: str
    hint: str = ""
    implementation: Index | None = None
    seconds: Seconds = 0.0
    detail: GateDetail = NOTHING

    def to_json(self) -> dict[str, Any]:
        return {**super().to_json(), "seconds": round(self.seconds, 3), "detail": self.detail.to_json()}


@dataclass(frozen=True, kw_only=True)
class Evaluation(Record):
    """One run of every gate.

    Attributes:
        format: version of this document.
        tool: version of lmr-author.
        sandbox: the sandbox, and the versions found in it.
        started: time of the start (RFC 3339).
        seconds: duration.
        content_digest: SHA-256 of the task's content when it ran.
        running_digest: SHA-256 of the part of the content that a run depends on; "" in old records.
        gates: results in the order of the gates.
        passed: true if every gate passed, as :func:`all_hold` says of ``gates``.
    """

    format: Literal["lmr-evaluation/1"] = "lmr-evaluation/1"
    tool: Text
    sandbox: UsedSandbox
    started: Time
    seconds: Seconds
    content_digest: Digest
    running_digest: Digest = ""
    gates: tuple[GateResult, ...]
    passed: bool

    def to_json(self) -> dict[str, Any]:
        data = {**super().to_json(), "sandbox": self.sandbox.to_json(), "seconds": round(self.seconds, 3)}
        data["gates"] = [gate.to_json() for gate in self.gates]
        return {key: value for key, value in data.items() if value or key != "running_digest"}

    @property
    def kind(self) -> str:
        return self.sandbox.kind

    @property
    def place(self) -> str:
        """The sandbox in words: ``the docker sandbox on IMAGE``."""
        where = f"the {self.kind} sandbox"
        if self.sandbox.other_base_image:
            return f"{where} on {self.sandbox.other_base_image}"
        return f"{where} with {self.sandbox.other_python}" if self.sandbox.other_python else where

    @property
    def options(self) -> list[str]:
        """The options of ``evaluate`` that select the same sandbox again on this machine."""
        python = self.sandbox.other_python
        values = {
            "--sandbox": "docker" if self.kind == "docker" else "",
            "--base-image": self.sandbox.other_base_image,
            "--python": python and interpreter_of(python),
        }
        return [word for option, value in values.items() if value for word in (option, value)]

    @property
    def open_gates(self) -> str:
        """The gates that did not pass, each once, without skipped ones: ``build: failed; isolated: unproven``."""
        names: dict[str, None] = {}
        for gate in self.gates:
            if gate.status not in (GateStatus.PASSED, GateStatus.SKIPPED):
                figures = f" ({gate.detail.score.text})" if gate.detail.made else ""
                names[f"{gate.gate}: {gate.status}{figures}"] = None
        return "; ".join(names) or "did not pass"

    @property
    def weak_test(self) -> int | None:
        """The first implementation whose test lets too many mutants survive, where no other gate failed."""
        failed = [gate for gate in self.gates if gate.status is GateStatus.FAILED]
        alone = {gate.gate for gate in failed} == {MUTANTS_DIE}
        return failed[0].implementation if alone else None

    @property
    def needs_approval(self) -> bool:
        """True where every gate passed but ``mutants-die``, which too many accepted mutants leave unproven."""
        left = [gate for gate in self.gates if gate.status is not GateStatus.PASSED]
        return bool(left) and all(gate.detail.judgement is Judgement.ACCEPTED for gate in left)

    def approved(self) -> Evaluation:
        """Return what holds once the reviewers have approved the accepted mutants."""
        gates = tuple(
            replace(gate, status=GateStatus.PASSED, message=f"{gate.message}, approved by reviewers", hint="")
            if gate.detail.judgement is Judgement.ACCEPTED
            else gate
            for gate in self.gates
        )
        return replace(self, gates=gates, passed=all_hold(gates))

    @property
    def doubts(self) -> str:
        """Differences between the sandbox and the Dockerfile or the lock, in a few words; "" for none."""
        doubts = []
        if self.sandbox.other_base_image:
            doubts.append(
                f"not proven on the Dockerfile's base image; ran on {self.sandbox.other_base_image}"
            )
        if self.sandbox.off_lock:
            doubts.append(f"not proven with the lock's packages: {listed(self.sandbox.off_lock, 3)}")
        return "; ".join(doubts)

    def outweighs(self, new: Evaluation) -> bool:
        """Return True if this one counts for a state of the task, although another was made later."""
        is_built = all(gate.status is GateStatus.PASSED for gate in new.gates if gate.gate == "build")
        proves_nothing = not is_built and new.sandbox.kind != self.sandbox.kind
        return self.passed and (proves_nothing or self.sandbox.weight > new.sandbox.weight)

    @property
    def state(self) -> TaskState:
        return TaskState(self.content_digest, self.running_digest)

    def is_of(self, state: TaskState) -> bool:
        if self.running_digest:
            return self.running_digest == state.running
        return self.content_digest == state.content


def passes_without_solution(gates: Sequence[GateResult], index: int) -> str:
    """Return how the test of an implementation passed without the solution; "" if it did not."""
    for name, version in (
        ("masked-fails", "the masked code"),
        ("trivial-fails", "a function that does nothing"),
    ):
        gate = next((each for each in gates if each.gate == name and each.implementation == index), None)
        if gate is None or gate.status is GateStatus.SKIPPED:
            continue
        if gate.detail.passes or gate.detail.passing or gate.detail.survivors:
            return f"the test passes with {version}"
        own = gate.detail.own_test or OwnTest()
        if own.exit_code:
            return f"the test exits with 0 with {version}: only its output or logs show the failure"
        if own.log:
            return (
                f"a log says Passed with {version} and none says Failed: only the exit code shows the failure"
            )
    return ""


def gates_held(gates: Sequence[GateResult]) -> tuple[int, int]:
    return sum(gate.status is GateStatus.PASSED for gate in gates), len(gates)


def all_hold(gates: Sequence[GateResult]) -> bool:
    """Return true if every gate passed, and mutants were tried on each implementation."""
    implementations = {gate.implementation for gate in gates} - {None}
    tried = {gate.implementation for gate in gates if gate.gate == MUTANTS_DIE}
    return (
        bool(gates) and tried == implementations and all(gate.status is GateStatus.PASSED for gate in gates)
    )


def mutation_score(gates: Sequence[GateResult]) -> MutationScore:
    return MutationScore.total(gate.detail.score for gate in gates if gate.gate == MUTANTS_DIE)


_STATUS = {Judgement.HELD: GateStatus.PASSED, Judgement.OPEN: GateStatus.FAILED}


def judged_mutants(detail: GateDetail, accepted: Mapping[str, str]) -> GateResult:
    """Return the result of ``mutants-die`` from its survivors; ``accepted``: id → change of accepted mutants."""
    survivors = tuple(replace(one, accepted=accepted.get(one.id) == one.diff) for one in detail.survivors)
    same = sum(one.indistinguishable for one in survivors)
    made, equivalent = detail.made or 0, sum(one.accepted and not one.indistinguishable for one in survivors)
    score = MutationScore(made, max(0, made - len(survivors)), equivalent, detail.untried or 0, same)
    end, hint = LIMITS[score.judgement]
    message = f"{score.text} ({whole_percent(score.share or 0)}, {detail.method}){end}"
    figures = replace(detail, survivors=survivors, judgement=score.judgement, **score.to_json())
    status = _STATUS.get(score.judgement, GateStatus.UNPROVEN)
    return GateResult(MUTANTS_DIE, status, message, hint, detail=figures)


def load(task: Task) -> Evaluation | None:
    """Return the evaluation that counts; None when none can be read.

    Whether ``mutants-die`` holds follows from its figures and from what is accepted now, never from what a file says.
    """
    stored = Evaluation.read_if_valid(task.evaluation_path)
    return _judged(stored, equivalents.valid_changes(task)) if stored else None


def _judged(stored: Evaluation, accepted: Mapping[str, str]) -> Evaluation:
    gates = []
    for gate in stored.gates:
        if gate.gate == MUTANTS_DIE and (gate.detail.made is not None or gate.status is GateStatus.PASSED):
            new = judged_mutants(gate.detail, accepted)
            gate = replace(new, implementation=gate.implementation, seconds=gate.seconds)
        gates.append(gate)
    return replace(stored, gates=tuple(gates), passed=all_hold(gates))


def store(task: Task, new: Evaluation) -> Evaluation | None:
    """Store an evaluation; return the earlier one of the same state. A sound one stays if the new one proves less."""
    before = load(task)
    if before is not None and not (before.is_of(new.state) or new.is_of(before.state)):
        before = None
    if before is None or not before.outweighs(new):
        new.write(task.evaluation_path)
    return before


def remember_interpreter(label: str, python: Path) -> None:
    """Keep the path of an interpreter that somebody named, in the cache folder: a record travels, and has no path."""
    path = files.user_cache() / _INTERPRETERS
    paths = files.read_object_or_empty(path)
    where = os.path.normpath(python.absolute()) if len(python.parts) > 1 else str(python)
    if paths.get(label) != where:
        files.write_json(path, {**paths, label: where})


def interpreter_of(label: str) -> str:
    """Return the path, or the command, of an interpreter that is still there, by a record's label; "" for none."""
    python = str(files.read_object_or_empty(files.user_cache() / _INTERPRETERS).get(label, ""))
    is_path = os.sep in python  # else it is a command, such as python3.11
    return "" if is_path and not Path(python).exists() else python
