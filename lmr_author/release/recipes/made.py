"""``authoring/made.json``: the inputs and results of each stage of a task's making."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from lmr_author import __version__
from lmr_author.core import files
from lmr_author.core.repo.git import files_to_commit
from lmr_author.core.task import Finding, Record, Task
from lmr_author.core.task.ledger import LEDGER
from lmr_author.core.task.provenance import DRAFTED
from lmr_author.core.task.record import Digest, Index, Seconds, Text
from lmr_author.release.recipes import STAGES
from lmr_author.release.recipes.recipe import Folder, files_beside, plain

MADE = "made.json"
ACCEPTED, EQUIVALENT = "accepted.json", "equivalent-mutants.json"
"""Files of a recipe with what a person accepted; the same names as in a task's ``authoring/``."""


@dataclass(frozen=True)
class JudgedAnswer(Record):
    """An answer and its verdict.

    Attributes:
        index: number of the target.
        name: name of the answer.
        expected: the right verdict.
        outcome: the verdict that it got.
        reason: why it did not pass.
        fails: the cases that it does not pass.
    """

    index: Index
    name: Text
    expected: Text
    outcome: Text
    reason: str = ""
    fails: tuple[Text, ...] = ()

    @property
    def right(self) -> bool:
        return self.outcome == self.expected


@dataclass(frozen=True)
class RecordNote:
    """A note of `record`, in the recipe's terms.

    Attributes:
        index: number of the target.
        text: the note.
        field: the recipe's field that would change it; "" for none.
    """

    index: Index
    text: Text
    field: str = ""


@dataclass(frozen=True, kw_only=True)
class MakingRecord(Record):
    """A task's stages as `lmr-author make` made them: their inputs, durations and results.

    Attributes:
        format: version of this document.
        tool: version of lmr-author.
        stages: SHA-256 of the inputs of each finished stage.
        seconds: duration of each, and of one that failed.
        sandboxes: options of the sandboxes in which the task was evaluated; "" is the local one.
        notes: those of `record`.
        findings: errors and warnings of `validate`.
        answers: the recipe's answers and their verdicts.
        content: SHA-256 of the finished task, and of what was accepted for it; "" before that.
    """

    format: Literal["lmr-made/1"] = "lmr-made/1"
    tool: str = __version__
    stages: Mapping[str, Digest] = field(default_factory=dict)
    seconds: Mapping[str, Seconds] = field(default_factory=dict)
    sandboxes: tuple[str, ...] = ()
    notes: tuple[RecordNote, ...] = ()
    findings: tuple[Finding, ...] = ()
    answers: tuple[JudgedAnswer, ...] = ()
    content: str = ""

    def first_stale(self, wanted: Mapping[str, str]) -> str:
        return next((stage for stage in STAGES if self.stages.get(stage) != wanted[stage]), "")


def path_of(task: Task) -> Path:
    return task.authoring / MADE


def load(path: Path) -> MakingRecord:
    """Return the record; an empty one if there is none."""
    return MakingRecord.read_if_valid(path) or MakingRecord()


def content_of(task: Task) -> str:
    """Return the SHA-256 of a task's content, of what was accepted for it, and of its ledger."""
    accepted = [_file(path) for path in (task.accepted_path, task.equivalent_mutants_path)]
    if task.ledger_path.is_file():
        accepted.append(_file(task.ledger_path))
    return files.sha256_bytes(json.dumps([task.content_digest(), *accepted]).encode())


def wanted(folder: Folder) -> dict[str, str]:
    """Return the SHA-256 of each stage's inputs, with those of the stages before it and the version."""
    digests: dict[str, str] = {}
    before = __version__
    for stage, inputs in _inputs(folder).items():
        text = json.dumps([before, inputs], sort_keys=True)
        before = digests[stage] = files.sha256_bytes(text.encode())
    return digests


def _inputs(folder: Folder) -> dict[str, Any]:
    recipe, targets = folder.recipe, folder.recipe.targets
    code = folder.path / recipe.repository.files if recipe.repository.files else None
    environment = plain(recipe.environment)
    if recipe.environment and recipe.environment.only_goal:
        environment["targets"] = [part.target for part in targets]
    beside = {path.relative_to(folder.path).as_posix(): _file(path) for path in files_beside(folder)}
    answers = [
        [name, answer.outcome, _file(folder.answer(index, name))]
        for index, part in enumerate(targets, 1)
        for name, answer in part.expected.items()
    ]
    return {
        "source": [
            recipe.id,
            recipe.name,
            plain(replace(recipe.paper, authors="")),
            _file(folder.path / recipe.paper.source) if recipe.paper.is_file else "",
            plain(recipe.repository),
            _tree(code) if code else {},
            _file(folder.path / recipe.repository.patch) if recipe.repository.patch else "",
        ],
        "environment": environment,
        "mask": [
            [
                part.target,
                part.category,
                part.instruction,
                part.retrieval,
                part.also,
                part.docstring,
                part.comment,
            ]
            for part in targets
        ],
        "record": [[plain(part.record) for part in targets], beside, _file(folder.path / EQUIVALENT)],
        "validate": [_file(folder.path / name) for name in (ACCEPTED, DRAFTED, LEDGER)],
        "evaluate": "",
        "answers": answers,
    }


def _file(path: Path) -> str:
    return files.sha256_file(path) if path.is_file() else ""


def _tree(root: Path) -> dict[str, str]:
    return {path.relative_to(root).as_posix(): _file(path) for path in sorted(files_to_commit(root))}
