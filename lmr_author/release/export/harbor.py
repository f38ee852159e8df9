"""Harbor tasks, one for each implementation: the agent's image, the golden as solution, and our grader.

Recorded cases give rewards that cannot be forged: the agent's code is replayed in a container of its own, as a user
that can neither read expected values nor write rewards; see ``templates/export/harbor/grade.py``.
"""

from __future__ import annotations

import ast
import math
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

from lmr_author.core import code, files, resources
from lmr_author.core.errors import LmrError
from lmr_author.core.task import UNIT_TEST, Implementation
from lmr_author.core.task import recording as recorded
from lmr_author.core.task.recording import Recording
from lmr_author.proof.evaluation.bench import find_twins
from lmr_author.release.export.agent import copying, write_bundle
from lmr_author.release.export.options import Exportable, ExportOptions
from lmr_author.release.export.output import render
from lmr_author.runtime.environment.versions import find_versions, in_words
from lmr_author.runtime.probe import definitions
from lmr_author.runtime.replay import replaying, staging

CASE_SECONDS = 60.0
SCRIPT_SECONDS = 600
"""Time of a test that was written by hand."""
AGENT_UID = 1000
"""Default of the Dockerfile's ``UID``."""

_COPIES = re.compile(r"^[ \t]*(?:COPY|ADD)[ \t]+(?!.*--from=)(.*)$", re.IGNORECASE | re.MULTILINE)


def write_harbor(tasks: list[Exportable], folder: Path, options: ExportOptions) -> None:
    """Write one Harbor task for each implementation. Raises LmrError for one without a test."""
    for exportable in tasks:
        for implementation in exportable.info.implementations:
            target = folder / f"{exportable.task.name}-{implementation.index}"
            write_bundle(exportable, target / "environment", options.base_image)
            _copy_repository(exportable, target / "environment" / "Dockerfile")
            if options.offline:
                shutil.copyfile(
                    _template("docker-compose.yaml"), target / "environment" / "docker-compose.yaml"
                )
            plan = _write_tests(exportable, implementation, target / "tests")
            _write_texts(exportable, implementation, target, plan, options)


def _copy_repository(exportable: Exportable, dockerfile: Path) -> None:
    """Have the image hold the repository: a Dockerfile made for LMR-Bench's scripts, which mount it, does not."""
    name, path = exportable.info.repo_folder_name, staging.tree_path(exportable.info)
    text = dockerfile.read_text("utf-8") if dockerfile.is_file() else ""
    sources = [word.strip("/") for line in _COPIES.findall(text) for word in line.split()[:-1]]
    if not {name, ".", "$DIR", "${DIR}"}.intersection(sources):
        files.write_text(dockerfile, f"{text.rstrip()}\n{copying(name, path, AGENT_UID)}")


def _write_texts(
    exportable: Exportable,
    implementation: Implementation,
    target: Path,
    plan: dict[str, Any],
    options: ExportOptions,
) -> None:
    values = {
        "task": exportable,
        "info": exportable.info,
        "item": implementation,
        "slug": re.sub(r"[^a-z0-9]+", "-", target.name.lower()).strip("-"),
        "repository": staging.tree_path(exportable.info),
        "uid": AGENT_UID,
        "versions": in_words(find_versions(exportable.task, options.base_image)),
        "verifier_seconds": 2 * plan["seconds"] + 120,
        "judged_by": "hand-written test" if "script" in plan else "recorded cases",
        "publication": options.publication,
        "offline": options.offline,
    }
    for name, part in (("task.toml", ""), ("instruction.md", ""), ("solve.sh", "solution")):
        files.write_text(target / part / name, render(f"export/harbor/{name}.j2", **values))
    (target / "solution" / "solve.sh").chmod(0o755)
    files.write_bytes(target / "solution" / "golden", staging.read_golden(exportable.task, implementation))


def _write_tests(exportable: Exportable, implementation: Implementation, tests: Path) -> dict[str, Any]:
    """Write what grades an answer. Returns the grader's plan; ``seconds`` is what one run may take."""
    goldens = staging.golden_overlay(
        exportable.task, exportable.info, find_twins(exportable.task, exportable.info, implementation)
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
    for name, template in (("test.sh", "test.sh"), ("grade.py", "grade.py"), ("judge.py", judge)):
        shutil.copyfile(_template(template), tests / name)
    (tests / "test.sh").chmod(0o755)
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
    """Write a test that was made by hand, with the files beside it. Returns its part of the plan."""
    repository = exportable.task.repository(exportable.info)
    script = implementation.unit_test_file
    if not script or not files.is_file_inside(repository, script):
        raise LmrError(
            f"{exportable.task.name}: implementation {implementation.index} has no test for Harbor's grader",
            f"record one: lmr-author record {implementation.target}",
        )
    if not script.startswith(f"{UNIT_TEST}/"):
        raise LmrError(
            f"{exportable.task.name}: {script} is outside of {UNIT_TEST}/, where an agent would see it",
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
    while definitions.def_line(definitions.find(tree, target.qualname, nth=nth)[-1]) != target.line:
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
