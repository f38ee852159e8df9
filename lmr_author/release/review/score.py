"""``judge --by-hand``: people grade candidate implementations; agreement over those that enough people graded.

A candidate is identified by the hash of its text. Graders never see who wrote it: when models' answers are
graded from a file of predictions, the models appear with the results, from that file.
"""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from lmr_author.core import files, locks
from lmr_author.core.code import Definition, Module, find, methods
from lmr_author.core.errors import LmrError, UsageError
from lmr_author.core.task import Implementation, Task, ledger
from lmr_author.core.task.reviews import GRADES, Grade, Grades, path_of_reviewer
from lmr_author.proof.evaluation.candidates import predictions
from lmr_author.proof.evaluation.candidates.fitting import FittedAnswer, Slot, fit
from lmr_author.proof.evaluation.candidates.predictions import Key, Prediction
from lmr_author.proof.evaluation.candidates.reply import InvalidAnswer
from lmr_author.release.review.agreement import Agreement, agreement, majority
from lmr_author.release.review.evidence_of_task import in_paper
from lmr_author.release.review.instruction import cite, paper_pages
from lmr_author.runtime.replay.staging import read_golden

BEST, *_, WORST = GRADES
NEEDED = 2
"""Number of people who grade a candidate before anybody sees the others' grades."""
MOST_BYTES = 4 * 1024 * 1024
BY_RULE = "rule"
"""In place of a person, of a grade that nobody is asked for."""


@dataclass(frozen=True)
class GradeSummary:
    """The grades of candidates; ``hidden`` counts those that too few people graded."""

    agreement: Agreement
    hidden: int
    disputes: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    models: Mapping[str, Mapping[str, int]]


@dataclass(frozen=True)
class Candidate:
    """A candidate to grade.

    Attributes:
        name: the file's name; for a model's answer, a name that does not reveal the model.
        sha256: digest of the whole text; a grade holds for no other.
        text: the text to show: of an answer, the tested function and what was added for it.
        golden: the golden in the same form.
        whole: the goal file with the answer, and the golden file; empty for a candidate's own file.
        rule: the grade of an answer that nobody has to read, being invalid or equal to the golden; else "".
    """

    task: Task
    name: str
    sha256: str
    text: str
    implementation: Implementation
    golden: str
    golden_sha256: str
    whole: tuple[str, str] = ("", "")
    rule: str = ""


def candidate(task: Task, path: Path, index: int | None) -> Candidate:
    info = task.load()
    if not path.is_file() or path.stat().st_size > MOST_BYTES:
        raise UsageError(f"{path}: no such file, or too large", "name a candidate's Python file")
    implementation = info.implementation(index)
    golden, data = read_golden(task, implementation), path.read_bytes()
    return Candidate(
        task,
        path.name,
        files.sha256_bytes(data),
        data.decode("utf-8", "replace"),
        implementation,
        golden.decode("utf-8", "replace"),
        files.sha256_bytes(golden),
    )


def waiting(tasks: Sequence[Task], source: Path, reviewer: str, model: str | None) -> list[Candidate]:
    """Return the predictions that this person has not graded, in an order that reveals nothing.

    Those graded by rule are included.

    Raises LmrError: unreadable predictions, or a missing golden; UsageError: no answers of ``model``.
    """
    answers = _predictions(tasks, source)
    models = sorted({prediction.model for _, prediction in answers})
    if model is not None and model not in models:
        raise UsageError(f"{source} has no answers of {model!r}", f"it has those of {', '.join(models)}")
    candidates: dict[tuple[Path, int, str], Candidate] = {}
    for task, prediction in answers:
        if model in (None, prediction.model):
            candidate = answer(task, prediction)
            candidates.setdefault((task.root, prediction.index, candidate.sha256), candidate)
    left = [candidate for candidate in candidates.values() if not _is_graded(candidate, reviewer)]
    left.sort(key=lambda candidate: (candidate.task.name, candidate.implementation.index, candidate.sha256))
    return left


def score(candidate: Candidate, reviewer: str, grade: str, why: str) -> Path:
    """Store a grade. Raises UsageError for an unknown grade or a missing justification."""
    new = _grade(candidate, grade, why)
    path = path_of_reviewer(candidate.task.scores_folder, reviewer)
    with locks.held(candidate.task.root):
        stored = Grades.read(path) if path.exists() else Grades(reviewer=reviewer)
        same = (new.sha256, new.implementation)
        others = [earlier for earlier in stored.scores if (earlier.sha256, earlier.implementation) != same]
        replace(stored, scores=(*others, new)).write(path)
    return path


def score_all(candidates: Sequence[Candidate], reviewer: str, grades: Mapping[str, object]) -> list[Path]:
    """Store the grades of a file, ``{candidate: {score, justification}}``: all, or none after a UsageError."""
    by_name = {candidate.name: candidate for candidate in candidates}
    entries = []
    for name, entry in grades.items():
        if name not in by_name:
            raise UsageError(f"no candidate {name!r} is waiting for your grade", "see them with --list")
        if not isinstance(entry, Mapping):
            raise UsageError(f"{name}: not a grade", "as in {score: logically-correct, justification: …}")
        grade, why = str(entry.get("score")), str(entry.get("justification") or "")
        _grade(by_name[name], grade, why)
        entries.append((by_name[name], grade, why))
    return [score(candidate, reviewer, grade, why) for candidate, grade, why in entries]


def _grade(candidate: Candidate, grade: str, why: str) -> Grade:
    return Grade(
        candidate=candidate.name,
        sha256=candidate.sha256,
        implementation=candidate.implementation.index,
        score=grade,  # type: ignore[arg-type]  # the class refuses what is no grade
        justification=why.strip(),
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        golden_sha256=candidate.golden_sha256,
    )


def scored(tasks: Sequence[Task], source: Path | None = None) -> GradeSummary:
    """Combine the grades of several tasks, by model if predictions are given.

    Grades of another golden, and by too few people, do not count.
    """
    judged, hidden = _judgements(tasks)
    by_person: dict[str, dict[str, str]] = defaultdict(dict)
    disputes = []
    for name, grades in judged.items():
        for person, grade in grades.items():
            by_person[person][name] = grade
        if len(set(grades.values())) > 1:
            disputes.append((name, tuple(grades.items())))
    models: dict[str, Counter[str]] = defaultdict(Counter)
    if source is not None:
        for key, grades in grades_of_predictions(tasks, source).items():
            models[key.model][majority(grades)] += 1
    return GradeSummary(agreement(by_person), hidden, tuple(disputes), models)


def grades_of_predictions(tasks: Sequence[Task], source: Path) -> dict[Key, dict[str, str]]:
    """Return person → grade for each prediction that enough people graded.

    Grades by rule count once all other answers of the model are graded.
    """
    judged, _ = _judgements(tasks)
    grades, ruled, unfinished = dict[Key, dict[str, str]](), dict[Key, str](), set[str]()
    for task, prediction in _predictions(tasks, source):
        candidate = answer(task, prediction)
        key = _key(task, prediction.index, candidate.name, candidate.sha256)
        if key in judged:
            grades[prediction.key] = judged[key]
        elif candidate.rule:
            ruled[prediction.key] = candidate.rule
        else:
            unfinished.add(prediction.model)
    by_rule = {key: {BY_RULE: grade} for key, grade in ruled.items() if key.model not in unfinished}
    return {**grades, **by_rule}


def _predictions(tasks: Sequence[Task], source: Path) -> list[tuple[Task, Prediction]]:
    by_name = {task.name: task for task in tasks}
    answers = predictions.read(source, {name: task.load() for name, task in by_name.items()})
    return [(by_name[prediction.task], prediction) for prediction in answers.answered]


def answer(task: Task, prediction: Prediction) -> Candidate:
    """Return an answer with its golden: the tested function if the answer contains it, else the whole texts."""
    masked = task.load().implementation(prediction.index)
    golden, text = read_golden(task, masked), prediction.code
    digest = files.sha256_bytes(text.encode("utf-8", "replace"))
    # The same text (an empty one, say) may answer several tasks, and is graded for each.
    name = f"answer-{files.sha256_bytes(f'{task.name} {prediction.index} {digest}'.encode())[:8]}"
    whole, rule = (text, golden.decode("utf-8", "replace")), ""
    try:
        fitted = _fitted(task, prediction, masked)
        own, beside = Module.parse(fitted.data, masked.goal_file), Module.parse(golden, masked.golden_file)
        written, right = find(own, masked.target), find(beside, masked.target)
        shown = "\n\n\n".join([*fitted.added, _unindented(own, written)])
        compared = _unindented(beside, right)
        whole = own.text, whole[1]
        if not fitted.added and _statements(written) == _statements(right):
            rule = BEST
    except LmrError as error:
        shown, compared = whole
        rule = WORST if isinstance(error, InvalidAnswer) else ""
    return Candidate(task, name, digest, shown, masked, compared, files.sha256_bytes(golden), whole, rule)


def passages(candidate: Candidate) -> list[tuple[str, str]]:
    """Return the paper's passages about a target: the ledger's, else the sections that the instruction names."""
    task, target = candidate.task, candidate.implementation
    quoted = []
    for entry in ledger.load(task).entries:
        if entry.index == target.index and entry.quote:
            quoted.append((in_paper(entry) or "the paper", f"“{entry.quote}”"))
    cited = cite(target.instruction, paper_pages(task, task.load()))
    return quoted or [(section.named, section.text) for section in cited.sections]


def _statements(definition: Definition) -> list[str]:
    """Return decorators and statements without docstring, comments and formatting."""
    return [ast.unparse(node) for node in (*definition.node.decorator_list, *definition.statements)]


def _fitted(task: Task, prediction: Prediction, masked: Implementation) -> FittedAnswer:
    info = task.load()
    goal = Module.parse(task.goal(info, masked).read_bytes(), masked.goal_file)
    others = tuple(other.qualname for other in info.implementations if other.index != masked.index)
    slot = Slot(goal, methods(goal, find(goal, masked.target)), others=others)
    return fit(prediction.code, slot, is_file=prediction.is_file)


def _unindented(module: Module, definition: Definition) -> str:
    lines = [module.line_text(number) for number in range(definition.line, definition.end_line + 1)]
    indent = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
    return "\n".join(line.removeprefix(indent) for line in lines)


def _is_graded(candidate: Candidate, reviewer: str) -> bool:
    same = (candidate.sha256, candidate.implementation.index, candidate.golden_sha256)
    grades = _grades(candidate.task).get(reviewer, ())
    return any((grade.sha256, grade.implementation, grade.golden_sha256) == same for grade in grades)


def _grades(task: Task) -> dict[str, tuple[Grade, ...]]:
    by_person = {}
    for path in sorted(task.scores_folder.glob("*.json")):
        stored = Grades.read_if_valid(path)
        if stored is not None:
            by_person[stored.reviewer] = stored.scores
    return by_person


def _key(task: Task, implementation: int, candidate: str, sha256: str) -> str:
    return f"{task.name}/{implementation}:{candidate}@{sha256[:8]}"


def _judgements(tasks: Sequence[Task]) -> tuple[dict[str, dict[str, str]], int]:
    """Return candidate → person → grade for candidates that enough people graded, and the number of others.

    Grades of another golden do not count.
    """
    table: dict[str, dict[str, str]] = defaultdict(dict)
    for task in tasks:
        goldens = _goldens(task)
        for person, grades in sorted(_grades(task).items()):
            for grade in grades:
                if goldens.get(grade.implementation) == grade.golden_sha256:
                    key = _key(task, grade.implementation, grade.candidate, grade.sha256)
                    table[key][person] = grade.score
    ready = {key: by_person for key, by_person in sorted(table.items()) if len(by_person) >= NEEDED}
    return ready, len(table) - len(ready)


def _goldens(task: Task) -> dict[int, str]:
    digests = {}
    for masked in task.load().implementations:
        with suppress(LmrError, OSError):
            digests[masked.index] = files.sha256_file(task.golden(masked))
    return digests
