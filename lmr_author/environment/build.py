"""``env build``: build the image, ask what it holds, import the goal file in it; explain and repair failures."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lmr_author import __version__, files
from lmr_author.environment import lock_file, place, resolver
from lmr_author.environment.failures import Explanation, Failure, explain
from lmr_author.environment.repair import Repair, Repairs
from lmr_author.environment.smoke import SECONDS, Imported, ask_inventory, first_explained, import_files
from lmr_author.errors import LmrError, SandboxBuildError, SandboxError, UsageError
from lmr_author.replay.staging import tree_path
from lmr_author.sandbox import docker_engine, image_tag, open_sandbox
from lmr_author.sandbox.base import OnLine, Sandbox
from lmr_author.sandbox.docker_engine import connect, engine_errors
from lmr_author.task import Progress, Task, TaskInfo
from lmr_author.texts import size_text

_MOST_TOP_LEVEL = 20
_GB = 1000**3
_PER_PACKAGE = 60 * 1000**2
"""About the disk space of a package and its download (numpy, scipy, pandas, transformers, pyarrow: 45 to 160 MB; most
others less)."""
_BASES = {"runtime": 8 * _GB, "devel": 18 * _GB}
"""About the size of an official PyTorch image, unpacked and while it is unpacked."""


@dataclass(frozen=True)
class BuildOptions:
    """The options of ``env build``.

    Attributes:
        base_image: replaces the Dockerfile's.
        fix: make the changes that are safe, and build again.
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
    """Callbacks while it goes on: the current step, the log's lines, a repair as soon as it is made."""

    say: Progress
    line: OnLine
    repair: Callable[[Repair], None]


@dataclass(frozen=True)
class BuildFailure:
    """The reason why the image could not be built.

    Attributes:
        message: the instruction and its error.
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
    """The result of a build.

    Attributes:
        facts: the content of ``authoring/environment.json``; {} when the image was not built.
        failure: why it was not.
        imported: the smoke test.
        repairs: what was changed, in order.
        instead: the base image that was given in place of the Dockerfile's; "" for none.
    """

    task: Task
    facts: dict[str, Any]
    failure: BuildFailure | None
    imported: tuple[Imported, ...]
    repairs: tuple[Repair, ...] = ()
    instead: str = ""

    @property
    def passed(self) -> bool:
        """Return whether the image is built and everything can be imported in it."""
        return self.failure is None and bool(self.imported) and all(item.ok for item in self.imported)

    @property
    def explanation(self) -> Explanation | None:
        """Return that of the first failure that can be fixed, else of the first."""
        return self.failure.explanation if self.failure is not None else first_explained(self.imported)


def build(task: Task, options: BuildOptions, hooks: Hooks) -> BuildResult:
    """Build a task's image and prove that its goal files can be imported in it.

    Writes ``authoring/environment.json`` when there is an image, and ``authoring/logs/build.log`` in any case.

    Raises:
        SandboxError: no engine, or one that stops answering; or the machine, not the task, is at fault.
        LmrError: not enough disk space, nothing to import, no Dockerfile.
    """
    info = task.load()
    if not task.dockerfile.is_file():
        raise LmrError(f"{task.name} has no Dockerfile", "write it: `lmr-author env dockerfile`")
    wanted = _files(task, info, options.files)
    _require_space(task, info, options, hooks.say)
    repairs = Repairs(task, options.base_image, hooks.say)
    while True:
        result = _once(task, info, options, wanted, hooks)
        if options.fix and repairs.did_not_help(result.explanation):
            hooks.repair(repairs.undo())
        python = str(result.facts.get("python", ""))
        made = repairs.repair(result.explanation, python) if options.fix else None
        if made is None:
            break
        hooks.repair(made)
        options = replace(options, no_cache=False)
    own = place.base_of(place.text_of(task.dockerfile))
    instead = options.base_image if options.base_image not in (None, own) else ""
    return replace(result, repairs=tuple(repairs.made), instead=instead or "")


def _files(task: Task, info: TaskInfo, given: tuple[str, ...]) -> tuple[str, ...]:
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
    return tuple(top[:_MOST_TOP_LEVEL])


def _require_space(task: Task, info: TaskInfo, options: BuildOptions, say: Progress) -> None:
    """Say what disk space the image needs, estimated; raise LmrError when there is certainly not enough."""
    known = place.known(task, options.base_image)
    client = connect()
    try:
        with engine_errors():
            base = docker_engine.image_bytes(client, known.base.reference) if known.base.reference else None
            built = docker_engine.image_bytes(client, image_tag(task.name, task.root))
            free = docker_engine.free_bytes(client)
    finally:
        client.close()
    pins = lock_file.requirements(place.text_of(task.lock))
    packages = len(pins) * _PER_PACKAGE
    image = 0 if base is not None else _BASES.get(known.base.kind, _BASES["runtime"])
    tree = sum(path.stat().st_size for path in files.walk(task.repository(info)))
    needed = image + packages + 2 * tree  # the repository is sent to the engine and copied into a layer
    fetch = (
        f"the base image has to be fetched (about {size_text(image)})" if image else "the base image is here"
    )
    say(
        f"needs: {fetch}; {len(pins)} packages, about {size_text(packages)}; repository {size_text(tree)}; in all about"
        f" {size_text(needed)}, {'free space unknown' if free is None else f'{size_text(free)} free'}"
        + ("; most of it is there from the last build" if built else "")
    )
    anew = built is None or options.no_cache
    if options.check_disk and anew and free is not None and needed + _GB > free:
        raise LmrError(
            f"not enough disk space for the image: it needs about {size_text(needed + _GB)},"
            f" {size_text(free)} are free",
            "free some with `lmr-author env prune --all`, see what else uses it with `docker system df`,"
            " or pass --no-disk-check if you know better",
        )


def _once(
    task: Task, info: TaskInfo, options: BuildOptions, wanted: tuple[str, ...], hooks: Hooks
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
            inventory = ask_inventory(sandbox)
        except SandboxBuildError as error:
            return BuildResult(task, {}, _failure(task, options, error), ())
        hooks.say(f"importing {', '.join(wanted)}")
        imported = import_files(sandbox, tree_path(info), wanted, seconds=options.seconds)
    facts = _facts(task, options, prepared | inventory, imported, seconds)
    files.write_json(task.environment_path, facts)
    return BuildResult(task, facts, None, tuple(imported))


def _failure(task: Task, options: BuildOptions, error: SandboxBuildError) -> BuildFailure:
    """The task's mistake. Raises SandboxError for the machine's fault."""
    step = error.step
    if step.upper().startswith("FROM "):
        # The engine shows the instruction as it is written; the image is what its arguments make of it.
        step = f"FROM {place.known(task, options.base_image).base.reference}"
    found = explain(Failure("build", step, "\n".join(error.said) or error.message))
    if found is not None and found.about == "machine":
        raise SandboxError(
            f"the image could not be built: {found.cause}",
            f"{found.advice} (log: {task.logs_folder / 'build.log'})",
        ) from error
    if found is not None and found.fix is not None and found.fix.kind == "wheel":
        found = _with_its_python(found, found.fix.names[0], task, options)
    return BuildFailure(error.message, error.step, error.line, error.said, found)


def _with_its_python(found: Explanation, name: str, task: Task, options: BuildOptions) -> Explanation:
    """Add the newest Python that has a wheel to the explanation of a package that cannot be built."""
    known = place.known(task, options.base_image)
    pin = lock_file.held(place.text_of(task.lock)).get(name, "")
    python = resolver.newest_python(pin, replace(known.base, python=known.python)) if pin else ""
    more = f"; {pin} has wheels for Python {python} and older ones only" if python else ""
    return replace(found, advice=f"{found.advice}{more}")


def _facts(
    task: Task, options: BuildOptions, held: dict[str, Any], imported: list[Imported], seconds: float
) -> dict[str, Any]:
    """The content of ``authoring/environment.json``."""
    return {
        "format": place.FORMAT,
        "tool": __version__,
        "built": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "seconds": round(seconds, 3),
        "image": held["image"],
        "tag": image_tag(task.name, task.root),
        "base_image": place.known(task, options.base_image).base.reference,
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


def sandbox_of(
    task: Task,
    info: TaskInfo,
    kind: str,
    *,
    python: Path | None = None,
    base_image: str | None = None,
    gpus: str = "",
    no_cache: bool = False,
) -> Sandbox:
    """Return a task's sandbox, not prepared yet; see :func:`~lmr_author.sandbox.factory.open_sandbox`."""
    return open_sandbox(
        kind,
        context=task.root,
        name=task.name,
        python=python,
        base_image=base_image,
        repo_folder=info.repo_folder_name,
        log=task.logs_folder / "build.log",
        no_cache=no_cache,
        gpus=gpus,
    )


def build_hint(error: SandboxBuildError) -> str:
    """Return what to do about a build that failed: the likely cause and its fix, where they are known."""
    found = explain(Failure("build", error.step, "\n".join(error.said) or error.message))
    if found is None:
        return error.hint
    rest = error.hint.partition("; ")[2]
    fix = "`lmr-author env build --fix` (with the same --base-image) makes the changes that are safe"
    return f"{found.cause}: {found.advice}; {fix}" + (f"; {rest}" if rest else "")


def prepare(sandbox: Sandbox, progress: Progress) -> Mapping[str, str]:
    """Prepare a sandbox. Raises SandboxError; when an image cannot be built, its hint says why."""
    try:
        return sandbox.prepare(progress)
    except SandboxBuildError as error:
        raise SandboxBuildError(
            error.message, build_hint(error), step=error.step, line=error.line, said=error.said
        ) from error
