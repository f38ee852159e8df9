"""``lmr-author env``: detect, lock, dockerfile, build and local."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from lmr_author.cli import ui
from lmr_author.cli.options import (
    DryRunOption,
    ForceOption,
    Format,
    FormatOption,
    ImageOption,
    TaskOption,
    VersionOption,
    current_task,
    finite,
    task_words,
)
from lmr_author.core.errors import EXIT_CLEAN, EXIT_FINDINGS
from lmr_author.core.texts import printable

if TYPE_CHECKING:
    from lmr_author.cli.ui import Progress
    from lmr_author.core.task.environment import BuiltEnvironment
    from lmr_author.runtime.environment.build import BuildResult
    from lmr_author.runtime.environment.detect import Detected
    from lmr_author.runtime.environment.failures import Explanation
    from lmr_author.runtime.environment.generated import Written

SHOWN = 12
"""Lines of a long list that are shown; JSON has all of them."""
LAST_LINES = 8
"""Lines of a failed step's log that are shown."""
WIDTH = 110
"""Characters of a build's step that are shown."""


def env_detect(
    base_image: ImageOption = None,
    python: VersionOption = None,
    task: TaskOption = None,
    output: FormatOption = Format.text,
) -> int:
    """List what the repository needs, each fact with its origin. Nothing is run or written."""
    from lmr_author.runtime.environment.detect import detect
    from lmr_author.runtime.environment.needs import to_json

    folder = current_task(task)
    with ui.progress("reading the repository"):
        detected = detect(folder, base_image=base_image, python=python)
    if output is Format.json:
        ui.print_json(to_json(detected.needs, asdict(detected.base), detected.problems))
    else:
        _show_detected(detected)
        ui.then("env", "lock", *task_words(task))
    return EXIT_CLEAN


def _show_detected(detected: Detected) -> None:
    needs, base = detected.needs, detected.base
    project = ui.framed(" (", needs.project, ")")
    when = f"as of {needs.date.date()}" if needs.date else "of an unknown date"
    sure = "" if base.python_certain else ", probably: a build shows it"
    asked = f"the repository asks for {needs.python} ({needs.python_origin})" if needs.python else ""
    _show_row("repository", [f"{detected.name}{project}, {when}"])
    _show_row("read", [", ".join(needs.sources) or "nothing is declared; the imports were read"])
    _show_row("base image", [base.reference, base.reason])
    _show_row("python", [f"{base.python} (the image's{sure})", asked])
    _show_row("torch", map(str, needs.torch))
    _show_row("requires", map(str, needs.requirements))
    _show_row("if needed", map(str, needs.constraints), SHOWN)
    _show_row("system", map(str, needs.system))
    _show_row("compiler", [needs.devel])
    _show_row("nltk data", [", ".join(needs.nltk)])
    _show_row("variables", [", ".join(needs.credentials)])
    _show_row("note", detected.problems)


def _show_row(name: str, lines: Iterable[str], limit: int | None = None) -> None:
    """Print a name with lines beside it, without the empty ones; nothing when there are none."""
    listed = list(filter(None, lines))
    shown = listed[:limit]
    if len(listed) > len(shown):
        shown.append(f"and {len(listed) - len(shown)} more (--format json)")
    for number, line in enumerate(shown):
        ui.say(f"{name if number == 0 else '':<12}{line}", hang=14, stderr=False)


def env_lock(
    date: Annotated[str | None, Option(help="Versions as of this day, not the commit's.")] = None,
    base_image: ImageOption = None,
    python: VersionOption = None,
    relax: Annotated[
        bool, Option("--relax", help="If no versions fit together, loosen what conflicts.")
    ] = False,
    timeout: Annotated[float, Option(min=1, callback=finite, help="Time limit, in seconds.")] = 300.0,
    extra: Annotated[
        list[str] | None, Option("--with", help="Also pin this, or instead of the repository's.")
    ] = None,
    without: Annotated[list[str] | None, Option(help="Leave this package out, whoever needs it.")] = None,
    only_goal: Annotated[bool, Option("--only-goal", help="Pin only what the goal files import.")] = False,
    force: ForceOption = False,
    dry_run: DryRunOption = False,
    task: TaskOption = None,
) -> int:
    """Pin what the repository needs as of its commit's date, for the image's Python."""
    from lmr_author.runtime.environment.lock import lock
    from lmr_author.runtime.environment.lock_file import LockOptions

    folder = current_task(task)
    options = LockOptions(
        date=date,
        python=python,
        base_image=base_image,
        relax=relax,
        force=force,
        dry_run=dry_run,
        seconds=timeout,
        extra=tuple(extra or ()),
        without=tuple(without or ()),
        only_goal=only_goal,
    )
    with ui.progress("reading the repository") as progress:
        made = lock(folder, options, progress)
    _show_file(made)
    if made.lock is None:
        return EXIT_CLEAN
    for change in made.lock.changes:
        ui.say(change, "changed:", "yellow")
    problems = made.detected.problems
    more = [f"and {len(problems) - SHOWN} more (lmr-author env detect)"] if len(problems) > SHOWN else []
    for remark in (*problems[:SHOWN], *more, *made.lock.left_out):
        ui.note(remark)
    for line in made.lock.remarks:
        ui.say(line)
    if made.lock.compiled:
        ui.say(f"compiled when installed: {', '.join(made.lock.compiled)}")
    if made.path is not None:
        ui.then("env", "build", *task_words(task))
    return EXIT_CLEAN


def env_dockerfile(
    base_image: ImageOption = None,
    python: VersionOption = None,
    force: ForceOption = False,
    dry_run: DryRunOption = False,
    task: TaskOption = None,
) -> int:
    """Write the Dockerfile and .dockerignore for what the repository needs."""
    from lmr_author.runtime.environment.dockerfile import write_dockerfile

    folder = current_task(task)
    with ui.progress("reading the repository"):
        made = write_dockerfile(folder, base_image=base_image, python=python, force=force, dry_run=dry_run)
    _show_file(made)
    base = made.detected.base
    ui.say(f"base image {base.reference}: {base.reason}")
    for problem in made.detected.problems:
        if problem not in made.detected.needs.problems:  # `env detect` and `env lock` report those
            ui.note(problem)
    if made.path is not None:
        ui.then("env", "build", *task_words(task))
    return EXIT_CLEAN


def _show_file(made: Written) -> None:
    if made.path is None:
        sys.stdout.write(made.text)
        return
    ui.say(f"{'wrote' if made.changed else 'unchanged:'} {made.path}")
    if made.copy:
        ui.say(f"a copy of the earlier {made.copy} is in authoring/removed/", indent=2)


def env_build(
    base_image: Annotated[
        str, Option(metavar="IMAGE", help="Build on this base instead of the Dockerfile's.")
    ] = "",
    no_cache: Annotated[bool, Option("--no-cache", help="Make every layer anew.")] = False,
    files: Annotated[list[str] | None, Option("--file", help="Import this, not the goal files.")] = None,
    timeout: Annotated[
        float, Option(min=1, callback=finite, help="Time limit of one import, in seconds.")
    ] = 120.0,
    task: TaskOption = None,
    output: FormatOption = Format.text,
) -> int:
    """Build the task's image, record what it holds, and import the goal file in it; explain what fails."""
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
        _show_build(result, base_image, task)
    return EXIT_CLEAN if result.passed else EXIT_FINDINGS


def _build_steps(progress: Progress) -> Callable[[str], None]:
    """Return a function that shows lines of a build's log: one changing line, without a terminal a line a step."""
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


def _show_build(result: BuildResult, base_image: str, task: Path | None) -> None:
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
        ui.hint("make the change, then run the same command again", stderr=False)
    elif base_image:
        text = f"give --base-image {base_image} to `record` and `evaluate`, too, or write it into the Dockerfile:"
        ui.hint(text, stderr=False)
        ui.then("env", "dockerfile", "--base-image", base_image, *task_words(task), stderr=False)


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
    python: Annotated[str | None, Option(metavar="X.Y|PATH", help="This Python, not the lock's.")] = None,
    extra: Annotated[list[str] | None, Option("--with", help="Also install this, as torch==2.6.0.")] = None,
    cuda: Annotated[bool, Option("--cuda", help="Take PyTorch's CUDA build without a GPU, too.")] = False,
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
        ui.hint("make the change, then run the same command again")
        return EXIT_FINDINGS
    ui.say("`record` and `evaluate --sandbox local` use it for this task")
    show_next(folder)
    return EXIT_CLEAN
