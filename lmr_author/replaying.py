"""Replay recorded cases in a sandbox and read back what the target did; nothing of it is trusted.

The sandbox sees the tree, the probe and the inputs. It sends back encoded outcomes, and the
comparison with the expected ones happens here, outside.
"""

from __future__ import annotations

import json
import posixpath
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lmr_author import files, judging, resources
from lmr_author.errors import LmrError
from lmr_author.probe import checking, compare
from lmr_author.probe.document import BadDocument, Document
from lmr_author.probe.replayer import LOAD_SECONDS
from lmr_author.sandbox.base import Command, ExecResult, Limits, Mount, Sandbox
from lmr_author.staging import PROBE_ROOT, probe_mount

INPUTS = f"{PROBE_ROOT}/job"

HEAVY = ("numpy", "torch")
"""Libraries worth importing once for all versions."""

BATCH_BYTES = 96 * 2**20
"""Outcomes that one run may send back, in bytes, judged by what was recorded."""


@dataclass(frozen=True)
class Variant:
    """A version of the goal file to replay: None is the one that stands in the tree."""

    id: str
    source: bytes | None = None
    line: int | None = None


@dataclass(frozen=True)
class Plan:
    """What to replay.

    Attributes:
        goal_file, qualname, line: the target, in the tree that is mounted.
        module: name it is imported under, None for a script.
        sys_path: folders of the repository put on ``sys.path``, as in ``["", "src"]``.
        recording: folder that holds ``<case>/inputs.*``.
        cases: names of the cases.
        preload: libraries to import before the versions part ways; those that the recorded run used.
        case_seconds: time limit of one call.
        fixtures: ``unit_test/fixtures.py``, when the inputs name fixtures.
        judging: what checkers of the annotator judge, if anything.
        until_lost: whether a version that did not end in a case, in time or at all, is not asked for the others, and
            none after the first when it is that.
        share: whether the installed packages that the first versions import are imported once for all others.
    """

    goal_file: str
    qualname: str
    line: int
    module: str | None
    sys_path: tuple[str, ...]
    recording: Path
    cases: tuple[str, ...]
    preload: tuple[str, ...] = ()
    case_seconds: float = 60.0
    fixtures: Path | None = None
    judging: judging.Judging | None = None
    until_lost: bool = False
    share: bool = True


@dataclass(frozen=True)
class Outcome:
    """What one variant did in one case, as the sandbox claims.

    Attributes:
        judged: path → what the annotator's checker says against that part, "" for nothing.
    """

    status: str
    entered: bool = False
    file: str = ""
    error: Mapping[str, Any] = field(default_factory=dict)
    document: Document | None = None
    seconds: float = 0.0
    judged: Mapping[str, str] = field(default_factory=dict)

    @property
    def error_text(self) -> str:
        """``TypeError: message``, or ""."""
        if not self.error:
            return ""
        return f"{self.error.get('type', 'error')}: {self.error.get('message', '')}".strip()


@dataclass(frozen=True)
class Replay:
    """All outcomes of one run, by (variant id, case name), and facts about the sandbox."""

    outcomes: Mapping[tuple[str, str], Outcome]
    facts: Mapping[str, Any]
    result: ExecResult

    def of(self, variant: str, case: str) -> Outcome:
        """The outcome of a case; ``"crashed"`` when the run ended before it."""
        return self.outcomes.get((variant, case), Outcome("timeout" if self.result.timed_out else "crashed"))


def replay(
    sandbox: Sandbox,
    tree: Path,
    tree_inside: str,
    plan: Plan,
    variants: Sequence[Variant],
    *,
    hash_seed: int = 0,
    threads: int = 1,
    limits: Limits | None = None,
    stop: Callable[[], bool] | None = None,
) -> Replay:
    """Replay cases on one or more versions of the goal file, each in a process of its own.

    Args:
        sandbox: prepared.
        tree: the repository to run, without ``unit_test/``.
        tree_inside: where it appears inside.
        hash_seed: PYTHONHASHSEED, varied between repeats so that an order that depends on it shows.
        threads: with how many torch computes; sums depend on it in their last bits.
        stop: asked while it runs; True ends it.

    Raises:
        SandboxError: the sandbox failed. A target that fails is an outcome.
    """
    with files.temporary_folder("lmr-author-job-") as job:
        job.chmod(0o755)
        request = write_job(job, tree_inside, plan, variants, threads)
        limits = limits or Limits(seconds=most_seconds(plan, len(variants)))
        command = Command(
            argv=("python", "-m", "lmr_probe", "replay", request),
            mounts=(Mount(tree, tree_inside), probe_mount(resources.probe_folder()), Mount(job, INPUTS)),
            cwd=tree_inside,
            env={"PYTHONPATH": PROBE_ROOT, "PYTHONHASHSEED": str(hash_seed)},
            limits=limits,
            stop=stop,
        )
        result = sandbox.run(command)
    return _judged(sandbox, plan, _read(result))


def most_seconds(plan: Plan, variants: int) -> float:
    """What a run may take: more than all of its versions together, each of which has its own limits inside."""
    loading = max(LOAD_SECONDS, plan.case_seconds)
    return loading + (loading + plan.case_seconds * len(plan.cases)) * variants


def load_document(folder: Path, stem: str) -> Document:
    """A stored document. Raises LmrError when it is damaged; never runs or imports what it names."""
    try:
        return checking.load(str(folder), stem)
    except (BadDocument, OSError) as error:
        raise LmrError(
            f"{folder.name}/{stem}.json cannot be read: {error}",
            "record the case again with `lmr-author record`",
        ) from error


def differences(expected: Document, outcome: Outcome, checkers: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """How an outcome differs from the expected one; [] when it does not."""
    if outcome.document is None:
        return [outcome.error_text or outcome.status]
    found = [str(item) for item in compare.compare(expected, outcome.document, judging.without(checkers))]
    for path in judging.functions_of(checkers):
        message = outcome.judged.get(path, judging.NOT_JUDGED)
        found += [f"{path}: {message}"] if message else []
    # When the call raised where it should have returned, what it raised is what a person wants to know.
    return [f"raised {outcome.error_text}", *found] if found and outcome.error_text else found


def write_job(job: Path, tree_inside: str, plan: Plan, variants: Sequence[Variant], threads: int) -> str:
    """Lay out request, variants and inputs (never expected outputs) in a folder; returns the request's path.

    Paths in it are relative to it, so that it holds wherever a sandbox puts it.
    """
    listed = []
    for number, variant in enumerate(variants):
        entry: dict[str, Any] = {"id": variant.id, "source": None, "line": variant.line}
        if variant.source is not None:
            path = job / f"variant_{number}.py"
            path.write_bytes(variant.source)
            entry["source"] = path.name
        listed.append(entry)
    for case in plan.cases:
        target = job / "cases" / case
        target.mkdir(parents=True)
        for file in (plan.recording / case).glob("inputs.*"):
            shutil.copyfile(file, target / file.name)
    request = {
        "tree": posixpath.relpath(tree_inside, INPUTS),
        "goal_file": plan.goal_file,
        "qualname": plan.qualname,
        "line": plan.line,
        "module": plan.module,
        "sys_path": list(plan.sys_path),
        "inputs": "cases",
        "cases": list(plan.cases),
        "variants": listed,
        "case_seconds": plan.case_seconds,
        "preload": list(plan.preload),
        "threads": threads,
        "until_lost": plan.until_lost,
        "share": plan.share,
    }
    if plan.fixtures is not None:
        shutil.copyfile(plan.fixtures, job / "fixtures.py")
        request["fixtures"] = "fixtures.py"
    (job / "request.json").write_text(json.dumps(request), encoding="utf-8")
    return f"{INPUTS}/request.json"


def _judged(sandbox: Sandbox, plan: Plan, found: Replay) -> Replay:
    """With what the annotator's checkers say of each outcome."""
    if plan.judging is None:
        return found
    told = [
        (key, item)
        for key, item in found.outcomes.items()
        if item.document is not None and plan.judging.functions.get(key[1])
    ]
    if not told:
        return found
    pairs = [(key[1], item.document) for key, item in told if item.document is not None]
    said = judging.judge(sandbox, plan.judging, pairs)
    judged = {key: replace(item, judged=one) for (key, item), one in zip(told, said, strict=True)}
    return replace(found, outcomes={**found.outcomes, **judged})


def _read(result: ExecResult) -> Replay:
    outcomes: dict[tuple[str, str], Outcome] = {}
    facts: dict[str, Any] = {}
    for frame in checking.read_frames(result.stdout):
        header = frame.header
        kind = header.get("kind")
        if kind == "facts":
            facts = dict(header)
        elif kind == "end":
            facts["peak_rss"] = header.get("peak_rss")
        elif kind == "case":
            key = (str(header.get("variant")), str(header.get("case")))
            outcomes.setdefault(key, _outcome(header, frame.payload))
    return Replay(outcomes, facts, result)


def _outcome(header: Mapping[str, Any], payload: bytes) -> Outcome:
    error, seconds = header.get("error"), header.get("seconds")
    loaded = None
    if payload:
        try:
            loaded = checking.from_bytes(payload)
        except BadDocument as problem:
            return Outcome("crashed", error={"type": "BadDocument", "message": str(problem)})
    return Outcome(
        status=str(header.get("status")),
        entered=header.get("entered") is True,
        file=str(header.get("file") or ""),
        error=error if isinstance(error, dict) else {},
        document=loaded,
        seconds=float(seconds) if isinstance(seconds, int | float) else 0.0,
    )
