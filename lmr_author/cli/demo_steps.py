"""``demo``: the whole pipeline on a bundled paper and repository, by the very functions the commands use."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lmr_author.authoring import masking
from lmr_author.authoring.new_task import new_task
from lmr_author.authoring.recording import record
from lmr_author.core import files, resources
from lmr_author.core.errors import LmrError
from lmr_author.core.repo.git import Commit, commit_folder
from lmr_author.core.task import Finding, GateResult, Progress, Task
from lmr_author.proof.evaluation import evaluate
from lmr_author.proof.validation.run import validate
from lmr_author.release.reporting import status
from lmr_author.runtime.environment.where import Where

OnCommand = Callable[[str], None]
"""Receives each command, as an annotator would type it, before it runs."""


@dataclass(frozen=True)
class DemoHooks:
    """Callbacks that show a demo: commands, results of each step, progress, gates."""

    command: OnCommand
    result: Callable[[object], None]
    progress: Progress
    gate: Callable[[GateResult], None]


@dataclass(frozen=True)
class DemoResult:
    """The finished task, its findings and its evaluation."""

    task: Task
    findings: tuple[Finding, ...]
    evaluation: evaluate.EvaluationRun


def demo(folder: Path | None, where: Where, hooks: DemoHooks) -> DemoResult:
    """Author a complete task from ``templates/demo``.

    Args:
        folder: where to work; a folder that does not exist yet, or is empty. None: ``lmr-author-demo`` here, or
            the next such ``lmr-author-demo-N``.
        where: the sandbox.
        hooks: what is told on the way.

    Raises:
        LmrError: the folder exists, git or the sandbox is missing.
    """
    work = folder or _free_folder()
    if not _is_usable(work):
        raise LmrError(f"{work} exists already", "choose another folder with --dir, or remove it")
    recipe = json.loads(resources.template("demo/demo.json"))
    paper, repository = _lay_out(work, recipe)
    task = Task(work / "tasks" / f"{recipe['instance_id']}-{recipe['name']}")
    _new_task(work, paper, repository, recipe, hooks)
    _mask(task, recipe, hooks)
    _record(task, recipe, where, hooks)
    hooks.command("lmr-author validate")
    report = validate([task])
    hooks.result(report)
    options = evaluate.EvaluateOptions(where)
    hooks.command(shlex.join(["lmr-author", "evaluate", *where.options]))
    result = evaluate.evaluate(task, options, hooks.progress, hooks.gate)
    hooks.result(result)
    hooks.command("lmr-author status")
    hooks.result(status.status(task))
    return DemoResult(task, tuple(report.findings), result)


def _lay_out(work: Path, recipe: dict[str, Any]) -> tuple[Path, Path]:
    """The paper, and the repository as a real git repository with one commit of a fixed date."""
    bundled = resources.folder("templates") / "demo"
    paper, final = work / "paper.pdf", work / str(recipe["repo_folder_name"])
    files.write_bytes(paper, (bundled / "paper.pdf").read_bytes())
    commit_folder(bundled / "repository", final, Commit(**recipe["commit"]))
    return paper, final


def _new_task(work: Path, paper: Path, repository: Path, recipe: dict[str, Any], hooks: DemoHooks) -> None:
    tasks = work / "tasks"
    hooks.command(
        f"lmr-author new-task {paper.name} --repo ./{repository.name} --id {recipe['instance_id']} "
        f"--name {recipe['name']} --year {recipe['year']} --paper-url {recipe['paper_url']} "
        f"--repo-url {recipe['repo_url']} --offline --no-input"
    )
    options = new_task.NewTaskOptions(
        paper=str(paper),
        repo=str(repository),
        id=int(recipe["instance_id"]),
        name=str(recipe["name"]),
        year=int(recipe["year"]),
        paper_url=str(recipe["paper_url"]),
        repo_url=str(recipe["repo_url"]),
        tasks_dir=tasks,
        offline=True,
    )
    made = new_task.new_task(options, hooks.progress)
    hooks.result(made)
    hooks.command(f"cd tasks/{made.task.name}")


def _mask(task: Task, recipe: dict[str, Any], hooks: DemoHooks) -> None:
    instruction = task.root.parent.parent / "instruction.txt"
    instruction.write_text(str(recipe["instruction"]) + "\n", "utf-8")
    retrieval = "".join(f" --retrieval {path}" for path in recipe["retrieval"])
    hooks.command(
        f"lmr-author mask {recipe['target']} --instruction @../../{instruction.name} "
        f"--category {json.dumps(recipe['category'])}{retrieval}"
    )
    options = masking.MaskOptions(
        targets=(str(recipe["target"]),),
        instruction=str(recipe["instruction"]),
        category=str(recipe["category"]),
        retrieval=tuple(recipe["retrieval"]),
    )
    hooks.result(masking.mask(task, options, task.root))


def _record(task: Task, recipe: dict[str, Any], where: Where, hooks: DemoHooks) -> None:
    driver = [str(item) for item in recipe["driver"]]
    target = str(recipe["target"])
    hooks.command(shlex.join(["lmr-author", "record", target, *where.options, "--", *driver]))
    options = record.RecordOptions(target=target, command=tuple(driver), where=where)
    hooks.result(record.record(task, options, task.root, hooks.progress))


def _free_folder() -> Path:
    names = ("lmr-author-demo", *(f"lmr-author-demo-{number}" for number in range(2, 1000)))
    return next(Path.cwd() / name for name in names if _is_usable(Path.cwd() / name))


def _is_usable(work: Path) -> bool:
    """Return whether nothing is there, or an empty folder."""
    return not work.exists() or (work.is_dir() and not any(work.iterdir()))
