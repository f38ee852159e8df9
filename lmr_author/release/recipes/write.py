"""``make --write``: write the recipe of a task that was made by hand."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from lmr_author.authoring.masking.body import MaskNotes, notes_in
from lmr_author.authoring.recording.driver import RecordOptions, folder_with, folders_beside
from lmr_author.core import code, files, foreign, quoting
from lmr_author.core.errors import LmrError
from lmr_author.core.task import Implementation, Task, TaskInfo, equivalents, ledger, provenance
from lmr_author.core.task.equivalents import EquivalentMutants
from lmr_author.core.task.ledger import LEDGER
from lmr_author.core.task.provenance import Provenance
from lmr_author.core.task.recording import FIXTURES, load
from lmr_author.release.recipes.made import ACCEPTED, EQUIVALENT
from lmr_author.release.recipes.paths import MOST_BYTES
from lmr_author.release.recipes.recipe import (
    RECIPE,
    PaperPart,
    Recipe,
    RepositoryPart,
    TargetPart,
    plain,
    script_in,
)
from lmr_author.release.recipes.recipe import read as read_recipe

_PAPER = "paper.pdf"
_PATCH = "repository.patch"


@dataclass(frozen=True)
class WrittenRecipe:
    path: Path
    remarks: tuple[str, ...]


def write(task: Task, out: Path, here: Path) -> WrittenRecipe:
    """Write the recipe of a task: recipe.yaml, driver, helpers, and the files of what was accepted.

    ``out`` appears complete or not at all; a driver may be in or around the task, or in ``here``.

    Raises LmrError: the folder exists, nothing is masked, or the commit is unknown.
    """
    info, origin = task.load(), provenance.load(task)
    if out.exists():
        raise LmrError(f"{out} exists already", "name another folder with --out, or remove it")
    if not info.implementations:
        raise LmrError(f"nothing is masked in {task.name}", "a recipe has targets: mask a function first")
    if origin.repository.own_code:
        raise LmrError(
            f"{task.name} was made from `repository.files` of a recipe: no commit has its code",
            "change that recipe, or make the task from a published commit",
        )
    if not info.repo_commit:
        raise LmrError(f"{task.name}'s info.json has no repo_commit", "add the commit that it was made from")
    remarks: list[str] = []
    with files.staged_folder(out) as folder:
        targets = [_target(task, info, implementation, remarks) for implementation in info.implementations]
        recipe = Recipe(
            id=info.instance_id,
            name=info.folder_name.partition("-")[2],
            paper=_paper(task, info, origin, folder, remarks),
            repository=_repository(task, info, origin, folder),
            targets=tuple(targets),
        )
        for part in targets:
            _copy_driver(task, info, part.record, here, folder, remarks)
        fixtures = task.unit_test_folder(info) / FIXTURES
        for name, path in ((ACCEPTED, task.accepted_path), (FIXTURES, fixtures)):
            if path.is_file():
                files.write_bytes(folder / name, foreign.read(path, MOST_BYTES))
        if accepted := equivalents.load(task).accepted:
            # The diffs are lines of their code.
            ours = tuple(replace(mutant, diff="") for mutant in accepted)
            EquivalentMutants(accepted=ours).write(folder / EQUIVALENT)
        if written := ledger.load(task).as_yaml():
            files.write_text(folder / LEDGER, written)
        files.write_text(folder / RECIPE, quoting.yaml(plain(recipe)))
        read_recipe(folder)
    return WrittenRecipe(out, tuple(dict.fromkeys(remarks)))


def _paper(task: Task, info: TaskInfo, origin: Provenance, folder: Path, remarks: list[str]) -> PaperPart:
    """Name the paper by the address from which it was fetched; else copy it."""
    source = {"arxiv": origin.paper.arxiv_id, "url": origin.paper.url}.get(origin.paper.source, "")
    if not source:
        files.write_bytes(folder / _PAPER, task.paper_pdf(info).read_bytes())
        remarks.append(
            f"{_PAPER} is a copy of the task's: to ship none, name the paper's address in paper.source"
        )
    return PaperPart(source=source or _PAPER, title=info.paper_name, year=info.year, url=info.paper_url)


def _repository(task: Task, info: TaskInfo, origin: Provenance, folder: Path) -> RepositoryPart:
    repository = origin.repository
    if repository.patch:
        files.write_bytes(folder / _PATCH, task.patch_path.read_bytes())
    return RepositoryPart(
        url=info.repo_url,
        commit=info.repo_commit,
        folder=info.repo_folder_name,
        patch=_PATCH if repository.patch else "",
        patch_reason=repository.patch.reason if repository.patch else "",
        skip_submodules=any(submodule.left_out for submodule in repository.submodules),
        skip_lfs=bool(repository.lfs_left),
        remove=tuple(removed.path for removed in repository.removed if removed.by_recipe),
    )


def _target(task: Task, info: TaskInfo, implementation: Implementation, remarks: list[str]) -> TargetPart:
    words = _words(task, info, implementation)
    recording = load(task.recording(info, implementation.index))
    if recording is None:
        remarks.append(
            f"{implementation.target} has no recording by lmr-author: describe in `record` how to call it"
        )
    return TargetPart(
        target=str(implementation.target),
        category=implementation.category,
        instruction=implementation.instruction,
        retrieval=implementation.retrieval_context,
        also=_look_alikes(task, info).get(implementation.index, ()),
        docstring=words.docstring,
        comment=words.comment,
        record=RecordOptions.of(recording) if recording else RecordOptions(command="python driver.py"),
    )


def _look_alikes(task: Task, info: TaskInfo) -> Mapping[int, tuple[str, ...]]:
    """Return the look-alikes of each implementation; those that name none belong to the first."""
    indexes = {str(each.target): each.index for each in info.implementations}
    by_index: dict[int, tuple[str, ...]] = {}
    for masked in task.also_masked():
        index = indexes.get(masked.target, info.implementations[0].index)
        by_index[index] = (*by_index.get(index, ()), masked.node_id)
    return by_index


def _words(task: Task, info: TaskInfo, implementation: Implementation) -> MaskNotes:
    goal = code.Module.parse(task.goal(info, implementation).read_bytes(), implementation.goal_file)
    golden = code.Module.parse(task.golden(implementation).read_bytes(), implementation.golden_file)
    pair = code.matching(golden, goal, implementation.qualname, implementation.nth)
    if pair is None:
        return MaskNotes()
    original, masked = pair
    notes = notes_in(goal, masked)
    if original.docstring is None and masked.docstring is not None:
        notes = replace(notes, docstring=inspect.cleandoc(masked.docstring))
    return notes


def _copy_driver(
    task: Task, info: TaskInfo, record: RecordOptions, here: Path, folder: Path, remarks: list[str]
) -> None:
    """Copy the script of a command: from the task's repository, else from beside the task."""
    script = script_in(record.words)
    if record.from_tests or not script or script in {each.goal_file for each in info.implementations}:
        return
    origin: Path | None = task.repository(info)
    if files.is_file_inside(task.repository(info), script):
        remarks.append(f"{script} is a copy from the repository: remove it where the commit has it")
    else:
        origin = folder_with(script, (*folders_beside(task), here))
    if origin is None:
        remarks.append(
            f"{script}, which called the target, is neither in the task nor next to it: add it to the recipe"
        )
        return
    files.write_bytes(files.inside(folder, script), foreign.read(origin / script, MOST_BYTES))
