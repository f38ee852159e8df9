"""Run what drives the target, with the golden in place and the recorder watching, and read what the recorder kept."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lmr_author.authoring.recording.calls import RecordedCall, too_large_advice
from lmr_author.authoring.recording.checkers import Helpers, fixture_advice
from lmr_author.authoring.recording.drivers import Driver
from lmr_author.core import files, resources
from lmr_author.core.errors import LmrError
from lmr_author.core.task import TORCH_FAMILY, UNIT_TEST
from lmr_author.core.task.recording import FIXTURES
from lmr_author.core.texts import listed
from lmr_author.runtime.probe.calling import RAISED
from lmr_author.runtime.probe.recorder import ELSEWHERE
from lmr_author.runtime.probe.traits import Trait
from lmr_author.runtime.replay import replaying
from lmr_author.runtime.replay.staging import PROBE_ROOT, probe_mount, source_folder
from lmr_author.runtime.sandbox.base import Command, ExecResult, Limits, Mount, Sandbox

Explain = Callable[[str], str]
"""Output of a command → the fault of its environment, with the repair; "" for another error."""

JOB = f"{PROBE_ROOT}/job"
OUT = f"{PROBE_ROOT}/out"


@dataclass(frozen=True)
class Run:
    """The run of a driver that is recorded.

    Attributes:
        tree: a private copy of the repository, golden in place; the run may write into it.
        inside: where it appears in the sandbox.
        goal_file, qualname, line: the target.
        nth: which definition of its name it is, where the file has several; else 0.
        driver: what calls the target.
        work: a folder of ours for the job and its output.
        seconds: time limit of the whole run.
        max_bytes: limit of one recorded call.
        helpers: what the annotator wrote beside the tests.
        gradients: whether gradients with respect to the inputs belong to the outcome.
        globals: those that the target reads and that importing its file does not set; see
            :func:`~lmr_author.core.code.set_at_run_time`.
        files: whether the files that a call writes belong to its outcome.
        cuda_as_cpu: run code that insists on a GPU on the CPU.
        uncompiled: environment variables that keep the target's compiler from compiling it.
        explain: see :data:`Explain`.
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
    helpers: Helpers = field(default_factory=Helpers)
    gradients: bool = False
    files: bool = False
    globals: tuple[str, ...] = ()
    cuda_as_cpu: bool = False
    uncompiled: Mapping[str, str] = field(default_factory=dict)
    explain: Explain = lambda text: ""


@dataclass(frozen=True)
class Unstored:
    """Calls that the recorder did not store, and why.

    Attributes:
        kind: ``unstorable``, ``too_large``, ``misfit`` (of the signature) or ``failed``.
        path, type: the part that could not be stored, and its class; "" where it is no part.
        size: bytes of what was too large.
    """

    kind: str
    reason: str
    path: str
    type: str
    size: int
    count: int


@dataclass(frozen=True)
class Recorded:
    """The recorder's output.

    Attributes:
        calls: complete ones.
        summary: what the recorder counted.
        result: of the command.
        fatal: number of a call that is not among them, as the command died of what it raised; 0 for none.
    """

    calls: tuple[RecordedCall, ...]
    summary: Mapping[str, Any]
    result: ExecResult
    fatal: int = 0

    @property
    def blocks(self) -> dict[int, int]:
        """Block id → first line, for every block and branch of the target."""
        return self._numbers("blocks")

    @property
    def absent(self) -> dict[int, int]:
        """Block id that stands for an ``else`` that is not written → id of the ``if``'s own block."""
        return self._numbers("absent")

    @property
    def module(self) -> str | None:
        """The name under which the target's file was imported; None for a script."""
        name = self.summary.get("module")
        return name if isinstance(name, str) and name != "__main__" else None

    @property
    def sys_path(self) -> tuple[str, ...]:
        """Folders of the repository on ``sys.path``; "" is its root."""
        return tuple(str(folder) for folder in self.summary.get("sys_path", ())) or ("",)

    @property
    def executed(self) -> set[int]:
        """Blocks that any call executed, also one that was not stored."""
        return set().union(*(call.hits for call in self.calls)) | {
            int(block) for block in self.summary.get("executed", ())
        }

    @property
    def not_stored(self) -> tuple[Unstored, ...]:
        """The calls that are missing, the most frequent reason first."""
        return tuple(
            Unstored(
                str(entry["kind"]),
                str(entry["reason"]),
                str(entry["path"]),
                str(entry["type"]),
                int(entry.get("size", 0)),
                int(entry["count"]),
            )
            for entry in self.summary.get("not_stored", ())
        )

    def _numbers(self, name: str) -> dict[int, int]:
        return {int(key): int(value) for key, value in self.summary.get(name, {}).items()}


def run(sandbox: Sandbox, plan: Run) -> Recorded:
    """Run a driver under the recorder. Calls that were complete when the run ended, however it ended, are kept.

    Raises:
        LmrError: the target was never called, or no call could be stored.
        SandboxError: the sandbox failed.
    """
    job, out = plan.work / "job", plan.work / "out"
    job.mkdir()
    out.mkdir()
    config = {
        "tree": posixpath.relpath(plan.inside, JOB),
        "goal_file": plan.goal_file,
        "qualname": plan.qualname,
        "line": plan.line,
        "out": posixpath.relpath(OUT, JOB),
        "max_bytes": plan.max_bytes,
        "fixture_names": list(plan.helpers.fixture_names),
        "gradients": plan.gradients,
        "files": plan.files,
        "globals": list(plan.globals),
        "cuda_as_cpu": plan.cuda_as_cpu,
    }
    if plan.helpers.fixtures is not None:
        config["fixtures"] = posixpath.relpath(f"{plan.inside}/{UNIT_TEST}/{FIXTURES}", JOB)
    files.write_json(job / "config.json", config)
    job.joinpath("config.json").chmod(0o644)
    # An installed package is found without its folder; so is one that lies in src/.
    import_from = [PROBE_ROOT, plan.inside]
    if below := source_folder(plan.tree):
        import_from.append(f"{plan.inside}/{below}")
    if own := plan.driver.env.get("PYTHONPATH"):
        import_from.append(own)
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
            env={
                **plan.uncompiled,
                **plan.driver.env,
                "PYTHONPATH": ":".join(import_from),
                "PYTHONHASHSEED": "0",
            },
            limits=Limits(seconds=plan.seconds),
        )
    )
    recorded = read(out, result)
    in_image = sandbox.name == "docker"
    if not recorded.calls:
        raise _nothing_recorded(plan, recorded, in_image, (out / ELSEWHERE).exists())
    return recorded if result.exit_code == 0 else _without_fatal(plan, recorded, in_image)


def _without_fatal(plan: Run, recorded: Recorded, in_image: bool) -> Recorded:
    """Leave out the last call where the command died of what that raised. Raises LmrError when all calls raised."""
    last = last_error(recorded.result)
    latest = max(recorded.calls, key=lambda call: call.number)
    if not _died_of(latest, last):
        return recorded
    if all(call.outcome == "raised" for call in recorded.calls):
        advice = advice_about(plan.tree, recorded.result, in_image, plan.explain)
        raise LmrError(
            f"{plan.goal_file}::{plan.qualname} raised whenever it was called, and the command died of it: {last}",
            f"{advice}; where it is meant to raise, have the driver catch it",
        )
    # Nobody meant it: a right version that does without that error would fail such a case.
    meant = tuple(call for call in recorded.calls if call is not latest)
    return replace(recorded, calls=meant, fatal=latest.number)


def _died_of(call: RecordedCall, last: str) -> bool:
    """Tell whether a call raised the exception that a command printed last."""
    raised = str(replaying.load_document(call.folder, "expected").tree.get(RAISED))
    return call.outcome == "raised" and last.partition(":")[0].rpartition(".")[2] == raised.rpartition(".")[2]


def read(out: Path, result: ExecResult) -> Recorded:
    """Read what the recorder left."""
    calls = [_read_call(meta) for meta in sorted(out.glob("calls/[0-9]*/meta.json")) if _is_own(meta)]
    path = out / "summary.json"
    summary: Any = files.read_json(path) if path.is_file() and not path.is_symlink() else {}
    summary = dict(summary) if isinstance(summary, dict) else {}
    # A process that was killed may have made more calls than its summary has.
    summary["calls"] = max([int(summary.get("calls", 0)), *(call.number for call in calls)])
    return Recorded(tuple(calls), summary, result)


def _is_own(meta: Path) -> bool:
    """Tell whether the recorder itself wrote a file: the command may have put a link in its place."""
    return meta.is_file() and not meta.parent.is_symlink()


def _read_call(meta: Path) -> RecordedCall:
    data = json.loads(meta.read_bytes())
    return RecordedCall(
        number=int(data["call"]),
        folder=meta.parent,
        hits=frozenset(map(int, data["hits"])),
        size=int(data["bytes"]),
        summary={str(key): str(value) for key, value in data["summary"].items()},
        traits=frozenset(Trait(*map(str, trait)) for trait in data["traits"]),
        outcome=str(data["outcome"]),
        omitted=tuple(map(dict, data["omitted"])),
        seconds=float(data.get("seconds", 0.0)),
        changed=tuple(map(str, data.get("changed", ()))),
        nothing=data.get("nothing") is True,
        grads=tuple(map(str, data.get("grads", ()))),
        uncompared={str(kind): tuple(map(str, names)) for kind, names in data["uncompared"].items()},
    )


def _nothing_recorded(plan: Run, recorded: Recorded, in_image: bool, elsewhere: bool) -> LmrError:
    """Return why nothing was recorded, from the summary or from how the run ended.

    Args:
        elsewhere: another process called the target.
    """
    result, name = recorded.result, f"{plan.goal_file}::{plan.qualname}"
    if result.timed_out:
        return LmrError(
            f"the command ran {plan.seconds:.0f} s without a complete call of {name}", "raise --timeout"
        )
    reasons = {lost.kind: lost.reason for lost in reversed(recorded.not_stored)}
    if reason := reasons.get("too_large"):
        largest = max(lost.size for lost in recorded.not_stored)
        return LmrError(f"every call of {name} is larger than the limit: {reason}", too_large_advice(largest))
    if reason := reasons.get("unstorable", reasons.get("failed")):
        parts = [lost.path for lost in recorded.not_stored if lost.reason == reason]
        return LmrError(
            f"no call of {name} could be stored: {reason}",
            fixture_advice(parts)
            or "drive the function directly, with values that can be stored (tensors, arrays, plain objects)",
        )
    if reason := reasons.get("misfit"):
        return LmrError(
            f"no call of {name} fits its signature: {reason}", "correct the call; nothing of the target ran"
        )
    if result.exit_code != 0:
        last = last_error(result)
        advice = advice_about(plan.tree, result, in_image, plan.explain)
        return LmrError(f"the command failed before it called {name}: {last}", advice)
    if elsewhere:
        return LmrError(
            f"{name} was called in another process only, a worker of a DataLoader say, which is not recorded",
            "call it in the command's own process: num_workers=0, or a script that calls it directly",
        )
    imported = [str(path) for path in recorded.summary.get("imported", ())]
    without = "" if plan.goal_file in imported else f" (not {plan.goal_file})"
    return LmrError(
        f"the command never called {name}",
        f"files of the repository that it imported: {listed(imported, 6) or 'none'}{without}; check that the driver "
        "reaches the function, and that nothing compiles it: NUMBA_DISABLE_JIT=1 in front of the command, say",
    )


# a command that failed

_EXCEPTION = re.compile(r"((?:\w+\.)*\w*(?:Error|Exception|Interrupt|Exit)(?::.*)?)$")
"""A line that names an exception."""
_OF_PYTEST = re.compile(r"E +")
_MODULE = re.compile(r"(?:No module named|module|from) '([\w.]+)'")
_MOST = 300


def last_error(result: ExecResult) -> str:
    """Return the last exception that was printed, as tests report it too; else the last line."""
    lines = _printed(result)
    exceptions = [number for number, line in enumerate(lines) if _EXCEPTION.match(line)]
    if not exceptions:
        return (lines or [f"exit code {result.exit_code}"])[-1][:_MOST]
    text = lines[exceptions[-1]]
    # A message may begin on a line of its own, or end in the colon of a list.
    for line in lines[exceptions[-1] + 1 :]:
        if not text.endswith(":"):
            break
        text += f" {line}"
    return text[:_MOST]


def advice_about(
    tree: Path, result: ExecResult, in_image: bool = False, explain: Explain = lambda text: ""
) -> str:
    """Return how to repair a command that failed: the source of what it lacks, else the output before its error.

    Args:
        tree: the repository that it ran in.
        in_image: it ran in the task's image.
    """
    lines = _printed(result)
    last = last_error(result)
    named = _MODULE.search(last)
    module = named[1].partition(".")[0] if named else ""
    is_missing = bool(named) and "No module named" in last
    folder = _folder_of(tree, module) if module else None
    if folder is not None and is_missing:
        return (
            f"{module} lies in the folder {folder} of the repository, where Python does not look: run the command as "
            f'the repository does, or begin the driver with `import sys; sys.path.insert(0, "{folder}")`'
        )
    # A fault inside a module of the repository is no fault of the environment.
    if folder is None:
        died = f"died of signal {-result.exit_code}" if result.exit_code < 0 else ""
        if explained := explain(died or "\n".join(lines)):
            return explained
        if is_missing:
            return _install_advice(module, in_image)
    shown = " | ".join(line for line in lines[-5:-1] if not line.startswith("Traceback"))[:500]
    before = f"; before that it said: {shown}" if shown else ""
    environment = (
        "the image (`lmr-author env build` says what it lacks)"
        if in_image
        else "its environment (`lmr-author env local` makes one, --python names one)"
    )
    return (
        f"correct the driver, or {environment}; the sandbox shows the repository, and the folder of a driver outside "
        f"it, which finds its data by Path(__file__).parent{before}"
    )


def _folder_of(tree: Path, name: str) -> str | None:
    """Return the folder of the repository's own module of this name, the nearest to its root; None for none."""
    folders = []
    for path in [*tree.rglob(name), *tree.rglob(f"{name}.py")]:
        # A package inside another (fast/numba/) is not imported by its own name alone.
        inner = path.is_dir() and (path.parent / "__init__.py").is_file()
        relative = path.relative_to(tree)
        if not inner and relative.parts[0] != UNIT_TEST:
            folders.append(relative.parent)
    nearest = min(folders, key=lambda folder: (len(folder.parts), folder), default=None)
    return None if nearest is None else nearest.as_posix()


def _install_advice(name: str, in_image: bool) -> str:
    if in_image:
        return (
            f"{name} is not installed in the image: `lmr-author env lock --with NAME` adds what brings it to "
            "requirements.lock, whose comments name what was left out and why; then build again: "
            "`lmr-author env build`"
        )
    # An environment without Docker gets what the base image has when it is told the version.
    extra = f" --with {name}==VERSION" if name in TORCH_FAMILY else ""
    return (
        f"{name} is not installed where the command runs: make an environment with `lmr-author env local{extra}`, "
        "name a Python that has it (--python), or run in the task's image (--sandbox docker)"
    )


def _printed(result: ExecResult) -> list[str]:
    """Return the lines that the command printed; pytest reports its errors on standard output."""
    text = result.stderr if result.stderr.strip() else result.stdout
    lines = text.decode("utf-8", "replace").splitlines()
    return [_OF_PYTEST.sub("", line.strip(), count=1) for line in lines if line.strip(" ^~=_*")]
