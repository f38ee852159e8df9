"""Harbor tasks, one for each implementation: the agent's image, the golden as solution, and our grader.

The reward cannot be forged: the agent's code is replayed in a container of its own, as a user that can neither
read expected values nor write rewards; see ``templates/export/harbor/grade.py``.
"""

from __future__ import annotations

import ast
import math
import re
import shutil
from dataclasses import replace
from pathlib import Path

from lmr_author.core import code, files, resources
from lmr_author.core.errors import LmrError
from lmr_author.core.task import Implementation
from lmr_author.core.task import recording as recorded
from lmr_author.core.task.recording import Recording
from lmr_author.proof.evaluation.twins import find_twins
from lmr_author.release.export.agent import write_bundle
from lmr_author.release.export.output import render
from lmr_author.release.export.soundness import Exportable
from lmr_author.runtime.probe import definitions
from lmr_author.runtime.replay import judging, replaying, staging

CASE_SECONDS = 60.0
AGENT_UID = 1000
"""Default of the Dockerfile's ``UID``."""


def write_harbor(tasks: list[Exportable], folder: Path, base_image: str) -> None:
    """Write one Harbor task for each implementation. Raises LmrError for one without recorded cases."""
    for one in tasks:
        for item in one.info.implementations:
            target = folder / f"{one.task.name}-{item.index}"
            write_bundle(one, target / "environment", base_image)
            shutil.copyfile(_template("docker-compose.yaml"), target / "environment" / "docker-compose.yaml")
            seconds = _write_tests(one, item, target / "tests")
            _write_texts(one, item, target, seconds)


def _write_texts(one: Exportable, item: Implementation, target: Path, seconds: float) -> None:
    """Write configuration, instruction and solution."""
    values = {
        "task": one,
        "info": one.info,
        "item": item,
        "slug": re.sub(r"[^a-z0-9]+", "-", target.name.lower()).strip("-"),
        "repository": staging.tree_path(one.info),
        "uid": AGENT_UID,
        "verifier_seconds": 2 * seconds + 120,
    }
    for name, place in (("task.toml", ""), ("instruction.md", ""), ("solve.sh", "solution")):
        files.write_text(target / place / name, render(f"export/harbor/{name}.j2", **values))
    (target / "solution" / "solve.sh").chmod(0o755)
    files.write_bytes(target / "solution" / "golden", staging.read_golden(one.task, item))


def _write_tests(one: Exportable, item: Implementation, tests: Path) -> float:
    """Write what grades an answer. Returns the seconds that one replay may take."""
    recording_folder = one.task.recording(one.info, item.index)
    recording = recorded.load(recording_folder)
    if recording is None or not recording.cases:
        raise LmrError(
            f"{one.task.name}: implementation {item.index} has no recorded cases, which Harbor's grader replays",
            f"record them: lmr-author record {item.target}",
        )
    tests.mkdir(parents=True)
    for name in ("test.sh", "grade.py", "cases.py"):
        shutil.copyfile(_template(name), tests / name)
    (tests / "test.sh").chmod(0o755)
    goldens = staging.golden_overlay(one.task, one.info, find_twins(one.task, one.info, item))
    for number, data in enumerate(goldens.values()):
        files.write_bytes(tests / "goldens" / str(number), data)
    others = _others(one, item, goldens[item.goal_file])
    for number, pair in enumerate(others):
        for kind, data in zip(("masked", "golden"), pair, strict=True):
            files.write_bytes(tests / "others" / f"{number}.{kind}", data)
    module = code.Module.parse(goldens[item.goal_file], item.golden_file)
    target = code.find(module, replace(item.target, qualname=recording.target.qualname))
    seconds = _write_probe(
        one, item, replace(recording, target=replace(recording.target, line=target.line)), tests
    )
    plan = {
        "repository": staging.tree_path(one.info),
        "goal_file": item.goal_file,
        "goal_files": list(goldens),
        "qualname": recording.target.qualname,
        "nth": _nth(goldens[item.goal_file], target) if item.nth else 0,
        "others": len(others),
        "cases": {case.name: case.checkers for case in recording.cases},
        "seconds": seconds,
    }
    files.write_json(tests / "plan.json", plan)
    return seconds


def _write_probe(one: Exportable, item: Implementation, recording: Recording, tests: Path) -> float:
    """Write replayer, inputs and expected outcomes, as ``cases.py`` reads them."""
    folder = one.task.recording(one.info, item.index)
    shutil.copytree(
        resources.probe_folder(), tests / "lmr_probe", ignore=shutil.ignore_patterns("__pycache__")
    )
    for case in recording.cases:
        for path in (folder / case.name).glob("expected.*"):
            files.write_bytes(tests / "expected" / case.name / path.name, path.read_bytes())
    if any(judging.functions_of(case.checkers) for case in recording.cases):
        checkers = recorded.helper(folder, recording, recorded.CHECKERS)
        if checkers is not None:
            shutil.copyfile(checkers, tests / recorded.CHECKERS)
    plan = replaying.ReplayPlan(
        goal_file=recording.target.goal_file,
        qualname=recording.target.qualname,
        line=recording.target.line,
        module=recording.module,
        sys_path=recording.sys_path,
        recording=folder,
        cases=tuple(case.name for case in recording.cases),
        preload=tuple(name for name in replaying.HEAVY if name in recording.versions),
        case_seconds=CASE_SECONDS,
        fixtures=recorded.helper(folder, recording, recorded.FIXTURES),
        cuda_as_cpu=recording.cuda_as_cpu,
    )
    job = tests / "job"
    job.mkdir()
    replaying.write_job(job, staging.tree_path(one.info), plan, [replaying.Variant("candidate")], threads=1)
    return math.ceil(replaying.most_seconds(plan, 1))


def _nth(golden: bytes, target: code.Definition) -> int:
    """Number a definition as the replayer does, which counts neither classes nor lines."""
    tree, nth = ast.parse(golden), 1
    while definitions.def_line(definitions.find(tree, target.qualname, nth=nth)[-1]) != target.line:
        nth += 1
    return nth


def _others(one: Exportable, item: Implementation, golden: bytes) -> list[tuple[bytes, bytes]]:
    """Return the other implementations of the goal file, each as masked and as golden, from its ``def`` on."""
    path = one.task.goal(one.info, item)
    ours = code.Module.parse(golden, item.golden_file)
    theirs = code.Module.parse(path.read_bytes(), item.goal_file)
    pairs = []
    for other in one.info.implementations:
        if other.goal_file != item.goal_file or other.index == item.index:
            continue
        found = code.matching(ours, theirs, other.qualname, other.nth)
        if found is not None:
            pairs.append((_from_def(theirs, found[1]), _from_def(ours, found[0])))
    return pairs


def _from_def(module: code.Module, definition: code.Definition) -> bytes:
    start = module.byte_offset(module.line_start(definition.node.lineno))
    end = module.byte_offset(code.region(module, definition).end)
    return module.data[start:end]


def _template(name: str) -> Path:
    return resources.folder("templates") / "export" / "harbor" / name
