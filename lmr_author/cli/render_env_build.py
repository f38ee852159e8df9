"""Show ``env build``: its steps while it builds, then the image's content and the imports."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from lmr_author.cli.render import console
from lmr_author.cli.render_text import escape
from lmr_author.sandbox.docker_build import Step, read_step
from lmr_author.texts import counted, printable

if TYPE_CHECKING:
    from rich.status import Status

    from lmr_author.environment.build import BuildFailure, BuildResult, Hooks
    from lmr_author.environment.failures import Explanation
    from lmr_author.environment.repair import Repair
    from lmr_author.environment.smoke import Imported

_LAST_LINES = 8
_WIDTH = 110
"""Columns of a line that the build says."""


class BuildScreen:
    """On a terminal one changing line: the step and the last thing it said. Else a line for each step."""

    def __init__(self, status: Status | None) -> None:
        self._status = status
        self._step: Step | None = None

    def hooks(self) -> Hooks:
        """Return the callbacks of a build that show on this screen."""
        from lmr_author.environment.build import Hooks

        return Hooks(self.say, self.line, self.repair)

    def say(self, message: str) -> None:
        """Show the current step."""
        self._step = None
        if self._status is not None and not message.startswith("needs:"):
            self._status.update(escape(message[:160]))
        else:
            console().print(escape(message))

    def line(self, line: str) -> None:
        """A line of the build's log."""
        step = read_step(line)
        if step is not None:
            self._step = step
        where = f"step {self._step.number}/{self._step.total}" if self._step else "building"
        if self._status is not None:
            self._status.update(f"[bold]{where}[/] {escape(printable(step.text if step else line, _WIDTH))}")
        elif step is not None:
            console().print(f"{where}: {escape(printable(step.text, _WIDTH))}")

    def repair(self, made: Repair) -> None:
        """A repair, as soon as it is made."""
        repair(made)


def repair(made: Repair) -> None:
    """A repair with its difference; or that it was taken back."""
    screen = console()
    if made.undone:
        screen.print(f"[yellow]undone[/] {escape(str(made.fix))}: it did not help")
        return
    screen.print(f"[yellow]repaired[/] {escape(made.cause)}: {escape(str(made.fix))}")
    for line in made.diff.splitlines():
        style = {"+": "green", "-": "red"}.get(line[:1], "dim")
        screen.print(f"  [{style}]{escape(line)}[/]")


@contextmanager
def build_screen() -> Iterator[BuildScreen]:
    """The screen while the block runs."""
    screen = console()
    if not screen.is_terminal:
        yield BuildScreen(None)
        return
    with screen.status("preparing") as status:
        yield BuildScreen(status)


def result(found: BuildResult, *, fixing: bool) -> None:
    """Show the result on stdout. With ``fixing`` repairs were allowed."""
    screen = console(stderr=False)
    if found.failure is not None:
        _broken(found.failure)
    else:
        _held(found.facts)
    for item in found.imported:
        _imported(item)
    made = [item for item in found.repairs if not item.undone]
    if made:
        screen.print(
            f"changed {counted(len(made), 'thing')}; the files as they were are in authoring/removed/:"
        )
        for each in made:
            screen.print(f"  {escape(str(each.fix))}")
    if found.passed and found.instead:
        screen.print(
            f"[cyan]hint:[/] give --base-image {escape(found.instead)} to `record` and `evaluate`, too, or have it "
            "in the Dockerfile: `lmr-author env dockerfile --base-image …`"
        )
    explanation = found.explanation
    repairable = explanation is not None and explanation.fix is not None
    if not found.passed and repairable and not fixing:
        screen.print("[cyan]hint:[/] `lmr-author env build --fix` tries this and builds again")
    elif not found.passed and fixing:
        screen.print("[cyan]hint:[/] nothing else that --fix may change helps; the rest is for you to decide")


def document(found: BuildResult) -> dict[str, Any]:
    """The same for programs."""
    broken = found.failure
    return {
        "task": found.task.name,
        "passed": found.passed,
        "environment": found.facts or None,
        "failure": (
            None
            if broken is None
            else {
                "step": broken.step,
                "line": broken.line,
                "message": broken.message,
                "said": list(broken.said[-50:]),
                **_explained(broken.explanation),
            }
        ),
        "repairs": [
            {"cause": item.cause, "change": str(item.fix), "diff": item.diff, "undone": item.undone}
            for item in found.repairs
        ],
    }


def _explained(found: Explanation | None) -> dict[str, Any]:
    if found is None:
        return {"explainer": "", "cause": "", "advice": "", "fixable": False}
    return {
        "explainer": found.name,
        "cause": found.cause,
        "advice": found.advice,
        "fixable": found.fix is not None,
    }


def _held(facts: dict[str, Any]) -> None:
    screen = console(stderr=False)
    versions = [f"{name} {facts[name]}" for name in ("python", "torch", "numpy") if facts.get(name)]
    if facts.get("torch"):
        versions.append(f"CUDA {facts['cuda']}" if facts.get("cuda") else "no CUDA")
    screen.print(f"[green]built[/] {facts['tag']} in {facts['seconds']:.0f} s: {', '.join(versions)}, "
                 f"{len(facts['packages'])} packages (authoring/environment.json)")  # fmt: skip


def _imported(item: Imported) -> None:
    screen = console(stderr=False)
    if item.ok:
        screen.print(f"[green]imports[/] {escape(item.file)} as {escape(item.module)} ({item.seconds:.1f} s)")
        return
    screen.print(f"[bold red]cannot import[/] {escape(item.file)}")
    for line in item.said[-_LAST_LINES:]:
        screen.print(f"  [dim]{escape(line)}[/]")
    _advice(item.explanation)


def _broken(broken: BuildFailure) -> None:
    screen = console(stderr=False)
    where = (
        f"line {broken.line} of the Dockerfile: {printable(broken.step, _WIDTH)}"
        if broken.line
        else "the Dockerfile"
    )
    screen.print(f"[bold red]not built[/] at {escape(where)}")
    for line in broken.said[-_LAST_LINES:]:
        screen.print(f"  [dim]{escape(printable(line, 200))}[/]")
    _advice(broken.explanation)


def _advice(found: Explanation | None) -> None:
    screen = console(stderr=False)
    if found is None:
        screen.print("  cause: not known; the whole log is authoring/logs/build.log")
        return
    screen.print(f"  [bold]cause:[/] {escape(found.cause)}")
    screen.print(f"  [cyan]try:[/] {escape(found.advice)}")
