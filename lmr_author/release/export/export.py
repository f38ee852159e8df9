"""Export tasks that are fit for release to the engines that run models."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lmr_author.core import files
from lmr_author.core.errors import LmrError, UsageError
from lmr_author.core.task import Severity, Task, TaskInfo, challenge, difficulty
from lmr_author.core.task.challenge import Challenge, ChallengeStatus
from lmr_author.core.task.evaluation import mutation_score
from lmr_author.core.task.mutation import MutationScore
from lmr_author.core.texts import listed
from lmr_author.proof.validation.run import checked
from lmr_author.release.export.agent import write_bundle
from lmr_author.release.export.harbor import require_registry, write_harbor
from lmr_author.release.export.huggingface import write_huggingface, write_private
from lmr_author.release.export.lmr_bench import write_lmr_bench
from lmr_author.release.export.options import (
    NOT_REVIEWED,
    Exportable,
    ExportOptions,
    Publication,
)
from lmr_author.release.reporting.status import next_review, status_with
from lmr_author.release.review.review_status import DISPUTED, REJECTED, WAITING, proof_of, review_status

HARBOR, HUGGINGFACE = "harbor", "huggingface"


@dataclass(frozen=True)
class ExportResult:
    """An export, or why there is none. ``files`` counts those in ``out``.

    Attributes:
        unsound: task → its problems.
        unreviewed: task → its missing reviews in words, as ``status`` has them.
    """

    unsound: Mapping[str, tuple[str, ...]]
    unreviewed: Mapping[str, str] = field(default_factory=dict)
    files: int = 0


def export(tasks: Sequence[Task], options: ExportOptions) -> ExportResult:
    """Export all tasks or none: ``out`` appears complete or not at all.

    Raises UsageError: an unusable folder, or an option that the format lacks. LmrError: a task lacks what
    the format needs. SandboxError: an image cannot be built or pushed.
    """
    _require_own_options(options)
    _require_free(options.out, tasks)
    if options.private:
        _require_free(options.private, tasks)
    if options.private and _overlap(options.out, options.private):
        raise UsageError("--out and --with-private lie inside each other", "name two separate folders")
    exportables = examine(tasks, challenged=options.challenged)
    unsound = {each.task.name: each.problems for each in exportables if each.problems}
    unreviewed = {
        each.task.name: next_review(each.task, review_status(each.task)).note
        for each in exportables
        if each.review == NOT_REVIEWED
    }
    if not options.force and (unsound or (unreviewed and not options.unreviewed)):
        return ExportResult(unsound, unreviewed)
    try:
        with files.staged_folder(options.out) as folder:
            WRITERS[options.format](exportables, folder, options)
            count = sum(1 for _ in files.walk(folder))
            if options.private:
                with files.staged_folder(options.private) as private:
                    write_private(exportables, private)
    except shutil.Error as error:  # copytree continues after an error and reports all of them at its end
        _, _, reason = error.args[0][0]
        raise LmrError(
            f"cannot copy a task: {reason}", "nothing was written; fix this and try again"
        ) from error
    except UnicodeEncodeError as error:
        raise LmrError(
            f"a text of the task cannot be written: {error.object[error.start]!a} contains a lone surrogate",
            "rewrite that text of info.json, or that file name",
        ) from error
    return ExportResult(unsound, unreviewed, count)


def examine(tasks: Sequence[Task], *, challenged: bool = False) -> list[Exportable]:
    """Check tasks, their evaluations, their reviews and, if ``challenged``, their challenges.

    Raises LmrError for a task in which nothing is masked.
    """
    exportables = []
    for task, report in zip(tasks, checked(tasks).tasks, strict=True):
        info = task.load()
        if not info.implementations:
            raise LmrError(
                f"{task.name}: nothing is masked, so there is nothing to export", "mask a function"
            )
        problems = []
        for finding in report.findings:
            if finding.severity is not Severity.NOTE:
                problems.append(f"{finding.code} {finding.path or task.name}: {finding.message}")
        # Without the findings, so that a task with findings is also reported as stale or never evaluated.
        status = status_with(task, ())
        if "evaluated" not in status.done:
            problems.append(status.note)
        if status.review in (DISPUTED, REJECTED):
            problems.append(f"{status.review} by its reviewers ({status.people})")
        challenge_status, record = challenge.status_of(task, info)
        if challenged and (problem := _challenge_problem(challenge_status, record)):
            problems.append(problem)
        exportables.append(
            Exportable(
                task,
                info,
                tuple(problems),
                review=NOT_REVIEWED if status.review == WAITING else status.review,
                findings=tuple(report.findings),
                mutants=_mutants(task, info),
                difficulty={target.index: target for target in difficulty.current(task)},
                challenge=challenge_status,
            )
        )
    return exportables


def _mutants(task: Task, info: TaskInfo) -> dict[int, MutationScore]:
    proof = proof_of(task)
    scores = {}
    for implementation in info.implementations:
        gates = proof.gates if proof else ()
        scores[implementation.index] = mutation_score(
            [gate for gate in gates if gate.implementation == implementation.index]
        )
    return scores


def _challenge_problem(status: ChallengeStatus, record: Challenge | None) -> str:
    if record is None:
        return "never challenged with misreadings and rewrites"
    if status is ChallengeStatus.STALE:
        return "changed since it was challenged, or has a function that was never challenged"
    names = [challenger.name for challenger in record.open]
    return f"open answers in its challenge: {listed(names, 5)}" if status is ChallengeStatus.OPEN else ""


def _require_own_options(options: ExportOptions) -> None:
    if options.private and options.format != HUGGINGFACE:
        raise UsageError("--with-private is for --to huggingface", "the other formats have no public part")
    for name, value in (("--offline", options.offline), ("--push", options.push)):
        if value and options.format != HARBOR:
            raise UsageError(f"{name} is for --to harbor", "leave it out")
    if options.push:
        require_registry(options.push)
    if options.publication != Publication() and options.format not in (HARBOR, HUGGINGFACE):
        raise UsageError(
            f"--name, --release-version, --organization and --author are for --to {HARBOR} and {HUGGINGFACE}",
            "leave them out",
        )


def _require_free(folder: Path, tasks: Sequence[Task]) -> None:
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise UsageError(f"{folder} is not a folder", "name a folder that does not exist yet")
    if folder.exists() and any(folder.iterdir()):
        raise LmrError(f"{folder} is not empty", "remove it, or choose another folder")
    for task in tasks:
        if folder.resolve().is_relative_to(task.root.resolve()):
            raise UsageError(f"{folder} is inside the task {task.name}", "choose a folder outside of it")
        beside = task.root.resolve().parent
        if folder.resolve().is_relative_to(beside):
            other = os.path.relpath(beside.parent / folder.name)
            raise UsageError(f"{folder} is in the folder of the tasks, {beside}", f"choose another: {other}")


def _overlap(folder: Path, other: Path) -> bool:
    first, second = folder.resolve(), other.resolve()
    return first.is_relative_to(second) or second.is_relative_to(first)


def _write_agent(exportables: list[Exportable], folder: Path, options: ExportOptions) -> None:
    for exportable in exportables:
        write_bundle(exportable, folder / exportable.task.name, options.base_image)


WRITERS: dict[str, Callable[[list[Exportable], Path, ExportOptions], None]] = {
    "agent": _write_agent,
    "lmr-bench": write_lmr_bench,
    HARBOR: write_harbor,
    HUGGINGFACE: write_huggingface,
}
