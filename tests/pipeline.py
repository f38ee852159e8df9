"""The pipeline as tests run it."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lmr_author.authoring.masking import MaskOptions, mask
from lmr_author.authoring.recording import explored, replay
from lmr_author.authoring.recording.record import RecordOptions, RecordResult, record
from lmr_author.core.task import Task
from lmr_author.proof.evaluation import evaluate as evaluating
from lmr_author.proof.evaluation import exploring
from lmr_author.proof.evaluation.accepting import accept_mutants
from lmr_author.proof.evaluation.evaluate import (
    EvaluateOptions,
    Evaluation,
    evaluate,
)
from lmr_author.runtime.environment.where import Where
from tests.evaluation.foreign import PLAIN
from tests.support import make_task

HINGE = "pkg/losses.py::hinge"


ADD = "pkg/losses.py::Meter.add"


EQUIVALENT = "f8a0e4ef"
"""The mutant of hinge that is no mistake: `gap >= 0`."""


def quiet(_: object) -> None:
    """No progress."""


@contextmanager
def few_generated_calls(*, some: bool) -> Iterator[None]:
    """Record, evaluate and judge with as few generated calls as show something, or without: they take most of it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(explored, "MOST", 60 if some else 0)
        patch.setattr(exploring, "MOST", 150 if some else 0)
        patch.setattr(exploring, "MOST_OF_ANSWER", 0)
        yield


def recorded(
    task: Task,
    target: str = HINGE,
    *command: str,
    here: Path | None = None,
    tell: Callable[[str], None] = quiet,
    where: Where = PLAIN,
    force: bool = False,
    generated: bool = False,
    quick: bool = False,
    **options: object,
) -> RecordResult:
    """Record a target with the example's own driver, unless a command or examples are given.

    Args:
        generated: with generated calls among the cases.
        quick: replay calls once, and choose cases without trying mutants: fewer processes, which import much.
    """
    words = command or (() if "examples" in options else ("python", "run.py"))
    chosen = RecordOptions(command=shlex.join(words), **options)  # type: ignore[arg-type]
    with few_generated_calls(some=generated), pytest.MonkeyPatch.context() as patch:
        if quick:
            patch.setattr(explored, "MOST_MUTANTS", 0)
            patch.setattr(replay, "REPEATS", 1)
        return record(task, target, chosen, here or task.root, quiet, tell, where=where, force=force)


def run_gates(task: Task, *only: str, generated: bool = False, **options: object) -> Evaluation:
    """Evaluate a task.

    Args:
        only: names of the gates to run, beside ``build``; by default all.
        generated: survivors are tried on generated calls, too.
    """
    with few_generated_calls(some=generated), pytest.MonkeyPatch.context() as patch:
        if only:
            patch.setattr(evaluating, "GATES", {name: evaluating.GATES[name] for name in only})
        return evaluate(task, EvaluateOptions(**{"where": PLAIN, **options}), quiet, quiet)  # type: ignore[arg-type]


def only_hinge(tmp_path: Path) -> Task:
    task = make_task(tmp_path)
    mask(task, MaskOptions((HINGE,), category="Evaluation Metrics"), task.root)
    accept_mutants(task, {EQUIVALENT: "at a gap of 0 both of them return 0"})
    return task
