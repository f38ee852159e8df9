"""``make``: recipes become proven tasks, stage by stage; unchanged stages are reused."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from lmr_author.core import files, locks
from lmr_author.core.errors import LmrError, SandboxBuildError, SandboxError, UsageError
from lmr_author.core.task import Evaluation, Progress, Task, evaluation
from lmr_author.core.task.mutation import MutationScore
from lmr_author.core.task.reviews import VettingRecord, number_aside
from lmr_author.core.texts import Step, choices_hint
from lmr_author.core.yaml_input import FieldError
from lmr_author.release.recipes import STAGES, stages
from lmr_author.release.recipes import made as records
from lmr_author.release.recipes.made import JudgedAnswer, MakingRecord
from lmr_author.release.recipes.recipe import RECIPE, Folder, find, read, require_distinct
from lmr_author.release.recipes.stages import Build, StandIns
from lmr_author.release.review.review_status import proof_of
from lmr_author.runtime.environment.where import HERE, Where

WORK = ".make-"
"""Prefix of the folder, next to the tasks, in which a task is made."""
NONE, NOTHING = StandIns(), MakingRecord()
NOT_RUN: Mapping[str, float] = {}
OF_PEOPLE = ("reviews", "adjudication.json", "scores", "difficulty.json")
"""Records of people, and of models, in a task's ``authoring/``: the task that replaces it inherits them."""

_RUN: Mapping[str, Callable[[Build, MakingRecord], MakingRecord]] = {
    "source": stages.source,
    "environment": stages.environment,
    "mask": stages.mask,
    "record": stages.record_calls,
    "validate": stages.check,
    "evaluate": stages.prove,
    "answers": stages.judge,
}


@dataclass(frozen=True)
class MakeOptions:
    out: Path
    where: Where = HERE
    stand_ins: StandIns = NONE
    force: bool = False
    to: str = STAGES[-1]


@dataclass(frozen=True)
class Problem:
    """The reason why a recipe stopped.

    Attributes:
        file, field, value: what has to change in the recipe's folder, and to which value, if known.
        of_machine: the cause is this machine; no change of the recipe helps.
    """

    message: str
    hint: str = ""
    file: str = ""
    field: str = ""
    value: Any = None
    of_machine: bool = False

    @classmethod
    def of(cls, error: LmrError) -> Problem:
        if isinstance(error, FieldError):
            return cls(error.problem, error.hint, Path(error.file).name, error.field, error.value)
        of_machine = isinstance(error, SandboxError) and not isinstance(error, SandboxBuildError)
        return cls(error.message, error.hint, of_machine=of_machine)


class StageState(StrEnum):
    """DONE in this run, REUSED from an earlier one, or FAILED: it stopped, or its result does not hold."""

    DONE = "done"
    REUSED = "reused"
    FAILED = "failed"
    NOT_BEGUN = "not begun"


@dataclass(frozen=True)
class RecipeOutcome:
    """Outcome of one recipe; ``place`` is its task, finished or not.

    Attributes:
        ran: seconds of the stages of this run, failed ones included.
        sound: the task is finished, every gate holds, there are no findings, and every answer got its verdict.
        made_to: the stage after which it was to stop, if it got that far.
    """

    path: Path
    task: str
    folder: Folder | None = None
    place: Path | None = None
    stages: Mapping[str, StageState] = field(default_factory=dict)
    ran: Mapping[str, float] = field(default_factory=dict)
    sound: bool = False
    made_to: str = ""
    error: Problem | None = None
    made: MakingRecord = NOTHING
    evaluation: Evaluation | None = None
    left_out: str = ""

    @property
    def stage(self) -> str:
        """The first stage that failed, else the last finished one; "" for none."""
        failed = [name for name, state in self.stages.items() if state is StageState.FAILED]
        finished = [name for name, state in self.stages.items() if state is not StageState.NOT_BEGUN]
        return next(iter([*failed, *reversed(finished)]), "")

    @property
    def gates(self) -> tuple[int, int]:
        return evaluation.gates_held(self.evaluation.gates if self.evaluation else ())

    @property
    def mutants(self) -> MutationScore:
        return evaluation.mutation_score(self.evaluation.gates if self.evaluation else ())

    @property
    def right(self) -> tuple[int, int]:
        return sum(answer.right for answer in self.made.answers), len(self.made.answers)

    @property
    def wrong(self) -> list[JudgedAnswer]:
        return [answer for answer in self.made.answers if not answer.right]

    @property
    def seconds(self) -> float:
        return sum(self.made.seconds.values())


def select(path: Path, names: Sequence[str]) -> tuple[list[Folder], list[RecipeOutcome]]:
    """Return the named recipes (by folder or number; all without a name), and rows of broken ones.

    Raises LmrError for an unknown name, and if two recipes have one number.
    """
    paths = find(path)
    called = {folder: {folder.name, folder.name.partition("-")[0]} for folder in paths}
    for name in set(names).difference(*called.values()):
        hint = choices_hint(name, (folder.name for folder in paths), "it has")
        raise UsageError(f"{path} has no recipe {name!r}", hint)
    good, broken = list[Folder](), list[RecipeOutcome]()
    for folder in paths:
        if names and called[folder].isdisjoint(names):
            continue
        try:
            good.append(read(folder))
        except LmrError as error:
            broken.append(RecipeOutcome(folder, folder.name, error=Problem.of(error)))
    require_distinct(good)
    return sorted(good, key=lambda folder: folder.recipe.id), broken


def make_one(folder: Folder, options: MakeOptions, say: Progress) -> RecipeOutcome:
    """Make the task of a recipe, from the first stage whose inputs changed; errors are in the row.

    The task is made in a folder next to its destination and moves there once it is sound.
    """
    if folder.recipe.left_out:
        return _left_out(folder)
    work, ran, wanted = options.out / f"{WORK}{folder.task}", dict[str, float](), dict[str, str]()
    try:
        wanted |= records.wanted(folder)
        work.mkdir(parents=True, exist_ok=True)
        with locks.held(work):
            return _make(Build(folder, work, options.where, options.stand_ins, say), options, wanted, ran)
    except LmrError as error:
        problem = Problem.of(error)
    except OSError as error:
        name = f"{error.filename}: " if error.filename else ""
        problem = Problem(f"{name}{error.strerror or error}", "run the command again")
    return replace(row_of(folder, work, wanted, ran), error=problem, sound=False)


def _left_out(folder: Folder) -> RecipeOutcome:
    return RecipeOutcome(folder.path, folder.task, folder, left_out=folder.recipe.left_out)


def _make(
    build: Build, options: MakeOptions, wanted: Mapping[str, str], ran: dict[str, float]
) -> RecipeOutcome:
    """Make a task; ``ran`` gets the seconds of each stage that runs, in order."""
    final = Task(options.out / build.folder.task)
    finished = records.load(records.path_of(final))
    ours = final.root.is_dir() and finished.content == records.content_of(final)
    if final.root.exists() and not ours and not options.force:
        raise LmrError(
            f"{final.root} was not made from {build.folder.path / RECIPE}, or has changed since",
            "replace it with --force, or write its present recipe with `lmr-author make --write TASK`",
        )
    if ours and not _first_open(finished, wanted, build.where):
        files.remove(build.work)
        return row_of(build.folder, final.root, wanted)
    done = _resumed(build, final, wanted) if ours else records.load(build.work / records.MADE)
    first = _first_open(done, wanted, build.where)
    if first == "environment" and first in done.stages:
        first = "source"  # the old lock and Dockerfile are in the task
    for stage in STAGES[STAGES.index(first) : STAGES.index(options.to) + 1] if first else ():
        done = _run(stage, build, done, wanted, ran)
    if options.to != STAGES[-1]:
        return replace(row_of(build.folder, build.work, wanted, ran), sound=False, made_to=options.to)
    _bring_people(final, build.task)
    row = row_of(build.folder, build.work, wanted, ran)
    if not row.sound:
        return row
    _exchange(build, final, done)
    return row_of(build.folder, final.root, wanted, ran)


def _run(
    stage: str, build: Build, done: MakingRecord, wanted: Mapping[str, str], ran: dict[str, float]
) -> MakingRecord:
    """Run a stage, and store that it is done; later stages are no longer."""

    def say(line: str) -> None:
        build.say(Step.within(f"{build.folder.task}: {stage}: ", line))

    build.say(f"{build.folder.task}: {stage}")
    began = time.monotonic()
    before = {name: done.stages[name] for name in STAGES[: STAGES.index(stage)]}
    done = replace(done, stages=before)
    try:
        done = _RUN[stage](replace(build, say=say), done)
        done = replace(done, stages={**before, stage: wanted[stage]})
    finally:
        ran[stage] = round(time.monotonic() - began, 1)
        seconds = {name: done.seconds.get(name, 0.0) for name in before} | {stage: ran[stage]}
        done = replace(done, seconds=seconds)
        done.write(build.work / records.MADE)
    return done


def _resumed(build: Build, final: Task, wanted: Mapping[str, str]) -> MakingRecord:
    """Return the record of the working folder; without one, copy the finished task into it first."""
    begun, finished = records.load(build.work / records.MADE), records.load(records.path_of(final))
    if begun.stages and build.task.root.is_dir():
        return begun
    if finished.first_stale(wanted) in STAGES[:3]:
        return NOTHING  # the finished one is masked: it is made from scratch
    shutil.copytree(final.root, build.task.root, symlinks=True, dirs_exist_ok=True)
    for name in OF_PEOPLE:  # a review of the earlier state is no defect of the new one
        files.remove(build.task.authoring / name)
    finished.write(build.work / records.MADE)
    return finished


def _first_open(made: MakingRecord, wanted: Mapping[str, str], where: Where) -> str:
    """Return the first stage to run: a stale one, or the one that a new sandbox needs; "" for none."""
    proven_here = stages.sandbox_name(where) in made.sandboxes
    return made.first_stale(wanted) or ("" if proven_here else "evaluate")


def _bring_people(final: Task, task: Task) -> None:
    """Copy people's records from the present task to the new one; the new task's own record keeps its name."""
    said = [
        path for name in OF_PEOPLE for path in (final.authoring / name, *(final.authoring / name).glob("*"))
    ]
    for old in said:
        new = task.authoring / old.relative_to(final.authoring)
        kept = {path.read_bytes() for path in new.parent.glob(f"{new.name}*") if path.is_file()}
        if old.is_file() and old.read_bytes() not in kept:
            files.write_bytes(number_aside(new) if new.exists() else new, old.read_bytes())


def _exchange(build: Build, final: Task, done: MakingRecord) -> None:
    """Move the finished task to its destination; after a kill, the same command completes the move."""
    task, replaced = build.task, build.work / "replaced"
    for name in ("logs", "runs"):
        files.remove(task.authoring / name)
    vetted = VettingRecord.read_if_valid(final.vetting_path)
    if vetted is not None and vetted.status != "open":
        vetted.write(task.vetting_path)
    replace(done, content=records.content_of(task)).write(records.path_of(task))
    with locks.held(final.root):
        if final.root.exists():
            files.remove(replaced)
            os.rename(final.root, replaced)
        os.rename(task.root, final.root)
    files.remove(build.work)


def row_of(
    folder: Folder, path: Path, wanted: Mapping[str, str], ran: Mapping[str, float] = NOT_RUN
) -> RecipeOutcome:
    """Return the outcome of a recipe's task in its place, or in the working folder.

    ``wanted``: the inputs of each stage, if known; ``ran``: seconds of the stages of this run.
    """
    in_work = path.name.startswith(WORK)
    task = Task(path / folder.task if in_work else path)
    made = records.load(path / records.MADE if in_work else records.path_of(task))
    row = RecipeOutcome(
        folder.path,
        folder.task,
        folder,
        task.root if task.root.exists() else None,
        ran=ran,
        made=made,
        evaluation=proof_of(task) if "evaluate" in made.stages else None,
    )
    stages = _states(row, wanted)
    return replace(row, stages=stages, sound={StageState.DONE, StageState.REUSED}.issuperset(stages.values()))


def _states(row: RecipeOutcome, wanted: Mapping[str, str]) -> dict[str, StageState]:
    holds = {
        "validate": not row.made.findings,
        "evaluate": row.evaluation is not None and row.evaluation.passed,
        "answers": not row.wrong,
    }
    states = {}
    for name in STAGES:
        finished = bool(wanted) and row.made.stages.get(name) == wanted[name]
        if not finished and name not in row.ran:
            states[name] = StageState.NOT_BEGUN
        elif not finished or not holds.get(name, True):
            states[name] = StageState.FAILED
        else:
            states[name] = StageState.DONE if name in row.ran else StageState.REUSED
    return states


def check_one(folder: Folder, options: MakeOptions) -> RecipeOutcome:
    """Compare a task with its recipe; the row's error names the first stage that differs. Builds nothing."""
    if folder.recipe.left_out:
        return _left_out(folder)
    task = Task(options.out / folder.task)
    if not task.info_path.is_file():
        return RecipeOutcome(
            folder.path, folder.task, folder, error=Problem(f"there is no {task.root}", "make it")
        )
    wanted = records.wanted(folder)
    row = row_of(folder, task.root, wanted)
    stale = row.made.first_stale(wanted)
    if not row.made.content:
        problem, hint = "it was not made by `lmr-author make`", "make it with --force"
    elif stale:
        problem, hint = f"it differs from its recipe, from stage {stale} on", "make it again"
    elif row.made.content != records.content_of(task):
        problem, hint = "it has changed since it was made", "make it with --force, or change the recipe"
    else:
        return row
    return replace(row, sound=False, error=Problem(problem, hint))
