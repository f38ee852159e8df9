"""Harbor tasks, one for each implementation: the agent's image, the golden as solution, and our grader.

Recorded cases give rewards that cannot be forged: the agent's code is replayed in a container of its own, as a user
that can neither read expected values nor write rewards; see ``templates/export/harbor/grade.py``.
"""

from __future__ import annotations

import ast
import fnmatch
import hashlib
import math
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from lmr_author.core import code, files, resources
from lmr_author.core.errors import LmrError, SandboxError, UsageError
from lmr_author.core.task import UNIT_TEST, Implementation
from lmr_author.core.task import recording as recorded
from lmr_author.core.task.difficulty import TargetDifficulty
from lmr_author.core.task.recording import Recording
from lmr_author.core.texts import printable
from lmr_author.proof.evaluation.trees import duplicate_targets
from lmr_author.release.export.agent import copying, write_bundle
from lmr_author.release.export.options import Exportable, ExportOptions
from lmr_author.release.export.output import files_and_links, render
from lmr_author.runtime.environment.where import find_versions, in_words
from lmr_author.runtime.probe import instrument
from lmr_author.runtime.replay import replaying, staging
from lmr_author.runtime.sandbox import docker_build
from lmr_author.runtime.sandbox.docker_engine import connect, engine_errors

CASE_SECONDS = 60.0
SCRIPT_SECONDS = 600
"""Time of a test that was written by hand."""
AGENT_UID = 1000
"""Default of the Dockerfile's ``UID``."""
AGENT = "lmr"
"""Name of that user, as our Dockerfiles call it where the base image has none."""
PUBLISHED = ("task.toml", "instruction.md", "environment", "tests", "solution")
IGNORED = ("__pycache__", "*.pyc", ".DS_Store", "*.swp", "*.swo", "*~", ".harborignore")
"""Names of files and folders that Harbor's client leaves out of a task's digest."""

_PART = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_REGISTRY = re.compile(rf"[A-Za-z0-9.-]+(?::\d+)?(?:/{_PART})*")
_NOT_IN_TAG = re.compile(r"[^\w.-]+")
_COPIES = re.compile(r"^[ \t]*(?:COPY|ADD)[ \t]+(?!.*--from=)(.*)$", re.IGNORECASE | re.MULTILINE)


def write_harbor(tasks: list[Exportable], folder: Path, options: ExportOptions) -> None:
    """Write one Harbor task for each implementation, and the data set's manifest.

    Raises LmrError for an implementation without a test.
    """
    refs = []
    for exportable in tasks:
        image = ""
        for implementation in exportable.info.implementations:
            target = folder / f"{exportable.task.name}-{implementation.index}"
            environment = target / "environment"
            write_bundle(exportable, environment, options.base_image)
            _complete_dockerfile(exportable, environment / "Dockerfile", options)
            if options.offline:
                shutil.copyfile(_template("docker-compose.yaml"), environment / "docker-compose.yaml")
            if options.push and not image:
                image = push_image(environment, options, _slug(exportable.task.name))
            plan = _write_tests(exportable, implementation, target / "tests")
            _write_texts(exportable, implementation, target, plan, image, options)
            refs.append(
                {"name": f"{options.publication.organization}/{_slug(target.name)}", "digest": digest(target)}
            )
    text = render("export/harbor/dataset.toml.j2", publication=options.publication, tasks=refs)
    files.write_text(folder / "dataset.toml", text)


def digest(task: Path) -> str:
    """Return the digest of a task's folder as Harbor's registry and client compute it."""
    lines = (f"{name}\0{files.sha256_file(path)}\n" for name, path in sorted(_published(task)))
    return f"sha256:{hashlib.sha256(''.join(lines).encode()).hexdigest()}"


def _published(task: Path) -> Iterator[tuple[str, Path]]:
    for name in PUBLISHED:
        top = task / name
        for path in [top] if top.is_file() else files_and_links(top):
            inside = path.relative_to(task)
            ignored = any(fnmatch.fnmatchcase(part, pattern) for part in inside.parts for pattern in IGNORED)
            if path.is_file() and not ignored:
                yield inside.as_posix(), path


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def _complete_dockerfile(exportable: Exportable, dockerfile: Path, options: ExportOptions) -> None:
    """Add the repository, which LMR-Bench's scripts mount, a named agent, and root as the image's user."""
    name, path = exportable.info.repo_folder_name, staging.tree_path(exportable.info)
    text = dockerfile.read_text("utf-8") if dockerfile.is_file() else ""
    sources = [word.strip("/") for line in _COPIES.findall(text) for word in line.split()[:-1]]
    copied = {name, ".", "$DIR", "${DIR}"}.intersection(sources)
    values = {"agent": AGENT, "uid": AGENT_UID, "canary": options.publication.canary, "repository": path}
    users = render("export/harbor/Dockerfile.j2", **values)
    files.write_text(
        dockerfile, f"{text.rstrip()}\n{'' if copied else copying(name, path, AGENT_UID)}{users}"
    )


def _write_texts(
    exportable: Exportable,
    implementation: Implementation,
    target: Path,
    plan: dict[str, Any],
    image: str,
    options: ExportOptions,
) -> None:
    difficulty = exportable.difficulty.get(implementation.index)
    values = {
        "task": exportable,
        "info": exportable.info,
        "item": implementation,
        "slug": _slug(target.name),
        "category": _slug(implementation.category),
        "repository": staging.tree_path(exportable.info),
        "agent": AGENT,
        "image": image,
        "difficulty": difficulty,
        "level": _level(difficulty),
        "cases": len(plan.get("cases", ())),
        "versions": in_words(find_versions(exportable.task, options.base_image)),
        "verifier_seconds": 2 * plan["seconds"] + 120,
        "judged_by": "hand-written test" if "script" in plan else "recorded cases",
        "publication": options.publication,
        "offline": options.offline,
    }
    texts = (("task.toml", ""), ("instruction.md", ""), ("solve.sh", "solution"), ("test.sh", "tests"))
    for name, part in texts:
        path = target / part / name
        files.write_text(path, render(f"export/harbor/{name}.j2", **values))
        if path.suffix == ".sh":
            path.chmod(0o755)
    files.write_bytes(target / "solution" / "golden", staging.read_golden(exportable.task, implementation))


def _level(difficulty: TargetDifficulty | None) -> str:
    """Return a level of Harbor's scale by thirds of the passing answers."""
    if difficulty is None or not difficulty.is_measured:
        return "unknown"
    thirds = 3 * difficulty.solved / difficulty.tried
    return "hard" if thirds <= 1 else "easy" if thirds >= 2 else "medium"


def _write_tests(exportable: Exportable, implementation: Implementation, tests: Path) -> dict[str, Any]:
    """Write what grades an answer. Returns the grader's plan; ``seconds`` limits one run."""
    goldens = staging.golden_overlay(
        exportable.task, exportable.info, duplicate_targets(exportable.task, exportable.info, implementation)
    )
    for number, data in enumerate(goldens.values()):
        files.write_bytes(tests / "goldens" / str(number), data)
    others = _others(exportable, implementation, goldens[implementation.goal_file])
    for number, pair in enumerate(others):
        for kind, data in zip(("masked", "golden"), pair, strict=True):
            files.write_bytes(tests / "others" / f"{number}.{kind}", data)
    recording = recorded.load(exportable.task.recording(exportable.info, implementation.index))
    if recording is not None and recording.cases:
        plan = _write_cases(exportable, implementation, recording, goldens[implementation.goal_file], tests)
    else:
        plan = _write_script(exportable, implementation, tests)
    judge = "script.py" if "script" in plan else "cases.py"
    for name, template in (("grade.py", "grade.py"), ("judge.py", judge)):
        shutil.copyfile(_template(template), tests / name)
    plan |= {
        "repository": staging.tree_path(exportable.info),
        "goal_file": implementation.goal_file,
        "goal_files": list(goldens),
        "others": len(others),
    }
    files.write_json(tests / "plan.json", plan)
    return plan


def _write_cases(
    exportable: Exportable, implementation: Implementation, recording: Recording, golden: bytes, tests: Path
) -> dict[str, Any]:
    """Write recorded cases and what replays them. Returns their part of the plan."""
    module = code.Module.parse(golden, implementation.golden_file)
    target = code.find(module, replace(implementation.target, qualname=recording.target.qualname))
    moved = replace(recording, target=replace(recording.target, line=target.line))
    return {
        "qualname": recording.target.qualname,
        "nth": _nth(golden, target) if implementation.nth else 0,
        "cases": {case.name: case.checkers for case in recording.cases},
        "seconds": _write_probe(exportable, implementation, moved, tests),
    }


def _write_script(exportable: Exportable, implementation: Implementation, tests: Path) -> dict[str, Any]:
    """Write a hand-written test with the files beside it. Returns its part of the plan."""
    repository = exportable.task.repository(exportable.info)
    script = implementation.unit_test_file
    if not script or not files.is_file_inside(repository, script):
        raise LmrError(
            f"{exportable.task.name}: implementation {implementation.index} has no test for Harbor's grader",
            f"record one: lmr-author record {implementation.target}",
        )
    if not script.startswith(f"{UNIT_TEST}/"):
        raise LmrError(
            f"{exportable.task.name}: {script} is outside of {UNIT_TEST}/, so an agent would see it",
            f"move it to {UNIT_TEST}/, and correct info.json",
        )
    unit_test = exportable.task.unit_test_folder(exportable.info)
    for path in files.walk(unit_test):
        inside = path.relative_to(unit_test)
        if inside.parts[0] != "logs":
            files.write_bytes(tests / UNIT_TEST / inside, path.read_bytes())
    return {"script": script, "seconds": SCRIPT_SECONDS}


def _write_probe(
    exportable: Exportable, implementation: Implementation, recording: Recording, tests: Path
) -> float:
    """Write replayer, inputs and expected outcomes, as ``cases.py`` reads them."""
    folder = exportable.task.recording(exportable.info, implementation.index)
    shutil.copytree(
        resources.probe_folder(), tests / "lmr_probe", ignore=shutil.ignore_patterns("__pycache__")
    )
    for case in recording.cases:
        for path in (folder / case.name).glob("expected.*"):
            files.write_bytes(tests / "expected" / case.name / path.name, path.read_bytes())
    plan = replaying.ReplayPlan.of(recording, folder, recording.target.line, CASE_SECONDS)
    job = tests / "job"
    job.mkdir()
    replaying.write_job(
        job, staging.tree_path(exportable.info), plan, [replaying.Variant("candidate")], threads=1
    )
    return math.ceil(replaying.most_seconds(plan, 1))


def _nth(golden: bytes, target: code.Definition) -> int:
    """Number a definition as the replayer does, which counts neither classes nor lines."""
    tree, nth = ast.parse(golden), 1
    while instrument.def_line(instrument.find(tree, target.qualname, nth=nth)[-1]) != target.line:
        nth += 1
    return nth


def _others(
    exportable: Exportable, implementation: Implementation, golden: bytes
) -> list[tuple[bytes, bytes]]:
    """Return the other implementations of the goal file, each as masked and as golden, from its ``def`` on."""
    path = exportable.task.goal(exportable.info, implementation)
    ours = code.Module.parse(golden, implementation.golden_file)
    theirs = code.Module.parse(path.read_bytes(), implementation.goal_file)
    pairs = []
    for other in exportable.info.implementations:
        if other.goal_file != implementation.goal_file or other.index == implementation.index:
            continue
        pair = code.matching(ours, theirs, other.qualname, other.nth)
        if pair is not None:
            original, masked = pair
            pairs.append((_from_def(theirs, masked), _from_def(ours, original)))
    return pairs


def _from_def(module: code.Module, definition: code.Definition) -> bytes:
    start = module.byte_offset(module.line_start(definition.node.lineno))
    end = module.byte_offset(code.region(module, definition).end)
    return module.data[start:end]


def _template(name: str) -> Path:
    return resources.folder("templates") / "export" / "harbor" / name


def require_registry(registry: str) -> None:
    if not _REGISTRY.fullmatch(registry):
        raise UsageError(
            f"--push {registry!r} is not a registry",
            "a host, then lower-case letters, as in ghcr.io/my-lab",
        )


def push_image(context: Path, options: ExportOptions, name: str) -> str:
    """Build the Dockerfile of a folder, push the image, and return its name with the registry's digest.

    Credentials are those of ``docker login``. Raises SandboxError if the engine or the registry refuses.
    """
    repository = f"{options.push}/{name}"
    tag = _NOT_IN_TAG.sub("-", options.publication.release_version).lstrip(".-")[:128] or "latest"

    def say(line: str) -> None:
        options.say(f"{name}: {printable(line, 100)}")

    client, digest = connect(), ""
    with engine_errors():
        docker_build.build(client, context, f"{repository}:{tag}", {}, say, None)
        for event in client.api.push(repository, tag, stream=True, decode=True):
            if "error" in event:
                raise _refused(repository, str(event["error"]))
            if status := event.get("status"):
                say(f"{event.get('id', '')} {status}")
            digest = event.get("aux", {}).get("Digest") or digest
    if not digest:
        raise _refused(repository, "the registry named no digest")
    return f"{repository}@{digest}"


def _refused(repository: str, reason: str) -> SandboxError:
    host = repository.split("/")[0]
    return SandboxError(
        f"the image {repository} could not be pushed: {printable(reason, 300)}",
        f"check that {host} answers and that you may push there (docker login {host}), and export again: "
        "finished layers are used",
    )
