"""One recording to be made: its options, and what they are laid out as: driver, run, golden tree, room."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from lmr_author.authoring.recording import checkers
from lmr_author.authoring.recording.choose import MOST_BYTES
from lmr_author.authoring.recording.drivers import Driver, from_examples, from_tests, read_command, switches
from lmr_author.authoring.recording.failed import Explain
from lmr_author.authoring.recording.replay import Golden
from lmr_author.authoring.recording.run import Recorded, RecordedCall, Run
from lmr_author.core import code
from lmr_author.core.errors import LmrError, TargetError, UsageError
from lmr_author.core.task import UNIT_TEST, Implementation, Target, Task, TaskInfo
from lmr_author.core.task.recording import load
from lmr_author.runtime.environment.where import HERE, Where
from lmr_author.runtime.replay import replaying, staging
from lmr_author.runtime.sandbox.base import Sandbox

_DETACHES = re.compile(r"\.detach\(|\bno_grad\b|\.data\b|stop_gradient|inference_mode|requires_grad_\(")


@dataclass(frozen=True)
class RecordOptions:
    """Options of ``record``.

    Attributes:
        target: as typed; None when the task has a single implementation.
        command: the annotator's command; with ``from_tests``, more words for pytest.
        cases: how many cases to keep.
        where: the sandbox.
        seconds: time limit of the command.
        max_mb: limit of one recorded call, in MB.
        gradients: compare gradients with respect to the inputs too; where the golden detaches, they are in any case.
        in_place: an implementation has to change the arguments that the golden changes, ``.grad`` of tensors included.
        files: an implementation has to write the files that the golden writes.
        force: replace an existing recording (the old one is kept in ``authoring/removed/``).
        from_tests: the repository's own tests drive the target.
        examples: calls written out, as Python text, that drive it.
        cuda_as_cpu: run code that insists on a GPU on the CPU.
        checks: ``PATH=KIND``, how parts of the outcome are compared.
    """

    target: str | None
    command: tuple[str, ...]
    cases: int = 3
    where: Where = HERE
    seconds: float = 600.0
    max_mb: float = 8.0
    gradients: bool = False
    in_place: bool | None = None
    files: bool = False
    force: bool = False
    from_tests: bool = False
    examples: tuple[str, ...] = ()
    cuda_as_cpu: bool = False
    checks: tuple[str, ...] = ()

    @property
    def unusual(self) -> dict[str, object]:
        """Those that decide what is recorded and how it is compared, where they are not as usual."""
        names = ("cases", "seconds", "max_mb", "gradients", "in_place", "files", "checks")
        defaults = {option.name: option.default for option in fields(self)}
        return {name: getattr(self, name) for name in names if getattr(self, name) != defaults[name]}


@dataclass(frozen=True)
class Job:
    """One recording: what is recorded, with what options, in which folder of ours."""

    task: Task
    info: TaskInfo
    implementation: Implementation
    options: RecordOptions
    helpers: checkers.Helpers
    work: Path


def implementation_of(task: Task, info: TaskInfo, target: str | None, here: Path) -> Implementation:
    """Return the masked function that a target names. Raises TargetError for none and for several.

    Args:
        target: a node id, whose path may be relative to the repository, to the task or to the current folder; a name
            alone; None for the only one.
        here: the current folder.
    """
    masked = list(info.implementations)
    if not masked:
        raise TargetError(
            f"nothing is masked in {task.name}", "mask a function first: lmr-author mask FILE::FUNCTION"
        )
    shown = "; ".join(str(implementation.target) for implementation in masked)
    named = masked
    if target is not None:
        named = _named(task, info, target, here)
        if not named:
            raise TargetError(f"{target} is not masked in {task.name}", f"masked: {shown}; mask it first")
    if len(named) > 1:
        several = f"{target} is masked {len(named)} times" if target else "several functions are masked"
        raise TargetError(several, f"name one: {' or '.join(str(one.target) for one in named)}")
    return named[0]


def _named(task: Task, info: TaskInfo, text: str, here: Path) -> list[Implementation]:
    if "::" not in text:
        return [masked for masked in info.implementations if text in (masked.qualname, masked.target.name)]
    target, repository = Target.parse(text), task.repository(info)
    named = []
    for masked in info.implementations:
        goal = repository / masked.goal_file
        paths = {(folder / target.path).resolve() for folder in (repository, here, task.root)}
        if masked.qualname == target.qualname and goal.resolve() in paths:
            named.append(masked)
    number = target.nth
    if target.line is not None and named:
        goal = repository / named[0].goal_file
        number = code.find(code.Module.parse(goal.read_bytes(), named[0].goal_file), target).nth
    return [masked for masked in named if number is None or masked.nth in (None, number)]


def ready_helpers(
    task: Task, info: TaskInfo, implementation: Implementation, options: RecordOptions
) -> checkers.Helpers:
    """Return the annotator's own checkers and fixtures. Raises LmrError where the options cannot be recorded with."""
    folder = task.recording(info, implementation.index)
    # A recording without its test is one whose making was cut short: it is put aside, not defended.
    if folder.exists() and task.unit_test(info, implementation).exists() and not options.force:
        raise LmrError(
            f"{implementation.target} has a recording already ({folder.relative_to(task.root)})",
            "add --force to make it anew; the old one is kept in authoring/removed/",
        )
    ways = {
        "a command": bool(options.command) and not options.from_tests,
        "--from-tests": options.from_tests,
        "--from-example": bool(options.examples),
    }
    drivers = [name for name, used in ways.items() if used]
    if len(drivers) > 1:
        raise UsageError(f"{' and '.join(drivers)} both drive the target", "choose one of them")
    own = checkers.read_helpers(task.unit_test_folder(info))
    checks = checkers.parse(options.checks)
    checkers.check_functions(checks, own)
    return own


def driver_of(job: Job, here: Path) -> Driver:
    options, repository = job.options, job.task.repository(job.info)
    if options.examples:
        return from_examples(job.implementation, options.examples, job.work, job.helpers.fixtures)
    if options.from_tests:
        return from_tests(job.implementation, repository, options.command)
    return read_command(options.command, repository, here)


def plan_of(job: Job, driver: Driver, explain: Explain) -> Run:
    """Lay out the golden tree to run in. Raises LmrError: the target is not in its golden."""
    task, info, implementation = job.task, job.info, job.implementation
    overlay = staging.original_overlay(task, info)
    golden = code.Module.parse(overlay[implementation.goal_file], implementation.goal_file)
    goal = code.Module.parse(task.goal(info, implementation).read_bytes(), implementation.goal_file)
    pair = code.matching(golden, goal, implementation.qualname, implementation.nth)
    if pair is None:
        raise LmrError(
            f"{implementation.target} cannot be identified in {implementation.golden_file}",
            "run `lmr-author validate`",
        )
    tree = job.work / "tree"
    staging.copy_tree(task.repository(info), tree, overlay, with_tests=False)
    if job.helpers.fixtures is not None:  # so that the driver can build the same objects
        staging.copy_fixtures(job.helpers.fixtures, tree / UNIT_TEST)
    return Run(
        tree=tree,
        inside=staging.tree_path(info),
        goal_file=implementation.goal_file,
        qualname=implementation.qualname,
        line=pair[0].line,
        nth=pair[0].nth if pair[0].siblings > 1 else 0,
        driver=driver,
        work=job.work,
        seconds=job.options.seconds,
        max_bytes=int(job.options.max_mb * 1024 * 1024),
        helpers=job.helpers,
        gradients=job.options.gradients or bool(_DETACHES.search(ast.unparse(pair[0].function))),
        files=job.options.files,
        globals=code.set_at_run_time(golden.tree, pair[0].function),
        cuda_as_cpu=job.options.cuda_as_cpu,
        uncompiled=switches(pair[0].function),
        explain=explain,
    )


def golden_of(job: Job, plan: Run, sandbox: Sandbox, recorded: Recorded, in_place: bool) -> Golden:
    """Lay out a golden tree that the recorded run has not touched, and decide which changes count.

    Args:
        in_place: implementations have to change what the golden changes by the way, too.
    """
    overlay = staging.golden_overlay(job.task, job.info)
    module = code.Module.parse(overlay[plan.goal_file], plan.goal_file)
    definition = code.find(module, Target(plan.goal_file, plan.qualname, nth=plan.nth or None))
    ignored, grads = tuple[str, ...](), True
    if not in_place:
        method = bool(definition.class_name) and "." not in definition.function_name
        ignored = changes_by_the_way(definition.function, method, recorded.calls)
        grads = changes_grads(definition.function, recorded.calls)
    clean, cases = job.work / "clean", job.work / "cases"
    cases.mkdir()
    staging.copy_tree(job.task.repository(job.info), clean, overlay, with_tests=False)
    replay_plan = replaying.ReplayPlan(
        goal_file=plan.goal_file,
        qualname=plan.qualname,
        line=definition.line,
        module=recorded.summary.module,
        sys_path=recorded.summary.sys_path,
        recording=cases,
        cases=(),
        preload=tuple(name for name in replaying.HEAVY if getattr(recorded.summary, name)),
        cuda_as_cpu=plan.cuda_as_cpu,
    )
    checks = checkers.parse(job.options.checks)
    return Golden(
        sandbox, replay_plan, clean, plan.inside, module, definition, job.helpers, checks, ignored, grads
    )


def room_left(job: Job) -> int:
    """Return the bytes that the recordings of the task's other functions leave for cases."""
    left = MOST_BYTES
    for other in job.info.implementations:
        recording = load(job.task.recording(job.info, other.index))
        if recording and other.index != job.implementation.index:
            left -= sum(case.bytes for case in recording.cases)
    return max(0, left)


# changes that an implementation has to make, too


_SAYS_SO = re.compile(r"\b(in[- ]?place|modif(y|ies|ied)|mutat\w+|updat(e|es|ed|ing))\b", re.IGNORECASE)


def changes_by_the_way(
    function: code.FunctionNode, method: bool, calls: Sequence[RecordedCall]
) -> tuple[str, ...]:
    """Return the arguments that a golden changes although that is not what it is for.

    It is for that where it returns nothing, or says so. Of a method that returns something, ``self`` is among them:
    another version may keep its results there, or not. It is not, where the method goes on from a state that it
    keeps there, as in ``self.total += x``.
    """
    if _is_for_changing(function, calls):
        return ()
    names = dict.fromkeys(name for call in calls for name in call.changed)
    if not method:
        return tuple(names)
    own = code.parameters(function.args)[0][0].arg if code.parameters(function.args) else ""
    if not any(own in call.summary for call in calls):
        return tuple(names)
    names.pop(own, None)
    return tuple(names) if _keeps_state(function, own) else (own, *names)


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
    read, written = set[str](), set[str]()
    for assignment in code.each(function, ast.AugAssign):
        read |= _names_of([assignment.target], ast.Store)
    for node in code.each(function, ast.Attribute):
        (written if isinstance(node.ctx, ast.Store) else read).add(ast.unparse(node))
    state = {name for name in read & written if name.startswith(f"{own}.")}
    return bool(state - _set_anew(function))


def _set_anew(function: code.FunctionNode) -> set[str]:
    """Return the attributes that a function sets, whatever happens, before it names them otherwise."""
    anew, named = set[str](), set[str]()
    for statement in function.body:
        if isinstance(statement, ast.Assign):
            named |= _names_of([statement.value])
            anew |= _names_of(statement.targets, ast.Store) - named
        named |= _names_of([statement])
    return anew


def _names_of(nodes: Iterable[ast.AST], context: type[ast.expr_context] = ast.expr_context) -> set[str]:
    """Return the attributes in some nodes, as in ``self.total``, that are read or set there."""
    names = set()
    for node in nodes:
        names |= {
            ast.unparse(part) for part in code.each(node, ast.Attribute) if isinstance(part.ctx, context)
        }
    return names
