"""Run the golden under the annotator's command with the recorder, and read what it kept."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lmr_author import files, resources
from lmr_author.errors import LmrError
from lmr_author.recording import failed
from lmr_author.recording.choose import Call
from lmr_author.recording.command import Driver
from lmr_author.recording.helpers import NO_HELPERS, Helpers, fixture_advice
from lmr_author.recording.sizes import of_refused
from lmr_author.replay.staging import PROBE_ROOT, probe_mount, source_folder
from lmr_author.sandbox.base import Command, ExecResult, Limits, Mount, Sandbox

JOB = f"{PROBE_ROOT}/job"
OUT = f"{PROBE_ROOT}/out"


@dataclass(frozen=True)
class Drive:
    """What to run and record.

    Attributes:
        tree: a private copy of the repository, golden in place; the run may write into it.
        inside: where it appears in the sandbox.
        goal_file, qualname, line: the target.
        nth: which definition of its name it is, where the file has several; else 0.
        driver: the annotator's command.
        work: a folder of ours for the job and its output.
        seconds: time limit of the whole run.
        max_bytes: limit of one recorded call.
        helpers: what the annotator wrote beside the tests.
        gradients: whether gradients with respect to the inputs belong to the outcome.
        out: a folder for the recorder's output; None for one in ``work``.
        uncompiled: environment variables that keep the target's compiler from compiling it.
        explain: see :data:`~lmr_author.recording.failed.Explain`.
    """

    tree: Path
    inside: str
    goal_file: str
    qualname: str
    line: int
    nth: int
    driver: Driver
    work: Path
    seconds: float
    max_bytes: int
    helpers: Helpers = NO_HELPERS
    gradients: bool = False
    out: Path | None = None
    uncompiled: Mapping[str, str] = field(default_factory=dict)
    explain: failed.Explain = lambda text: ""


@dataclass(frozen=True)
class Recorded:
    """What the recorder left: complete calls and its summary."""

    calls: tuple[Call, ...]
    summary: Mapping[str, Any]
    result: ExecResult

    @property
    def blocks(self) -> dict[int, int]:
        """Block id → first line, for every block and branch of the target."""
        return self._numbers("blocks")

    @property
    def absent(self) -> dict[int, int]:
        """Block id that stands for an ``else`` that is not written → id of the ``if``'s own block."""
        return self._numbers("absent")

    def _numbers(self, name: str) -> dict[int, int]:
        return {int(key): int(value) for key, value in self.summary.get(name, {}).items()}


def drive(sandbox: Sandbox, plan: Drive) -> Recorded:
    """Record. Calls that were complete when the run ended, however it ended, are kept.

    Raises:
        LmrError: the target was never called (says what was imported), or no call could be stored.
        SandboxError: the sandbox failed.
    """
    job, out = plan.work / "job", plan.out or plan.work / "out"
    job.mkdir()
    out.mkdir(exist_ok=True)
    config = {
        "tree": posixpath.relpath(plan.inside, JOB),
        "goal_file": plan.goal_file,
        "qualname": plan.qualname,
        "line": plan.line,
        "out": posixpath.relpath(OUT, JOB),
        "max_bytes": plan.max_bytes,
        "fixture_names": list(plan.helpers.fixture_names),
        "gradients": plan.gradients,
    }
    files.write_json(job / "config.json", config)
    job.joinpath("config.json").chmod(0o644)
    # An installed package is found without its folder; so is one that lies in src/.
    below = source_folder(plan.tree)
    places = [PROBE_ROOT, plan.inside, *([f"{plan.inside}/{below}"] if below else [])]
    places += filter(None, [plan.driver.env.get("PYTHONPATH")])
    result = sandbox.run(
        Command(
            argv=("python", "-m", "lmr_probe", "record", f"{JOB}/config.json", "--", *plan.driver.arguments),
            mounts=(
                Mount(plan.tree, plan.inside, writable=True),
                probe_mount(resources.probe_folder()),
                Mount(job, JOB),
                Mount(out, OUT, writable=True),
                *plan.driver.mounts,
            ),
            cwd=plan.inside,
            env={**plan.uncompiled, **plan.driver.env, "PYTHONPATH": ":".join(places), "PYTHONHASHSEED": "0"},
            limits=Limits(seconds=plan.seconds),
        )
    )
    recorded = read(out, result)
    if not recorded.calls:
        raise _nothing(plan, recorded, in_image=sandbox.name == "docker")
    return recorded


def read(out: Path, result: ExecResult) -> Recorded:
    """What the command's process left, and those that it started."""
    children = out / "children"
    places = [out, *(sorted(children.iterdir()) if children.is_dir() else ())]
    summaries: list[Mapping[str, Any]] = []
    calls: list[Call] = []
    for place in places:
        if place.is_symlink():
            continue
        found = _calls(place)
        before = sum(int(item["calls"]) for item in summaries)
        calls += [replace(call, number=call.number + before) for call in found]
        summary = _summary(place)
        # A process that was killed may have made more calls than it says.
        made = max([int(summary.get("calls", 0)), *(call.number for call in found)])
        summaries.append({**summary, "calls": made})
    return Recorded(tuple(calls), _merged(summaries), result)


def with_made(recorded: Recorded, made: Recorded) -> Recorded:
    """What was recorded, and calls whose inputs were made from it. They get the numbers that follow."""
    before = int(recorded.summary.get("calls", 0))
    more = tuple(replace(call, number=call.number + before, made=True) for call in made.calls)
    return replace(recorded, calls=(*recorded.calls, *more))


def _summary(place: Path) -> Mapping[str, Any]:
    path = place / "summary.json"
    summary: Any = files.read_json(path) if path.is_file() and not path.is_symlink() else {}
    return summary if isinstance(summary, dict) else {}


def _merged(summaries: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The summary of the first process that called the target, with what the others add."""
    first = next((item for item in summaries if item.get("calls")), summaries[0])
    merged = dict(first)
    merged["calls"] = sum(item["calls"] for item in summaries)
    merged["imported"] = sorted({path for item in summaries for path in item.get("imported", ())})
    for name in ("unstorable", "too_large", "misfit"):
        merged[name] = next((item[name] for item in summaries if item.get(name)), "")
    return merged


def _calls(place: Path) -> list[Call]:
    calls = []
    for folder in sorted((place / "calls").glob("[0-9]*")) if (place / "calls").is_dir() else []:
        meta = folder / "meta.json"
        if not meta.is_file() or folder.is_symlink():
            continue
        data = json.loads(meta.read_bytes())
        calls.append(
            Call(
                number=int(data["call"]),
                folder=folder,
                hits=frozenset(int(item) for item in data["hits"]),
                size=int(data["bytes"]),
                summary={str(key): str(value) for key, value in data["summary"].items()},
                outcome=str(data["outcome"]),
                omitted=tuple(dict(item) for item in data["omitted"]),
                seconds=float(data.get("seconds", 0.0)),
            )
        )
    return calls


def _nothing(plan: Drive, recorded: Recorded, *, in_image: bool) -> LmrError:
    """Why nothing was recorded, from the summary or from how the run ended."""
    summary, result = recorded.summary, recorded.result
    name = f"{plan.goal_file}::{plan.qualname}"
    last = failed.last_error(result)
    if result.timed_out:
        return LmrError(
            f"the command ran {plan.seconds:.0f} s without a complete call of {name}", "raise --timeout"
        )
    too_large = summary.get("too_large")
    if too_large:
        return LmrError(
            f"every call of {name} is larger than the limit: {too_large}",
            of_refused(str(too_large)),
        )
    unstorable = summary.get("unstorable")
    if unstorable:
        return LmrError(
            f"no call of {name} could be stored: {unstorable}",
            fixture_advice([str(unstorable)])
            or "drive the function directly, with values that can be stored (tensors, arrays, plain objects)",
        )
    misfit = summary.get("misfit")
    if misfit:
        return LmrError(
            f"no call of {name} fits its signature: {misfit}", "correct the call; nothing of the target ran"
        )
    if result.exit_code != 0:
        return LmrError(
            f"the command failed before it called {name}: {last}",
            failed.advice(plan.tree, last, result, in_image, plan.driver.unseen, plan.explain),
        )
    return LmrError(f"the command never called {name}", _never(plan, summary))


def _never(plan: Drive, summary: Mapping[str, Any]) -> str:
    """List what was imported."""
    imported = [str(path) for path in summary.get("imported", ())]
    told = f"files of the repository that it imported: {', '.join(imported[:6]) or 'none'}"
    if len(imported) > 6:
        told += f" and {len(imported) - 6} more"
    if plan.goal_file not in imported:
        told += f" (not {plan.goal_file})"
    return f"{told}; check that the driver reaches the function"
