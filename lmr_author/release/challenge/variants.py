"""What a test is challenged with: misreadings and rewrites, read from a recipe, a folder, JSON lines or a log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from lmr_author.core.errors import LmrError
from lmr_author.core.task import Task, TaskInfo
from lmr_author.core.task.challenge import Kind
from lmr_author.proof.evaluation.candidates import predictions
from lmr_author.proof.evaluation.candidates.predictions import Key
from lmr_author.proof.evaluation.verdict import Outcome
from lmr_author.release.analysis import observations
from lmr_author.release.recipes.recipe import RECIPE
from lmr_author.release.recipes.recipe import read as read_recipe
from lmr_author.release.review import score
from lmr_author.release.review.agreement import majority

FOLDERS = {"misreadings": Kind.MISREADING, "rewrites": Kind.REWRITE}
"""Folders of answers → what the answers in them are."""
OUTCOMES = {"failed": Kind.MISREADING, "passed": Kind.REWRITE}
"""Outcome of a recipe's answer without a kind → what it is."""
RIGHT = ("CC", "completely-correct")
"""Grades of a right answer; with any other, it would not pass."""
NO_GRADE = ("unparsable", "disputed")
FORMS = (
    "a recipe's folder, a folder with misreadings/*.py and rewrites/*.py, JSON lines with kind and about, or graded "
    "answers in a log: see docs/challenge.md"
)


@dataclass(frozen=True)
class Variant:
    """A version of a target that a test is challenged with.

    Attributes:
        index: the implementation.
        name: with the index, it is unique.
        kind: what it is meant to be.
        about: what it misreads or changes, in a sentence; "" where nobody says it.
        code: the answer, as `judge` reads one.
        source: where it comes from.
    """

    index: int
    name: str
    kind: Kind
    about: str
    code: str
    source: str


def read(path: Path, task: Task, implementation: int | None = None) -> list[Variant]:
    """Return the answers of a file or folder to a task's functions.

    Args:
        implementation: the function that answers of a folder are for where their place does not say it.

    Raises LmrError: no such path, nothing in it for this task, an answer of which nothing says what it is meant to be,
    or two answers of the same name.
    """
    info = task.load()
    if not path.exists():
        raise LmrError(f"there is no {path}", f"--answers takes {FORMS}")
    if path.is_dir() and (path / RECIPE).is_file():
        variants = list(_from_recipe(path, info))
    elif path.is_dir() and any((path / name).is_dir() for name in FOLDERS):
        variants = list(_from_folders(path, info, implementation))
    elif path.is_dir() and not any(path.iterdir()):
        raise LmrError(f"{path} holds no answers", f"--answers takes {FORMS}")
    else:
        variants = list(_from_predictions(path, task, info))
    if not variants:
        raise LmrError(f"{path} holds no misreadings or rewrites of {task.name}", f"--answers takes {FORMS}")
    _require_distinct(path, variants)
    return variants


def _require_distinct(path: Path, variants: Iterable[Variant]) -> None:
    seen = set[tuple[int, str]]()
    for variant in variants:
        if (variant.index, variant.name) in seen:
            raise LmrError(f"{path} has two answers with the name {variant.name!r}", "rename one of them")
        seen.add((variant.index, variant.name))


def _from_recipe(path: Path, info: TaskInfo) -> Iterator[Variant]:
    """Yield a recipe's misreadings and rewrites; other answers say nothing about the paper."""
    folder = read_recipe(path)
    targets = {one.index: str(one.target) for one in info.implementations}
    for index, part in enumerate(folder.recipe.targets, 1):
        if targets.get(index) != part.target:
            raise LmrError(
                f"{path / RECIPE}: target {index} is {part.target}, and the task's is {targets.get(index, 'missing')}",
                "name the recipe that this task was made from",
            )
        for name, answer in part.expected.items():
            kind = OUTCOMES.get(answer.outcome) if answer.kind == "other" else Kind(answer.kind)
            if kind is not None:
                code = folder.answer(index, name).read_text("utf-8")
                yield Variant(index, name, kind, answer.about, code, path.resolve().name)


def _from_folders(path: Path, info: TaskInfo, implementation: int | None) -> Iterator[Variant]:
    """Yield ``misreadings/*.py`` and ``rewrites/*.py``; of several functions, ``misreadings/1/``."""
    indexes = [each.index for each in info.implementations]
    if implementation is None and len(indexes) == 1:
        implementation = indexes[0]
    for folder, kind in FOLDERS.items():
        answers = []
        for file in sorted((path / folder).glob("*.py")):
            if implementation is None:
                raise LmrError(
                    f"{file}: nothing says which of {len(indexes)} functions it answers",
                    f"put it into {folder}/1/ for the first, and so on, or add --implementation",
                )
            answers.append((implementation, file))
        for index in indexes:
            answers += [(index, file) for file in sorted((path / folder / str(index)).glob("*.py"))]
        for index, file in answers:
            code = file.read_text("utf-8", "replace")
            yield Variant(index, file.stem, kind, _about(code), code, path.resolve().name)


def _about(code: str) -> str:
    """Return the comment at the top of an answer: what is special about it."""
    lines = [line.strip() for line in code.splitlines()]
    comment = []
    for line in lines:
        if not line.startswith("#"):
            break
        comment.append(line.lstrip("# ").strip())
    return " ".join(comment).strip()


def _from_predictions(path: Path, task: Task, info: TaskInfo) -> Iterator[Variant]:
    """Yield answers as `judge` reads them, by the kind that they name, else where test and grade contradict."""
    given = predictions.read(path, {task.name: info})
    opinions = _opinions(path, task) if any(not item.kind for item in given.items) else {}
    samples = {(item.model, item.index): item.sample for item in given.items}
    unknown = ""
    for item in given.items:
        if item.kind and item.kind not in list(Kind):
            raise LmrError(f"{item.where}: kind {item.kind!r} is unknown", f"kinds are {', '.join(Kind)}")
        kind = Kind(item.kind) if item.kind else opinions.get(item.key)
        if kind is None:
            unknown = unknown or item.where
            continue
        alone = samples[item.model, item.index] == 1
        name = item.model if alone else f"{item.model} {item.sample}"
        name = " ".join(part for part in (name, item.setting, item.input) if part)
        yield Variant(item.index, name, kind, item.about, item.code, path.resolve().name)
    if unknown and not opinions and not any(item.kind for item in given.items):
        raise LmrError(
            f"{unknown}: nothing says what this answer is meant to be",
            'add "kind": "misreading" or "rewrite", or grade the answers (`judge` scorer of a log, or `score`)',
        )


def _opinions(path: Path, task: Task) -> dict[Key, Kind]:
    """Return the answers about which the unit test and somebody who read them disagree, as far as both are known.

    People's grades count before a model's. An answer that no test has judged is taken at its grade.
    """
    people = score.grades_of_predictions([task], path)
    outcomes, grades = dict[Key, str](), dict[Key, str]()
    for one in observations.read([path]).items:
        outcomes[one.key] = one.outcome
        if known := majority(one.grades) if one.grades else one.judge:
            grades[one.key] = known
    grades |= {key: majority(said) for key, said in people.items()}
    found = {}
    for key, grade in grades.items():
        kind = Kind.REWRITE if grade in RIGHT else Kind.MISREADING
        expected = Outcome.PASSED if kind is Kind.REWRITE else Outcome.FAILED
        agree = outcomes.get(key) == expected.value
        if grade not in NO_GRADE and not agree:
            found[key] = kind
    return found
