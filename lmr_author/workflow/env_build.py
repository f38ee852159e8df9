"""``env build``: build the image, ask what it holds, import the goal file in it; explain and repair failures."""

from __future__ import annotations

import ast
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lmr_author import __version__, files
from lmr_author.environment import inventory, room
from lmr_author.environment.failures import Explanation, Failure, explain
from lmr_author.environment.failures.machine import MACHINE
from lmr_author.environment.smoke import SECONDS, Imported, first_explained, import_files
from lmr_author.errors import LmrError, SandboxBuildError, SandboxError, UsageError
from lmr_author.model import Progress, TaskInfo
from lmr_author.sandbox import docker_disk
from lmr_author.sandbox.base import OnLine
from lmr_author.sandbox.docker_engine import connect, engine_errors
from lmr_author.sandbox.docker_python import image_python
from lmr_author.sandbox.factory import image_tag
from lmr_author.source import parse
from lmr_author.staging import tree_path
from lmr_author.taskdir import TaskDir
from lmr_author.workflow import env_facts
from lmr_author.workflow.env_goals import goal_files
from lmr_author.workflow.env_repair import Repair, Repairs, with_its_python
from lmr_author.workflow.preparing import sandbox_of

_MOST_TOP_LEVEL = 20


@dataclass(frozen=True)
class BuildOptions:
    """How to build.

    Attributes:
        base_image: replaces the Dockerfile's.
        fix: put right what can safely be put right, and build again.
        no_cache: make every layer anew.
        files: what to import, in place of the goal files.
        seconds: time limit of one import.
        check_disk: stop before the start when the disk has too little room.
    """

    base_image: str | None = None
    fix: bool = False
    no_cache: bool = False
    files: tuple[str, ...] = ()
    seconds: float = SECONDS
    check_disk: bool = True


@dataclass(frozen=True)
class Hooks:
    """What is told while it goes on: what is being done, the log's lines, a repair as soon as it is made."""

    say: Progress
    line: OnLine
    repair: Callable[[Repair], None]


@dataclass(frozen=True)
class Broken:
    """The image could not be built.

    Attributes:
        message: the instruction and what it said.
        step, line: the instruction, and where it is in the Dockerfile.
        said: its last lines.
        explanation: None when nobody knows.
    """

    message: str
    step: str
    line: int
    said: tuple[str, ...]
    explanation: Explanation | None


@dataclass(frozen=True)
class BuildResult:
    """What came of it.

    Attributes:
        facts: what ``authoring/environment.json`` holds; {} when the image was not built.
        broken: why it was not.
        imported: the smoke test.
        repairs: what was changed, in order.
        instead: the base image that was given in place of the Dockerfile's; "" for none.
    """

    task: TaskDir
    facts: dict[str, Any]
    broken: Broken | None
    imported: tuple[Imported, ...]
    repairs: tuple[Repair, ...] = ()
    instead: str = ""

    @property
    def passed(self) -> bool:
        """Whether the image is built and everything can be imported in it."""
        return self.broken is None and bool(self.imported) and all(item.ok for item in self.imported)

    @property
    def explanation(self) -> Explanation | None:
        """Of the first thing that failed and can be put right, else of the first."""
        if self.broken is not None:
            return self.broken.explanation
        return first_explained(self.imported)


def build(task: TaskDir, options: BuildOptions, hooks: Hooks) -> BuildResult:
    """Build a task's image and prove that its goal files can be imported in it.

    Writes ``authoring/environment.json`` when there is an image, and ``authoring/logs/build.log`` in any case.

    Raises:
        SandboxError: no engine, or one that stops answering; or the machine, not the task, stands in the way.
        LmrError: not enough disk space, nothing to import, no Dockerfile.
    """
    info = task.load()
    _require_files(task)
    wanted = _files(task, info, options.files)
    _require_room(task, info, options, hooks.say)
    bench = Repairs(task, options.base_image, hooks.say)
    if options.fix and (early := bench.ahead(_python_of_base(task, options))):
        hooks.repair(early)
    while True:
        result = _once(task, info, options, wanted, hooks)
        if options.fix and bench.did_not_help(result.explanation):
            hooks.repair(bench.undo())
        made = bench.repair(result.explanation, str(result.facts.get("python", ""))) if options.fix else None
        if made is None:
            break
        hooks.repair(made)
        options = replace(options, no_cache=False)
    own = env_facts.base_of(env_facts.text(task.dockerfile))
    instead = options.base_image if options.base_image not in (None, own) else ""
    return replace(result, repairs=tuple(bench.made), instead=instead or "")


def _require_files(task: TaskDir) -> None:
    if not task.dockerfile.is_file():
        raise LmrError(f"{task.name} has no Dockerfile", "write it: `lmr-author env dockerfile`")


def _files(task: TaskDir, info: TaskInfo, given: tuple[str, ...]) -> tuple[str, ...]:
    """What to import: as given, else the goal files, else the packages at the repository's top."""
    root = task.repository(info)
    for name in given:
        if not files.inside(root, name).is_file():
            raise UsageError(f"--file {name}: no such file in {root.name}/", "give a path in the repository")
    if given:
        return given
    return goal_files(info) or _top_level(task, info)


def _top_level(task: TaskDir, info: TaskInfo) -> tuple[str, ...]:
    """The top packages of the repository (also those in ``src/``), else its top modules that are no scripts."""
    root = task.repository(info)
    packages = sorted([*root.glob("*/__init__.py"), *root.glob("src/*/__init__.py")])
    modules = [
        path for path in sorted(root.glob("*.py")) if path.name != "conftest.py" and not _is_script(path)
    ]
    names = ("test", "tests", "docs", "unit_test", "examples", "scripts", "benchmarks")
    found = [path for path in packages if path.parent.name not in names] or modules
    if not found:
        raise LmrError(
            f"{task.name} has nothing masked, and no packages or modules at the top of its repository",
            "say what to import with --file, or mask a function first",
        )
    return tuple(path.relative_to(root).as_posix() for path in found[:_MOST_TOP_LEVEL])


def _is_script(path: Path) -> bool:
    """Whether a file does work when it is imported, or is no Python that we can read."""
    try:
        body = parse(path.read_bytes()).body
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return True
    working = (ast.For, ast.While, ast.With)
    return any(
        isinstance(node, working) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call))
        for node in body
    )


def _require_room(task: TaskDir, info: TaskInfo, options: BuildOptions, say: Progress) -> None:
    known = env_facts.known(task, options.base_image)
    client = connect()
    try:
        with engine_errors():
            base = docker_disk.image_bytes(client, known.base.reference) if known.base.reference else None
            built = docker_disk.image_bytes(client, image_tag(task.name, task.root))
            free = docker_disk.free_bytes(client)
    finally:
        client.close()
    lock = env_facts.text(task.lock)
    need = room.room(known.base.reference, base, lock, known.python, task.repository(info), free)
    say(f"needs: {need}" + ("; most of it is there from the last build" if built else ""))
    if options.check_disk and (built is None or options.no_cache):
        need.require()


def _python_of_base(task: TaskDir, options: BuildOptions) -> str:
    """The Python in the base image: of one that is here its own word, else the table's where it is sure; or ""."""
    base = env_facts.known(task, options.base_image).base
    client = connect()
    try:
        with engine_errors():
            found = image_python(client, base.reference)
    finally:
        client.close()
    return found or (base.python if base.python_certain else "")


def _once(
    task: TaskDir, info: TaskInfo, options: BuildOptions, wanted: tuple[str, ...], hooks: Hooks
) -> BuildResult:
    """One build, and the smoke test if there is an image."""
    began = time.monotonic()
    with sandbox_of(
        task, info, "docker", base_image=options.base_image, no_cache=options.no_cache
    ) as sandbox:
        hooks.say("building the image")
        try:
            prepared = dict(sandbox.prepare(hooks.line))
            seconds = time.monotonic() - began
            hooks.say("asking the image what it holds")
            held = inventory.ask(sandbox)
        except SandboxBuildError as error:
            return BuildResult(task, {}, _broken(task, options, error), ())
        hooks.say(f"importing {', '.join(wanted)}")
        imported = import_files(sandbox, tree_path(info), wanted, seconds=options.seconds)
    facts = _facts(task, options, prepared | held, imported, seconds)
    files.write_json(task.environment_path, facts)
    return BuildResult(task, facts, None, tuple(imported))


def _broken(task: TaskDir, options: BuildOptions, error: SandboxBuildError) -> Broken:
    """What the task did wrong. Raises SandboxError for what is the machine's fault."""
    text = "\n".join(error.said) or error.message
    step = error.step
    if step.upper().startswith("FROM "):
        # The engine shows the instruction as it is written; the image is what its arguments make of it.
        step = f"FROM {env_facts.known(task, options.base_image).base.reference}"
    found = explain(Failure("build", step, text))
    if found is not None and found.name in {kind.name for kind in MACHINE}:
        raise SandboxError(
            f"the image could not be built: {found.cause}",
            f"{found.advice} (log: {task.logs_folder / 'build.log'})",
        ) from error
    if found is not None:
        found = with_its_python(found, task, options.base_image)
    return Broken(error.message, error.step, error.line, error.said, found)


def _facts(
    task: TaskDir, options: BuildOptions, held: dict[str, Any], imported: list[Imported], seconds: float
) -> dict[str, Any]:
    """What ``authoring/environment.json`` holds."""
    return {
        "format": env_facts.FORMAT,
        "tool": __version__,
        "built": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "seconds": round(seconds, 3),
        "image": held["image"],
        "tag": image_tag(task.name, task.root),
        "base_image": env_facts.known(task, options.base_image).base.reference,
        "engine": held["engine"],
        "dockerfile_sha256": files.sha256_file(task.dockerfile),
        "lock_sha256": files.sha256_file(task.lock) if task.lock.is_file() else "",
        "python": held["python"],
        "platform": held.get("platform", ""),
        "torch": held.get("torch", ""),
        "cuda": held.get("cuda", ""),
        "numpy": held.get("numpy", ""),
        "packages": held.get("packages", {}),
        "imports": [item.to_json() for item in imported],
    }
