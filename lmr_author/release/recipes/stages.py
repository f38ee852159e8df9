"""Stages of a recipe, by the functions that the verbs use."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from lmr_author.authoring import masking
from lmr_author.authoring.masking.body import MaskNotes
from lmr_author.authoring.new_task import new_task
from lmr_author.authoring.recording.explored import KnownVersions
from lmr_author.authoring.recording.record import notes, record
from lmr_author.core import files, foreign
from lmr_author.core.errors import Hint, LmrError
from lmr_author.core.repo.git import Commit, commit_folder
from lmr_author.core.task import Progress, Severity, Target, Task, ledger, provenance
from lmr_author.core.task.equivalents import EquivalentMutants
from lmr_author.core.task.ledger import LEDGER
from lmr_author.core.task.provenance import DRAFTED, RemovedFile
from lmr_author.core.task.recording import FIXTURES
from lmr_author.core.texts import Step
from lmr_author.proof.checks.ledger import require_true
from lmr_author.proof.contents import TaskContents
from lmr_author.proof.evaluation import accepting, evaluate
from lmr_author.proof.evaluation.candidates.predictions import Prediction
from lmr_author.proof.evaluation.candidates.reply import InvalidAnswer
from lmr_author.proof.evaluation.candidates.results import CandidateResult
from lmr_author.proof.evaluation.candidates.run import score
from lmr_author.proof.evaluation.candidates.scorer import CandidateOptions, Scorer
from lmr_author.proof.evaluation.trees import TargetTrees
from lmr_author.proof.evaluation.verdict import Outcome
from lmr_author.proof.validation.run import validate
from lmr_author.release.recipes.fields import field_of, in_field, in_words
from lmr_author.release.recipes.made import ACCEPTED, EQUIVALENT, JudgedAnswer, MakingRecord, RecordNote
from lmr_author.release.recipes.paths import MOST_BYTES
from lmr_author.release.recipes.recipe import EnvironmentPart, Folder
from lmr_author.runtime.environment import lock
from lmr_author.runtime.environment.local import make_local
from lmr_author.runtime.environment.lock_file import LockOptions
from lmr_author.runtime.environment.where import HERE, LOCAL, Where, python_of
from lmr_author.runtime.replay.replaying import Variant

LOCK_SECONDS = 1800.0
"""Time limit of the resolver; it is generous, because nobody waits at a terminal."""


@dataclass(frozen=True)
class StandIns:
    """Clones and PDFs on this machine, by the address that they replace."""

    clones: Mapping[str, str] = field(default_factory=dict)
    papers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Build:
    """A task that is being made; ``work`` holds the task, its copy before masking, and results of answers."""

    folder: Folder
    work: Path
    where: Where = HERE
    stand_ins: StandIns = field(default_factory=StandIns)
    say: Progress = lambda line: None

    @property
    def task(self) -> Task:
        return Task(self.work / self.folder.task)

    @property
    def unmasked(self) -> Path:
        """A copy of the task before masking, so that masking again does not clone again."""
        return self.work / "unmasked"


def source(build: Build, made: MakingRecord) -> MakingRecord:
    recipe, folder = build.folder.recipe, build.folder.path
    repository, environment = recipe.repository, recipe.environment or EnvironmentPart()
    for name in ("repository", "unmasked", build.folder.task):
        files.remove(build.work / name)
    address = build.stand_ins.clones.get(repository.url, repository.url)
    if repository.files:
        address = str(build.work / "repository")
        person = Commit(repository.author, repository.email, repository.date, repository.message)
        with in_field(build.folder, "repository.files"):
            commit_folder(folder / repository.files, Path(address), person)
    paper = recipe.paper.source
    beside = str(folder / paper) if recipe.paper.is_file else paper
    options = new_task.NewTaskOptions(
        paper=build.stand_ins.papers.get(paper, beside),
        repo=address,
        commit=repository.commit or None,
        id=recipe.id,
        name=recipe.name,
        title=recipe.paper.title,
        year=recipe.paper.year,
        paper_url=recipe.paper.address,
        repo_url=repository.url,
        patch=files.inside(folder, repository.patch) if repository.patch else None,
        patch_reason=repository.patch_reason,
        base_image=environment.base_image or None,
        python_version=environment.python or None,
        repo_folder=repository.folder or None,
        tasks_dir=build.work,
        skip_submodules=repository.skip_submodules,
        skip_lfs=repository.skip_lfs,
    )
    with in_field(build.folder, "repository"):
        new_task.new_task(options, build.say)
    if repository.files:
        _name_own_code(build.task)
    if repository.remove:
        with in_field(build.folder, "repository.remove"):
            _take_out(build)
    return made


def environment(build: Build, made: MakingRecord) -> MakingRecord:
    """Run ``env lock`` if the recipe describes an environment."""
    part = build.folder.recipe.environment
    if part is not None:
        targets = (Target.parse(target.target) for target in build.folder.recipe.targets)
        goals = tuple(dict.fromkeys(target.path for target in targets))
        options = LockOptions(
            python=part.python or None,
            base_image=part.base_image or None,
            force=True,
            extra=part.packages,
            without=part.without,
            only_goal=part.only_goal,
            seconds=LOCK_SECONDS,
            goals=goals if part.only_goal else (),
        )
        with in_field(build.folder, "environment"):
            lock.lock(build.task, options, build.say)
    files.remove(build.unmasked)
    shutil.copytree(build.task.root, build.unmasked, symlinks=True)
    return made


def mask(build: Build, made: MakingRecord) -> MakingRecord:
    task, parts = build.task, build.folder.recipe.targets
    files.remove(task.root)
    shutil.copytree(build.unmasked, task.root, symlinks=True)
    for number, part in enumerate(parts):
        options = masking.MaskOptions(
            targets=(part.target,),
            instruction=part.instruction,
            category=part.category,
            retrieval=part.retrieval,
            notes=MaskNotes(part.comment, part.docstring),
            also=part.also,
        )
        with in_field(build.folder, f"targets[{number}]"):
            masking.mask(task, options, task.root)
    return made


def record_calls(build: Build, made: MakingRecord) -> MakingRecord:
    """Record each target anew, after removing earlier recordings. The answers help to choose cases."""
    task, path = build.task, build.folder.path
    info = task.load()
    task.equivalent_mutants_path.unlink(missing_ok=True)
    if (path / EQUIVALENT).is_file():
        with in_field(build.folder, EQUIVALENT):
            accepting.accept_again(task, EquivalentMutants.read(path / EQUIVALENT).accepted)
    _beside(path / FIXTURES, task.unit_test_folder(info) / FIXTURES)
    for implementation in info.implementations:
        files.remove(task.recording(info, implementation.index))
        task.unit_test(info, implementation).unlink(missing_ok=True)
    task.evaluation_path.unlink(missing_ok=True)
    _make_local(build)
    noted = list[RecordNote]()
    for number, part in enumerate(build.folder.recipe.targets):
        within, told = f"targets[{number}].record", list[Hint]()
        with in_field(build.folder, within):
            known = _known(build, number + 1)
            result = record(
                task, part.target, part.record, path, build.say, told.append, known, where=build.where
            )
        for note in (*told, *notes(result)):
            field = field_of(note.settings[0], within) if note.settings else ""
            noted.append(RecordNote(number + 1, in_words(build.folder, note, within), field))
    return replace(made, sandboxes=(), notes=tuple(noted))


def _known(build: Build, index: int) -> KnownVersions:
    """Return the recipe's valid answers to a target, each fitted into the goal file."""
    task, part = build.task, build.folder.recipe.targets[index - 1]
    info = task.load()
    known: dict[str, dict[str, Variant]] = {"passed": {}, "failed": {}}
    with (
        build.where.sandbox(task, info) as sandbox,
        TargetTrees(task, info, info.implementation(index), sandbox, 0.0) as trees,
    ):
        scorer = Scorer(trees, CandidateOptions(build.work))
        for name, answer in part.expected.items():
            prediction = Prediction(task.name, index, name, name, code=build.folder.answer_text(index, name))
            with suppress(InvalidAnswer):
                fitted = scorer.fit(prediction)
                known.get(answer.outcome, {})[name] = Variant(f"answer {name}", fitted.data, fitted.line)
    return KnownVersions(right=known["passed"], wrong=known["failed"])


def check(build: Build, made: MakingRecord) -> MakingRecord:
    """Run ``validate`` and keep its findings. A ledger that does not hold is an error."""
    _beside(build.folder.path / ACCEPTED, build.task.accepted_path)
    _beside(build.folder.path / DRAFTED, build.task.drafted_path)
    folder = build.folder
    ledger.save(build.task, require_true(TaskContents(build.task), folder.ledger, folder.path / LEDGER))
    found = validate([build.task]).findings
    return replace(made, findings=tuple(one for one in found if one.severity is not Severity.NOTE))


def prove(build: Build, made: MakingRecord) -> MakingRecord:
    """Run ``evaluate``; the task's record has the gates that fail."""
    _make_local(build)
    evaluate.evaluate(build.task, evaluate.EvaluateOptions(build.where), build.say, lambda gate: None)
    return replace(made, sandboxes=tuple(sorted({*made.sandboxes, sandbox_name(build.where)})))


def judge(build: Build, made: MakingRecord) -> MakingRecord:
    expected = {
        (index, name): answer.outcome
        for index, target in enumerate(build.folder.recipe.targets, 1)
        for name, answer in target.expected.items()
    }
    if not expected:
        return replace(made, answers=())
    source = build.work / "answers.jsonl"
    files.write_text(source, "".join(f"{line}\n" for line in predictions(build.folder)))
    options = CandidateOptions(build.work / "results", where=build.where)

    def tell(result: CandidateResult, done: int, total: int) -> None:
        build.say(Step(f"judged {done} of {total} answers", done, total))

    scored = score([build.task], source, options, build.say, tell)
    lost = [error.message for error in scored.broken.values()]
    lost += [result.reason for result in scored.results if result.outcome is Outcome.UNJUDGED]
    if lost:
        raise LmrError(f"not every answer could be judged: {lost[0]}", "run the same command again")
    results = {(result.index, result.model): result for result in scored.results}
    judged = []
    for key, verdict in expected.items():
        result = results[key]
        fails = tuple(case.case for case in result.cases if case.outcome is not Outcome.PASSED)
        judged.append(JudgedAnswer(*key, verdict, result.outcome.value, result.reason, fails))
    return replace(made, answers=tuple(judged))


def predictions(folder: Folder) -> Iterator[str]:
    """Yield a recipe's answers as the lines that ``judge --predictions`` reads."""
    for index, target in enumerate(folder.recipe.targets, 1):
        for name in target.answers:
            code = folder.answer_text(index, name)
            line = {"task": folder.task, "index": index, "model": name, "code": code}
            yield json.dumps(line, ensure_ascii=False)


def sandbox_name(where: Where) -> str:
    """Return the options of a sandbox that mean the same on every machine."""
    return shlex.join(replace(where, python=None).options)


def _name_own_code(task: Task) -> None:
    """Claim no commit and no origin for code beside the recipe: its commit exists nowhere else."""
    origin = provenance.load(task)
    repository = replace(origin.repository, url="", commit="", own_code=True)
    replace(origin, repository=repository).write(task.provenance_path)
    task.save(replace(task.load(), repo_commit=""))


def _take_out(build: Build) -> None:
    """Remove the recipe's ``repository.remove`` from the code, and record it in the provenance."""
    names = build.folder.recipe.repository.remove
    code, origin = build.task.repository(build.task.load()), provenance.load(build.task)
    for name in names:
        path = files.inside(code, name)
        if path == code or not path.exists():
            raise LmrError(f"there is no {name!r} in the repository", "name a file or folder relative to it")
        files.remove(path)
    taken = tuple(RemovedFile(name, "removed by the recipe", by_recipe=True) for name in names)
    repository = replace(origin.repository, removed=(*origin.repository.removed, *taken))
    replace(origin, repository=repository).write(build.task.provenance_path)


def _make_local(build: Build) -> None:
    """Make the local sandbox's environment, if the recipe describes one and no other was chosen."""
    part, where = build.folder.recipe.environment, build.where
    if part is None or where.kind != LOCAL or python_of(build.task, where).path is not None:
        return
    with in_field(build.folder, "environment.local"):
        make_local(build.task, build.say, extra=part.local)


def _beside(source: Path, into: Path) -> None:
    """Copy a file of the recipe's folder into the task, or remove it there if the recipe has none."""
    if source.exists():
        files.write_bytes(into, foreign.read(source, MOST_BYTES))
    else:
        into.unlink(missing_ok=True)
