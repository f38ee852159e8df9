"""``recipe``: the recipe of a task that was made by hand."""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from lmr_author.authoring.masking.body import notes_in
from lmr_author.authoring.masking.body import MaskNotes
from lmr_author.core import code, files, quoting
from lmr_author.core.errors import LmrError, UsageError
from lmr_author.core.task import Implementation, Task, TaskInfo, also_masked, equivalents, provenance
from lmr_author.core.task.also_masked import AlsoMasked
from lmr_author.core.task.equivalents import EquivalentMutants
from lmr_author.core.task.provenance import Provenance
from lmr_author.core.task.recording import CHECKERS, FIXTURES, Recording, load
from lmr_author.proof.evaluation.candidates import predictions, results
from lmr_author.release.recipes.made import ACCEPTED, EQUIVALENT
from lmr_author.release.recipes.recipe import (
    RECIPE,
    Answer,
    ExtractPart,
    PaperPart,
    Recipe,
    RecordPart,
    RepositoryPart,
    TargetPart,
)
from lmr_author.release.recipes.recipe import read as read_recipe

_PAPER = "paper.pdf"


@dataclass(frozen=True)
class Written:
    """The folder of a recipe that was written, and what a person should look at."""

    path: Path
    remarks: tuple[str, ...]


def write(
    task: Task, out: Path, here: Path, answers: Path | None = None, judged: Path | None = None
) -> Written:
    """Write the recipe of a task: recipe.yaml, and beside it driver, helpers, what was accepted, and answers.

    Args:
        out: the folder to make; it appears whole or not at all.
        here: where a driver may lie, beside the places in and around the task.
        answers: predictions for the task.
        judged: the folder of their results; only answers with a result are taken.

    Raises LmrError: the folder exists, nothing is masked, or nothing is known of the commit.
    """
    info, origin = task.load(), provenance.load(task)
    if out.exists():
        raise LmrError(f"{out} exists already", "name another folder with --out, or remove it")
    if not info.implementations:
        raise LmrError(f"nothing is masked in {task.name}", "a recipe has targets: mask a function first")
    if not info.repo_commit:
        raise LmrError(
            f"{task.name}'s info.json names no repo_commit", "add the commit that it was made from"
        )
    if (answers is None) != (judged is None):
        raise UsageError("--predictions and --results belong together", "name the answers and their results")
    remarks: list[str] = []
    with files.staged_folder(out) as folder:
        known = _answers(task, info, answers, judged, folder) if answers and judged else {}
        targets = [
            _target(task, info, origin, one, known.get(one.index, {}), remarks)
            for one in info.implementations
        ]
        recipe = Recipe(
            id=info.instance_id,
            name=info.folder_name.partition("-")[2],
            paper=_paper(task, info, origin, folder, remarks),
            repository=_repository(info, origin),
            targets=tuple(targets),
        )
        for part in targets:
            _copy_driver(task, info, part.record, here, folder, remarks)
        unit_test = task.unit_test_folder(info)
        helpers = {name: unit_test / name for name in (FIXTURES, CHECKERS)}
        for name, path in {ACCEPTED: task.accepted_path, **helpers}.items():
            if path.is_file():
                files.write_bytes(folder / name, path.read_bytes())
        if accepted := equivalents.load(task).accepted:
            ours = tuple(replace(one, diff="") for one in accepted)  # the diffs are lines of their code
            EquivalentMutants(accepted=ours).write(folder / EQUIVALENT)
        files.write_text(folder / RECIPE, quoting.yaml(_given(recipe)))
        read_recipe(folder)
    return Written(out, tuple(dict.fromkeys(remarks)))


def _paper(task: Task, info: TaskInfo, origin: Provenance, folder: Path, remarks: list[str]) -> PaperPart:
    """Name the paper by its address where it was fetched from one; else copy it."""
    source = {"arxiv": origin.paper.arxiv_id, "url": origin.paper.url}.get(origin.paper.source, "")
    if not source:
        files.write_bytes(folder / _PAPER, task.paper_pdf(info).read_bytes())
        remarks.append(
            f"{_PAPER} is a copy of the task's: name the paper's address in paper.source to ship none"
        )
    return PaperPart(source=source or _PAPER, title=info.paper_name, year=info.year, url=info.paper_url)


def _repository(info: TaskInfo, origin: Provenance) -> RepositoryPart:
    left_out = [item for item in origin.repository.submodules if item.left_out]
    return RepositoryPart(
        url=info.repo_url,
        commit=info.repo_commit,
        folder=info.repo_folder_name,
        skip_submodules=bool(left_out),
        skip_lfs=bool(origin.repository.lfs_left),
        remove=tuple(item.path for item in origin.repository.removed if item.by_recipe),
    )


def _target(
    task: Task,
    info: TaskInfo,
    origin: Provenance,
    one: Implementation,
    answers: Mapping[str, Answer],
    remarks: list[str],
) -> TargetPart:
    blocks = [item for item in origin.extractions if (item.file, item.name) == (one.goal_file, one.qualname)]
    recording = load(task.recording(info, one.index))
    if recording is None:
        remarks.append(f"{one.target} has no recording of lmr-author's: say in its `record` how it is called")
    also = also_masked.load(task)
    return TargetPart(
        target=str(one.target),
        category=one.category,
        instruction=one.instruction,
        extract=ExtractPart(lines=f"{blocks[-1].start}-{blocks[-1].end}") if blocks else None,
        retrieval=one.retrieval_context,
        also=tuple(item.node_id for item in also if _belongs(item, one, info)),
        notes=_notes(task, info, one),
        record=_record(recording) if recording else RecordPart(command="python driver.py"),
        answers=answers,
    )


def _belongs(item: AlsoMasked, one: Implementation, info: TaskInfo) -> bool:
    """Tell whether a look-alike is a target's; one that names none is the first's."""
    known = {str(other.target) for other in info.implementations}
    return item.target == str(one.target) or (item.target not in known and one == info.implementations[0])


def _notes(task: Task, info: TaskInfo, one: Implementation) -> MaskNotes | None:
    """Return the words of a masked body; None for a bare one."""
    goal = code.Module.parse(task.goal(info, one).read_bytes(), one.goal_file)
    golden = code.Module.parse(task.golden(one).read_bytes(), one.golden_file)
    pair = code.matching(golden, goal, one.qualname, one.nth)
    if pair is None:
        return None
    original, masked = pair
    notes = notes_in(goal, masked)
    if original.docstring is None and masked.docstring is not None:
        notes = replace(notes, docstring=inspect.cleandoc(masked.docstring))
    return notes if notes != MaskNotes() else None


def _record(recording: Recording) -> RecordPart:
    """Return how a recording was made, by its command and its options."""
    words = recording.command
    how: dict[str, Any] = {"command": shlex.join(words)}
    if words[:2] == ("lmr-author", "record"):
        rest = words[2:]
        if rest[:1] == ("--from-tests",):
            how = {"from_tests": True, "command": shlex.join(rest[2:])}
        else:
            how = {"examples": rest[1::2]}
    return msgspec.convert({**how, **recording.options, "cuda_as_cpu": recording.cuda_as_cpu}, RecordPart)


def _copy_driver(
    task: Task, info: TaskInfo, how: RecordPart, here: Path, folder: Path, remarks: list[str]
) -> None:
    """Copy the script of a command: from the task's repository, else from beside the task."""
    script = next((word for word in shlex.split(how.command) if word.endswith(".py")), "")
    if how.from_tests or not script:
        return
    repository = task.repository(info)
    if files.is_file_inside(repository, script):
        if script in {one.goal_file for one in info.implementations}:
            return
        data = (repository / script).read_bytes()
        remarks.append(f"{script} is a copy from the repository: remove it where the commit has it")
    else:
        places = (task.root, task.root.parent, task.authoring, here)
        place = next((one for one in places if (one / script).is_file()), None)
        if place is None:
            remarks.append(
                f"{script}, which called the target, is not in or beside the task: add it to the recipe"
            )
            return
        data = (place / script).read_bytes()
    files.write_bytes(files.inside(folder, script), data)


def _answers(
    task: Task, info: TaskInfo, given: Path, judged: Path, folder: Path
) -> dict[int, dict[str, Answer]]:
    """Write the answers that have a verdict, and return the verdicts by target and name."""
    path = judged / results.RESULTS
    if not path.is_file():
        raise UsageError(f"--results {judged} has no {results.RESULTS}", "name the folder that `judge` wrote")
    verdicts = {one.key: one.outcome.value for one in results.load(path)}
    known: dict[int, dict[str, Answer]] = {}
    for item in predictions.read(given, {task.name: info}).items:
        verdict = verdicts.get(item.key, "infrastructure")
        if verdict == "infrastructure":
            continue
        name = f"{item.model}-{item.sample}" if item.sample > 1 else item.model
        name = "".join(char if char.isalnum() or char in "._-" else "-" for char in name).lstrip("._-")
        files.write_text(folder / "answers" / str(item.index) / f"{name}.py", item.code)
        known.setdefault(item.index, {})[name] = msgspec.convert({"outcome": verdict}, Answer)
    return known


def _given(part: Any) -> dict[str, Any]:
    """Return an object of a recipe as plain data, without what is as usual."""
    data: dict[str, Any] = {}
    for item in fields(part):
        value = getattr(part, item.name)
        if value == item.default or value in ((), {}, "", None):
            continue
        if isinstance(value, tuple):
            data[item.name] = [_given(one) if is_dataclass(one) else one for one in value]
        elif isinstance(value, MaskNotes):
            data[item.name] = {
                k: list(v) if isinstance(v, tuple) else v for k, v in asdict(value).items() if v
            }
        elif isinstance(value, Mapping):
            data[item.name] = {name: one.outcome for name, one in value.items()}
        else:
            data[item.name] = _given(value) if is_dataclass(value) else value
    return data
