"""``lmr-author env build``: its steps while it builds, then the image's content and the imports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from lmr_author.cli import ui
from lmr_author.cli.options import BaseImageOption, Format, FormatOption, TaskOption, current_task
from lmr_author.errors import EXIT_CLEAN, EXIT_FINDINGS
from lmr_author.texts import printable

if TYPE_CHECKING:
    from lmr_author.cli.ui import Progress
    from lmr_author.environment.build import BuildResult
    from lmr_author.environment.failures import Explanation
    from lmr_author.sandbox.docker_build import Step
    from lmr_author.task.environment import BuiltEnvironment

_LAST_LINES = 8
_WIDTH = 110
"""Characters of a step that are shown."""


def env_build(
    base_image: BaseImageOption = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Make every layer anew.")] = False,
    files: Annotated[
        list[str] | None,
        typer.Option("--file", metavar="PATH", help="Import this instead of the goal files; repeatable."),
    ] = None,
    timeout: Annotated[float, typer.Option(min=1, help="Time limit of one import, in seconds.")] = 120.0,
    task: TaskOption = None,
    output: FormatOption = Format.text,
) -> int:
    """Build the task's image, record what it holds, and import the goal file in it; explain what fails."""
    from lmr_author.environment.build import BuildOptions, build

    options = BuildOptions(base_image, no_cache, tuple(files or ()), timeout)
    folder = current_task(task)
    with ui.progress("preparing") as progress:
        screen = _BuildScreen(progress)
        found = build(folder, options, screen.say, screen.line)
    if output is Format.json:
        ui.print_json(_document(found))
    else:
        _show(found, ["--task", str(task)] if task else [])
    return EXIT_CLEAN if found.passed else EXIT_FINDINGS


class _BuildScreen:
    """On a terminal one changing line: the step and its last line. Otherwise a line for each step."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._step: Step | None = None

    def say(self, message: str) -> None:
        """Show the current phase."""
        self._step = None
        if self._progress.live:
            self._progress(message)
        else:
            ui.say(message)

    def line(self, line: str) -> None:
        """Show a line of the build's log."""
        from lmr_author.sandbox.docker_build import read_step

        step = read_step(line)
        self._step = step or self._step
        where = f"step {self._step.number}/{self._step.total}" if self._step else "building"
        if self._progress.live:
            self._progress(f"{where} {printable(step.text if step else line, _WIDTH)}")
        elif step is not None:
            ui.say(f"{where}: {printable(step.text, _WIDTH)}")


def _document(found: BuildResult) -> dict[str, Any]:
    """Return the result for programs."""
    failure = found.failure
    return {
        "task": found.task.name,
        "passed": found.passed,
        "environment": found.built.to_json() if found.built else None,
        "failure": (
            None
            if failure is None
            else {
                "step": failure.step,
                "line": failure.line,
                "message": failure.message,
                "said": list(failure.said[-50:]),
                **_explained(failure.explanation),
            }
        ),
    }


def _explained(found: Explanation | None) -> dict[str, Any]:
    if found is None:
        return {"explainer": "", "cause": "", "advice": ""}
    return {"explainer": found.name, "cause": found.cause, "advice": found.advice}


def _show(found: BuildResult, words: list[str]) -> None:
    """Print the result on stdout; ``words`` name the task in the next command."""
    if found.failure is not None:
        step = found.failure
        line = f"line {step.line} of the Dockerfile: {printable(step.step, _WIDTH)}"
        ui.say(f"at {line if step.line else 'the Dockerfile'}", "not built", "bold red", stderr=False)
        _show_failure(step.said, step.explanation)
    elif found.built is not None:
        _show_built(found.built)
    for item in found.imported:
        result = item.result
        if result.ok:
            text = f"{result.file} as {result.module} ({result.seconds:.1f} s)"
            ui.say(text, "imports", "green", stderr=False)
        else:
            ui.say(result.file, "cannot import", "bold red", stderr=False)
            _show_failure(result.said, item.explanation)
    if found.passed and found.instead:
        ui.hint(
            f"give --base-image {found.instead} to `record` and `evaluate`, too, or write it into the Dockerfile:",
            stderr=False,
        )
        ui.then("env", "dockerfile", "--base-image", found.instead, *words, stderr=False)
    elif not found.passed:
        ui.hint("make the change, then run `lmr-author env build` again", stderr=False)


def _show_built(found: BuiltEnvironment) -> None:
    named = {"python": found.python, "torch": found.torch, "numpy": found.numpy}
    versions = [f"{name} {version}" for name, version in named.items() if version]
    if found.torch:
        versions.append(f"CUDA {found.cuda}" if found.cuda else "no CUDA")
    content = f"{', '.join(versions)}, {len(found.packages)} packages (authoring/environment.json)"
    ui.say(f"{found.tag} in {found.seconds:.0f} s: {content}", "built", "green", stderr=False)


def _show_failure(said: tuple[str, ...] | list[str], found: Explanation | None) -> None:
    """Print the last lines of a log, the cause and the advice."""
    for line in said[-_LAST_LINES:]:
        ui.say(printable(line, 200), indent=2, hang=4, tone="dim", stderr=False)
    if found is None:
        ui.say("cause: unknown; the whole log is authoring/logs/build.log", indent=2, stderr=False)
        return
    ui.say(found.cause, "cause:", "bold", indent=2, stderr=False)
    ui.say(found.advice, "try:", "cyan", indent=2, stderr=False)
