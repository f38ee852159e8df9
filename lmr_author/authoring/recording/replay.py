"""Replay recorded calls on the golden, keep those that reproduce, and derive how their outcomes are compared."""

from __future__ import annotations

import ast
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from lmr_author.authoring.recording.checkers import check_option, fixture_advice, parse, with_chosen
from lmr_author.authoring.recording.job import RecordJob
from lmr_author.authoring.recording.run import RecordedCall, RecordedRun
from lmr_author.authoring.recording.tolerance import derive, differs_in_double, in_double, moved, narrowed
from lmr_author.core import code
from lmr_author.core.errors import Hint, LmrError, Setting
from lmr_author.core.task import Progress, Target
from lmr_author.core.texts import Step, listed
from lmr_author.runtime.probe import compare
from lmr_author.runtime.probe.calling import RANDOM
from lmr_author.runtime.probe.outcome import as_written
from lmr_author.runtime.probe.storing import dump
from lmr_author.runtime.replay import replaying, staging
from lmr_author.runtime.replay.outcomes import Replay
from lmr_author.runtime.sandbox.base import Limits, Sandbox

ILL_CONDITIONED = (
    "ill-conditioned: a version that rounds differently fails; moving the inputs by 1e-15 changes"
)
"""Starts the reason for rejecting a call; the part of the outcome that changes follows."""
REPEATS = 2
"""Replays of a call, each in a process of its own, with another hash seed and number of threads."""
BATCH_CALLS, BATCH_BYTES, BATCH_SECONDS = 100, 48 * 2**20, 20.0
"""Calls that are replayed at once: their number, size and time, at most."""
MOST_SECONDS = 60.0
"""Processor time of the calls that are replayed, by the recorded run; at least those that are wanted are."""
DOUBLE, MOVED = "-double", "-moved"
"""End the names of cases whose inputs are float64, and float64 that is moved by a rounding."""


@dataclass(frozen=True)
class GoldenRunner:
    """The golden tree, ready to replay recorded calls on it, or on versions of its goal file.

    Attributes:
        plan: target and module; ``recording`` is a folder of ours, which :meth:`add` fills.
        tree, inside: the golden tree, without tests, and its path in the sandbox.
        checks: path in the outcome → comparison that the annotator chose.
        ignored: arguments that the golden changes and an implementation need not.
        grads: whether ``.grad`` of tensors is compared.
    """

    sandbox: Sandbox
    plan: replaying.ReplayPlan
    tree: Path
    inside: str
    module: code.Module
    definition: code.Definition
    checks: Mapping[str, Mapping[str, Any]]
    ignored: tuple[str, ...] = ()
    grads: bool = False

    @cached_property
    def named(self) -> frozenset[str]:
        return frozenset(node.attr for node in code.each(self.definition.function, ast.Attribute))

    def add(self, calls: Sequence[RecordedCall]) -> None:
        """Make calls ready to be replayed: as they are, where they hold float32 as float64, and moved by a rounding."""
        for call in calls:
            folder = self.plan.recording / str(call.number)
            shutil.copytree(call.folder, folder)
            inputs = replaying.load_document(folder, "inputs")
            precise = in_double(inputs, with_torch="torch" in self.plan.preload)
            for end, document in ((DOUBLE, precise), (MOVED, moved(inputs, precise))):
                if document is not None:
                    other = self.plan.recording / f"{call.number}{end}"
                    other.mkdir()
                    dump(document, str(other), "inputs")

    def replay(
        self,
        calls: Sequence[RecordedCall],
        variants: Sequence[replaying.Variant] = (replaying.Variant("golden"),),
        *,
        seed: int = 0,
        threads: int = 1,
        limits: Limits | None = None,
        doubles: bool = False,
        **changes: Any,
    ) -> Replay:
        """Replay calls, named by their number. ``doubles``: as float64, and moved, too. Raises SandboxError."""
        cases = [str(call.number) for call in calls]
        if doubles:
            names = [f"{name}{end}" for name in cases for end in (DOUBLE, MOVED)]
            cases += [name for name in names if (self.plan.recording / name).is_dir()]
        plan = replace(self.plan, cases=tuple(cases), **changes)
        return replaying.replay(
            self.sandbox,
            self.tree,
            self.inside,
            plan,
            variants,
            hash_seed=seed,
            threads=threads,
            limits=limits,
        )


def golden_runner(job: RecordJob, sandbox: Sandbox, recorded: RecordedRun, in_place: bool) -> GoldenRunner:
    """Lay out a golden tree that the recorded run has not touched, and decide which changes count.

    Args:
        in_place: implementations have to change what the golden changes besides its result, too.
    """
    overlay = staging.golden_overlay(job.task, job.info)
    module = code.Module.parse(overlay[job.goal_file], job.goal_file)
    definition = code.find(module, Target(job.goal_file, job.qualname, nth=job.nth or None))
    ignored, grads = tuple[str, ...](), True
    if not in_place:
        ignored = changes_by_the_way(definition.function, definition.receiver, recorded.calls)
        grads = changes_grads(definition.function, recorded.calls)
    clean, cases = job.work / "clean", job.work / "cases"
    cases.mkdir()
    staging.copy_tree(job.repository, clean, overlay, with_tests=False)
    plan = replaying.ReplayPlan(
        goal_file=job.goal_file,
        qualname=job.qualname,
        line=definition.line,
        module=recorded.summary.module,
        sys_path=recorded.summary.sys_path,
        recording=cases,
        cases=(),
        preload=tuple(name for name in replaying.HEAVY if getattr(recorded.summary, name)),
        cuda_as_cpu=job.options.cuda_as_cpu,
        fixtures=job.helpers.fixtures,
    )
    checks = parse(job.options.checks)
    return GoldenRunner(sandbox, plan, clean, job.inside, module, definition, checks, ignored, grads)


@dataclass(frozen=True)
class RejectedCall:
    call: RecordedCall
    reason: str
    not_imported: bool = False


def replay(
    golden: GoldenRunner, calls: Sequence[RecordedCall], wanted: int, progress: Progress
) -> tuple[list[RecordedCall], list[RejectedCall]]:
    """Replay calls (the best first) on the golden in batches, until the time is up and ``wanted`` ones reproduce.

    Returns those that reproduce, with their checkers, and those that do not, or were not replayed.
    """
    proven, rejected, waiting = list[RecordedCall](), list[RejectedCall](), list[RecordedCall]()
    for call in calls:
        if lacking := _lacking(golden, call):
            rejected.append(RejectedCall(call, lacking))
        else:
            waiting.append(call)
    total, spent = len(waiting), 0.0
    while waiting and (spent < MOST_SECONDS or len(proven) < wanted):
        batch, before = _batch(waiting), total - len(waiting)
        waiting = waiting[len(batch) :]
        spent += sum(call.cost for call in batch)
        count = f"{total - len(waiting)} of {total}"
        progress(Step(f"replaying call {count} on the golden, {REPEATS} times", before, total))
        runs = _runs(golden, batch)
        for call in batch:
            judged = _judge(golden, call, runs)
            if isinstance(judged, RejectedCall):
                rejected.append(judged)
            else:
                proven.append(judged)
    late = f"not replayed: earlier calls took {MOST_SECONDS:.0f} s"
    rejected += [RejectedCall(call, late) for call in waiting]
    # All calls together show how exact the golden is: one alone may be exact by chance.
    narrow = narrowed([(call.checkers, call.exact) for call in proven])
    pairs = zip(proven, narrow, strict=True)
    return [replace(call, checkers=checkers) for call, checkers in pairs], rejected


def _lacking(golden: GoldenRunner, call: RecordedCall) -> str:
    for part in call.omitted:
        path, kind = as_written(str(part["path"])), str(part["type"])
        if path.rpartition(".")[2] in golden.named:
            advice = fixture_advice([path]) or "drive the function with values that can be stored"
            return f"{path} ({kind}) could not be stored, but the function uses it; {advice}"
    return ""


def _batch(waiting: Sequence[RecordedCall]) -> list[RecordedCall]:
    batch, size, seconds = [waiting[0]], waiting[0].size, waiting[0].cost
    for call in waiting[1:BATCH_CALLS]:
        size += call.size
        seconds += call.cost
        if size > BATCH_BYTES or seconds > BATCH_SECONDS:
            break
        batch.append(call)
    return batch


def _runs(golden: GoldenRunner, batch: Sequence[RecordedCall]) -> list[Replay]:
    """Replay calls :data:`REPEATS` times; in the last run with float64 inputs, too."""
    golden.add(batch)
    runs: list[Replay] = []
    for repeat in range(1, REPEATS + 1):
        # Another number of threads sums in another order: the spread of that belongs to the tolerance.
        last = repeat == REPEATS
        runs.append(golden.replay(batch, seed=repeat, threads=2 if last else 1, doubles=last))
    return runs


def _judge(golden: GoldenRunner, call: RecordedCall, runs: Sequence[Replay]) -> RecordedCall | RejectedCall:
    """Return a call with its tolerances, or why it is no case; the last of the runs had float64 inputs, too."""
    expected = replaying.load_document(call.folder, "expected")
    inputs = replaying.load_document(call.folder, "inputs")
    outcomes = [run.of("golden", str(call.number)) for run in runs]
    documents = []
    for outcome in outcomes:
        if outcome.error.part:
            call = replace(call, omitted=({"path": outcome.error.part, "type": ""},))
        if outcome.document is None:
            text = outcome.error.text or outcome.status
            not_imported = outcome.status == "import-error"
            what = "the goal file cannot be imported on its own" if not_imported else "cannot be replayed"
            return RejectedCall(call, f"{what}: {text}", not_imported)
        documents.append(outcome.document)
    in_float64 = runs[-1].of("golden", f"{call.number}{DOUBLE}")
    precise = in_float64.document if in_float64.status == "returned" else None
    derived = derive(expected, documents, precise, inputs)
    checkers = with_chosen(derived.checkers, golden.checks, expected, golden.ignored, golden.grads, inputs)
    for outcome in outcomes:
        differing = replaying.differences(expected, outcome, checkers)
        if differing:
            return RejectedCall(call, f"gives a different result when replayed: {differing[0]}")
    # Moved inputs are in double precision: a golden that refuses it, as its own weights are single, shows nothing.
    refuses_double = precise is None and ("golden", f"{call.number}{DOUBLE}") in runs[-1].outcomes
    in_motion = runs[-1].of("golden", f"{call.number}{MOVED}").document
    if in_motion is not None and not refuses_double:
        far = compare.compare(precise or expected, in_motion, checkers)
        if far:
            return RejectedCall(call, f"{ILL_CONDITIONED}: {far[0].path or 'the outcome'}")
    fragile = ""
    if precise is not None and RANDOM not in inputs.tree:
        fragile = _fragile(differs_in_double(expected, precise, checkers))
    return replace(
        call,
        checkers=checkers,
        hits=outcomes[0].hits or call.hits,
        seconds=max(outcome.seconds for outcome in outcomes),
        exact=derived.exact,
        fragile=fragile,
    )


def _fragile(parts: Sequence[str]) -> str:
    if not parts:
        return ""
    return (
        f"in float64 the golden gives a different {parts[0]}: a version that rounds differently fails, unless that "
        f"is the point; use inputs without ties, or {check_option(parts[0], 'ignore')}"
    )


def differences(call: RecordedCall, run: Replay, version: str = "golden") -> list[str]:
    """Return how the outcome of a version differs from the expected one; [] for not at all."""
    expected = replaying.load_document(call.folder, "expected")
    return replaying.differences(expected, run.of(version, str(call.number)), call.checkers)


def irreproducible(qualname: str, rejected: Sequence[RejectedCall]) -> LmrError:
    """Return the error of a target of which no recorded call reproduces, with the reasons and what to do."""
    reasons = "; ".join(dict.fromkeys(call.reason for call in rejected))[:400]
    if all(call.not_imported for call in rejected):
        return LmrError(
            f"{qualname} was called, but no test can call it: {reasons}",
            Hint(
                "a test imports the file, with neither the command's arguments nor its data: recreate the task with "
                'a patch that moves the file\'s program under `if __name__ == "__main__":` ({0}), or choose a function '
                "in another file",
                (Setting("--patch", (), "`lmr-author new-task --patch FILE --patch-reason TEXT`"),),
            ),
        )
    omitted = [as_written(str(part["path"])) for lost in rejected for part in lost.call.omitted]
    hint = (
        "the function depends on more than its arguments (a global, the time, a file outside the repository); "
        "pass that in, or choose a function whose inputs determine its result"
    )
    if advised := fixture_advice(omitted):
        hint = f"of its inputs, {listed(list(dict.fromkeys(omitted)), 3)} could not be stored; {advised}"
    return LmrError(f"no recorded call of {qualname} reproduces: {reasons}", hint)


# changes that an implementation has to make, too


_SAYS_SO = re.compile(r"\b(in[- ]?place|modif(y|ies|ied)|mutat\w+|updat(e|es|ed|ing))\b", re.IGNORECASE)


def changes_by_the_way(
    function: code.FunctionNode, receiver: str, calls: Sequence[RecordedCall]
) -> tuple[str, ...]:
    """Return the arguments that a golden changes although that is not what it is for.

    It is for that where it returns nothing, or says so, and where a method goes on from a state that it keeps in
    ``self``, as in ``self.total += x``.

    Args:
        receiver: ``self`` of a method; "" for a function.
    """
    if _is_for_changing(function, calls):
        return ()
    names = dict.fromkeys(name for call in calls for name in call.changed)
    if receiver in names and _keeps_state(function, receiver):
        del names[receiver]
    return tuple(names)


def changes_grads(function: code.FunctionNode, calls: Sequence[RecordedCall]) -> bool:
    """Tell whether a golden is for changing ``.grad``, and nothing else."""
    changed = any(call.changed for call in calls)
    return _is_for_changing(function, calls) and any(call.grads for call in calls) and not changed


def _is_for_changing(function: code.FunctionNode, calls: Sequence[RecordedCall]) -> bool:
    returns_nothing = any(call.nothing for call in calls)
    return returns_nothing or bool(_SAYS_SO.search(ast.get_docstring(function) or ""))


def _keeps_state(function: code.FunctionNode, own: str) -> bool:
    """Tell whether a method reads an attribute of its object and sets it, too.

    What every call sets before it reads it, such as a table that it fills, is no state.
    """
    read, written = _attributes(function, ast.Load), _attributes(function, ast.Store)
    for assignment in code.each(function, ast.AugAssign):
        read |= _attributes(assignment.target)
    named, set_anew = set[str](), set[str]()
    for statement in function.body:
        if isinstance(statement, ast.Assign):
            set_anew |= _attributes(statement, ast.Store) - named - _attributes(statement.value)
        named |= _attributes(statement)
    return any(name.startswith(f"{own}.") for name in (read & written) - set_anew)


def _attributes(node: ast.AST, context: type[ast.expr_context] = ast.expr_context) -> set[str]:
    attributes = code.each(node, ast.Attribute)
    return {ast.unparse(attribute) for attribute in attributes if isinstance(attribute.ctx, context)}
