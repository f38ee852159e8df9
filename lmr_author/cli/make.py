"""``lmr-author make``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from lmr_author.cli import ui
from lmr_author.cli.options import CloneOption, Format, FormatOption, PaperOption, taking_stand_ins
from lmr_author.core.errors import EXIT_CLEAN, EXIT_FINDINGS
from lmr_author.core.texts import Step, counted
from lmr_author.release.recipes import Stage

if TYPE_CHECKING:
    from lmr_author.release.recipes.make import MakeOptions, RecipeOutcome
    from lmr_author.release.recipes.recipe import Folder
    from lmr_author.runtime.environment.where import Where


def make(
    recipes: Annotated[Path, Argument(help="A folder of recipes, or one recipe.")] = Path("recipes"),
    names: Annotated[
        list[str] | None, Argument(metavar="NAME…", help="Only these recipes, by folder or number.")
    ] = None,
    out: Annotated[Path | None, Option(help="Folder of the tasks; with --write, of the recipe.")] = None,
    write: Annotated[
        Path | None,
        Option(metavar="TASK", help="Write the recipe of a task made by hand, by default to recipes/TASK."),
    ] = None,
    check: Annotated[
        bool, Option("--check", help="Only report tasks that differ from their recipe.")
    ] = False,
    to: Annotated[Stage, Option(help="Stop after this stage.")] = Stage.answers,
    jobs: Annotated[int, Option("--jobs", "-j", min=1, max=64, help="Recipes made in parallel.")] = 1,
    scheduler: Annotated[
        str, Option(help="Dask cluster that shares these folders, as tcp://host:8786.")
    ] = "",
    clone: CloneOption = None,
    paper: PaperOption = None,
    *,
    where: Where,
    force: Annotated[bool, Option("--force", help="Replace tasks made by hand, or changed since.")] = False,
    results: Annotated[Path | None, Option(help="Also write the table as Markdown, with remarks.")] = None,
    html: Annotated[Path | None, Option(help="Also write the page of the tasks, as `report` does.")] = None,
    output: FormatOption = Format.text,
) -> int:
    """Make proven tasks from recipes; what did not change is not made again."""
    if write is not None:
        return _write_recipe(write, out)
    out = out or Path("tasks")
    from lmr_author.release.recipes.make import MakeOptions, check_one, select
    from lmr_author.release.recipes.results import write_markdown

    folders, broken = select(recipes, names or [])
    stand_ins = taking_stand_ins(clone, paper)
    options = MakeOptions(out.absolute(), where, stand_ins, force, to.value)
    rows = list(broken)
    if check:
        rows += [check_one(folder, options) for folder in folders]
    else:
        rows += _make(folders, options, jobs, scheduler)
    any_sound = any(row.sound for row in rows)
    _show(rows, as_json=output is Format.json, check=check)
    if output is Format.text and any_sound:
        ui.then("status", out)
    if results is not None:
        write_markdown(results, rows)
        ui.say(f"wrote {results}")
    if html is not None and any_sound:
        _write_page(out, html)
    return EXIT_CLEAN if all(row.sound or row.made_to or row.left_out for row in rows) else EXIT_FINDINGS


def _write_recipe(place: Path, out: Path | None) -> int:
    from lmr_author.core.task import Task
    from lmr_author.release.recipes.write import write

    task = Task.find(place)
    written = write(task, out or Path("recipes") / task.name, Path.cwd())
    ui.say(f"wrote {written.path}")
    for remark in written.remarks:
        ui.note(remark)
    ui.then("make", written.path, "--out", "made")
    return EXIT_CLEAN


def _make(folders: Sequence[Folder], options: MakeOptions, jobs: int, scheduler: str) -> list[RecipeOutcome]:
    from lmr_author.release.recipes.results import state
    from lmr_author.release.recipes.side_by_side import make_all, make_on_cluster

    rows: list[RecipeOutcome] = []
    with ui.progress("making recipes") as progress:

        def say(line: str) -> None:
            progress(Step.within(f"{len(rows)} of {len(folders)} made; ", line))

        if scheduler:
            options.out.mkdir(parents=True, exist_ok=True)
            progress(f"making recipes on {scheduler}")
            coming = make_on_cluster(folders, options, scheduler)
        else:
            coming = make_all(folders, options, jobs, say)
        for row in coming:
            rows.append(row)
            ui.say(f"{len(rows)} of {len(folders)}: {row.task} {state(row)}")
    order = [folder.path for folder in folders]
    return sorted(rows, key=lambda row: order.index(row.path))


def _show(rows: Sequence[RecipeOutcome], *, as_json: bool, check: bool) -> None:
    from lmr_author.release.recipes.results import HEADER, cells, hint, problem, summary, to_json

    counts = summary(rows)
    if as_json:
        ui.print_json({"tasks": [to_json(row) for row in rows], "summary": counts})
        return
    if not check:
        ui.columns_of([HEADER, *map(cells, rows)])
    for row in rows:
        if row.left_out:
            ui.say(f"{row.task}: {row.left_out}", "left out:", "dim", stderr=False)
        elif text := problem(row):
            ui.say(text, f"{row.task}:", "bold red", stderr=False)
            ui.hint(hint(row), indent=2, stderr=False)
    states = ", ".join(f"{number} {state}" for state, number in counts.items())
    meaning = " (sound: the task equals its recipe, and is proven)" if check else ""
    ui.say(f"{counted(len(rows), 'recipe')}: {states}{meaning}", stderr=False)


def _write_page(out: Path, html: Path) -> None:
    from lmr_author.release.reporting.report import report

    with ui.progress("gathering") as progress:
        written = report(out, html, progress)
    ui.say(f"wrote {written.path} ({counted(written.tasks, 'task')})")
