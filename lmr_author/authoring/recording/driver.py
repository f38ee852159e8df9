"""What drives the target: the annotator's command, the repository's tests, or calls written out.

Nothing of it runs here: it is read, and run in the sandbox.
"""

from __future__ import annotations

import ast
import itertools
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated

import msgspec

from lmr_author.core import code, files
from lmr_author.core.errors import Hint, LmrError, Setting, UsageError
from lmr_author.core.task import UNIT_TEST, Implementation, Task
from lmr_author.core.task.recording import Recording
from lmr_author.runtime.replay.staging import PROBE_ROOT, copy_fixtures
from lmr_author.runtime.sandbox.base import Mount

PYTHONS = ("python", "python3", "python2")
LAUNCHERS = {"torchrun", "accelerate", "deepspeed", "torch.distributed.run", "torch.distributed.launch"}
"""Programs and modules that start the script they are given in a process of its own."""
ALONE = "RANK=0 LOCAL_RANK=0 WORLD_SIZE=1 MASTER_ADDR=localhost MASTER_PORT=29500"
DRIVER = f"{PROBE_ROOT}/driver"
"""The folder of a driver that lies outside the repository, inside the sandbox."""
MODULE = "lmr_probe.drivers"
REQUEST = "request.json"
"""What a module of the probe is to call, in the folder that it is given."""
NO_TESTS_IN = frozenset({UNIT_TEST, ".git", "node_modules", "site-packages", "build"})
COMPILERS = re.compile(r"\b(?:jit|njit|filter_jit|vectorize|guvectorize|compile)\b")
"""In a decorator: it compiles the function, and compiled code cannot be traced."""
UNCOMPILED = {
    "NUMBA_DISABLE_JIT": "1",
    "PYTORCH_JIT": "0",
    "TORCHDYNAMO_DISABLE": "1",
    "JAX_DISABLE_JIT": "1",
}
"""Variables that turn compilers off. Only the recorded run has them: a replay calls the function as plain Python."""


@dataclass(frozen=True)
class Driver:
    """A command ready to be run under the recorder.

    Attributes:
        arguments: what follows ``python``: a script or ``-m module``, and its arguments.
        mounts: the driver's folder, when it lies outside the repository.
        shown: the command as recorded; a script outside the repository by its name alone.
    """

    arguments: tuple[str, ...]
    mounts: tuple[Mount, ...]
    shown: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)


def driver_of(
    options: RecordOptions,
    implementation: Implementation,
    repository: Path,
    here: Path,
    work: Path,
    fixtures: Path | None,
) -> Driver:
    """Return what drives the target, by the options. Raises UsageError for nothing that does, and for several."""
    ways = {
        "a command": bool(options.command) and not options.from_tests,
        "--from-tests": options.from_tests,
        "--from-example": bool(options.examples),
    }
    drivers = [name for name, used in ways.items() if used]
    if len(drivers) > 1:
        raise UsageError(f"{' and '.join(drivers)} both drive the target", "choose one of them")
    if options.examples:
        return from_examples(implementation, options.examples, work, fixtures)
    if options.from_tests:
        return from_tests(implementation, repository, options.words)
    return read_command(options.words, repository, here)


def read_command(command: Sequence[str], repository: Path, here: Path) -> Driver:
    """Read the annotator's command.

    A script is taken from the repository first, then from ``here``; one outside the repository brings its folder,
    read-only. Raises UsageError: no command, not a Python one, or a script that does not exist.
    """
    variables, script, words = split_command(command)
    shown, mounts = script, tuple[Mount, ...]()
    if script != "-m":
        script, shown, mounts = _find_script(script, repository, here)
    env = dict(word.split("=", 1) for word in variables)
    return Driver((script, *words), mounts, (*variables, "python", shown, *words), env)


def split_command(command: Sequence[str]) -> tuple[list[str], str, list[str]]:
    """Return a command's variables, its script (or ``-m``), and the words after it. Raises UsageError."""
    variables = list(itertools.takewhile(_is_assignment, command))
    script, *words = _python_arguments(list(command[len(variables) :]))
    return variables, script, words


def _python_arguments(words: list[str]) -> list[str]:
    if not words:
        raise UsageError(
            "no command to record", "add it after --, as in: lmr-author record a.py::f -- python driver.py"
        )
    program = Path(words[0]).name
    if {program, *words[1:3]} & LAUNCHERS:
        raise UsageError(
            f"{shlex.join(words[:3])} starts the script in other processes, which are not recorded",
            f"run the script itself: -- {ALONE} python SCRIPT …",
        )
    if program in ("pytest", "py.test"):
        words = ["-m", "pytest", *words[1:]]
    elif program in PYTHONS or program.startswith("python3."):
        words = words[1:]
    elif not program.endswith(".py"):
        raise UsageError(
            f"{words[0]!r} is not a Python command",
            "run the code with Python: -- python driver.py, or -- python -m module",
        )
    # None of Python's own options but -m can be recorded under.
    if not words or words == ["-m"] or (words[0].startswith("-") and words[0] != "-m"):
        raise UsageError(
            "name a script or a module to run", "as in: -- python driver.py, or -- python -m package.train"
        )
    return words


def _is_assignment(word: str) -> bool:
    name, separator, _ = word.partition("=")
    return bool(separator) and name.isidentifier()


def folder_with(script: str, folders: Iterable[Path]) -> Path | None:
    return next((folder for folder in folders if (folder / script).is_file()), None)


def folders_beside(task: Task) -> list[Path]:
    """Return where the script of a finished recording may lie: a manifest keeps its name, not its folder."""
    return [task.root, *task.root.parents[:2], task.authoring]


def _find_script(script: str, repository: Path, here: Path) -> tuple[str, str, tuple[Mount, ...]]:
    """Return a script's place in the sandbox, how that is shown, and what has to come along."""
    folder = folder_with(script, (repository, here))
    if folder is None:
        raise UsageError(
            f"there is no script {script}",
            Hint(
                f"a relative path starts in {repository.name}/, or in the current folder {here}",
                (Setting("--"),),
            ),
        )
    resolved, root = (folder / script).resolve(), repository.resolve()
    if resolved.is_relative_to(root):
        inside = resolved.relative_to(root).as_posix()
        return inside, inside, ()
    inside = f"{DRIVER}/{resolved.name}"
    # A home folder holds more than a driver's files, so the script comes alone.
    alone = resolved.parent in (Path.home(), Path("/"), Path("/tmp"))
    mount = Mount(resolved, inside) if alone else Mount(resolved.parent, DRIVER)
    return inside, resolved.name, (mount,)


def from_tests(implementation: Implementation, repository: Path, options: Sequence[str]) -> Driver:
    """Return the repository's tests: those that name the target, else those that name its file, else all.

    Args:
        options: more words for pytest; with a test file among them, only these are run.
    """
    words = tuple(options)
    if not any(word.partition("::")[0].endswith(".py") for word in options):
        words = (*_tests_of(implementation, repository), *options)
    return Driver(("-m", MODULE, "suite", *words), (), ("lmr-author", "record", "--from-tests", "--", *words))


def _tests_of(implementation: Implementation, repository: Path) -> list[str]:
    tests = {}
    for path in sorted(repository.rglob("*.py")):
        relative = path.relative_to(repository)
        is_test = path.name.startswith("test_") or path.name.endswith("_test.py")
        if is_test and not NO_TESTS_IN & set(relative.parts) and path.is_file() and not path.is_symlink():
            tests[relative.as_posix()] = path.read_text("utf-8", "replace")
    if not tests:
        raise UsageError(
            f"{repository.name}/ has no tests (test_*.py, *_test.py)",
            Hint(
                "drive the function yourself: {0}, or {1}",
                (
                    Setting("--", (), "-- python driver.py"),
                    Setting("--from-example", (), '--from-example "f(…)"'),
                ),
            ),
        )
    parts = implementation.qualname.split(".")
    # Nobody calls `forward` or `__init__` by its name: the class is what a test names.
    implicit = parts[-1].startswith("__") or parts[-1] in ("forward", "step")
    for name in (parts[0] if implicit else parts[-1], parts[0], Path(implementation.goal_file).stem):
        naming = [path for path, text in tests.items() if name in text]
        if naming:
            return naming
    return list(tests)


def require_python(example: str) -> None:
    try:
        compile(example.strip(), "example", "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        raise UsageError(
            f"this example is not Python: {example!r} ({error})",
            "write a call, as in f(torch.randn(4), beta=0.1)",
        ) from error


def from_examples(
    implementation: Implementation, examples: Sequence[str], work: Path, fixtures: Path | None = None
) -> Driver:
    """Return calls written by the annotator, which run in the sandbox only; ``fixtures`` may be called in them."""
    for text in examples:
        require_python(text)
    folder = work / "examples"
    folder.mkdir()
    request = {"goal_file": implementation.goal_file, "examples": list(examples)}
    if fixtures is not None:
        copy_fixtures(fixtures, folder)
        request["fixtures"] = fixtures.name
    files.write_json(folder / REQUEST, request)
    for path in [folder, *folder.rglob("*")]:  # for the user that the sandbox runs as
        path.chmod(0o755 if path.is_dir() else 0o644)
    shown = [word for text in examples for word in ("--from-example", text)]
    arguments = ("-m", MODULE, "examples", f"{DRIVER}/{REQUEST}")
    return Driver(arguments, (Mount(folder, DRIVER),), ("lmr-author", "record", *shown))


def switches(function: code.FunctionNode) -> dict[str, str]:
    """Return the environment variables without which a function would be compiled, by its decorators."""
    decorators = map(ast.unparse, function.decorator_list)
    return UNCOMPILED if any(map(COMPILERS.search, decorators)) else {}


FEWEST_CASES = 3


@dataclass(frozen=True, kw_only=True)
class RecordOptions:
    """A way to record the target's calls: a command, the repository's tests, or calls written out.

    Attributes:
        command: command that calls the target, as typed; with `from_tests`, more words for pytest.
        from_tests: run the repository's own tests.
        examples: calls written out, as f(torch.randn(4)).
        cases: cases to keep, and more if each adds something; null for a few dozen where calls are small and fast.
        seconds: time limit of the command.
        gradients: compare gradients, too; where the golden detaches, they are in any case.
        in_place: an implementation has to change the arguments that the golden changes, `.grad` of tensors included.
        checks: PATH=KIND, how parts of the outcome are compared.
        cuda_as_cpu: run code that requires a GPU on the CPU.
    """

    command: str = ""
    from_tests: bool = False
    examples: tuple[str, ...] = ()
    cases: Annotated[int, msgspec.Meta(ge=1, le=50)] | None = None
    seconds: Annotated[float, msgspec.Meta(ge=1, le=1e7)] = 600.0
    gradients: bool = False
    in_place: bool | None = None
    checks: tuple[str, ...] = ()
    cuda_as_cpu: bool = False

    @classmethod
    def of(cls, recording: Recording) -> RecordOptions:
        """Return how a recording was made. Raises LmrError for invalid options."""
        words = recording.command
        values = {**recording.options, "cuda_as_cpu": recording.cuda_as_cpu}
        if words[:3] == ("lmr-author", "record", "--from-tests"):
            values |= {"from_tests": True, "command": shlex.join(words[4:])}
        elif words[:2] == ("lmr-author", "record"):
            values |= {"examples": words[3::2]}
        else:
            values |= {"command": shlex.join(words)}
        try:
            return msgspec.convert(values, cls)
        except msgspec.ValidationError as error:
            raise LmrError(
                f"cannot read the recording's options: {error}",
                "record again: lmr-author record --force",
            ) from error

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(shlex.split(self.command))

    @property
    def drives(self) -> bool:
        """True where they say what calls the target."""
        return bool(self.command or self.from_tests or self.examples)

    @property
    def fewest_cases(self) -> int:
        """Number of cases that are kept whether each helps or not."""
        return self.cases or FEWEST_CASES

    @property
    def unusual(self) -> dict[str, object]:
        """Those of a manifest: they decide what is recorded and how it is compared, and are not as usual."""
        names = ("cases", "seconds", "gradients", "in_place", "checks")
        defaults = {option.name: option.default for option in fields(self)}
        return {name: getattr(self, name) for name in names if getattr(self, name) != defaults[name]}
