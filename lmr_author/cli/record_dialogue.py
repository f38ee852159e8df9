"""Ask at a terminal what drives the target of ``record``. Nothing is offered or taken that is refused later."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from lmr_author.authoring.recording.driver import RecordOptions, from_tests, read_command, require_python
from lmr_author.authoring.recording.job import implementation_of
from lmr_author.cli import ui
from lmr_author.core.errors import LmrError, UsageError
from lmr_author.core.task import Implementation, Task, TaskInfo
from lmr_author.core.task.recording import load

COMMAND, LAST, TESTS, EXAMPLE, DRAFT = "command", "last", "tests", "example", "draft"


def ask_target(folder: Task, target: str | None, *, force: bool) -> tuple[str | None, bool]:
    """Ask for the target where there are several, and whether to replace its recording. Raises UsageError for no."""
    info = folder.load()
    targets = [str(implementation.target) for implementation in info.implementations]

    def confirm(given: dict[str, Any]) -> bool | None:
        implementation = implementation_of(folder, info, target or given["target"], Path.cwd())
        if force or not folder.unit_test(info, implementation).exists():
            return None
        question = f"{implementation.target} is recorded already. Replace its test (the old one is kept)?"
        if not ui.confirm(question, default=False):
            raise UsageError("nothing was recorded", "the earlier test stays")
        return True

    is_open = target is None and len(targets) > 1
    answers = ui.ask(
        target=lambda _: ui.choice("Which function?", targets) if is_open else None, replaces=confirm
    )
    return target or answers["target"], force or bool(answers["replaces"])


def ask_driver(folder: Task, target: str | None, options: RecordOptions) -> RecordOptions | Path:
    """Ask what calls the target; return the options with it, or the file of a driver that is only to be drafted."""
    info = folder.load()
    implementation = implementation_of(folder, info, target, Path.cwd())
    repository = folder.repository(info)
    last = _last_command(folder, info, implementation)
    choices = {}
    if last:
        choices[LAST] = f"The last command: {shlex.join(last)}"
    choices[COMMAND] = "A command of the repository, as python train.py --steps 2"
    if tests := _tests(implementation, repository):
        choices[TESTS] = f"The repository's tests: {tests}"
    choices[EXAMPLE] = f"A call that I write, as {implementation.goal_function}(2.0, scale=0.5)"
    choices[DRAFT] = "A script that calls it: draft one, which I edit"

    def describe(given: dict[str, Any]) -> RecordOptions | Path:
        if given["driver"] == DRAFT:
            exists = lambda name: "it exists" if Path(name).exists() else ""  # noqa: E731
            return Path(ui.path("Script to write:", "driver.py", exists))
        if given["driver"] == TESTS:
            return replace(options, from_tests=True)
        if given["driver"] == EXAMPLE:
            text = ui.needed("Call:", f"{implementation.goal_function}(", _example_problem)
            return replace(options, examples=(text,))
        command = _command(repository) if given["driver"] == COMMAND else shlex.join(last)
        return replace(options, command=command)

    question = f"What calls {implementation.qualname}?"
    answer: RecordOptions | Path = ui.ask(driver=lambda _: ui.choice(question, choices), answer=describe)[
        "answer"
    ]
    return answer


def _tests(implementation: Implementation, repository: Path) -> str:
    """Return the first file of tests that run the function, and how many more there are; "" for none."""
    try:
        words = from_tests(implementation, repository, ()).arguments
    except LmrError:
        return ""
    tests = [word for word in words if word.endswith(".py")]
    return f"{tests[0]} and {len(tests) - 1} more" if len(tests) > 1 else tests[0]


def _command(repository: Path) -> str:
    def problem(answer: str) -> str:
        try:
            words = tuple(shlex.split(answer))
        except ValueError as error:
            return str(error)
        return _refusal(words, repository)

    return ui.needed("Command that calls the function:", "python ", problem)


def _refusal(words: Sequence[str], repository: Path) -> str:
    return ui.problem(lambda: read_command(words, repository, Path.cwd()))


def _example_problem(text: str) -> str:
    return ui.problem(lambda: require_python(text))


def _last_command(folder: Task, info: TaskInfo, implementation: Implementation) -> tuple[str, ...]:
    """Return the command of this function's recording, else of another one's; () where it would be refused."""
    others = [other for other in info.implementations if other.index != implementation.index]
    for recorded in (implementation, *reversed(others)):
        recording = load(folder.recording(info, recorded.index))
        if recording is not None and not _refusal(recording.command, folder.repository(info)):
            return recording.command
    return ()
