"""One recording to be made: its target, its options, what drives it, and the room for it."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, fields
from pathlib import Path

from lmr_author.authoring.recording import checkers
from lmr_author.authoring.recording.drivers import Driver, from_examples, from_tests, read_command
from lmr_author.core import code
from lmr_author.core.errors import LmrError, TargetError, UsageError
from lmr_author.core.task import Implementation, Target, Task, TaskInfo
from lmr_author.core.task.recording import load
from lmr_author.runtime.environment.where import HERE, Where

MOST_BYTES = 32_000_000
"""Size of all cases of one task together: what a repository of tasks can carry."""

_SPELT = {
    "cases": "--cases",
    "seconds": "--timeout",
    "max_mb": "--max-mb",
    "gradients": "--compare=gradients",
    "in_place": "--compare=arguments",
    "files": "--compare=files",
    "checks": "--check",
}
"""Option of :attr:`RecordOptions.unusual` → how it is typed."""


@dataclass(frozen=True)
class RecordOptions:
    """Options of ``record``.

    Attributes:
        target: as typed; None when the task has a single implementation.
        command: the annotator's command; with ``from_tests``, more words for pytest.
        cases: how many cases to keep.
        where: the sandbox.
        seconds: time limit of the command.
        max_mb: limit of one recorded call, in MB.
        gradients: compare gradients with respect to the inputs too; where the golden detaches, they are in any case.
        in_place: an implementation has to change the arguments that the golden changes, ``.grad`` of tensors included.
        files: an implementation has to write the files that the golden writes.
        force: replace an existing recording (the old one is kept in ``authoring/removed/``).
        from_tests: the repository's own tests drive the target.
        examples: calls written out, as Python text, that drive it.
        cuda_as_cpu: run code that insists on a GPU on the CPU.
        checks: ``PATH=KIND``, how parts of the outcome are compared.
    """

    target: str | None
    command: tuple[str, ...]
    cases: int = 3
    where: Where = HERE
    seconds: float = 600.0
    max_mb: float = 8.0
    gradients: bool = False
    in_place: bool | None = None
    files: bool = False
    force: bool = False
    from_tests: bool = False
    examples: tuple[str, ...] = ()
    cuda_as_cpu: bool = False
    checks: tuple[str, ...] = ()

    @property
    def unusual(self) -> dict[str, object]:
        """Those that decide what is recorded and how it is compared, where they are not as usual."""
        names = ("cases", "seconds", "max_mb", "gradients", "in_place", "files", "checks")
        defaults = {option.name: option.default for option in fields(self)}
        return {name: getattr(self, name) for name in names if getattr(self, name) != defaults[name]}

    @property
    def words(self) -> list[str]:
        """The options as typed, without target and command."""
        words = [*self.where.options]
        for name, value in self.unusual.items():
            values = value if isinstance(value, tuple) else (value,)
            if value is not False:  # as a recipe says; it cannot be typed
                words += [_SPELT[name] if each is True else f"{_SPELT[name]}={each}" for each in values]
        for flag, given in (("--force", self.force), ("--from-tests", self.from_tests)):
            words += [flag] if given else []
        return words + [f"--from-example={call}" for call in self.examples]


@dataclass(frozen=True)
class Job:
    """One recording: what is recorded, with what options, in which folder of ours."""

    task: Task
    info: TaskInfo
    implementation: Implementation
    options: RecordOptions
    helpers: checkers.Helpers
    work: Path

    def command(self, here: Path, option: str) -> str:
        """Return the command that records the same with one option more, to be pasted in the current folder."""
        words = ["lmr-author", "record", str(self.implementation.target), *self.options.words, option]
        if not here.resolve().is_relative_to(self.task.root.resolve()):
            words += ["--task", str(self.task.root)]
        return shlex.join([*words, "--", *self.options.command] if self.options.command else words)

    @property
    def repository(self) -> Path:
        """The masked repository."""
        return self.task.repository(self.info)


def implementation_of(task: Task, info: TaskInfo, target: str | None, here: Path) -> Implementation:
    """Return the masked function that a target names. Raises TargetError for none and for several.

    Args:
        target: a node id, whose path may be relative to the repository, to the task or to the current folder; a name
            alone; None for the only one.
        here: the current folder.
    """
    masked = list(info.implementations)
    if not masked:
        raise TargetError(
            f"nothing is masked in {task.name}", "mask a function first: lmr-author mask FILE::FUNCTION"
        )
    shown = "; ".join(str(implementation.target) for implementation in masked)
    named = masked
    if target is not None:
        named = _named(task, info, target, here)
        if not named:
            raise TargetError(f"{target} is not masked in {task.name}", f"masked: {shown}; mask it first")
    if len(named) > 1:
        several = f"{target} is masked {len(named)} times" if target else "several functions are masked"
        raise TargetError(several, f"name one: {' or '.join(str(masked.target) for masked in named)}")
    return named[0]


def _named(task: Task, info: TaskInfo, text: str, here: Path) -> list[Implementation]:
    if "::" not in text:
        return [masked for masked in info.implementations if text in (masked.qualname, masked.target.name)]
    target, repository = Target.parse(text), task.repository(info)
    named = []
    for masked in info.implementations:
        goal = repository / masked.goal_file
        paths = {(folder / target.path).resolve() for folder in (repository, here, task.root)}
        if masked.qualname == target.qualname and goal.resolve() in paths:
            named.append(masked)
    number = target.nth
    if target.line is not None and named:
        goal = repository / named[0].goal_file
        number = code.find(code.Module.parse(goal.read_bytes(), named[0].goal_file), target).nth
    return [masked for masked in named if number is None or masked.nth in (None, number)]


def ready_helpers(
    task: Task, info: TaskInfo, implementation: Implementation, options: RecordOptions
) -> checkers.Helpers:
    """Return the annotator's own checkers and fixtures. Raises LmrError where the options cannot be recorded with."""
    folder = task.recording(info, implementation.index)
    # A recording without its test is one whose making was cut short: it is put aside, not defended.
    if folder.exists() and task.unit_test(info, implementation).exists() and not options.force:
        raise LmrError(
            f"{implementation.target} has a recording already ({folder.relative_to(task.root)})",
            "add --force to make it anew; the old one is kept in authoring/removed/",
        )
    ways = {
        "a command": bool(options.command) and not options.from_tests,
        "--from-tests": options.from_tests,
        "--from-example": bool(options.examples),
    }
    drivers = [name for name, used in ways.items() if used]
    if len(drivers) > 1:
        raise UsageError(f"{' and '.join(drivers)} both drive the target", "choose one of them")
    own = checkers.read_helpers(task.unit_test_folder(info))
    checks = checkers.parse(options.checks)
    checkers.check_functions(checks, own)
    return own


def driver_of(job: Job, here: Path) -> Driver:
    options, repository = job.options, job.repository
    if options.examples:
        return from_examples(job.implementation, options.examples, job.work, job.helpers.fixtures)
    if options.from_tests:
        return from_tests(job.implementation, repository, options.command)
    return read_command(options.command, repository, here)


def room_left(job: Job) -> int:
    """Return the bytes that the recordings of the task's other functions leave for cases."""
    left = MOST_BYTES
    for other in job.info.implementations:
        recording = load(job.task.recording(job.info, other.index))
        if recording and other.index != job.implementation.index:
            left -= sum(case.bytes for case in recording.cases)
    return max(0, left)
