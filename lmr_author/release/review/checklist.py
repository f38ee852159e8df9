"""The checklist: automatic items answered by validate and evaluate, human items answered by a person."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from lmr_author.core import resources
from lmr_author.core.errors import UsageError
from lmr_author.core.task import Evaluation, Finding, Severity, Task
from lmr_author.core.task import evaluation as evaluations
from lmr_author.core.task.folder import State
from lmr_author.core.task.reviews import ReviewItem
from lmr_author.core.texts import counted
from lmr_author.release.review.evidence import QuestionEvidence

TESTS = "tests"
"""The item whose pass approves the accepted mutants, where they are more than a tenth."""
ANSWERS = ("pass", "fail", "unsure")
SENTENCE = 3
"""Words from which a comment is a sentence."""


@dataclass(frozen=True)
class ChecklistQuestion:
    """A human item: the question, and the files to look at."""

    id: str
    question: str
    look_at: str


HUMAN = (
    ChecklistQuestion(
        "instruction",
        "Does the instruction match the paper and the code?",
        "info.json: instruction; paper.pdf",
    ),
    ChecklistQuestion(
        "paper-section",
        "Does the paper contain a section that describes the function well enough to implement it?",
        "paper.pdf",
    ),
    ChecklistQuestion(
        "core", "Is the masked function a core contribution of the paper?", "the golden file; paper.pdf"
    ),
    ChecklistQuestion(
        "category", "Is the category the one that the function belongs to?", "info.json: category"
    ),
    ChecklistQuestion(
        TESTS,
        "Do the tests exercise the function as the paper uses it?",
        "unit_test/; authoring/evaluation.json",
    ),
    ChecklistQuestion(
        "no-leak",
        "Is the repository free of the solution, even paraphrased?",
        "the repository folder",
    ),
    ChecklistQuestion(
        "environment",
        "Are the environment's versions of the paper's time, without superfluous packages?",
        "Dockerfile",
    ),
    ChecklistQuestion(
        "licence",
        "Does the repository's licence allow redistribution?",
        "the repository's licence; provenance",
    ),
)
"""The human items, in the order asked (LMR-Bench paper, section on quality control)."""

CATEGORY_MEANINGS = {
    "Feature Learning & Representation": "how inputs become vectors: embeddings, encodings, pooling, prototypes",
    "Neural Network Architectures": "a layer or a model: what is computed from what in a forward pass",
    "Prompt Engineering & Instruction Tuning": "what a model is shown: prompts, templates, demonstrations",
    "Information Extraction": "structure from text: entities, relations, events, spans",
    "Data Augmentation": "new training examples from old ones",
    "Training Objectives & Optimization": "what is minimised and how: losses, rewards, optimizers, schedules",
    "Decoding & Search Strategies": "how outputs are chosen: sampling, beam search, constraints",
    "Evaluation Metrics": "how good an output is: scores, agreement, statistics",
    "Interpretability & Explainability": "why a model decides as it does: attributions, probes",
}
"""The categories, and the question that a function of each answers."""

REVIEWERS = 3
"""Number of independent reviewers of a task, as in LMR-Bench's paper."""


@dataclass(frozen=True)
class Checklist:
    """The questions and the number of reviewers: our own list, or a lab's (``schemas/checklist.schema.json``)."""

    name: str = "lmr-author"
    questions: tuple[ChecklistQuestion, ...] = HUMAN
    reviewers: int = REVIEWERS

    @classmethod
    def from_document(cls, data: Any, where: str) -> Checklist:
        """Read a lab's list. Raises UsageError when it is not as its schema says.

        Args:
            where: its name in errors.
        """
        from jsonschema import Draft202012Validator

        error = next(iter(Draft202012Validator(resources.schema("checklist")).iter_errors(data)), None)
        if error is not None:
            part = "/".join(map(str, error.absolute_path)) or "the whole"
            raise UsageError(f"{where}: {part}: {error.message[:160]}", "see schemas/checklist.schema.json")
        questions = tuple(
            ChecklistQuestion(entry["id"], entry["question"], entry.get("look_at", ""))
            for entry in data["items"]
        )
        names = [question.id for question in questions]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise UsageError(f"{where}: two items have the id {twice[0]!r}", "give each item its own id")
        return cls(data["name"], questions, data.get("reviewers", REVIEWERS))


def automatic_items(
    task: Task, findings: Iterable[Finding], approved: Evaluation | None = None
) -> tuple[ReviewItem, ReviewItem]:
    """Return the items that the program answers: static checks, and gates that were run on this very state.

    Args:
        findings: findings of ``validate`` now.
        approved: the evaluation with what reviewers approved; by default as it was stored.
    """
    serious = [finding for finding in findings if finding.severity is not Severity.NOTE]
    codes = ", ".join(sorted({finding.code for finding in serious}))
    static = ReviewItem(
        "validate",
        "Do all static checks hold?",
        "automatic",
        "fail" if serious else "pass",
        evidence=f"{counted(len(serious), 'finding')}: {codes}" if serious else "no findings",
    )
    evaluation = approved or evaluations.load(task)
    answer: Literal["pass", "fail", "unsure"] = "fail"
    if evaluation is None:
        evidence = "never evaluated"
    elif not evaluation.is_of(State.of(task)):
        evidence = "evaluated before the task changed"
    elif evaluation.needs_approval:
        answer = "unsure"
        evidence = f"{evaluation.open_gates}: more than a tenth is accepted, the item {TESTS!r} decides"
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

    Raises UsageError for an unknown id, a missing one, an answer other than pass, fail, unsure, and a "pass" on weak
    evidence without a comment.
    """
    unknown = set(answers) - {question.id for question in questions}
    if unknown:
        raise UsageError(
            f"unknown checklist item {sorted(unknown)[0]!r}",
            "items: " + ", ".join(question.id for question in questions),
        )
    missing = [question.id for question in questions if question.id not in answers]
    if missing:
        raise UsageError(
            f"no answer for: {', '.join(missing)}",
            'answer each with "pass", "fail" or "unsure" (see --template)',
        )
    nothing = QuestionEvidence(())
    return tuple(
        _human_item(question, answers[question.id], evidence.get(question.id, nothing))
        for question in questions
    )


def template(
    questions: Sequence[ChecklistQuestion] = HUMAN,
    evidence: Mapping[str, QuestionEvidence] = MappingProxyType({}),
) -> dict[str, dict[str, Any]]:
    """Return an answers document to fill in; weak evidence is named, as a "pass" then needs a comment."""
    document: dict[str, dict[str, Any]] = {}
    for question in questions:
        entry: dict[str, Any] = {
            "question": f"{question.question} ({', '.join(ANSWERS)})",
            "answer": "",
            "comment": "",
        }
        if question.id in evidence and evidence[question.id].weak:
            entry["weak evidence"] = list(evidence[question.id].doubts)
        document[question.id] = entry
    return document


def lacks_sentence(comment: str) -> str:
    """Return what a comment lacks that carries a judgement; "" for nothing. One letter is a slip of the finger."""
    return "" if len(comment.split()) >= SENTENCE else f"say it in at least {SENTENCE} words"


def _human_item(question: ChecklistQuestion, stated: object, evidence: QuestionEvidence) -> ReviewItem:
    answer, comment = stated, ""
    if isinstance(stated, Mapping):
        answer, comment = stated.get("answer"), str(stated.get("comment") or "")
    if answer not in ANSWERS:
        raise UsageError(
            f"item {question.id!r}: the answer {answer!r} is none", "one of: " + ", ".join(ANSWERS)
        )
    if answer != "pass" and not comment.strip():
        raise UsageError(f"item {question.id!r}: {answer!r} needs a comment", "say why, for the annotator")
    if answer == "pass" and evidence.weak and (lacks := lacks_sentence(comment)):
        raise UsageError(
            f"item {question.id!r}: 'pass' needs a comment, because the evidence is weak: "
            f"{'; '.join(evidence.doubts)}",
            f"say why it passes all the same: {lacks}",
        )
    weak = f"weak: {'; '.join(evidence.doubts)}" if evidence.weak else ""
    return ReviewItem(question.id, question.question, "human", answer, comment, weak)  # type: ignore[arg-type]
