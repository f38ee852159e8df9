"""``env build``: build the image, list its packages, import the goal files in it; explain failures."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import msgspec

from lmr_author import __version__
from lmr_author.core import files, resources
from lmr_author.core.errors import LmrError, SandboxBuildError, SandboxError, UsageError
from lmr_author.core.locks import changes_task
from lmr_author.core.parsing import json_data
from lmr_author.core.task import Progress, Task, TaskInfo
from lmr_author.core.task.provenance import BuiltEnvironment, ImportedFile
from lmr_author.runtime.environment.base_images import base_of
from lmr_author.runtime.environment.failures import Explanation, Failure, explain, explain_build
from lmr_author.runtime.environment.where import DOCKER, Where
from lmr_author.runtime.replay.staging import PROBE_ROOT, probe_mount, tree_path
from lmr_author.runtime.sandbox import image_tag
from lmr_author.runtime.sandbox.base import Command, ExecResult, Limits, Mount, OnLine, Sandbox

SECONDS = 120.0
"""Time limit of one import: torch and transformers take half a minute from a cold disk."""
_LAST_LINES = 12
_MOST_TOP_LEVEL = 20
_ASIDE = ("test", "tests", "docs", "unit_test", "examples", "scripts", "benchmarks")


@dataclass(frozen=True)
class ImportResult:
    """The stored result of an import, and its explanation: None for a success or an unknown cause."""

    result: ImportedFile
    explanation: Explanation | None = None


@dataclass(frozen=True)
class BuildResult:
    """The result of a build.

    Attributes:
        built: the contents of the image; None if the build failed.
        failure: the failing instruction and its output, with an ``explanation`` or None.
        imported: the smoke test.
    """

    built: BuiltEnvironment | None = None
    failure: SandboxBuildError | None = None
    explanation: Explanation | None = None
    imported: tuple[ImportResult, ...] = ()

    @property
    def passed(self) -> bool:
        return self.failure is None and bool(self.imported) and all(each.result.ok for each in self.imported)


@changes_task
def build(
    task: Task,
    say: Progress,
    on_line: OnLine,
    *,
    base_image: str = "",
    no_cache: bool = False,
    wanted: Sequence[str] = (),
    seconds: float = SECONDS,
) -> BuildResult:
    """Build a task's image, and import its goal files in it.

    Writes ``authoring/environment.json`` if the build succeeds, and always ``authoring/logs/build.log``.

    Args:
        say: called with the current step.
        on_line: called with each line of the build's log.
        base_image: replaces the Dockerfile's; "" keeps it.
        no_cache: rebuild every layer.
        wanted: files to import instead of the goal files.
        seconds: time limit of one import.

    Raises:
        SandboxError: the engine is missing or stops answering, or the machine is at fault.
        LmrError: nothing to import, no Dockerfile.
    """
    info = task.load()
    if not task.dockerfile.is_file():
        raise LmrError(f"{task.name} has no Dockerfile", "generate one with `lmr-author env lock`")
    wanted = _files(task, info, wanted)
    lock = files.read_text_or_empty(task.lock)
    began = time.monotonic()
    with Where(DOCKER, base_image=base_image).sandbox(task, info, no_cache=no_cache) as sandbox:
        say("building the image")
        try:
            facts = dict(sandbox.prepare(on_line))
            took = time.monotonic() - began
            say("listing the image's packages")
            inventory = ask_inventory(sandbox)
        except SandboxBuildError as error:
            return _failed(task, error, lock)
        say(f"importing {', '.join(wanted)}")
        imported = import_files(sandbox, tree_path(info), wanted, seconds=seconds, lock=lock)
    built = BuiltEnvironment(
        tool=__version__,
        built=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        seconds=round(took, 3),
        image=facts["image"],
        tag=image_tag(task.name, task.root),
        base_image=base_image or base_of(files.read_text_or_empty(task.dockerfile)),
        engine=facts["engine"],
        dockerfile_sha256=files.sha256_file(task.dockerfile),
        lock_sha256=files.sha256_file(task.lock) if task.lock.is_file() else "",
        imports=tuple(each.result for each in imported),
        **vars(inventory),
    )
    built.write(task.environment_path)
    return BuildResult(built, imported=tuple(imported))


def _failed(task: Task, error: SandboxBuildError, lock: str) -> BuildResult:
    explanation = explain_build(error, lock)
    if explanation is not None and explanation.about == "machine":
        raise SandboxError(
            f"the image could not be built: {explanation.cause}",
            f"{explanation.advice} (log: {task.logs_folder / 'build.log'})",
        ) from error
    return BuildResult(failure=error, explanation=explanation)


def _files(task: Task, info: TaskInfo, chosen: Sequence[str]) -> Sequence[str]:
    root = task.repository(info)
    for name in chosen:
        if not files.inside(root, name).is_file():
            raise UsageError(f"--file {name}: no such file in {root.name}/", "use a path in the repository")
    if names := chosen or info.goal_files:
        return names
    packages = sorted([*root.glob("*/__init__.py"), *root.glob("src/*/__init__.py")])
    names = [path.relative_to(root).as_posix() for path in packages if path.parent.name not in _ASIDE]
    if not names:
        raise LmrError(
            f"{task.name} has no masked function, and no package at the top of its repository to import",
            "choose a file to import with --file, or mask a function first",
        )
    return names[:_MOST_TOP_LEVEL]


@dataclass(frozen=True)
class Inventory:
    python: str
    platform: str
    numpy: str = ""
    torch: str = ""
    cuda: str = ""
    packages: dict[str, str] = field(default_factory=dict)


def ask_inventory(sandbox: Sandbox) -> Inventory:
    """List the environment's versions and packages. Raises SandboxBuildError if its Python cannot run the probe."""
    result = sandbox.run(
        Command(
            argv=("python", "-m", "lmr_probe", "facts"),
            mounts=(probe_mount(resources.probe_folder()),),
            env={"PYTHONPATH": PROBE_ROOT},
            limits=Limits(seconds=SECONDS),
        )
    )
    try:
        return msgspec.convert(json_data(result.stdout), Inventory)
    except ValueError as error:
        said = result.stderr.decode("utf-8", "replace")[-300:]
        raise SandboxBuildError(
            f"the environment's Python cannot run the probe: {said}", "it needs Python 3.7 or newer"
        ) from error


def import_files(
    sandbox: Sandbox,
    tree: str,
    paths: Sequence[str],
    *,
    seconds: float = SECONDS,
    mounts: Sequence[Mount] = (),
    env: Mapping[str, str] | None = None,
    lock: str = "",
) -> list[ImportResult]:
    """Import each file in its own run: without network and root, read-only, within the time limit.

    Args:
        sandbox: prepared.
        tree: the repository's path inside.
        paths: files in it.
        mounts, env: additional mounts and variables.
        lock: the text of the lock, for advice.

    Raises SandboxError if the sandbox itself fails.
    """
    results = []
    for path in paths:
        command = Command(
            argv=("python", f"{PROBE_ROOT}/lmr_probe", "import", tree, path, str(seconds)),
            mounts=(probe_mount(resources.probe_folder()), *mounts),
            cwd=tree,
            env=env or {},
            limits=Limits(seconds=seconds),
        )
        results.append(_imported(path, sandbox.run(command), seconds, lock))
    return results


def _imported(path: str, result: ExecResult, seconds: float, lock: str) -> ImportResult:
    report = _read_report(result.stdout)
    if report.ok:
        return ImportResult(ImportedFile(path, True, report.module, seconds=round(report.seconds, 3)))
    stderr = result.stderr.decode("utf-8", "replace")[-4000:]
    text = report.error or _text(result, stderr, seconds)
    # The code's own output helps if the exception says little (argparse, messages of C libraries).
    explanation = explain(Failure("import", path, text, report.missing, lock)) or explain(
        Failure("import", path, f"{stderr}\n{text}", report.missing, lock)
    )
    cause, advice = (explanation.cause, explanation.advice) if explanation else ("", "")
    last = tuple([line for line in text.splitlines() if line.strip()][-_LAST_LINES:])
    took = round(result.seconds, 3)
    return ImportResult(
        ImportedFile(path, False, report.module, last, report.missing, took, cause, advice), explanation
    )


@dataclass(frozen=True)
class _Report:
    ok: bool = False
    module: str = ""
    seconds: float = 0.0
    error: str = ""
    missing: tuple[str, ...] = ()


def _read_report(stdout: bytes) -> _Report:
    try:
        return msgspec.convert(json_data(stdout), _Report)
    except ValueError:  # the repository's code wrote to stdout, or killed the probe
        return _Report()


def _text(result: ExecResult, stderr: str, seconds: float) -> str:
    if result.timed_out:
        return f"{stderr}\nstill running after {seconds:.0f} s"
    if result.out_of_memory:
        return f"{stderr}\nKilled"
    if result.exit_code < 0:
        return f"{stderr}\ndied of signal {-result.exit_code}"
    return stderr or f"exit code {result.exit_code}"
