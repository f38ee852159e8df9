"""Run what drives the target, with the golden in place and the recorder watching, and read what the recorder kept."""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from lmr_author.authoring.recording.checkers import fixture_advice
from lmr_author.authoring.recording.driver import switches
from lmr_author.authoring.recording.job import COMMAND, RecordJob, advice_about, last_error
from lmr_author.authoring.recording.tolerance import Exactness
from lmr_author.core import code, files, resources
from lmr_author.core.errors import Hint, LmrError, Setting
from lmr_author.core.task import UNIT_TEST
from lmr_author.core.task.recording import FIXTURES, Coverage
from lmr_author.core.texts import listed
from lmr_author.runtime.probe.calling import RAISED
from lmr_author.runtime.probe.recorder import ELSEWHERE
from lmr_author.runtime.probe.traits import Trait
from lmr_author.runtime.replay import replaying
from lmr_author.runtime.replay.staging import PROBE_ROOT, probe_mount, source_folder
from lmr_author.runtime.sandbox.base import Command, ExecResult, Limits, Mount, Sandbox

JOB = f"{PROBE_ROOT}/job"
OUT = f"{PROBE_ROOT}/out"
_DETACHES = re.compile(r"\.detach\(|\bno_grad\b|\.data\b|stop_gradient|inference_mode|requires_grad_\(")
MOST_CALL_BYTES = 8 * 2**20
"""Limit of one recorded call."""
TEXT_PER_SECOND = 500_000
"""Bytes of a JSON document that are read and compared in a second, roughly."""


@dataclass(frozen=True)
class RecordedCall:
    """One recorded call: as the recorder left it, and once it was replayed, how its outcome is compared.

    Attributes:
        number: its place among all calls of the run, from 1.
        folder: holds ``inputs.*`` and ``expected.*``.
        hits: blocks and branches of the target that it executed; ``~block`` for one executed more than once.
        size: bytes of the values in inputs and expected outputs together.
        summary: parameter, or attribute as in ``self.merged`` → its value, or its type and shape.
        traits: the recorder's facts that distinguish calls.
        omitted: attributes that could not be stored, with the advice.
        seconds: processor time when it was recorded, or in its slowest replay.
        changed: arguments and free variables that it changed.
        grads: arguments of which it changed nothing but ``.grad`` of tensors.
        uncompared: kind of an effect that the outcome does not hold → parts that have it.
        checkers, exact: leaf path → how it is compared, and how exact the golden is there.
        fragile: why a correct version that computes in float64 would fail it; "" where none would.
        made_of: the recorded calls that a generated one was made of, in words; "" for a recorded one.
    """

    number: int
    folder: Path
    hits: frozenset[int]
    size: int
    summary: Mapping[str, str] = field(default_factory=dict)
    traits: frozenset[Trait] = frozenset()
    outcome: str = "returned"
    omitted: tuple[Mapping[str, Any], ...] = ()
    seconds: float = 0.0
    changed: tuple[str, ...] = ()
    nothing: bool = False
    grads: tuple[str, ...] = ()
    uncompared: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    checkers: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    exact: Mapping[str, Exactness] = field(default_factory=dict)
    fragile: str = ""
    made_of: str = ""

    @classmethod
    def read(cls, meta: Path) -> RecordedCall:
        data = files.read_json(meta)
        own = {"number": data["call"], "size": data["bytes"], "folder": meta.parent}
        return msgspec.convert({**data, **own}, cls)

    @property
    def stored(self) -> int:
        """Bytes of its files: the values, and the documents around them."""
        paths = [*self.folder.glob("inputs.*"), *self.folder.glob("expected.*")]
        return max(self.size, sum(path.stat().st_size for path in paths))

    @property
    def inputs_digest(self) -> str:
        return inputs_digest(self.folder)

    @property
    def cost(self) -> float:
        """Seconds that one more replay takes, comparison included: JSON costs time, arrays hardly any."""
        paths = [*self.folder.glob("inputs.json"), *self.folder.glob("expected.json")]
        return self.seconds + sum(path.stat().st_size for path in paths) / TEXT_PER_SECOND


def inputs_digest(folder: Path) -> str:
    """Return a digest of the inputs of a call or case, random states included."""
    return "\n".join(files.sha256_file(path) for path in sorted(folder.glob("inputs.*")))


@dataclass(frozen=True)
class LostCalls:
    """Calls that the recorder did not store, and why.

    Attributes:
        kind: ``unstorable``, ``too_large``, ``misfit`` (of the signature) or ``failed``.
        path, type: the part that could not be stored, and its class; "" if it is not a part.
    """

    kind: str
    reason: str
    path: str
    type: str
    count: int

    @property
    def advice(self) -> str:
        return "slice the batch in the driver" if self.kind == "too_large" else ""


@dataclass(frozen=True)
class Summary:
    """The recorder's summary of a run, ``summary.json``.

    Attributes:
        blocks: block id → first line, for every block and branch of the target.
        absent: id of an ``else`` that is not written → id of the ``if``'s own block.
        executed: blocks that any call executed, stored or not.
        module: the name under which the target's file was imported; None for a script.
        sys_path: folders of the repository on ``sys.path``; "" is its root.
        imported: files of the repository that were imported.
        not_stored: the calls that are missing, the most frequent reason first.
    """

    calls: int = 0
    blocks: Mapping[int, int] = field(default_factory=dict)
    absent: Mapping[int, int] = field(default_factory=dict)
    executed: frozenset[int] = frozenset()
    module: str | None = None
    sys_path: tuple[str, ...] = ("",)
    imported: tuple[str, ...] = ()
    not_stored: tuple[LostCalls, ...] = ()
    numpy: str | None = None
    torch: str | None = None


@dataclass(frozen=True)
class RecordedRun:
    """The complete calls, and the number of one that is left out as the command died of what it raised (0: none)."""

    calls: tuple[RecordedCall, ...]
    summary: Summary
    result: ExecResult
    fatal: int = 0

    @property
    def executed(self) -> frozenset[int]:
        return self.summary.executed.union(*(call.hits for call in self.calls))

    def coverage(self, hits: frozenset[int]) -> Coverage:
        return coverage(hits, self.summary.blocks, self.summary.absent)


def coverage(hits: frozenset[int], blocks: Mapping[int, int], absent: Mapping[int, int]) -> Coverage:
    """Return the lines of the target that are executed, and those that are not.

    ``blocks`` and ``absent`` are those of :class:`Summary`; an unwritten ``else`` is on the line of its ``if``.
    """
    written = blocks.keys() - absent.keys()
    lines = {blocks[block] for block in written & hits}
    missed = {blocks[block] for block in written - hits} - lines
    never = {blocks[block] for block in absent.keys() - hits if absent[block] in hits}
    return Coverage(tuple(sorted(lines)), tuple(sorted(missed)), tuple(sorted(never)))


def run(sandbox: Sandbox, job: RecordJob) -> RecordedRun:
    """Run a driver under the recorder. Calls that were complete when the run ended, however it ended, are kept.

    Raises:
        LmrError: the target was never called, or no call could be stored.
        SandboxError: the sandbox failed.
    """
    options, helpers, function = job.options, job.helpers, job.definition.function
    request, out = job.work / "job", job.work / "out"
    request.mkdir()
    out.mkdir()
    config = {
        "tree": posixpath.relpath(job.inside, JOB),
        "goal_file": job.goal_file,
        "qualname": job.qualname,
        "line": job.definition.line,
        "out": posixpath.relpath(OUT, JOB),
        "max_bytes": MOST_CALL_BYTES,
        "fixture_names": list(helpers.fixture_names),
        # Where the golden detaches, to detach is a part of what is asked for.
        "gradients": options.gradients or bool(_DETACHES.search(ast.unparse(function))),
        "globals": list(code.set_at_run_time(job.module.tree, function)),
        "globals_read": list(code.globals_read(job.module.tree, function)),
        "cuda_as_cpu": options.cuda_as_cpu,
    }
    if helpers.fixtures is not None:
        config["fixtures"] = posixpath.relpath(f"{job.inside}/{UNIT_TEST}/{FIXTURES}", JOB)
    files.write_json(request / "config.json", config)
    request.joinpath("config.json").chmod(0o644)
    # An installed package is found without its folder; so is one that lies in src/.
    below, own = source_folder(job.tree), job.driver.env.get("PYTHONPATH", "")
    import_from = [PROBE_ROOT, job.inside, f"{job.inside}/{below}" if below else "", own]
    result = sandbox.run(
        Command(
            argv=("python", "-m", "lmr_probe", "record", f"{JOB}/config.json", "--", *job.driver.arguments),
            mounts=(
                Mount(job.tree, job.inside, writable=True),
                probe_mount(resources.probe_folder()),
                Mount(request, JOB),
                Mount(out, OUT, writable=True),
                *job.driver.mounts,
            ),
            cwd=job.inside,
            env={
                **switches(function),
                **job.driver.env,
                "PYTHONPATH": ":".join(filter(None, import_from)),
                "PYTHONHASHSEED": "0",
            },
            limits=Limits(seconds=options.seconds),
        )
    )
    recorded = _without_gpu(read(out, result), job.definition)
    in_image = sandbox.name == "docker"
    if not recorded.calls:
        raise _nothing_recorded(job, recorded, in_image, (out / ELSEWHERE).exists())
    return recorded if result.exit_code == 0 else _without_fatal(job, recorded, in_image)


def _without_fatal(job: RecordJob, recorded: RecordedRun, in_image: bool) -> RecordedRun:
    """Leave out the last call where the command died of what that raised. Raises LmrError when all calls raised."""
    last = last_error(recorded.result)
    latest = max(recorded.calls, key=lambda call: call.number)
    if not _died_of(latest, last):
        return recorded
    if all(call.outcome == "raised" for call in recorded.calls):
        advice = advice_about(job.tree, recorded.result, in_image, job.explain)
        raise LmrError(
            f"{job.target} raised in every call, which ended the command: {last}",
            Hint(f"{advice.text}; if it should raise, catch the exception in the driver", advice.settings),
        )
    # Nobody meant it: a right version that does without that error would fail such a case.
    meant = tuple(call for call in recorded.calls if call is not latest)
    return replace(recorded, calls=meant, fatal=latest.number)


def _died_of(call: RecordedCall, last: str) -> bool:
    raised = str(replaying.load_document(call.folder, "expected").tree.get(RAISED))
    return call.outcome == "raised" and last.partition(":")[0].rpartition(".")[2] == raised.rpartition(".")[2]


def read(out: Path, result: ExecResult) -> RecordedRun:
    # The command may have put a link in the place of what the recorder wrote.
    metas = [meta for meta in sorted(out.glob("calls/[0-9]*/meta.json")) if not meta.parent.is_symlink()]
    calls = tuple(RecordedCall.read(meta) for meta in metas)
    path = out / "summary.json"
    written = path.is_file() and not path.is_symlink()
    summary = (
        msgspec.convert(files.read_json(path), Summary, str_keys=True, strict=False) if written else Summary()
    )
    # A process that was killed may have made more calls than its summary has.
    latest = max((call.number for call in calls), default=0)
    return RecordedRun(calls, replace(summary, calls=max(summary.calls, latest)), result)


def _without_gpu(recorded: RecordedRun, definition: code.Definition) -> RecordedRun:
    """Leave out the blocks that no call reached as there is no GPU: no other inputs would reach them."""
    on_gpu = code.lines_on_gpu(definition.node)
    executed = recorded.executed
    blocks = {
        block: line
        for block, line in recorded.summary.blocks.items()
        if block in executed or line not in on_gpu
    }
    return replace(recorded, summary=replace(recorded.summary, blocks=blocks))


def _nothing_recorded(job: RecordJob, recorded: RecordedRun, in_image: bool, elsewhere: bool) -> LmrError:
    """Return why nothing was recorded; ``elsewhere``: another process called the target."""
    result, name, summary = recorded.result, job.target, recorded.summary
    if result.timed_out:
        return LmrError(
            f"the command ran {job.options.seconds:.0f} s without a complete call of {name}",
            Hint("raise {0}", (Setting("--timeout"),)),
        )
    if summary.not_stored:
        return _nothing_stored(name, summary.not_stored)
    if result.exit_code != 0:
        last = last_error(result)
        advice = advice_about(job.tree, result, in_image, job.explain)
        if job.options.examples and last.startswith("NameError"):
            owner = job.definition.class_name
            of_object = (
                f", and call the method of an object: {owner}(…).{job.definition.name}(…)" if owner else ""
            )
            advice = Hint(
                f"use names that {job.goal_file} or unit_test/{FIXTURES} defines{of_object}", (COMMAND,)
            )
        return LmrError(f"the command failed before it called {name}: {last}", advice)
    if elsewhere:
        return LmrError(
            f"{name} was called only in another process (such as a DataLoader worker), which is not recorded",
            "call it in the command's own process: num_workers=0, or a script that calls it directly",
        )
    without = "" if job.goal_file in summary.imported else f" (not {job.goal_file})"
    return LmrError(
        f"the command never called {name}",
        Hint(
            f"files of the repository that it imported: {listed(summary.imported, 6) or 'none'}{without}; check that "
            "the driver reaches the function, and that it is not compiled (for Numba: NUMBA_DISABLE_JIT=1 before the "
            "command)",
            (COMMAND,),
        ),
    )


def _nothing_stored(name: str, lost: tuple[LostCalls, ...]) -> LmrError:
    first = lost[0]
    if first.kind == "too_large":
        return LmrError(f"every call of {name} is larger than the limit: {first.reason}", first.advice)
    if first.kind == "misfit":
        return LmrError(
            f"no call of {name} fits its signature: {first.reason}",
            "correct the call; nothing of the target ran",
        )
    parts = [call.path for call in lost if call.reason == first.reason]
    return LmrError(
        f"no call of {name} could be stored: {first.reason}",
        fixture_advice(parts)
        or "drive the function directly, with values that can be stored (tensors, arrays, plain objects)",
    )
