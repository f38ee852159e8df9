"""``score``: people grade candidate implementations; agreement over those that enough people graded.

A candidate is identified by the hash of its text. Graders never see who wrote it: when models' answers are
graded from a file of predictions, the models appear with the results, from that file.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from lmr_author import files
from lmr_author.code import Module, find
from lmr_author.errors import LmrError, UsageError
from lmr_author.evaluation.candidates import predictions
from lmr_author.evaluation.candidates.answer import Invalid, parsed
from lmr_author.evaluation.candidates.predictions import Key, Prediction
from lmr_author.replay.staging import read_golden
from lmr_author.review.agreement import Agreement, agreement
from lmr_author.task import Implementation, Task
from lmr_author.task.reviews import Grade, Grades, path_of_reviewer

NEEDED = 2
"""Number of people who grade a candidate before anybody sees the others' grades."""
MOST_BYTES = 4 * 1024 * 1024
DISPUTED = "disputed"
"""Shown instead of a grade that has no majority."""


@dataclass(frozen=True)
class GradeSummary:
    """The grades of candidates.

    Attributes:
        agreement: agreement of the people over candidates that enough of them graded.
        hidden: number of other candidates.
        disputes: grades by person of each candidate on which they differ.
        models: number of answers by model and grade, when the predictions are given.
    """

    agreement: Agreement
    hidden: int
    disputes: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    models: Mapping[str, Mapping[str, int]]


@dataclass(frozen=True)
class Candidate:
    """A candidate to grade.

    Attributes:
        task: its task.
        name: name of its file; for a model's answer, a name that does not reveal the model.
        sha256: digest of its text; a grade holds for no other.
        text: the text shown: for an answer the function alone, if it contains it.
        implementation: the implementation that it solves.
        golden: the golden that it is compared with, in the same form.
        golden_sha256: digest of the golden file.
    """

    task: Task
    name: str
    sha256: str
    text: str
    implementation: Implementation
    golden: str
    golden_sha256: str


def candidate(task: Task, path: Path, index: int | None) -> Candidate:
    """Read a candidate. Raises UsageError: no such file or implementation; LmrError: no golden."""
    info = task.load()
    if not path.is_file() or path.stat().st_size > MOST_BYTES:
        raise UsageError(
            f"{path}: there is no such file, or it is too large", "name a candidate's Python file"
        )
    one = info.implementation(index)
    golden, data = read_golden(task, one), path.read_bytes()
    return Candidate(
        task,
        path.name,
        files.sha256_bytes(data),
        data.decode("utf-8", "replace"),
        one,
        golden.decode("utf-8", "replace"),
        files.sha256_bytes(golden),
    )


def waiting(tasks: Sequence[Task], source: Path, reviewer: str, model: str | None) -> list[Candidate]:
    """Return the predictions that this person has not graded, in an order that reveals nothing.

    Args:
        source: predictions as ``evaluate --predictions`` takes them.
        model: only answers of this model.

    Raises LmrError: the predictions cannot be read, a golden is missing; UsageError: no such model.
    """
    given = _predictions(tasks, source)
    models = sorted({item.model for _, item in given})
    if model is not None and model not in models:
        raise UsageError(f"{source} has no answers of {model!r}", f"it has those of {', '.join(models)}")
    found: dict[tuple[Path, int, str], Candidate] = {}
    for task, item in given:
        if model in (None, item.model):
            one = answer(task, item)
            found.setdefault((task.root, item.index, one.sha256), one)
    left = [one for one in found.values() if not _graded(one, reviewer)]
    return sorted(left, key=lambda one: (one.task.name, one.implementation.index, one.sha256))


def score(given: Candidate, reviewer: str, grade: str, why: str) -> Path:
    """Store a grade. Raises UsageError for an unknown grade or a missing justification."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    index = given.implementation.index
    new = Grade(given.name, given.sha256, index, grade, why.strip(), now, given.golden_sha256)  # type: ignore[arg-type]
    path = path_of_reviewer(given.task.scores_folder, reviewer)
    stored = Grades.read(path) if path.exists() else Grades(reviewer=reviewer)
    kept = [one for one in stored.scores if (one.sha256, one.implementation) != (new.sha256, index)]
    replace(stored, scores=(*kept, new)).write(path)
    return path


def score_all(candidates: Sequence[Candidate], reviewer: str, grades: Mapping[str, object]) -> list[Path]:
    """Store the grades of a file: ``{candidate: {score, justification}}``.

    Raises UsageError for the first invalid name or grade, before anything is stored.
    """
    by_name = {one.name: one for one in candidates}
    entries = []
    for name, said in grades.items():
        if name not in by_name:
            raise UsageError(f"no candidate {name!r} is waiting for your grade", "see them with --list")
        if not isinstance(said, Mapping):
            raise UsageError(f"{name}: not a grade", "as in {score: logically-correct, justification: …}")
        one, grade, why = by_name[name], str(said.get("score")), str(said.get("justification") or "")
        Grade(name, one.sha256, one.implementation.index, grade, why, "", one.golden_sha256)  # type: ignore[arg-type]
        entries.append((one, grade, why))
    return [score(one, reviewer, grade, why) for one, grade, why in entries]


def scored(tasks: Sequence[Task], source: Path | None = None) -> GradeSummary:
    """Combine the grades of several tasks; skip those of another golden or by too few people.

    Args:
        source: predictions, to count grades by model.
    """
    merged: dict[str, dict[str, str]] = {}
    hidden = 0
    for task in tasks:
        found, more = _judgements(task)
        hidden += more
        for person, said in found.items():
            merged.setdefault(person, {}).update(
                {f"{task.name}/{name}": grade for name, grade in said.items()}
            )
    said_of: dict[str, dict[str, str]] = defaultdict(dict)
    for person in sorted(merged):
        for thing, grade in merged[person].items():
            said_of[thing][person] = grade
    disputes = [
        (thing, tuple(said.items())) for thing, said in sorted(said_of.items()) if len(set(said.values())) > 1
    ]
    models = _by_model(tasks, source, said_of) if source is not None else {}
    return GradeSummary(agreement(merged), hidden, tuple(disputes), models)


def grades_of_predictions(tasks: Sequence[Task], source: Path) -> dict[Key, dict[str, str]]:
    """Return people's grades of predictions that enough people graded: person → grade by answer."""
    said_of: dict[str, dict[str, str]] = defaultdict(dict)
    for task in tasks:
        for person, said in _judgements(task)[0].items():
            for name, grade in said.items():
                said_of[f"{task.name}/{name}"][person] = grade
    found = {}
    for task, item in _predictions(tasks, source):
        one = answer(task, item)
        grades = said_of.get(f"{task.name}/{_key(item.index, one.name, one.sha256)}")
        if grades:
            found[item.key] = grades
    return found


def _by_model(
    tasks: Sequence[Task], source: Path, said_of: Mapping[str, Mapping[str, str]]
) -> dict[str, Counter[str]]:
    table: dict[str, Counter[str]] = {}
    for task, item in _predictions(tasks, source):
        one = answer(task, item)
        said = said_of.get(f"{task.name}/{_key(item.index, one.name, one.sha256)}")
        if said:
            table.setdefault(item.model, Counter())[_decided(said)] += 1
    return table


def _decided(said: Mapping[str, str]) -> str:
    """Return the grade that more than half of the people gave."""
    grade, count = Counter(said.values()).most_common(1)[0]
    return grade if 2 * count > len(said) else DISPUTED


def _predictions(tasks: Sequence[Task], source: Path) -> list[tuple[Task, Prediction]]:
    by_name = {task.name: task for task in tasks}
    given = predictions.read(source, {name: task.load() for name, task in by_name.items()})
    return [(by_name[item.task], item) for item in given.items]


def answer(task: Task, item: Prediction) -> Candidate:
    """Return an answer with its golden: the functions alone if the answer contains it, else the whole texts."""
    one = task.load().implementation(item.index)
    golden, text = read_golden(task, one), _text(item, one)
    digest = files.sha256_bytes(text.encode("utf-8", "replace"))
    # The same text (an empty one, say) may answer several tasks, and is graded for each.
    name = f"answer-{files.sha256_bytes(f'{task.name} {item.index} {digest}'.encode())[:8]}"
    shown, beside = _functions(text, golden, one) or (text, golden.decode("utf-8", "replace"))
    return Candidate(task, name, digest, shown, one, beside, files.sha256_bytes(golden))


def _text(item: Prediction, one: Implementation) -> str:
    if item.code is not None or item.patch is not None:
        return item.code if item.code is not None else str(item.patch)
    assert item.tree is not None
    path = files.inside(item.tree, one.goal_file)
    if not path.is_file() or path.stat().st_size > MOST_BYTES:
        return ""
    return path.read_bytes().decode("utf-8", "replace")


def _functions(text: str, golden: bytes, one: Implementation) -> tuple[str, str] | None:
    """Return the masked function of an answer and of the golden; None when either is missing."""
    name = f"{one.class_name}.{one.goal_function}" if one.class_name else one.goal_function
    try:
        answer = parsed(text, (name,))
        own = Module.parse(golden, one.golden_file)
        wanted = find(own, one.target)
    except (Invalid, LmrError):
        return None
    found = answer.function(name, wanted)
    if found is None:
        return None
    return (
        "\n".join(_lines(answer.module, found.line, found.end_line)),
        "\n".join(_lines(own, wanted.line, wanted.end_line)),
    )


def _lines(module: Module, first: int, last: int) -> Iterator[str]:
    """Yield lines of a module without the indentation of the first."""
    indent = module.line_text(first)[: -len(module.line_text(first).lstrip()) or None]
    indent = indent if not indent.strip() else ""
    for number in range(first, last + 1):
        yield module.line_text(number).removeprefix(indent)


def _graded(one: Candidate, reviewer: str) -> bool:
    same = (one.sha256, one.implementation.index, one.golden_sha256)
    given = _grades(one.task).get(reviewer, ())
    return any((item.sha256, item.implementation, item.golden_sha256) == same for item in given)


def _grades(task: Task) -> dict[str, tuple[Grade, ...]]:
    """Return the grades by person; skip files that cannot be read."""
    paths = sorted(task.scores_folder.glob("*.json")) if task.scores_folder.is_dir() else []
    return {one.reviewer: one.scores for path in paths if (one := Grades.read_if_valid(path))}


def _key(implementation: int, candidate: str, sha256: str) -> str:
    return f"{implementation}:{candidate}@{sha256[:8]}"


def _judgements(task: Task) -> tuple[dict[str, dict[str, str]], int]:
    """Return person → candidate → grade for candidates that enough people graded, and the number of others.

    Grades given beside another golden than today's do not count.
    """
    golden = _goldens(task)
    table: dict[str, dict[str, str]] = {}
    for person, given in _grades(task).items():
        for one in given:
            if golden.get(one.implementation) == one.golden_sha256:
                key = _key(one.implementation, one.candidate, one.sha256)
                table.setdefault(key, {})[person] = one.score
    by_person: dict[str, dict[str, str]] = {}
    ready = {key: said for key, said in table.items() if len(said) >= NEEDED}
    for key, said in ready.items():
        for person, grade in said.items():
            by_person.setdefault(person, {})[key] = grade
    return by_person, len(table) - len(ready)


def _goldens(task: Task) -> dict[int, str]:
    found = {}
    for one in task.load().implementations:
        try:
            found[one.index] = files.sha256_file(task.golden(one))
        except (LmrError, OSError):
            continue
    return found
