"""``lmr-author env``: lock, build and local."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from lmr_author.cli import ui
from lmr_author.cli.options import (
    ForceOption,
    Format,
    FormatOption,
    ImageOption,
    TaskOption,
    VersionOption,
    check_image,
    current_task,
    finite,
    task_words,
)
from lmr_author.core.errors import EXIT_CLEAN, EXIT_FINDINGS
from lmr_author.core.texts import printable

if TYPE_CHECKING:
    from lmr_author.cli.ui import Progress
    from lmr_author.core.task import Task
    from lmr_author.core.task.provenance import BuiltEnvironment
    from lmr_author.runtime.environment.build import BuildResult
    from lmr_author.runtime.environment.failures import Explanation
    from lmr_author.runtime.environment.lock import LockResult
    from lmr_author.runtime.environment.lock_file import Lock

SHOWN = 12
LAST_LINES = 8
WIDTH = 110


def env_lock(
    date: Annotated[str | None, Option(help="Versions of this day, not of the commit's.")] = None,
    base_image: ImageOption = None,
    python: VersionOption = None,
    timeout: Annotated[float, Option(min=1, callback=finite, help="Time limit, in seconds.")] = 300.0,
    extra: Annotated[
        list[str] | None, Option("--with", help="Pin this too, or in place of the repository's.")
    ] = None,
    without: Annotated[list[str] | None, Option(help="Leave this package out.")] = None,
    only_goal: Annotated[bool, Option("--only-goal", help="Pin only what the goal files import.")] = False,
    force: ForceOption = False,
    task: TaskOption = None,
) -> int:
    """Pin the repository's requirements as of its commit's date, and write the Dockerfile."""
    from lmr_author.runtime.environment.lock import lock
    from lmr_author.runtime.environment.lock_file import LockOptions

    folder = current_task(task)
    options = LockOptions(
        date=date,
        python=python,
        base_image=base_image,
        force=force,
        seconds=timeout,
        extra=tuple(extra or ()),
        without=tuple(without or ()),
        only_goal=only_goal,
    )
    with ui.progress("reading the repository") as progress:
        made = lock(folder, options, progress)
    _show_needs(made)
    _show_lock(made.lock)
    for file in made.files:
        ui.say(f"{'wrote' if file.changed else 'unchanged:'} {file.path}")
        if file.copy:
            ui.say(f"a copy of the earlier {file.copy} is in authoring/removed/", indent=2)
    if made.kept:
        ui.note("kept the edited Dockerfile; --force rewrites it and keeps a copy")
    ui.then("env", "local" if folder.local_environment_path.is_file() else "build", *task_words(task))
    return EXIT_CLEAN


def _show_needs(made: LockResult) -> None:
    needs, base = made.needs, made.base
    project = ui.framed(" (", needs.project, ")")
    when = f"as of {needs.date.date()}" if needs.date else "of an unknown date"
    sure = "" if base.python_certain else ", probably: a build shows it"
    asked = f"the repository asks for {needs.python} ({needs.python_origin})" if needs.python else ""
    _show_row("repository", [f"{made.name}{project}, {when}"])
    _show_row("read", [", ".join(needs.sources) or "nothing is declared; the imports were read"])
    _show_row("base image", [base.reference, base.reason])
    _show_row("python", [f"{base.python} (the image's{sure})", asked])
    _show_row("torch", map(str, needs.torch))
    _show_row("requires", map(str, needs.requirements))
    _show_row("if needed", map(str, needs.constraints))
    _show_row("system", map(str, needs.system))
    _show_row("compiler", [needs.devel])
    _show_row("variables", [", ".join(needs.credentials)])
    _show_row("note", made.problems)


def _show_row(name: str, lines: Iterable[str]) -> None:
    listed = list(filter(None, lines))
    shown = listed[:SHOWN]
    if len(listed) > len(shown):
        shown.append(f"and {len(listed) - len(shown)} more (authoring/provenance.json)")
    for number, line in enumerate(shown):
        ui.say(f"{name if number == 0 else '':<12}{line}", hang=14, stderr=False)


def _show_lock(lock: Lock) -> None:
    for change in lock.changes:
        ui.say(change, "changed:", "yellow")
    for remark in lock.left_out:
        ui.note(remark)
    for line in lock.remarks:
        ui.say(line)
    if lock.compiled:
        ui.say(f"compiled when installed: {', '.join(lock.compiled)}")


def env_build(
    base_image: Annotated[
        str, Option(metavar="IMAGE", callback=check_image, help="Build on this base, not the Dockerfile's.")
    ] = "",
    no_cache: Annotated[bool, Option("--no-cache", help="Rebuild every layer.")] = False,
    files: Annotated[list[str] | None, Option("--file", help="Import this file, not the goal files.")] = None,
    timeout: Annotated[
        float, Option(min=1, callback=finite, help="Time limit of one import, in seconds.")
    ] = 120.0,
    task: TaskOption = None,
    output: FormatOption = Format.text,
) -> int:
    """Build the task's image, record its versions, and import the goal file in it; explain failures."""
    from lmr_author.runtime.environment.build import build

    folder = current_task(task)
    with ui.progress("preparing") as progress:
        result = build(
            folder, progress, _build_steps(progress),
            base_image=base_image, no_cache=no_cache, wanted=files or (), seconds=timeout,
        )  # fmt: skip
    if output is Format.json:
        ui.print_json(_document(folder.name, result))
    else:
        _show_build(result)
        if result.passed and base_image:
            _advise_on_base(folder, base_image, task)
    return EXIT_CLEAN if result.passed else EXIT_FINDINGS


def _build_steps(progress: Progress) -> Callable[[str], None]:
    """Return a function that shows a build's log: one changing line; without a terminal, a line for each step."""
    from lmr_author.runtime.sandbox.docker_build import read_step

    where = "building"

    def show(line: str) -> None:
        nonlocal where
        step = read_step(line)
        if step is not None:
            where = f"step {step.number}/{step.total}"
        if progress.live:
            progress(f"{where} {printable(step.text if step else line, WIDTH)}")
        elif step is not None:
            ui.say(f"{where}: {printable(step.text, WIDTH)}")

    return show


def _document(name: str, result: BuildResult) -> dict[str, Any]:
    document: dict[str, Any] = {
        "task": name,
        "passed": result.passed,
        "environment": result.built.to_json() if result.built else None,
        "failure": None,
    }
    failure, why = result.failure, result.explanation
    if failure is not None:
        document["failure"] = {
            "step": failure.step,
            "line": failure.line,
            "message": failure.message,
            "said": list(failure.said[-50:]),
            "explainer": why.name if why else "",
            "cause": why.cause if why else "",
            "advice": why.advice if why else "",
        }
    return document


def _show_build(result: BuildResult) -> None:
    failure = result.failure
    if failure is not None:
        where = "the Dockerfile"
        if failure.line:
            where = f"line {failure.line} of the Dockerfile: {printable(failure.step, WIDTH)}"
        ui.say(f"at {where}", "not built", "bold red", stderr=False)
        _show_failure(failure.said, result.explanation)
    elif result.built is not None:
        _show_image(result.built)
    for imported in result.imported:
        outcome = imported.result
        if outcome.ok:
            text = f"{outcome.file} as {outcome.module} ({outcome.seconds:.1f} s)"
            ui.say(text, "imports", "green", stderr=False)
        else:
            ui.say(outcome.file, "cannot import", "bold red", stderr=False)
            _show_failure(outcome.said, imported.explanation)
    if not result.passed:
        ui.hint("apply the change, then run the same command again", stderr=False)


def _advise_on_base(folder: Task, base_image: str, task: Path | None) -> None:
    from lmr_author.runtime.environment.lock_file import options_of

    text = f"give --base-image {base_image} to `record` and `evaluate`, too, or write it into the Dockerfile:"
    ui.hint(text, stderr=False)
    options = options_of(folder.lock.read_text("utf-8") if folder.lock.is_file() else "")
    ui.then("env", "lock", *options, "--base-image", base_image, *task_words(task), stderr=False)


def _show_image(built: BuiltEnvironment) -> None:
    versions = []
    for name, version in (("python", built.python), ("torch", built.torch), ("numpy", built.numpy)):
        if version:
            versions.append(f"{name} {version}")
    if built.torch:
        versions.append(f"CUDA {built.cuda}" if built.cuda else "no CUDA")
    content = f"{', '.join(versions)}, {len(built.packages)} packages (authoring/environment.json)"
    ui.say(f"{built.tag} in {built.seconds:.0f} s: {content}", "built", "green", stderr=False)


def _show_failure(log: Sequence[str], explanation: Explanation | None) -> None:
    for line in log[-LAST_LINES:]:
        ui.say(printable(line, 200), indent=2, hang=4, tone="dim", stderr=False)
    if explanation is None:
        ui.say("cause: unknown; the whole log is authoring/logs/build.log", indent=2, stderr=False)
        return
    ui.say(explanation.cause, "cause:", "bold", indent=2, stderr=False)
    ui.say(explanation.advice, "try:", "cyan", indent=2, stderr=False)


def env_local(
    python: Annotated[str | None, Option(metavar="X.Y|PATH", help="Use this Python, not the lock's.")] = None,
    extra: Annotated[list[str] | None, Option("--with", help="Install this too, as torch==2.6.0.")] = None,
    cuda: Annotated[bool, Option("--cuda", help="Install PyTorch's CUDA build even without a GPU.")] = False,
    task: TaskOption = None,
) -> int:
    """Make a virtual environment from the task's lock, for the local sandbox; print its interpreter."""
    from lmr_author.cli.status import show_next
    from lmr_author.runtime.environment.local import make_local

    folder = current_task(task)
    with ui.progress("searching for a Python") as progress:
        made, remarks = make_local(folder, progress, python=python, extra=extra or (), cuda=cuda)
    for remark in remarks:
        ui.note(remark)
    how = "made" if made.made else "found"
    ui.say(f"{how} {made.path.name}: Python {made.version}")
    print(made.python.path)
    if made.fails:
        ui.hint("apply the change, then run the same command again")
        return EXIT_FINDINGS
    ui.say("`record` and `evaluate --sandbox local` use it for this task")
    show_next(folder)
    return EXIT_CLEAN
