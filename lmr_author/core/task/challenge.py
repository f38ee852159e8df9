"""``authoring/challenge.json``: misreadings that must fail and rewrites that must pass, and how each ended.

Mutants are small slips; a misreading is a plausible mistake, written by a person or a model. See ``docs/challenge.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Literal

import msgspec

from lmr_author.core import files
from lmr_author.core.task.folder import Task
from lmr_author.core.task.info import TaskInfo
from lmr_author.core.task.record import Count, Digest, Index, Record, Text, Time
from lmr_author.core.task.recording import MANIFEST, call_in_words

Day = Annotated[str, msgspec.Meta(extra_json_schema={"format": "date"})]


class AnswerKind(StrEnum):
    """Purpose of an answer. MISREADING: plausible and wrong. REWRITE: other code, the same behaviour."""

    MISREADING = "misreading"
    REWRITE = "rewrite"


class Ending(StrEnum):
    """Ending of an answer.

    FAILS: it fails on the cases. PASSES: it passes them. TOLD_APART: it passes, but differs from the golden on another
    recorded call. EQUAL: it matches the golden on every recorded call. EQUIVALENT, NOT_A_REWRITE: a person accepted
    that it is not a misreading, or not a rewrite. INVALID: it cannot replace the target. WAITING: it has not run yet
    on the current test.
    """

    FAILS = "fails"
    PASSES = "passes"
    TOLD_APART = "told-apart"
    EQUAL = "equal"
    EQUIVALENT = "equivalent"
    NOT_A_REWRITE = "not-a-rewrite"
    INVALID = "invalid"
    WAITING = "waiting"


LACKING = ("AttributeError", "ImportError", "ModuleNotFoundError", "TypeError")
"""Exceptions of code that calls what another version of a library has."""

IN_WORDS = {
    Ending.FAILS: "fails",
    Ending.PASSES: "passes",
    Ending.TOLD_APART: "passes, but differs on another recorded call",
    Ending.EQUAL: "matches the golden on every recorded call",
    Ending.EQUIVALENT: "is accepted as equivalent",
    Ending.NOT_A_REWRITE: "is accepted as not a rewrite",
    Ending.INVALID: "cannot replace the target",
    Ending.WAITING: "has not run yet",
}
"""Endings for people."""

SETTLED = {
    AnswerKind.MISREADING: frozenset({Ending.FAILS, Ending.EQUIVALENT}),
    AnswerKind.REWRITE: frozenset({Ending.PASSES, Ending.NOT_A_REWRITE}),
}
"""Endings that leave nothing to do."""
NOT_COUNTED = (Ending.EQUIVALENT, Ending.NOT_A_REWRITE, Ending.INVALID)
"""Endings of answers that are neither misreadings nor rewrites."""


@dataclass(frozen=True)
class CallDifference(Record):
    """First difference between the outcome of an answer and the golden's.

    Attributes:
        call: number of the recorded call.
        case: name of its case; "" if it is not a case.
        message: the part and its difference in words, with its size and the tolerance.
        raised: type of the exception that the answer raised where the golden returned; "" for none.
        made_of: the recorded calls that a generated one was made of, in words; "" for a recorded one.
    """

    call: Count
    case: str = ""
    message: str = ""
    raised: str = ""
    made_of: str = ""

    @property
    def where(self) -> str:
        made = f"a call made of {self.made_of}" if self.made_of else f"call {self.call}"
        return self.case or made


@dataclass(frozen=True)
class DriverAdvice(Record):
    """Advice for a driver, so that a misreading differs from the golden on a recorded call.

    Attributes:
        lines: lines of the golden that the misreading changes.
        diff: these lines and their replacements, with - and +.
        unreached: those of them that no recorded call reaches.
        constant: argument or attribute that is the same in every recorded call, and its value, shape or type.
        not_given: parameters that no recorded call gives.
        not_compared: kind of an effect of the golden that no case compares (files, globals, parts, arguments, grads,
            gradients) → what has it.
    """

    lines: tuple[Index, ...] = ()
    diff: str = ""
    unreached: tuple[Index, ...] = ()
    constant: Mapping[str, str] = field(default_factory=dict)
    not_given: tuple[str, ...] = ()
    not_compared: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Acceptance(Record):
    """A person's acceptance that an answer is not a misreading, or not a rewrite.

    Attributes:
        reason: justification.
        date: day of acceptance.
        by: name of the person; "" when unknown.
    """

    reason: Text
    date: Day
    by: str = ""


@dataclass(frozen=True, kw_only=True)
class Challenger(Record):
    """An answer with which a test is challenged, and how it ended.

    Attributes:
        index: number of the implementation.
        name: its name; with the index, it is unique.
        kind: misreading or rewrite.
        about: what it misreads or changes, in a sentence.
        source: where it comes from: the name of a file or folder, or of a model.
        code: the answer.
        ending: how it ended.
        reason: why it is invalid; "" otherwise.
        difference: the first difference, on the cases or on another recorded call.
        tells: numbers of the recorded calls on which it differs, cases included.
        missing: advice for a driver, if it matches the golden on every recorded call.
        accepted: why it does not count.
        digest: SHA-256 of all that made the result; the same is not run again.
    """

    index: Index
    name: Text
    kind: AnswerKind
    about: str = ""
    source: str = ""
    code: str = ""
    ending: Ending = Ending.WAITING
    reason: str = ""
    difference: CallDifference | None = None
    tells: tuple[Count, ...] = ()
    missing: DriverAdvice | None = None
    accepted: Acceptance | None = None
    digest: str = ""

    @property
    def lacks_api(self) -> bool:
        """True for a rewrite that raises as code does that calls what its environment's versions do not have."""
        raised = self.difference.raised if self.difference else ""
        return self.kind is AnswerKind.REWRITE and not self.settled and raised in LACKING

    @property
    def in_words(self) -> str:
        return IN_WORDS[self.ending]

    @property
    def settled(self) -> bool:
        return self.ending in SETTLED[self.kind]


@dataclass(frozen=True)
class AddedCase(Record):
    """A recorded or generated call that became a case.

    Attributes:
        case: its name.
        call: its number.
        tells: names of the misreadings that fail on it.
        made_of: the recorded calls that a generated one was made of, in words; "" for a recorded one.
    """

    case: str
    call: Count
    tells: tuple[str, ...]
    made_of: str = ""

    @property
    def origin(self) -> str:
        return call_in_words(self.call, self.made_of)


@dataclass(frozen=True)
class LeftOutCall(Record):
    """A recorded call on which a misreading differs, but which did not become a case.

    Attributes:
        call: its number.
        why: golden (it does not pass there), rewrite (one would fail), or room (it is too large).
        answer: name of the rewrite that would fail; "" otherwise.
        message: the reason in words.
    """

    call: Count
    why: Literal["golden", "rewrite", "room"]
    answer: str = ""
    message: str = ""


@dataclass(frozen=True, kw_only=True)
class ChallengedTarget(Record):
    """One implementation, as it was challenged.

    Attributes:
        index: its number.
        target: its node id.
        recording: SHA-256 of the recording's manifest.
        golden: SHA-256 of the golden file.
        added: calls that `--strengthen` made cases.
        left_out: calls that it did not.
        versions: those of Python, PyTorch and NumPy in the last run.
    """

    index: Index
    target: Text
    recording: Digest
    golden: Digest
    added: tuple[AddedCase, ...] = ()
    left_out: tuple[LeftOutCall, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Challenge(Record):
    """Misreadings and rewrites of a task's functions, and how its test treats them: `authoring/challenge.json`.

    Attributes:
        format: version of this document.
        tool: version of lmr-author.
        date: time of the last run (RFC 3339).
        targets: the implementations that were challenged.
        answers: misreadings and rewrites, in order.
    """

    format: Literal["lmr-challenge/1"] = "lmr-challenge/1"
    tool: Text
    date: Time
    targets: tuple[ChallengedTarget, ...] = ()
    answers: tuple[Challenger, ...] = ()

    def of(self, index: int, kind: AnswerKind | None = None) -> tuple[Challenger, ...]:
        return tuple(
            answer for answer in self.answers if answer.index == index and kind in (None, answer.kind)
        )

    @property
    def open(self) -> tuple[Challenger, ...]:
        """Answers that leave something to do. One that is invalid says nothing about the test."""
        return tuple(
            answer for answer in self.answers if not answer.settled and answer.ending is not Ending.INVALID
        )

    def count(self, kind: AnswerKind) -> tuple[int, int]:
        """Return how many answers of a kind end as they have to, and how many there are that count."""
        wanted = Ending.FAILS if kind is AnswerKind.MISREADING else Ending.PASSES
        endings = [answer.ending for answer in self.answers if answer.kind is kind]
        return endings.count(wanted), sum(ending not in NOT_COUNTED for ending in endings)

    @property
    def summary(self) -> str:
        """Result in a few words: ``5 of 6 misreadings fail, 2 of 2 rewrites pass``."""
        fail, misreadings = self.count(AnswerKind.MISREADING)
        passed, rewrites = self.count(AnswerKind.REWRITE)
        text = f"{fail} of {misreadings} misreadings fail, {passed} of {rewrites} rewrites pass"
        accepted = sum(answer.accepted is not None and answer.settled for answer in self.answers)
        return f"{text}, {accepted} accepted" if accepted else text

    def stale(self, task: Task, info: TaskInfo) -> tuple[int, ...]:
        """Return the implementations whose recording or golden changed, or that no misreading challenged."""
        challenged = {target.index: (target.recording, target.golden) for target in self.targets}
        misread = {
            answer.index
            for answer in self.answers
            if answer.kind is AnswerKind.MISREADING and answer.ending is not Ending.INVALID
        }
        indexes = [implementation.index for implementation in info.implementations]
        return tuple(
            index
            for index in indexes
            if index not in misread or challenged.get(index) != digests(task, info, index)
        )


class ChallengeStatus(StrEnum):
    """State of a task's challenge. OPEN: an answer leaves something to do; HELD: all end as they should."""

    NEVER = "never"
    STALE = "stale"
    OPEN = "open"
    HELD = "held"


def status_of(task: Task, info: TaskInfo) -> tuple[ChallengeStatus, Challenge | None]:
    record = load(task)
    if record is None:
        return ChallengeStatus.NEVER, None
    if record.stale(task, info):
        return ChallengeStatus.STALE, record
    return ChallengeStatus.OPEN if record.open else ChallengeStatus.HELD, record


def in_words(status: ChallengeStatus, record: Challenge) -> str:
    changed = ", but its test has changed since" if status is ChallengeStatus.STALE else ""
    return record.summary + changed


def digests(task: Task, info: TaskInfo, index: int) -> tuple[str, str]:
    """Return the SHA-256 of an implementation's recording and golden; "" for what is missing."""
    paths = (task.recording(info, index) / MANIFEST, task.golden(info.implementation(index)))
    recording, golden = (files.sha256_file(path) if path.is_file() else "" for path in paths)
    return recording, golden


def load(task: Task) -> Challenge | None:
    return Challenge.read_if_valid(task.challenge_path)
