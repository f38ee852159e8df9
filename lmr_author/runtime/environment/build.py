"""``env build``: build the image, ask what it holds, import the goal files in it; explain failures."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import msgspec

from lmr_author import __version__
from lmr_author.core import files, resources
from lmr_author.core.errors import LmrError, SandboxBuildError, SandboxError, UsageError
from lmr_author.core.locks import changes_task
from lmr_author.core.task import Progress, Task, TaskInfo
from lmr_author.core.task.environment import BuiltEnvironment, ImportedFile
from lmr_author.runtime.environment import lock_file, place
from lmr_author.runtime.environment.base_images import choose_base
from lmr_author.runtime.environment.failures import LOCK_FIXES, Explanation, Failure, explain
from lmr_author.runtime.environment.needs import Needs
from lmr_author.runtime.environment.where import DOCKER, Where
from lmr_author.runtime.replay.staging import PROBE_ROOT, probe_mount, tree_path
from lmr_author.runtime.sandbox import image_tag
from lmr_author.runtime.sandbox.base import Command, ExecResult, Limits, Mount, OnLine, Sandbox

SECONDS = 120.0
"""Time limit of importing one file: importing torch and transformers from a cold disk takes half a minute."""
_LAST_LINES = 12
_MOST_TOP_LEVEL = 20


@dataclass(frozen=True)
class Imported:
    """An imported file as it is stored, and what is likely wrong: None when it is imported, or nobody knows."""

    result: ImportedFile
    explanation: Explanation | None = None


@dataclass(frozen=True)
class BuildResult:
    """The result of a build.

    Attributes:
        built: the contents of the image; None when it was not built.
        failure: why it was not, with the failing instruction; ``explanation`` of it, None when nobody knows.
        imported: the smoke test.
        instead: the base image that was given in place of the Dockerfile's; "" for none. No other command knows of it.
    """

    built: BuiltEnvironment | None = None
    failure: SandboxBuildError | None = None
    explanation: Explanation | None = None
    imported: tuple[Imported, ...] = ()
    instead: str = ""

    @property
    def passed(self) -> bool:
        """Return whether the image is built and everything can be imported in it."""
        return self.failure is None and bool(self.imported) and all(item.result.ok for item in self.imported)


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

    Writes ``authoring/environment.json`` when there is an image, and ``authoring/logs/build.log`` in any case.

    Args:
        say: called with the current step.
        on_line: called with each line of the build's log.
        base_image: replaces the Dockerfile's; "" leaves it.
        no_cache: make every layer anew.
        wanted: what to import, in place of the goal files.
        seconds: time limit of one import.

    Raises:
        SandboxError: no engine, or one that stops answering; or the machine, not the task, is at fault.
        LmrError: nothing to import, no Dockerfile.
    """
    info = task.load()
    if not task.dockerfile.is_file():
        raise LmrError(f"{task.name} has no Dockerfile", "write it: `lmr-author env dockerfile`")
    wanted = _files(task, info, wanted)
    own, lock = place.base_of(place.text_of(task.dockerfile)), place.text_of(task.lock)
    instead = "" if base_image == own else base_image
    began = time.monotonic()
    with Where(DOCKER, base_image=base_image).sandbox(task, info, no_cache=no_cache) as sandbox:
        say("building the image")
        try:
            facts = dict(sandbox.prepare(on_line))
            took = time.monotonic() - began
            say("asking the image what it holds")
            held = ask_inventory(sandbox)
        except SandboxBuildError as error:
            found = _explained(error, lock)
            if found is not None and found.about == "machine":
                raise SandboxError(
                    f"the image could not be built: {found.cause}",
                    f"{found.advice} (log: {task.logs_folder / 'build.log'})",
                ) from error
            found = _for_image(found, instead, _known_python(instead), lock)
            return BuildResult(failure=error, explanation=found, instead=instead)
        say(f"importing {', '.join(wanted)}")
        imported = import_files(sandbox, tree_path(info), wanted, seconds=seconds, lock=lock)
    minor = ".".join(held.python.split(".")[:2])
    imported = [_in_image(item, instead, minor, lock) for item in imported]
    built = BuiltEnvironment(
        tool=__version__,
        built=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        seconds=round(took, 3),
        image=facts["image"],
        tag=image_tag(task.name, task.root),
        base_image=base_image or own,
        engine=facts["engine"],
        dockerfile_sha256=files.sha256_file(task.dockerfile),
        lock_sha256=files.sha256_file(task.lock) if task.lock.is_file() else "",
        imports=tuple(item.result for item in imported),
        **vars(held),
    )
    built.write(task.environment_path)
    return BuildResult(built, imported=tuple(imported), instead=instead)


def _in_image(item: Imported, image: str, python: str, lock: str) -> Imported:
    """What was imported, with the advice for an image that was given."""
    found = item.explanation and _for_image(item.explanation, image, python, lock)
    if found is None:
        return item
    return Imported(replace(item.result, cause=found.cause, advice=found.advice), found)


def _known_python(image: str) -> str:
    """The Python of an image as the table of base images has it; "" where it is not in there."""
    try:
        base = choose_base(Needs(), image)
    except LmrError:
        return ""
    return base.python if base.python_certain else ""


def _for_image(found: Explanation | None, image: str, python: str, lock: str) -> Explanation | None:
    """An explanation where an image was given in place of the Dockerfile's, for which the lock may not be.

    `env lock` makes one for the Dockerfile's image: as long as that has not changed, it makes the same again.

    Args:
        image: the given one; "" for none.
        python: its Python; "" when it is not known.
    """
    before = lock_file.python(lock)
    in_lock = found is None or (found.fix is not None and found.fix.kind in LOCK_FIXES)
    if not image or not before or before == python or not in_lock:
        return found
    again = f"`lmr-author env dockerfile --base-image {image}`, then `lmr-author env lock"
    if python:
        cause = f"requirements.lock is for Python {before}, and this image has {python}"
        return Explanation("other-python", cause, f"make it for this image: {again}`")
    if found is None:
        return None
    ask = f"`docker run --rm {image} python --version` tells this image's Python; where that is not {before}"
    return replace(found, advice=f"{ask}, lock for it: {again} --python-version X.Y`; else {found.advice}")


def _files(task: Task, info: TaskInfo, given: Sequence[str]) -> Sequence[str]:
    """The files to import: as given, else the goal files, else the packages at the repository's top."""
    root = task.repository(info)
    for name in given:
        if not files.inside(root, name).is_file():
            raise UsageError(f"--file {name}: no such file in {root.name}/", "give a path in the repository")
    if found := given or place.goal_files(info):
        return found
    aside = ("test", "tests", "docs", "unit_test", "examples", "scripts", "benchmarks")
    packages = sorted([*root.glob("*/__init__.py"), *root.glob("src/*/__init__.py")])
    top = [path.relative_to(root).as_posix() for path in packages if path.parent.name not in aside]
    if not top:
        raise LmrError(
            f"{task.name} has nothing masked, and no packages at the top of its repository",
            "name what to import with --file, or mask a function first",
        )
    return top[:_MOST_TOP_LEVEL]


@dataclass(frozen=True)
class Inventory:
    """Versions in an environment, as its Python says; "" for what is not installed."""

    python: str
    platform: str
    numpy: str = ""
    torch: str = ""
    cuda: str = ""
    packages: dict[str, str] = field(default_factory=dict)


def ask_inventory(sandbox: Sandbox) -> Inventory:
    """Ask the environment what it holds.

    Raises SandboxBuildError when its Python cannot run the probe.
    """
    result = sandbox.run(
        Command(
            argv=("python", "-m", "lmr_probe", "facts"),
            mounts=(probe_mount(resources.probe_folder()),),
            env={"PYTHONPATH": PROBE_ROOT},
            limits=Limits(seconds=SECONDS),
        )
    )
    try:
        return msgspec.json.decode(result.stdout, type=Inventory)
    except msgspec.DecodeError as error:
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
    lock: str = "",
) -> list[Imported]:
    """Import each file by itself: without network, not as root, nothing writable, within the time limit.

    Args:
        sandbox: prepared.
        tree: the repository's place inside.
        paths: files in it.
        mounts: what the sandbox does not show by itself.
        lock: the text of the lock, for advice.

    Raises SandboxError when the sandbox itself fails.
    """
    results = []
    for path in paths:
        command = Command(
            argv=("python", f"{PROBE_ROOT}/lmr_probe", "import", tree, path, str(seconds)),
            mounts=(probe_mount(resources.probe_folder()), *mounts),
            cwd=tree,
            limits=Limits(seconds=seconds),
        )
        results.append(_imported(path, sandbox.run(command), seconds, lock))
    return results


def _imported(path: str, result: ExecResult, seconds: float, lock: str) -> Imported:
    try:
        report = json.loads(result.stdout)  # the probe's one line; the repository's code is not to be trusted
    except ValueError:
        report = None
    report = report if isinstance(report, dict) else {}
    module = str(report.get("module", ""))
    if report.get("ok") is True:
        return Imported(ImportedFile(path, True, module, seconds=round(float(report.get("seconds", 0.0)), 3)))
    stderr = result.stderr.decode("utf-8", "replace")[-4000:]
    text = report["error"] if isinstance(report.get("error"), str) else _text(result, stderr, seconds)
    listed = report.get("missing")
    missing = tuple(name for name in listed if isinstance(name, str)) if isinstance(listed, list) else ()
    lines = [line for line in text.splitlines() if line.strip()]
    # The code's own output matters where the exception says little (argparse, a C library's own message).
    failures = (Failure("import", path, said, missing, lock) for said in (text, f"{stderr}\n{text}"))
    found = next(filter(None, map(explain, failures)), None)
    cause, advice = (found.cause, found.advice) if found else ("", "")
    last, took = tuple(lines[-_LAST_LINES:]), round(result.seconds, 3)
    return Imported(ImportedFile(path, False, module, last, missing, took, cause, advice), found)


def _text(result: ExecResult, stderr: str, seconds: float) -> str:
    if result.timed_out:
        return f"{stderr}\nstill running after {seconds:.0f} s"
    if result.out_of_memory:
        return f"{stderr}\nKilled"
    if result.exit_code < 0:
        return f"{stderr}\ndied of signal {-result.exit_code}"
    return stderr or f"exit code {result.exit_code}"


def _explained(error: SandboxBuildError, lock: str = "") -> Explanation | None:
    return explain(Failure("build", error.step, "\n".join(error.said) or error.message, lock=lock))


def build_hint(error: SandboxBuildError) -> str:
    """Return what to do about a build that failed: the likely cause and its fix, where they are known."""
    found = _explained(error)
    if found is None:
        return error.hint
    whole = f"; the whole log is {error.log}" if error.log else ""
    return f"{found.cause}: {found.advice}{whole}"


def prepare(sandbox: Sandbox, progress: Progress) -> Mapping[str, str]:
    """Prepare a sandbox. Raises SandboxError; when an image cannot be built, its hint says why."""
    try:
        return sandbox.prepare(progress)
    except SandboxBuildError as error:
        error.hint = build_hint(error)
        raise
