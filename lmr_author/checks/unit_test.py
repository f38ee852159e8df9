"""LMR5xx: unit tests and recordings.

These rules state plain facts about a test's text. What a test *does* is proven by running: `evaluate` runs a test
with the golden, the masked code and wrong versions, and LMR502 reports its result.
"""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from lmr_author.checks import dockerfile
from lmr_author.checks.base import ERROR, NOTE, WARNING, Check, Problem, check, target_check
from lmr_author.checks.hygiene import state
from lmr_author.checks.lookup import (
    clean_path,
    did_you_mean,
    function_names,
    goal_path,
    leaves,
    misspelt,
    pair,
    pairs,
    unit_test_path,
)
from lmr_author.checks.masks import syntax_error
from lmr_author.checks.view import TaskView, read_json
from lmr_author.code import FunctionNode, Module, walk
from lmr_author.errors import LmrError
from lmr_author.files import sha256_file
from lmr_author.task import INFO, Implementation, Severity
from lmr_author.task.evaluation import Evaluation, passes_without_solution
from lmr_author.task.recording import SUPPORT

_PREPARES = frozenset(("setUp", "setUpClass", "setUpModule", "setup_method", "tearDown", "tearDownClass"))
_EXITS = frozenset(("sys.exit", "exit", "quit", "os._exit", "os.abort", "SystemExit"))
_BROAD = re.compile(r"(?:.*\.)?(?:Exception|BaseException|AssertionError)")
_RUNNER = re.compile(r"(?:unittest|pytest|absltest)\.main|(?!subprocess).*[rR]unner(?:\(\))?\.run|\(\)\.run")
_DATA = re.compile(
    r"[^\s*{}%<>|]*[\w\])]\.(?:jsonl?|pth?|pkl|pickle|np[yz]|csv|tsv|txt|bin|ya?ml|h5|safetensors|mat)"
)
_NOT_READ = re.compile(
    r"(?:.*\.)?(?:save\w*|dump|to_csv|to_json|write\w*|basicConfig|\w*FileHandler|remove|unlink|exists|isfile)"
)


@dataclass(frozen=True)
class FailingPoint:
    """A statement or call that can make the test fail.

    Attributes:
        handler: the ``except`` or ``with suppress`` that swallows it; None when it takes effect.
        top: it runs when the file is run, and is not inside a function.
    """

    node: ast.AST
    handler: ast.AST | None
    top: bool

    @property
    def is_exit(self) -> bool:
        """Return True for an exit with a code, or something that runs the tests and exits."""
        return isinstance(self.node, ast.Call) and dotted(self.node.func) in ("unittest.main", *_EXITS)


@dataclass(frozen=True)
class UnitTest:
    """A unit test, with the modules of its own folder that it imports."""

    path: Path
    module: Module
    helpers: tuple[Module, ...]

    @property
    def trees(self) -> tuple[ast.Module, ...]:
        """Return the syntax trees of the test and its helpers."""
        return (self.module.tree, *(helper.tree for helper in self.helpers))

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """Return every node of the test and its helpers."""
        return tuple(node for tree in self.trees for node in ast.walk(tree))

    @cached_property
    def calls(self) -> tuple[tuple[ast.Call, str], ...]:
        """Return (call, dotted name of what is called) of every call."""
        return tuple((node, dotted(node.func)) for node in self.nodes if isinstance(node, ast.Call))

    @cached_property
    def texts(self) -> tuple[tuple[str, int], ...]:
        """Return (text, line) of every string constant but docstrings; pieces of f-strings included."""
        docstrings = {id(node.value) for node in self.nodes if isinstance(node, ast.Expr)}
        return tuple(
            (node.value, node.lineno)
            for node in self.nodes
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings
        )

    @cached_property
    def names(self) -> frozenset[str]:
        """Return every identifier that the test uses, imports or spells in a string."""
        found = {name for text, _ in self.texts for name in re.findall(r"\w+", text)}
        for node in self.nodes:
            if isinstance(node, ast.Name):
                found.add(node.id)
            elif isinstance(node, ast.Attribute):
                found.add(node.attr)
            elif isinstance(node, ast.Import | ast.ImportFrom):
                found |= {part for alias in node.names for part in alias.name.split(".")}
                found |= set((getattr(node, "module", None) or "").split("."))
        return frozenset(found)

    @cached_property
    def failures(self) -> tuple[FailingPoint, ...]:
        """Return everything that can make the test fail, calls of its own functions that can fail included."""
        functions = [node for node in self.nodes if isinstance(node, FunctionNode)]
        functions = [node for node in functions if node.name not in _PREPARES]
        failing: set[str] = set()
        while True:
            found = {
                node.name
                for node in functions
                for item in _failures(node.body, None, failing, top=True)
                if item.top and item.handler is None
            }
            if found <= failing:
                break
            failing |= found
        return tuple(item for tree in self.trees for item in _failures(tree.body, None, failing, top=True))

    @cached_property
    def files(self) -> tuple[tuple[str, int, bool], ...]:
        """Return (path as spelt, line, is written) of every data file that a constant names."""
        assigned: dict[str, str] = {}
        for node in self.nodes:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                assigned[node.targets[0].id] = next(iter(_data_files(node.value)), "")
        written = set()
        for call, name in self.calls:
            if _NOT_READ.fullmatch(name) or (name.endswith("open") and _opens_to_write(call)):
                names = {node.id for node in ast.walk(call) if isinstance(node, ast.Name)}
                written |= {*_data_files(call), *(assigned.get(one, "") for one in names)}
        found = [one for one in self.texts if _DATA.fullmatch(one[0]) and "://" not in one[0]]
        return tuple((text, line, text in written) for text, line in found)


def read_test(task: TaskView, target: Implementation) -> UnitTest | None:
    """Return a target's unit test; None when it is missing or not Python 3."""
    path = unit_test_path(task, target)
    module = task.module(path)
    if path is None or module is None:
        return None
    return task.memo(("unit test", path), lambda: UnitTest(path, module, tuple(_helpers(task, path, module))))


def _helpers(task: TaskView, path: Path, module: Module) -> Iterator[Module]:
    """Yield the modules of the test's own folder that it imports, one level deep and relative to that folder."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import | ast.ImportFrom) and path.parent != task.repository:
            named = (
                [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else [item.name for item in node.names]
            )
            named += [item.name for item in node.names if isinstance(node, ast.ImportFrom) and node.level]
            for name in filter(None, named):
                last = name.removeprefix(f"{path.parent.name}.").replace(".", "/")
                helper = task.module(task.inside(path.parent, f"{last}.py"))
                if helper is not None and helper is not module:
                    yield helper


def dotted(node: ast.AST) -> str:
    """Return ``a.b.c`` of a name or attribute, ``().c`` where something else precedes it; "" for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value) or '()'}.{node.attr}"
    return ""


def _data_files(node: ast.AST) -> list[str]:
    values = (item.value for item in ast.walk(node) if isinstance(item, ast.Constant))
    return [value for value in values if isinstance(value, str) and _DATA.fullmatch(value)]


def _opens_to_write(call: ast.Call) -> bool:
    modes = [*call.args[:2], *(item.value for item in call.keywords if item.arg == "mode")]
    return any(isinstance(one, ast.Constant) and re.fullmatch(r"[wax]b?\+?", str(one.value)) for one in modes)


def _can_fail(node: ast.AST, failing: Set[str] = frozenset()) -> bool:
    """Return True for a statement or call that makes a test fail: an assertion, a raise, a non-zero exit.

    Args:
        failing: names of functions that can fail.
    """
    if isinstance(node, ast.Assert):
        always = isinstance(node.test, ast.Tuple) and bool(node.test.elts)  # assert (x, "message")
        return not always and not (isinstance(node.test, ast.Constant) and bool(node.test.value))
    if isinstance(node, ast.Raise):
        return not isinstance(node.exc, ast.Call) or dotted(node.exc.func) != "SystemExit" or _exits(node.exc)
    if not isinstance(node, ast.Call):
        return False
    name = dotted(node.func)
    last = name.rpartition(".")[2]
    if name in _EXITS:
        return _exits(node)
    if name == "unittest.main":
        return all(one.arg != "exit" or getattr(one.value, "value", None) for one in node.keywords)
    return last.startswith(("assert", "_assert")) or last == "fail" or last in failing


def _exits(call: ast.Call) -> bool:
    """Return True when an exit's argument can be anything but success."""
    return bool(call.args) and not (
        isinstance(call.args[0], ast.Constant) and call.args[0].value in (0, None, False)
    )


def _failures(
    nodes: list[ast.stmt], handler: ast.AST | None, failing: Set[str], *, top: bool
) -> Iterator[FailingPoint]:
    for node in nodes:
        if isinstance(node, FunctionNode | ast.ClassDef):
            if node.name not in _PREPARES:
                yield from _failures(node.body, None, failing, top=False)
        elif isinstance(node, ast.Try):
            broad = next((item for item in node.handlers if _swallows(item)), None)
            yield from _failures(node.body, broad or handler, failing, top=top)
            for block in (node.orelse, node.finalbody, *(item.body for item in node.handlers)):
                yield from _failures(block, handler, failing, top=top)
        elif not _is_dead(node):
            items = node.items if isinstance(node, ast.With) else []
            inner = node if any(_suppresses(item.context_expr) for item in items) else handler
            heads = [
                one for one in ast.iter_child_nodes(node) if not isinstance(one, ast.stmt | ast.match_case)
            ]
            for item in (node, *(below for one in heads for below in ast.walk(one))):
                if _can_fail(item, failing):
                    yield FailingPoint(item, inner, top)
            blocks = [getattr(node, name, []) for name in ("body", "orelse")]
            for block in [*blocks, *(case.body for case in getattr(node, "cases", []))]:
                yield from _failures(block, inner, failing, top=top)


def _swallows(handler: ast.ExceptHandler) -> bool:
    """Return True when a handler catches a failed assertion and neither fails itself nor keeps what happened."""
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    if handler.type is not None and not any(kind and _BROAD.fullmatch(dotted(kind)) for kind in kinds):
        return False
    for item in (item for statement in handler.body for item in ast.walk(statement)):
        keeps = isinstance(item, ast.Assign | ast.AugAssign) or (isinstance(item, ast.Return) and item.value)
        appends = isinstance(item, ast.Call) and dotted(item.func).endswith((".append", ".add"))
        if keeps or appends or _can_fail(item):
            return False
    return True


def _suppresses(node: ast.expr) -> bool:
    if not isinstance(node, ast.Call) or not dotted(node.func).endswith("suppress"):
        return False
    return any(_BROAD.fullmatch(dotted(item)) for item in node.args)


def _is_dead(node: ast.stmt) -> bool:
    """Return True for an ``if`` that never holds: ``if False``, ``if __name__ == "main"``."""
    if not isinstance(node, ast.If):
        return False
    if isinstance(node.test, ast.Compare) and dotted(node.test.left) == "__name__":
        right = node.test.comparators[0]
        return isinstance(right, ast.Constant) and right.value != "__main__"
    return isinstance(node.test, ast.Constant) and not node.test.value


# the checks

TestRule = Callable[[TaskView, Implementation, UnitTest], Iterable[Problem]]


def _test_check(
    code: str, title: str, *, rationale: str, severity: Severity = ERROR, recorded: bool = True
) -> Callable[[TestRule], Check]:
    """Make a check of a rule that reads a unit test; a problem without a path is about it.

    Args:
        recorded: also read tests that `lmr-author record` made, which writes a manifest beside them.
    """

    def decorate(rule: TestRule) -> Check:
        def problems(task: TaskView, target: Implementation) -> Iterator[Problem]:
            test = read_test(task, target)
            manifest = f"recordings/{target.index}/recording.json"
            if test is not None and (recorded or not task.is_file(test.path.parent / manifest)):
                for problem in rule(task, target, test):
                    yield problem if problem.path else replace(problem, path=test.path)

        return target_check(code, title, rationale=rationale, severity=severity)(problems)

    return decorate


@target_check(
    "LMR501",
    "the unit test is missing or cannot be parsed",
    rationale="Without its test an implementation cannot be scored. `unit_test.py` for `unit_test_1.py` is the usual"
    " slip.",
    fixable=True,
)
def test_exists(task: TaskView, target: Implementation) -> Iterator[Problem]:
    named, pointer = target.unit_test_file, task.pointer(target)
    shown = f"unit_test_file {named!r:.120} does not exist" if named else "unit_test_file is missing"
    found = unit_test_path(task, target)
    if task.repository is None:
        if task.is_empty and found is None:
            hint = "`lmr-author record` makes one when the repository is present"
            yield Problem(f"{shown}: the repository is empty", hint, INFO, pointer=pointer)
    elif not leaves(task, task.repository, named):
        pointer += "/unit_test_file" if named else ""
        exact = task.inside(task.repository, clean_path(named))
        if exact is None or not task.is_file(exact):
            meant = task.in_repository_path(found)
            hint = f"did you mean {meant}?" if meant else "`lmr-author record` makes one"
            if found is not None and not meant:
                hint = f"move {task.relative(found)} to unit_test/ of the repository"
            yield Problem(shown, hint, INFO, pointer=pointer)
        elif wrong := misspelt(named):
            hint = "separate with /, without blanks"
            yield Problem(f"unit_test_file {wrong}", hint, INFO, pointer=pointer)
    if found is not None and found.suffix == ".py" and task.module(found) is None:
        line, cause = syntax_error(task, found)
        yield Problem(f"cannot be parsed as Python 3: {cause}", "correct the syntax", found, line)


@_test_check(
    "LMR502",
    "the unit test cannot fail",
    rationale='24 of 35 published tests only log "Passed" or "Failed" and exit with 0 whatever happens. Harnesses,'
    " shells and CI read exit codes; a verdict that stands only in a log can be forged by a line in a log. A"
    " test needs an assertion, or an exit with a code, that is reached when it runs as a script.",
)
def cannot_fail(task: TaskView, target: Implementation, test: UnitTest) -> Iterator[Problem]:
    hint = "assert what must hold, and run the test: `if __name__ == '__main__': unittest.main()`"
    message, line = _powerless(task, test)
    if message:
        yield Problem(message, hint, line=line)
    elif proof := _proven_to_pass(task, target):
        yield Problem(proof, "compare what the target returns with stored values, and exit with 1")


def _powerless(task: TaskView, test: UnitTest) -> tuple[str, int]:
    """Return why no failure reaches the exit code, and the line; "" when one may, or LMR503 says why none does."""
    for node in test.nodes:
        if isinstance(node, ast.Assert) and isinstance(node.test, ast.Tuple) and node.test.elts:
            return f"`assert {ast.unparse(node.test)[:60]}` always holds: it asserts a tuple", node.lineno
    runs = [call for call, name in test.calls if _RUNNER.fullmatch(name)]
    # A runner fails only if the tests do: its exit code counts for nothing where they assert nothing.
    asserts = [item for item in test.failures if not (runs and item.is_exit)]
    if any(item.handler and not isinstance(item.node, ast.Raise) for item in asserts):
        return "", 0  # LMR503
    if not asserts:
        logged = any(re.search(r"(?i)\bpass(ed)?\b", text) for text, _ in test.texts)
        verdict = (
            "its verdict is only printed or logged"
            if logged
            else "it contains no assertion, raise or exit code"
        )
        return f"{verdict}: the test exits with 0 whatever happens", 0
    if any(item.top and item.handler is None for item in test.failures):
        return "", 0
    if runs:
        return "the test runner's result does not reach the exit code", runs[-1].lineno
    parsed = dockerfile.read(task)
    if parsed is not None and any("pytest" in item.text for item in parsed.named("CMD", "ENTRYPOINT")):
        return "", 0
    dead = [node.lineno for node in test.module.tree.body if _is_dead(node)]
    return "run as a script, the file only defines its tests: nothing runs them", dead[0] if dead else 0


def _proven_to_pass(task: TaskView, target: Implementation) -> str:
    """Return how the test passed without the solution in an evaluation of the present state; "" if it did not."""
    try:
        evaluation = Evaluation.from_json(read_json(task.read_bytes(task.task.evaluation_path)))
    except LmrError:
        return ""
    how = passes_without_solution(evaluation.gates, target.index)
    if not how or not evaluation.is_of(state(task)):
        return ""
    return f"{how}, as `lmr-author evaluate` has shown"


@_test_check(
    "LMR503",
    "a handler swallows failed assertions",
    rationale="An `except Exception` around an assertion turns every failure into a log line and exit code 0.",
)
def swallows(task: TaskView, target: Implementation, test: UnitTest) -> Iterator[Problem]:
    # Exceptions are raised and caught for other reasons too.
    swallowed = [one.handler for one in test.failures if one.handler and not isinstance(one.node, ast.Raise)]
    for handler in dict.fromkeys(swallowed):
        message = "this handler swallows failed assertions: the test goes on, and exits with 0"
        line = getattr(handler, "lineno", 0)
        yield Problem(message, "raise again in the handler, or remove it", line=line)


_COMPARING = re.compile(
    r"(?:.*\.)?(?:allclose|isclose|equal|array_equal|assert(?:_?almost)?_?equals?|assert_allclose|assert_close"
    r"|assert_array_\w*equal|assertSequenceEqual|assertListEqual|assertDictEqual|assertTupleEqual|assertIs)",
    re.IGNORECASE,
)


_SAME = re.compile(r"\.(?:detach|clone|copy|item|cpu|numpy)\(\)|\bcopy\.deepcopy\b")


@_test_check(
    "LMR504",
    "the test compares a value with itself",
    rationale="`allclose(loss, loss)` holds whatever was implemented.",
)
def compares_with_itself(task: TaskView, target: Implementation, test: UnitTest) -> Iterator[Problem]:
    names = function_names(target)
    sources = _sources(test, ("load(", "loads(", "open(", *names))

    def source(side: ast.expr) -> str:
        text = _SAME.sub("", ast.unparse(side)).strip("()")
        return sources.get(text, text)

    compared = [(node, source(left), source(right)) for node, left, right in _compared(test)]
    for node, left, right in compared:
        # Beside a real comparison, two equal calls of the target ask whether it is deterministic.
        repeats = any(name in left for name in names) and any(one != other for _, one, other in compared)
        if left == right and not repeats:
            message = f"compares a value with itself: `{ast.unparse(node)[:80]}`"
            line = getattr(node, "lineno", 0)
            yield Problem(message, "compare with stored values of the golden", line=line)


def _sources(test: UnitTest, telling: tuple[str, ...]) -> dict[str, str]:
    """Return the value of each name that is assigned once, and read from a file or returned by the target."""
    names = [node for node in test.nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    stored = Counter(node.id for node in names)
    found: dict[str, str] = {}
    for node in test.nodes:
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if isinstance(node, ast.Assign) and isinstance(target, ast.Name) and stored[target.id] == 1:
            text = ast.unparse(node.value)
            found |= {target.id: text} if any(word in text for word in telling) else {}
    return found


def _compared(test: UnitTest) -> Iterator[tuple[ast.AST, ast.expr, ast.expr]]:
    """Yield (node, one side, the other side) of what is compared."""
    for node in test.nodes:
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            if not isinstance(node.ops[0], ast.NotEq | ast.IsNot):
                yield node, node.left, node.comparators[0]
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
            yield node, node.left, node.right
        elif isinstance(node, ast.Call):
            if len(node.args) >= 2 and _COMPARING.fullmatch(dotted(node.func)):
                yield node, node.args[0], node.args[1]
            elif isinstance(node.func, ast.Attribute) and node.func.attr in ("equal", "allclose", "eq"):
                yield from ((node, node.func.value, one) for one in node.args[:1])


@_test_check(
    "LMR505",
    "the test uses the golden",
    rationale="A test of the golden passes whatever the agent writes, and the golden is not there when a candidate is"
    " judged.",
)
def uses_golden(task: TaskView, target: Implementation, test: UnitTest) -> Iterator[Problem]:
    stem = Path(clean_path(target.golden_file)).stem
    named = rf"|(?<!\w){re.escape(stem)}(?!\w)" if re.search("gold|orig|solution", stem) else ""
    words = re.compile(rf"(?<![a-z])golden_files?(?![a-z]){named}")
    imports = [node for node in test.nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    texts = [(ast.unparse(node), node.lineno) for node in imports]
    texts += [(text, line) for text, line in test.texts if "\n" not in text]
    for text, line in texts:
        if match := words.search(text):
            hint = "import the repository's own file, and compare with stored values"
            yield Problem(f"the test uses the golden ({match[0]})", hint, line=line)
            return


@_test_check(
    "LMR506",
    "the test never names the target",
    rationale="A test that never runs the target says nothing about it, and passes with the masked code.",
    recorded=False,
)
def names_target(task: TaskView, target: Implementation, test: UnitTest) -> Iterator[Problem]:
    one = pair(task, target)
    if not one.complete:
        return
    last = {item.qualname.rpartition(".")[2] for item in one.targets}
    wanted = {part for item in one.targets for part in item.qualname.split(".")} | set(function_names(target))
    for item in one.golden.definitions if one.golden else ():
        # a private function is reached through its callers
        if last & {dotted(node).rpartition(".")[2] for node in ast.walk(item.node)}:
            wanted |= set(item.qualname.split("."))
    bodies = [node for tree in test.trees for node in tree.body]
    own = [node for node in bodies if isinstance(node, ast.FunctionDef) and node.name in last]
    imports = [node for node in test.nodes if isinstance(node, ast.ImportFrom)]
    reached = {alias.asname or alias.name for node in imports for alias in node.names}
    reached |= {node.attr for node in test.nodes if isinstance(node, ast.Attribute)}
    if own and not target.class_name and not reached & last:
        message = f"tests a definition of {own[0].name} of its own, not the goal file's"
        yield Problem(message, "import it from the goal file", line=own[0].lineno)
    elif not wanted & test.names:
        for node in imports:  # a module that names the target may call it
            path = task.inside(task.repository, f"{(node.module or '').replace('.', '/')}.py")
            text = (task.text(path) or "") if path else ""
            if any(re.search(rf"\b{re.escape(name)}\b", text) for name in last):
                return
        message = f"never names {function_names(target)[0] if function_names(target) else 'the target'}"
        yield Problem(message, "import the goal file and call the target")


@_test_check(
    "LMR507",
    'the test writes no "Passed"',
    rationale='LMR-Bench\'s scripts count "Passed" in unit_test/logs/ and read nothing else: a right solution scores'
    " 0. Where the exit code tells, it is a note.",
    severity=WARNING,
    recorded=False,
)
def writes_verdict(task: TaskView, target: Implementation, test: UnitTest) -> Iterator[Problem]:
    if any("Passed" in text for text, _ in test.texts):
        return
    near = [(text, line) for text, line in test.texts if re.search(r"(?i)\bpass(?:ed|es)?\b", text)]
    hint = 'log "Passed" or "Failed" to unit_test/logs/, beside the exit code'
    message = f'logs {near[0][0]!r:.40}, not "Passed"' if near else 'writes no verdict ("Passed" or "Failed")'
    severity = NOTE if not near and not _powerless(task, test)[0] else None
    yield Problem(message, hint, line=near[0][1] if near else 0, severity=severity)


_ELSEWHERE = re.compile(r"(?:[A-Za-z]:[\\/]|~/|/(?:home|Users|root|mnt|media|data|scratch)/)\S+")


@_test_check(
    "LMR508",
    "a file that the test reads is missing",
    rationale="A fixture that stayed on the annotator's machine, or whose path exists only there, makes the test fail"
    " for everybody else.",
)
def fixtures_exist(task: TaskView, target: Implementation, test: UnitTest) -> Iterator[Problem]:
    known = {entry.name for entry in task.entries if entry.kind == "file"}
    known |= {Path(text).name for text, _, written in test.files if written}
    for text, line in {text: line for text, line, _ in reversed(test.files)}.items():
        name = text.replace("\\", "/").rpartition("/")[2]
        hint = "store it in unit_test/, and name it relative to the test's own folder"
        if _ELSEWHERE.fullmatch(text):
            yield Problem(f"names {text!r:.120}, a path of another machine", hint, line=line)
        elif name and name not in known and not text.startswith((".", "/tmp")):
            hint = did_you_mean(text, list(task.repository_files), 0.75) or hint
            yield Problem(f"names {text!r:.120}, which is missing", hint, line=line)


_GPU = re.compile(r"\.cuda\(\)|[\"'](?:cuda(?::\d+)?|nccl)[\"']")
_FETCHES = re.compile(
    r"\b(?:\w+\.)?(?:from_pretrained|SentenceTransformer|pipeline|load_dataset|hf_hub_download|snapshot_download"
    r"|spacy\.load|torch\.hub\.load)\(\s*(?:\w+=)?[\"'](?![./~])([\w./-]+)[\"']|\b(?:requests\.(?:get|post)|urlopen|urlretrieve|OpenAI"
    r"|Anthropic|(?:wget|gdown|nltk|stanza)\.download)\(|\b(?:pretrained|download)=True|[A-Z_]+_API_KEY"
    r"|\b(?:wget|curl|gdown|git clone|huggingface-cli|hf download)[\"' ]"
)


@_test_check(
    "LMR509",
    "the test needs a GPU, the network or a model",
    rationale="Verification runs on machines without a GPU and without a network. Small recorded inputs test the same"
    " function.",
    severity=WARNING,
    recorded=False,
)
def runs_anywhere(task: TaskView, target: Implementation, test: UnitTest) -> Iterator[Problem]:
    if "mock" in test.module.text:
        return
    hint = "record small inputs on a CPU: `lmr-author record`"
    folders = [task.repository / start for start in ("", "unit_test")] if task.repository else []
    needs: dict[str, tuple[str, int]] = {}
    for number, text in enumerate(test.module.text.splitlines(), 1):
        line = text.partition("#")[0]
        if (match := _GPU.search(line)) and "is_available" not in test.module.text:
            needs.setdefault("GPU", (f"a GPU: {match[0]}", number))
        match = _FETCHES.search(line)
        if match and not (match[1] and any(task.exists(folder / match[1]) for folder in folders)):
            needs.setdefault("network", (f"the network or a model: {match[0]:.60}", number))
    for message, number in needs.values():
        yield Problem(f"needs {message}", hint, line=number)


@target_check(
    "LMR510",
    "goal_file is the unit test",
    rationale="With the test as goal file the agent is told to edit what judges it.",
)
def goal_is_not_test(task: TaskView, target: Implementation) -> Iterator[Problem]:
    goal, test = clean_path(target.goal_file), clean_path(target.unit_test_file)
    inside = task.in_repository_path(goal_path(task, target)).startswith("unit_test/")
    if goal and (goal == test or inside or re.fullmatch(r"unit_test\w*\.py", goal.rpartition("/")[2])):
        message = f"goal_file {goal!r:.120} is {'the' if goal == test else 'part of the'} unit test"
        pointer = task.pointer(target, "goal_file")
        yield Problem(message, "name the file that contains the masked function", INFO, pointer=pointer)


_EXPECTED = re.compile(r"expect|golden|reference|fixture|ground_?truth|test_?(?:data|case)", re.IGNORECASE)


@_test_check(
    "LMR511",
    "the unit test or its expected values lie outside of unit_test/",
    rationale="Everything in unit_test/ is withheld from the agent, and nothing else is: a test or expected values"
    " elsewhere are part of what it is given. LMR-Bench's scripts run unit_test/unit_test_*.py only.",
)
def test_in_its_folder(task: TaskView, target: Implementation, test: UnitTest) -> Iterator[Problem]:
    inside = task.in_repository_path(test.path)
    if task.repository is None or not inside:
        return
    if not inside.startswith("unit_test/"):
        yield Problem("the unit test lies outside of unit_test/", "move it there")
    for text, line, written in test.files:
        relative = re.sub(r"^(?:\.\./|\./)+", "", text)
        outside = not relative.startswith(("unit_test/", "/")) and task.is_file(task.repository / relative)
        beside = task.is_file(test.path.parent / text)
        if outside and not beside and not written and _EXPECTED.search(relative):
            message = f"expected values are read from {relative}, outside of unit_test/"
            yield Problem(message, "move the file to unit_test/", line=line, severity=WARNING)


@check(
    "LMR512",
    "a recording was changed",
    rationale="Expected values that were edited by hand, or half of a recording, make a test that no golden run ever"
    " confirmed.",
)
def recordings_untouched(task: TaskView) -> Iterator[Problem]:
    if task.repository is None:
        return
    tests = f"{task.relative_raw(task.repository)}/unit_test"
    again = "record again: `lmr-author record`"
    folders = {entry.relative for entry in task.below(f"{tests}/recordings") if entry.kind == "folder"}
    for folder in sorted(name for name in folders if name.count("/") == tests.count("/") + 2):
        place = task.task.root / folder / "recording.json"
        data = task.read_bytes(place)
        cases = any(name.startswith(f"{folder}/case_") for name in folders)
        if data is None and cases and task.is_file(task.task.root / tests / SUPPORT):
            yield Problem("recording.json is missing", again, place.parent)
        for path, digest in _recorded_files(place, data) if data is not None else ():
            if task.inside(task.task.root, task.relative_raw(path)) is None or ".." in task.relative_raw(
                path
            ):
                yield Problem("recording.json names a file outside of the recording", again, place)
            elif not digest:
                yield Problem("recording.json cannot be read", again, place)
            elif not task.is_file(path):
                yield Problem(f"{task.relative(path)} is missing", again, place)
            elif sha256_file(path) != digest:
                yield Problem("file that differs from the recording", again, path)


def _recorded_files(place: Path, data: bytes) -> list[tuple[Path, str]]:
    """Return (file, digest) of everything in a manifest; the manifest with no digest when it cannot be read."""
    tests = place.parent.parent.parent
    try:
        manifest = json.loads(data)
        found = [
            (place.parent / str(case["name"]) / file, str(digest))
            for case in manifest["cases"]
            for file, digest in case["files"].items()
        ]
        for key in ("support", "helpers"):
            found += [(tests / str(file), str(digest)) for file, digest in (manifest.get(key) or {}).items()]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return [(place, "")]
    return found


@check(
    "LMR514",
    "two tests write one log",
    rationale='Two tests that write one log overwrite or mix their verdicts: one "Failed" fails both, or the last'
    ' "Passed" passes both.',
)
def own_log_file(task: TaskView) -> Iterator[Problem]:
    owners: dict[str, dict[Path, Implementation]] = {}
    for one in pairs(task):
        test = read_test(task, one.implementation)
        for text, _ in test.texts if test else ():
            if text.endswith(".log") and test is not None:
                owners.setdefault(Path(text).name, {}).setdefault(test.path, one.implementation)
    for log, tests in sorted(owners.items()):
        for path, target in tests.items() if len(tests) > 1 else ():
            others = ", ".join(str(other.index) for other in tests.values() if other is not target)
            hint = f"name it unit_test/logs/unit_test_{target.index}.log"
            yield Problem(
                f"writes {log}, as the test of implementation {others} does", hint, path, target=target
            )


_TOLERANCES = frozenset(["atol", "rtol", "delta", "abs", "rel", "abs_tol", "rel_tol", "tol", "tolerance"])


@_test_check(
    "LMR515",
    "the test compares too little",
    rationale="What is not compared may be anything: a test that looks at one of three returned values passes with the"
    " other two wrong (a note: they may not matter), and a tolerance of 0.1 or more hides dropped terms and"
    " wrong constants.",
    severity=WARNING,
    recorded=False,
)
def compares_enough(task: TaskView, target: Implementation, test: UnitTest) -> Iterator[Problem]:
    for line, tolerance in _tolerances(test):
        message = f"a tolerance of {tolerance:g} hides wrong results"
        yield Problem(message, "use the smallest tolerance that the golden needs, as 1e-5", line=line)
        break
    for golden, _, one in pair(task, target).complete:
        yield from _dropped_values(golden, one.qualname.rpartition(".")[2], test)


def _tolerances(test: UnitTest) -> Iterator[tuple[int, float]]:
    """Yield (line, tolerance) of each comparison that is too wide."""
    for node in test.nodes:
        values: list[ast.expr] = []
        if isinstance(node, ast.Call):
            name = dotted(node.func)
            known = node.keywords if _COMPARING.fullmatch(name) or "approx" in name else []
            values = [item.value for item in known if item.arg in _TOLERANCES]
            places = [item.value for item in known if item.arg in ("places", "decimal")]
            if any(isinstance(one, ast.Constant) and one.value in (0, -1) for one in places):
                yield node.lineno, 0.5
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Lt | ast.LtE):
            left = ast.unparse(node.left)
            values = node.comparators if "abs(" in left and "len(" not in left else []
        for value in values:
            width = value.value if isinstance(value, ast.Constant) else 0
            if isinstance(width, float | int) and width >= 0.1:
                numbers = [one.value for one in ast.walk(node) if isinstance(one, ast.Constant)]
                # beside a large number the tolerance is small
                if not any(isinstance(one, int | float) and one > 10 * width for one in numbers):
                    yield value.lineno, float(width)


def _dropped_values(golden: FunctionNode, name: str, test: UnitTest) -> Iterator[Problem]:
    """Yield a note where some of the values that the golden returns are looked at in no call."""
    returned = [node.value for node in walk(golden) if isinstance(node, ast.Return) and node.value]
    counts = {len(value.elts) if isinstance(value, ast.Tuple) else 0 for value in returned}
    count = counts.pop() if len(counts) == 1 else 0
    names = [node for node in test.nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
    loaded = {node.id for node in names} - {"_"}
    calls = [call for call, called in test.calls if called.rpartition(".")[2] == name]
    taken: dict[int, set[int]] = {}
    for node in test.nodes:
        index = getattr(node.slice, "value", None) if isinstance(node, ast.Subscript) else None
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if isinstance(node, ast.Subscript) and isinstance(index, int):
            taken[id(node.value)] = {index % max(count, 1)}
        elif isinstance(node, ast.Assign) and isinstance(target, ast.Tuple) and len(target.elts) == count:
            kept = {at for at, item in enumerate(target.elts) if getattr(item, "id", "") in loaded}
            taken[id(node.value)] = kept
    used = {at for call in calls for at in taken.get(id(call), set(range(count)))}
    if count > 1 and calls and len(used) < count:
        missing = ", ".join(str(at + 1) for at in range(count) if at not in used)
        message = f"{len(used)} of the {count} values that {name} returns are compared, not number {missing}"
        yield Problem(message, "compare all that it returns", line=calls[0].lineno, severity=NOTE)


@_test_check(
    "LMR517",
    "the test does not find the repository's modules",
    rationale="Python looks for modules in the test's own folder, not in the one it is started from. LMR-Bench's"
    " scripts set PYTHONPATH to the repository's folder: a test that relies on it fails in any other harness,"
    " which is a note; what lies below src/ is not found even so.",
    severity=WARNING,
)
def finds_repository(task: TaskView, target: Implementation, test: UnitTest) -> Iterator[Problem]:
    repository, parsed = task.repository, dockerfile.read(task)
    if repository is None or parsed is None or test.path.parent == repository:
        return
    text = "\n".join(module.text for module in (test.module, *test.helpers))
    image = "\n".join(item.text for item in parsed.instructions)
    if (
        re.search(r"sys\.path|PYTHONPATH|importlib|runpy|subprocess|\bexec\(", text)
        or re.search(r"PYTHONPATH|site-packages|setup\.py|install\s+(?:-(?!r)\S*\s+)*[./$]|\bpytest\b", image)
        or task.is_file(repository / "conftest.py")
    ):
        return
    hint = "begin with sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))"
    for node in test.module.tree.body:
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
        names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        for name in names:
            places = [test.path.parent, repository, *(repository / one for one in ("src", "lib", "python"))]
            first = name.partition(".")[0]
            holds = [
                one for one in places if task.is_file(one / f"{first}.py") or _is_folder(task, one, first)
            ]
            if not holds or holds[0] == test.path.parent:
                continue
            if holds[0] == repository:
                message, severity = f"imports {name}, which only PYTHONPATH makes importable", NOTE
            else:
                folder, severity = holds[0].name, WARNING
                message = f"imports {name}, which is in {folder}/, where Python does not look"
                hint = f"insert {folder}/ into sys.path first"
            yield Problem(message, hint, line=node.lineno, severity=severity)
            return


def _is_folder(task: TaskView, folder: Path, name: str) -> bool:
    return bool(name) and task.exists(folder / name, Path.is_dir)


_DRAWS = re.compile(
    r"torch\.(?:rand|randn|randint|randperm|normal)|(?:np|numpy)\.random\.(?!seed|default_rng|RandomState|[gs]et_state)\w+"
    r"|random\.(?:random|randint|choice|choices|shuffle|sample|uniform|gauss)"
)


@_test_check(
    "LMR518",
    "the test draws random numbers without a seed",
    rationale="Where the target is given other numbers in each run, and the result is compared with stored ones, the"
    " golden itself fails by chance, and a wrong solution may pass.",
    severity=NOTE,
)
def seeded(task: TaskView, target: Implementation, test: UnitTest) -> Iterator[Problem]:
    drawn = [(call, name) for call, name in test.calls if _DRAWS.fullmatch(name)]
    if drawn and not re.search(r"seed|RandomState\(\d|default_rng\(\d|generator=", test.module.text):
        call, name = drawn[0]
        message = f"{name} draws without a seed"
        yield Problem(message, "set a seed first, or store the inputs", line=call.lineno)
