"""``lmr-author make``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from lmr_author.cli import ui
from lmr_author.cli.options import (
    BaseImageOption,
    Format,
    FormatOption,
    GpusOption,
    PythonOption,
    SandboxKind,
    SandboxOption,
    where_of,
)
from lmr_author.core.errors import EXIT_CLEAN, EXIT_FINDINGS, UsageError
from lmr_author.core.texts import counted

if TYPE_CHECKING:
    from lmr_author.release.recipes.make import MakeOptions, Row
    from lmr_author.release.recipes.recipe import Folder


def make(
    recipes: Annotated[Path, Argument(help="A folder of recipes, or one recipe.")] = Path("recipes"),
    names: Annotated[
        list[str] | None, Argument(metavar="NAME…", help="Only these: folders of recipes, or numbers.")
    ] = None,
    out: Annotated[Path, Option(help="Folder of the tasks.")] = Path("tasks"),
    check: Annotated[
        bool, Option("--check", help="Only say which tasks no longer equal their recipe.")
    ] = False,
    jobs: Annotated[int, Option("--jobs", "-j", min=1, max=64, help="Recipes made side by side.")] = 1,
    scheduler: Annotated[
        str, Option(help="Make them on a Dask cluster that shares these folders, as tcp://host:8786.")
    ] = "",
    clone: Annotated[
        list[str] | None, Option(metavar="URL=PATH", help="A local clone in place of an address.")
    ] = None,
    clones: Annotated[Path | None, Option(help="A file with a line URL=PATH for each local clone.")] = None,
    paper: Annotated[
        list[str] | None, Option(metavar="URL=PATH", help="A PDF in place of a paper's address or arXiv id.")
    ] = None,
    sandbox: SandboxOption = SandboxKind.local,
    python: PythonOption = None,
    base_image: BaseImageOption = None,
    gpus: GpusOption = "",
    force: Annotated[
        bool, Option("--force", help="Replace tasks that were not made from their recipe, or changed since.")
    ] = False,
    results: Annotated[
        Path | None, Option(help="Also write the table, with each target, as Markdown.")
    ] = None,
    html: Annotated[Path | None, Option(help="Also write the page of the tasks, as `report` does.")] = None,
    predictions: Annotated[
        Path | None, Option(help="Make nothing: write the recipes' answers as `judge` reads them.")
    ] = None,
    output: FormatOption = Format.text,
) -> int:
    """Make proven tasks from recipes; what did not change is not made again."""
    from lmr_author.release.recipes.make import MakeOptions, check_one, select
    from lmr_author.release.recipes.stages import StandIns

    if predictions is not None and check:
        raise UsageError("--predictions and --check are two things", "give one of them")
    folders, broken = select(recipes, names or [])
    if predictions is not None:
        return _write_predictions(folders, broken, predictions)
    stand_ins = StandIns(_pairs("--clone", clone or (), clones), _pairs("--paper", paper or ()))
    options = MakeOptions(out.absolute(), where_of(sandbox, python, base_image, gpus), stand_ins, force)
    made = (
        [check_one(one, options) for one in folders]
        if check
        else list(_make(folders, options, jobs, scheduler))
    )
    order = [one.path for one in folders]
    rows = [*broken, *sorted(made, key=lambda row: order.index(row.path))]
    _show(rows, as_json=output is Format.json, check=check)
    if output is Format.text and any(row.sound for row in rows):
        ui.then("status", out)
    if results is not None:
        from lmr_author.release.recipes.results import write_markdown

        write_markdown(results, rows, folders)
        ui.say(f"wrote {results}")
    if html is not None and any(row.sound for row in rows):
        _page(out, html)
    return EXIT_CLEAN if all(row.sound or row.left_out for row in rows) else EXIT_FINDINGS


def _make(folders: Sequence[Folder], options: MakeOptions, jobs: int, scheduler: str) -> Iterator[Row]:
    from lmr_author.release.recipes.results import state
    from lmr_author.release.recipes.side_by_side import make_all, make_on_cluster

    with ui.progress("reading recipes") as progress:
        done = 0

        def say(line: str) -> None:
            progress(f"{done} of {len(folders)} made; {line}")

        if scheduler:
            options.out.mkdir(parents=True, exist_ok=True)
            say(f"on {scheduler}")
            rows = make_on_cluster(folders, options, scheduler)
        else:
            rows = make_all(folders, options, jobs, say)
        for row in rows:
            done += 1
            ui.say(f"{done} of {len(folders)}: {row.task} {state(row)}")
            yield row


def _show(rows: Sequence[Row], *, as_json: bool, check: bool) -> None:
    """Print the table, and what is wrong."""
    from lmr_author.release.recipes.results import HEADER, cells, summary, to_json

    counts = summary(rows)
    if as_json:
        ui.print_json({"tasks": [to_json(row) for row in rows], "summary": counts})
        return
    if not check:
        ui.columns_of([HEADER, *map(cells, rows)])
    for row in rows:
        if row.problem:
            tone = ("left out:", "dim") if row.left_out else (f"{row.task}:", "bold red")
            text = f"{row.task}: {row.problem}" if row.left_out else row.problem
            ui.say(text, *tone, stderr=False)
            ui.hint(row.hint, indent=2, stderr=False)
    told = ", ".join(f"{number} {word}" for word, number in counts.items())
    equal = ", as a task that equals its recipe and is sound is called" if check else ""
    ui.say(f"{counted(len(rows), 'recipe')}: {told}{equal}", stderr=False)


def _write_predictions(folders: Sequence[Folder], broken: Sequence[Row], path: Path) -> int:
    from lmr_author.core import files
    from lmr_author.release.recipes.stages import predictions

    for row in broken:
        ui.say(row.problem, "error:", "bold red")
        ui.hint(row.hint)
    lines = [line for folder in folders for line in predictions(folder)]
    files.write_text(path, "".join(f"{line}\n" for line in lines))
    ui.say(f"wrote {counted(len(lines), 'answer')} to {path}")
    return EXIT_FINDINGS if broken else EXIT_CLEAN


def _pairs(option: str, given: Sequence[str], file: Path | None = None) -> dict[str, str]:
    """Read ``URL=PATH``, from the command line and from a file. Raises UsageError for what is none."""
    from lmr_author.cli.options import read_text

    lines = read_text(file, "--clones").splitlines() if file else []
    found = {}
    for text in [*(line.strip() for line in lines if line.strip() and not line.startswith("#")), *given]:
        url, separator, path = text.rpartition("=")
        if not separator or not url:
            raise UsageError(
                f"{option} {text}: not URL=PATH", f"as in {option} https://example.org/code=../code"
            )
        if not Path(path).expanduser().exists():
            raise UsageError(f"{option} {text}: there is no {path}", "check the path")
        found[url] = str(Path(path).expanduser().absolute())
    return found


def _page(out: Path, html: Path) -> None:
    from lmr_author.release.reporting.report import report

    with ui.progress("gathering") as progress:
        written = report(out, html, progress)
    ui.say(f"wrote {written.path} ({counted(written.tasks, 'task')})")
