"""One recording to be made: the function, its options, its driver, a golden tree; what to do if the command fails."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from lmr_author.authoring.recording import checkers
from lmr_author.authoring.recording.driver import Driver, RecordOptions, driver_of
from lmr_author.core import code
from lmr_author.core.errors import Hint, LmrError, Setting, TargetError
from lmr_author.core.task import TORCH_FAMILY, UNIT_TEST, Implementation, Target, Task, TaskInfo
from lmr_author.core.task.recording import load
from lmr_author.runtime.environment.packages import distribution
from lmr_author.runtime.replay import staging
from lmr_author.runtime.sandbox.base import ExecResult

Explain = Callable[[str], Hint]
"""Output of a command → the fault of its environment, with the repair; an empty hint for another error."""
NO_FAULT = Hint("")
COMMAND = Setting("--")

_EXCEPTION = re.compile(r"((?:\w+\.)*\w*(?:Error|Exception|Interrupt|Exit)(?::.*)?)$")
"""A line that names an exception."""
_OF_PYTEST = re.compile(r"E +")
_MODULE = re.compile(r"(No module named|module|from) '(\w+)")
_LONGEST_ERROR = 300


def last_error(result: ExecResult) -> str:
    """Return the last exception that was printed, as tests report it too; else the last line."""
    lines = _printed(result)
    exceptions = [number for number, line in enumerate(lines) if _EXCEPTION.match(line)]
    if not exceptions:
        return (lines or [f"exit code {result.exit_code}"])[-1][:_LONGEST_ERROR]
    text = lines[exceptions[-1]]
    # A message may begin on a line of its own, or end in the colon of a list.
    for line in lines[exceptions[-1] + 1 :]:
        if not text.endswith(":"):
            break
        text += f" {line}"
    return text[:_LONGEST_ERROR]


def advice_about(
    tree: Path, result: ExecResult, in_image: bool = False, explain: Explain = lambda text: NO_FAULT
) -> Hint:
    """Return how to repair a failed command: how to get what it lacks, else the output before its error."""
    lines = _printed(result)
    named = _MODULE.search(last_error(result))
    words, module = named.groups() if named else ("", "")
    is_missing = words == "No module named"
    folder = _folder_of(tree, module) if module else None
    # A fault inside a module of the repository is no fault of the environment.
    if folder is not None:
        return _path_advice(module, folder) if is_missing else _driver_advice(lines, in_image)
    died = f"died of signal {-result.exit_code}" if result.exit_code < 0 else ""
    explained = explain(died or "\n".join(lines))
    if explained.text:
        return explained
    return _install_advice(module, in_image) if is_missing else _driver_advice(lines, in_image)


def _folder_of(tree: Path, name: str) -> str | None:
    folders = []
    for path in [*tree.rglob(name), *tree.rglob(f"{name}.py")]:
        # A package inside another (fast/numba/) is not imported by its own name alone.
        inner = path.is_dir() and (path.parent / "__init__.py").is_file()
        folder = path.parent.relative_to(tree)
        # A folder of tests is called as what it tests: tests/ops/triton/ is no triton.
        if {"test", "tests"}.intersection(folder.parts) and (path.is_dir() or distribution(name)):
            continue
        if not inner and folder.parts[:1] != (UNIT_TEST,):
            folders.append(folder)
    return min(folders, key=lambda folder: (len(folder.parts), folder)).as_posix() if folders else None


def _path_advice(module: str, folder: str) -> Hint:
    return Hint(
        f"{module} lies in the folder {folder} of the repository, which is not on Python's path: run the command as "
        f'the repository does, or start the driver with `import sys; sys.path.insert(0, "{folder}")`',
        (COMMAND,),
    )


def _install_advice(module: str, in_image: bool) -> Hint:
    option = "--with"
    if module in TORCH_FAMILY:  # it comes with the base image
        option = "--base-image" if in_image else "env local --with"
    if in_image:
        typed = (
            "`lmr-author env lock --with NAME` adds its package to requirements.lock, whose comments name what was "
            "left out and why; then rebuild: `lmr-author env build`"
        )
    else:
        typed = (
            "make an environment with `lmr-author env local`, name a Python that has it (--python), or run in the "
            "task's image (--sandbox docker)"
        )
    place = "in the image" if in_image else "in the command's environment"
    return Hint(f"{module} is not installed {place}: {{0}}", (Setting(option, (), typed),))


def _driver_advice(lines: list[str], in_image: bool) -> Hint:
    environment = "its environment (`lmr-author env local` makes one, --python names one)"
    if in_image:
        environment = "the image (`lmr-author env build` lists what is missing)"
    words = (
        "correct the driver, or {1}; it sees the repository and the driver's folder (Path(__file__).parent)"
    )
    if any("'ellipsis' object" in line for line in lines[-1:]):
        words = "complete the values that are `...` (TODO) in the drafted script"
    last = _of_the_command(lines)[-5:-1]
    shown = " | ".join(line for line in last if not line.startswith("Traceback"))[:500]
    before = f"; its output before that: {shown}" if shown else ""
    return Hint(f"{words}{before}", (COMMAND, Setting("--with", (), environment)))


def _of_the_command(lines: list[str]) -> list[str]:
    """Return the lines of an output without the frames of the recorder, each with its line of source."""
    ours = {number for number, line in enumerate(lines) if "/lmr_probe/" in line}
    return [line for number, line in enumerate(lines) if number not in ours and number - 1 not in ours]


def _printed(result: ExecResult) -> list[str]:
    """Return the lines that the command printed; pytest reports its errors on standard output."""
    text = result.stderr if result.stderr.strip() else result.stdout
    lines = text.decode("utf-8", "replace").splitlines()
    return [_OF_PYTEST.sub("", line.strip(), count=1) for line in lines if line.strip(" ^~=_*")]


# the job

MOST_BYTES = 32_000_000
"""Size of all cases of one task together: what a repository of tasks can carry."""


@dataclass(frozen=True)
class RecordJob:
    """A recording to be made.

    Attributes:
        work: a folder of ours.
        tree: a private copy of the repository, golden in place; the run may write into it.
        module, definition: the golden file, and the target in it.
        explain: see :data:`~lmr_author.authoring.recording.job.Explain`.
    """

    task: Task
    info: TaskInfo
    implementation: Implementation
    options: RecordOptions
    helpers: checkers.Helpers
    work: Path
    driver: Driver
    tree: Path
    module: code.Module
    definition: code.Definition
    explain: Explain = lambda text: NO_FAULT

    @property
    def repository(self) -> Path:
        return self.task.repository(self.info)

    @property
    def recording_folder(self) -> Path:
        return self.task.recording(self.info, self.implementation.index)

    @property
    def inside(self) -> str:
        """Where the tree appears in the sandbox."""
        return staging.tree_path(self.info)

    @property
    def goal_file(self) -> str:
        return self.implementation.goal_file

    @property
    def qualname(self) -> str:
        return self.implementation.qualname

    @property
    def target(self) -> str:
        return f"{self.goal_file}::{self.qualname}"

    @property
    def nth(self) -> int:
        """Which definition of its name the target is, where the file has several; else 0."""
        return self.definition.nth if self.definition.siblings > 1 else 0


def job_of(
    task: Task, info: TaskInfo, implementation: Implementation, options: RecordOptions, here: Path, work: Path
) -> RecordJob:
    """Read what drives the target, and lay out the golden tree to run it in, in ``work``.

    Raises:
        UsageError: the options contradict one another, or name what does not exist.
        LmrError: the fixtures are not Python, or the target is not in its golden.
    """
    checkers.parse(options.checks)  # a mistake shows before anything runs
    helpers, repository = checkers.read_helpers(task.unit_test_folder(info)), task.repository(info)
    driver = driver_of(options, implementation, repository, here, work, helpers.fixtures)
    overlay = staging.original_overlay(task, info)
    golden = code.Module.parse(overlay[implementation.goal_file], implementation.goal_file)
    goal = code.Module.parse(task.goal(info, implementation).read_bytes(), implementation.goal_file)
    pair = code.matching(golden, goal, implementation.qualname, implementation.nth)
    if pair is None:
        raise LmrError(
            f"{implementation.target} cannot be identified in {implementation.golden_file}",
            "run `lmr-author validate`",
        )
    tree = work / "tree"
    staging.copy_tree(repository, tree, overlay, with_tests=False)
    if helpers.fixtures is not None:  # so that the driver can build the same objects
        staging.copy_fixtures(helpers.fixtures, tree / UNIT_TEST)
    return RecordJob(
        task, info, implementation, options, helpers, work, driver, tree, module=golden, definition=pair[0]
    )


def implementation_of(task: Task, info: TaskInfo, target: str | None, here: Path) -> Implementation:
    """Return the masked function that a target names. Raises TargetError for none and for several.

    Args:
        target: a node id, whose path may be relative to the repository, to the task or to ``here``; a name alone; None
            for the only one.
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
    paths = {(folder / target.path).resolve() for folder in (repository, here, task.root)}
    named = []
    for masked in info.implementations:
        if masked.qualname == target.qualname and (repository / masked.goal_file).resolve() in paths:
            named.append(masked)
    return code.meant(repository, replace(target, path=named[0].goal_file), named) if named else []


def require_unrecorded(task: Task, info: TaskInfo, implementation: Implementation) -> None:
    folder = task.recording(info, implementation.index)
    # A recording without its test is one whose making was cut short: it makes way, and is not defended.
    if folder.exists() and task.unit_test(info, implementation).exists():
        raise LmrError(
            f"{implementation.target} already has a recording ({folder.relative_to(task.root)})",
            "add --force to replace it; the old one is kept in authoring/removed/",
        )


def room_left(job: RecordJob) -> int:
    """Return the bytes that the recordings of the task's other functions leave for cases."""
    left = MOST_BYTES
    for other in job.info.implementations:
        recording = load(job.task.recording(job.info, other.index))
        if recording and other.index != job.implementation.index:
            left -= sum(case.bytes for case in recording.cases)
    return max(0, left)
