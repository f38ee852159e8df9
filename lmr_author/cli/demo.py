"""``lmr-author demo``: the commands of a whole task, as one would type them, on a bundled paper and repository."""

from __future__ import annotations

import json
import os
import shlex
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from lmr_author.cli import ui
from lmr_author.core.errors import EXIT_CLEAN, LmrError

if TYPE_CHECKING:
    from lmr_author.runtime.environment.where import Where

_UNFINISHED = ".demo-unfinished"
"""A file in the folder until all commands have run."""
EXPLAINED = {
    "record": "A mutant is the original with a small mistake; a good test makes it fail.",
    "evaluate": "A gate is one thing that a run has to show; a task is sound if all hold.",
}


def demo(
    folder: Annotated[
        Path | None, Option("--dir", help="New folder to write; by default lmr-author-demo.")
    ] = None,
    *,
    where: Where,
) -> int:
    """Author a complete task from a bundled paper and repository, offline, and show every gate."""
    from lmr_author.core import locks, resources

    work = (folder or _free_folder()).absolute()
    if not _is_usable(work):
        raise LmrError(f"{work} exists already", "choose another folder with --dir, or remove it")
    where, recipe = where.absolute, json.loads(resources.template("demo/demo.json"))
    work.mkdir(parents=True, exist_ok=True)
    with locks.held(work):
        if not _is_usable(work):  # another demo has made it meanwhile
            raise LmrError(f"{work} exists already", "choose another folder with --dir, or remove it")
        _clear(work)
        code = _author(work, recipe, where)
        (work / _UNFINISHED).unlink()
    return code


def _author(work: Path, recipe: dict[str, Any], where: Where) -> int:
    from lmr_author.cli import app

    _lay_out(work, recipe)
    task = work / "tasks" / f"{recipe['instance_id']}-{recipe['name']}"
    here, code = Path.cwd(), EXIT_CLEAN
    try:
        for words in _commands(recipe, where):
            verb = words[0]
            ui.say("")
            if explanation := EXPLAINED.get(verb):
                ui.say(explanation, "#", tone="dim")
            ui.say(shlex.join(["lmr-author", *words]), "$", "bold cyan", tone="bold", whole=True)
            os.chdir(work if verb == "new-task" else task)
            code = max(code, app.run(words))
            if verb == "new-task":
                ui.say("")
                ui.say(f"cd tasks/{task.name}", "$", "bold cyan", tone="bold", whole=True)
    finally:
        os.chdir(here)
    ui.say("")
    ui.say(f"The task is in {task}")
    if code == EXIT_CLEAN:
        ui.say("Look at it, then author your own.")
        ui.then("new-task")
    else:
        ui.then("evaluate", task)
    return code


def _lay_out(work: Path, recipe: dict[str, Any]) -> None:
    from lmr_author.core import files, resources
    from lmr_author.core.repo.git import Commit, commit_folder

    bundled = resources.folder("templates") / "demo"
    files.write_bytes(work / "paper.pdf", (bundled / "paper.pdf").read_bytes())
    files.write_text(work / "instruction.txt", str(recipe["instruction"]) + "\n")
    commit_folder(bundled / "repository", work / recipe["repo_folder_name"], Commit(**recipe["commit"]))


def _commands(recipe: dict[str, Any], where: Where) -> list[list[str]]:
    about = {
        "--repo": f"./{recipe['repo_folder_name']}",
        "--id": recipe["instance_id"],
        "--name": recipe["name"],
        "--year": recipe["year"],
        "--paper-url": recipe["paper_url"],
        "--repo-url": recipe["repo_url"],
    }
    words = [str(word) for pair in about.items() for word in pair]
    instruction = ["--instruction", "@../../instruction.txt", "--category", recipe["category"]]
    for path in recipe["retrieval"]:
        instruction += ["--retrieval", path]
    return [
        ["new-task", "paper.pdf", *words, "--offline", "--no-input"],
        ["mask", recipe["target"], *instruction, "--no-input"],
        ["record", recipe["target"], *where.options, "--", *recipe["driver"]],
        ["validate"],
        ["evaluate", *where.options],
        ["status"],
    ]


def _free_folder() -> Path:
    names = ("lmr-author-demo", *(f"lmr-author-demo-{number}" for number in range(2, 1000)))
    return next(Path(name) for name in names if _is_usable(Path(name)))


def _is_usable(work: Path) -> bool:
    """Return True for a folder that is not there, is empty, or was left by a demo that was killed."""
    if not work.exists():
        return True
    return work.is_dir() and (not any(work.iterdir()) or (work / _UNFINISHED).is_file())


def _clear(work: Path) -> None:
    (work / _UNFINISHED).touch()
    for path in work.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path.name != _UNFINISHED:
            path.unlink()
