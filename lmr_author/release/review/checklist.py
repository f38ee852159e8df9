"""The checklist: automatic items answered by validate and evaluate, human items answered by a person on evidence."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from lmr_author.core import resources
from lmr_author.core.errors import UsageError
from lmr_author.core.task import Evaluation, Finding, Severity, Task
from lmr_author.core.task import evaluation as evaluations
from lmr_author.core.task.folder import TaskState
from lmr_author.core.task.reviews import ReviewItem
from lmr_author.core.texts import choices_hint, counted

TESTS = "tests"
"""The item whose pass approves the accepted mutants, where they are more than a tenth."""
ANSWERS = ("pass", "fail", "unsure")
SENTENCE = 3
"""Words from which a comment is a sentence."""
REVIEWERS = 3
"""Number of independent reviewers of a task, as in LMR-Bench's paper."""

LineMark = Literal["", "not reached", "always true"]


@dataclass(frozen=True)
class CodeLine:
    """A line of a file; ``mark`` says what the cases leave open about it, ``returns`` that it returns or yields."""

    number: int
    text: str
    mark: LineMark = ""
    returns: bool = False


@dataclass(frozen=True)
class Evidence:
    """A piece of evidence: lines, prose of the paper, code, a table with headings, or a diff."""

    title: str
    lines: tuple[str, ...] = ()
    prose: str = ""
    code: tuple[CodeLine, ...] = ()
    table: tuple[tuple[str, ...], ...] = ()
    diff: str = ""
    anchor: str = ""

    @classmethod
    def of(cls, title: str, lines: Iterable[str], nothing: str = "none") -> Evidence:
        return cls(title, tuple(lines) or (nothing,))


@dataclass(frozen=True)
class QuestionEvidence:
    """The evidence for one question. ``doubts`` say why it is weak: a "pass" then needs a comment."""

    pieces: tuple[Evidence, ...]
    doubts: tuple[str, ...] = ()

    @property
    def weak(self) -> bool:
        return bool(self.doubts)


@dataclass(frozen=True)
class ChecklistQuestion:
    id: str
    question: str
    look_at: str = ""


_OURS = tomllib.loads(resources.template("review/checklist.toml"))
HUMAN = tuple(ChecklistQuestion(**item) for item in _OURS["items"])
"""Our own questions, in the order asked."""
CATEGORY_MEANINGS: Mapping[str, str] = _OURS["categories"]


@dataclass(frozen=True)
class Checklist:
    """Our own questions, or a lab's (``schemas/checklist.schema.json``)."""

    name: str = "lmr-author"
    questions: tuple[ChecklistQuestion, ...] = HUMAN
    reviewers: int = REVIEWERS

    @classmethod
    def from_document(cls, data: Any, where: str) -> Checklist:
        """Read a lab's checklist, called ``where`` in errors. Raises UsageError where it violates the schema."""
        from jsonschema import Draft202012Validator

        error = next(iter(Draft202012Validator(resources.schema("checklist")).iter_errors(data)), None)
        if error is not None:
            part = "/".join(map(str, error.absolute_path)) or "the document"
            raise UsageError(f"{where}: {part}: {error.message[:160]}", "see schemas/checklist.schema.json")
        questions = tuple(
            ChecklistQuestion(item["id"], item["question"], item.get("look_at", "")) for item in data["items"]
        )
        names = [question.id for question in questions]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise UsageError(f"{where}: two items have the id {twice[0]!r}", "give each item its own id")
        return cls(data["name"], questions, data.get("reviewers", REVIEWERS))


def automatic_items(
    task: Task, findings: Iterable[Finding], approved: Evaluation | None = None
) -> tuple[ReviewItem, ReviewItem]:
    """Answer the items about static checks and gates; ``approved`` is the evaluation with what reviewers approved."""
    codes = [finding.code for finding in findings if finding.severity is not Severity.NOTE]
    static = ReviewItem(
        "validate",
        "Do all static checks hold?",
        "automatic",
        "fail" if codes else "pass",
        evidence=f"{counted(len(codes), 'finding')}: {', '.join(sorted(set(codes)))}"
        if codes
        else "no findings",
    )
    evaluation = approved or evaluations.load(task)
    answer: Literal["pass", "fail", "unsure"] = "fail"
    if evaluation is None:
        evidence = "never evaluated"
    elif not evaluation.is_of(TaskState.of(task)):
        evidence = "evaluated before the task changed"
    elif evaluation.needs_approval:
        answer = "unsure"
        evidence = f"{evaluation.open_gates}: more than a tenth is accepted, so the item {TESTS!r} decides"
    elif not evaluation.passed:
        evidence = evaluation.open_gates
    else:
        answer, evidence = "pass", f"{len(evaluation.gates)} gates passed in the {evaluation.kind} sandbox"
    if evaluation and evaluation.doubts:
        evidence += f"; {evaluation.doubts}"
    return static, ReviewItem("evaluate", "Do all gates hold?", "automatic", answer, evidence=evidence)


def human_items(
    answers: Mapping[str, Any],
    questions: Sequence[ChecklistQuestion] = HUMAN,
    evidence: Mapping[str, QuestionEvidence] = MappingProxyType({}),
) -> tuple[ReviewItem, ...]:
    """Return the human items of an answers document ``{id: "pass" | {"answer": …, "comment": …}}``.

    Raises UsageError for an unknown or missing id, an invalid answer, and a "pass" on weak evidence without comment.
    """
    names = [question.id for question in questions]
    if unknown := sorted(set(answers) - set(names)):
        raise UsageError(f"unknown checklist item {unknown[0]!r}", choices_hint(unknown[0], names, "items"))
    if missing := [name for name in names if name not in answers]:
        hint = 'answer each with "pass", "fail" or "unsure" (see --template)'
        raise UsageError(f"no answer for: {', '.join(missing)}", hint)
    nothing = QuestionEvidence(())
    return tuple(
        _human_item(question, answers[question.id], evidence.get(question.id, nothing))
        for question in questions
    )


def template(
    questions: Sequence[ChecklistQuestion] = HUMAN,
    evidence: Mapping[str, QuestionEvidence] = MappingProxyType({}),
) -> dict[str, dict[str, Any]]:
    """Return an answers document to fill in, with the reasons why the evidence of an item is weak."""
    document: dict[str, dict[str, Any]] = {}
    for question in questions:
        text = f"{question.question} ({', '.join(ANSWERS)})"
        document[question.id] = {"question": text, "answer": "", "comment": ""}
        if question.id in evidence and evidence[question.id].weak:
            document[question.id]["weak evidence"] = list(evidence[question.id].doubts)
    return document


def lacks_sentence(comment: str) -> str:
    """Return what a comment lacks; "" for nothing. A single letter is a slip of the finger."""
    return "" if len(comment.split()) >= SENTENCE else f"write at least {SENTENCE} words"


def _human_item(question: ChecklistQuestion, stated: object, evidence: QuestionEvidence) -> ReviewItem:
    answer, comment = stated, ""
    if isinstance(stated, Mapping):
        answer, comment = stated.get("answer"), str(stated.get("comment") or "")
    item, doubts = f"item {question.id!r}", "; ".join(evidence.doubts)
    if answer not in ANSWERS:
        raise UsageError(f"{item}: invalid answer {answer!r}", f"one of: {', '.join(ANSWERS)}")
    if answer != "pass" and not comment.strip():
        raise UsageError(f"{item}: {answer!r} needs a comment", "tell the annotator why")
    if answer == "pass" and doubts and (lacks := lacks_sentence(comment)):
        problem = f"{item}: 'pass' needs a comment, because the evidence is weak: {doubts}"
        raise UsageError(problem, f"say why it passes nevertheless: {lacks}")
    weak = f"weak: {doubts}" if doubts else ""
    return ReviewItem(question.id, question.question, "human", answer, comment, weak)  # type: ignore[arg-type]
