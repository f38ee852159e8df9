"""Misreadings and rewrites, read from a recipe, a folder, JSON lines or graded answers."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from lmr_author.core import foreign
from lmr_author.core.errors import LmrError
from lmr_author.core.task import Task, TaskInfo
from lmr_author.core.task.challenge import AnswerKind, Challenger
from lmr_author.proof.evaluation.candidates import predictions
from lmr_author.proof.evaluation.candidates.answer import MAX_ANSWER
from lmr_author.proof.evaluation.candidates.predictions import Key, NoPredictionsError, Prediction
from lmr_author.proof.evaluation.verdict import Outcome
from lmr_author.release.analysis import observations
from lmr_author.release.recipes.paths import MOST_BYTES
from lmr_author.release.recipes.recipe import RECIPE
from lmr_author.release.recipes.recipe import read as read_recipe
from lmr_author.release.review import score
from lmr_author.release.review.agreement import majority

FOLDERS = {"misreadings": AnswerKind.MISREADING, "rewrites": AnswerKind.REWRITE}
"""Folder → what the answers in it are."""
KINDS = {
    "misreading": AnswerKind.MISREADING,
    "rewrite": AnswerKind.REWRITE,
    "failed": AnswerKind.MISREADING,
    "passed": AnswerKind.REWRITE,
}
"""Kind of a recipe's answer, or outcome of one without a kind → what it is."""
RIGHT = ("CC", "completely-correct")
"""Grades of a right answer. With any other grade it should not pass."""
NO_GRADE = ("unparsable", "disputed")
FORMS = (
    "a recipe's folder, a folder with misreadings/*.py and rewrites/*.py, JSON lines with kind and about, or graded "
    "answers in a log: see docs/challenge.md"
)
NO_ANSWERS = 'a folder holds misreadings/NAME.py and rewrites/NAME.py: see docs/challenge.md, "Answers"'


def read(path: Path, task: Task, implementation: int | None = None) -> list[Challenger]:
    """Return the answers of a file or folder to a task's functions.

    Args:
        implementation: the function that answers in a folder are for, unless a subfolder names it.

    Raises LmrError: no such path, no answers to this task, an unknown kind, or two answers of one name.
    """
    info = task.load()
    if not path.exists():
        raise LmrError(f"there is no {path}", f"--answers takes {FORMS}")
    if (path / RECIPE).is_file():
        answers = list(_from_recipe(path, info))
    elif any((path / name).is_dir() for name in FOLDERS):
        answers = list(_from_folders(path, info, implementation))
    else:
        try:
            answers = list(_from_predictions(path, task, info))
        except NoPredictionsError as error:
            raise LmrError(f"{path} holds no answers", NO_ANSWERS) from error
    if not answers:
        raise LmrError(f"{path} holds no misreadings or rewrites of {task.name}", f"--answers takes {FORMS}")
    _require_distinct(path, answers)
    return answers


def _require_distinct(path: Path, answers: Iterable[Challenger]) -> None:
    names = set[tuple[int, str]]()
    for answer in answers:
        if (answer.index, answer.name) in names:
            raise LmrError(f"{path} has two answers with the name {answer.name!r}", "rename one of them")
        names.add((answer.index, answer.name))


def _from_recipe(path: Path, info: TaskInfo) -> Iterator[Challenger]:
    folder = read_recipe(path)
    targets = {implementation.index: str(implementation.target) for implementation in info.implementations}
    for index, part in enumerate(folder.recipe.targets, 1):
        target = targets.get(index, "missing")
        if target != part.target:
            raise LmrError(
                f"{path / RECIPE}: target {index} is {part.target}, and the task's is {target}",
                "name the recipe that this task was made from",
            )
        for name, answer in part.expected.items():
            kind = KINDS.get(answer.kind) or KINDS.get(answer.outcome)
            if kind is not None:
                code = folder.answer_text(index, name)
                yield _answer(path, index, name, kind, answer.about, code)


def _from_folders(path: Path, info: TaskInfo, implementation: int | None) -> Iterator[Challenger]:
    """Yield ``misreadings/*.py`` and ``rewrites/*.py``; of several functions, ``misreadings/1/*.py``."""
    by_name = {str(each.index): each.index for each in info.implementations}
    if implementation is None and len(by_name) == 1:
        implementation = info.implementations[0].index
    there = foreign.walk(path, MOST_BYTES, lambda at: at.parent == path and at.name not in FOLDERS)
    found = sorted(there, key=lambda file: (len(file.parts), file))
    for folder, kind in FOLDERS.items():
        for file in found:
            parts = file.relative_to(path).parts
            if parts[0] != folder or file.suffix != ".py" or len(parts) > 3:
                continue
            is_directly_there = file.parent == path / folder
            index = implementation if is_directly_there else by_name.get(file.parent.name)
            if index is None:
                raise LmrError(
                    f"{file}: unclear which of {len(by_name)} functions it answers",
                    f"put it into {folder}/1/ for the first, and so on, or add --implementation",
                )
            code = foreign.read(file, MAX_ANSWER).decode("utf-8", "replace")
            yield _answer(path, index, file.stem, kind, _comment_on_top(code), code)


def _comment_on_top(code: str) -> str:
    comment = itertools.takewhile(lambda line: line.lstrip().startswith("#"), code.splitlines())
    return " ".join(line.strip(" \t#") for line in comment).strip()


def _from_predictions(path: Path, task: Task, info: TaskInfo) -> Iterator[Challenger]:
    """Yield answers by their stated kind, else by a contradiction of test and grade."""
    answers = predictions.read(path, {task.name: info}).answered
    named = any(answer.kind for answer in answers)
    disagreements = {} if all(answer.kind for answer in answers) else _disagreements(path, task)
    labels = [(answer.index, " ".join(filter(None, _who(answer)))) for answer in answers]
    totals, numbers = Counter(labels), Counter[tuple[int, str]]()
    for answer, label in zip(answers, labels, strict=True):
        numbers[label] += 1
        if answer.kind and answer.kind not in list(AnswerKind):
            raise LmrError(
                f"{answer.where}: kind {answer.kind!r} is unknown", f"kinds are {', '.join(AnswerKind)}"
            )
        kind = AnswerKind(answer.kind) if answer.kind else disagreements.get(answer.key)
        if kind is not None:
            name = label[1] if totals[label] == 1 else f"{label[1]} {numbers[label]}"
            yield _answer(path, answer.index, name, kind, answer.about, answer.code)
        elif not disagreements and not named:
            raise LmrError(
                f"{answer.where}: the answer has no kind",
                'add "kind": "misreading" or "rewrite", or grade the answers: `judge --by-hand`',
            )


def _who(answer: Prediction) -> tuple[str, ...]:
    return answer.model, answer.agent, answer.setting, answer.input


def _disagreements(path: Path, task: Task) -> dict[Key, AnswerKind]:
    """Return the answers on which the unit test and the graders disagree.

    People's grades take precedence over a model's. For an answer that no test has judged, its grade alone decides.
    """
    outcomes, grades = dict[Key, str](), dict[Key, str]()
    for answer in observations.read([path]).items:
        outcomes[answer.key] = answer.outcome
        grades[answer.key] = majority(answer.grades or answer.judges)
    for key, opinions in score.grades_of_predictions([task], path).items():
        if score.BY_RULE not in opinions:
            grades[key] = majority(opinions)
    disagreements = {}
    for key, grade in grades.items():
        kind, outcome = AnswerKind.MISREADING, Outcome.FAILED
        if grade in RIGHT:
            kind, outcome = AnswerKind.REWRITE, Outcome.PASSED
        if grade and grade not in NO_GRADE and outcomes.get(key) != outcome.value:
            disagreements[key] = kind
    return disagreements


def _answer(path: Path, index: int, name: str, kind: AnswerKind, about: str, code: str) -> Challenger:
    return Challenger(index=index, name=name, kind=kind, about=about, code=code, source=path.resolve().name)
