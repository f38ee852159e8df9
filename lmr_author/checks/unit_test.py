"""LMR5xx: unit tests and recordings.

These rules state plain facts about a test's text. What a test *does* is proven by running: `evaluate` runs a test
with the golden, the masked code and wrong versions, and LMR502 reports its result.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
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
    pair,
    unit_test_path,
)
from lmr_author.checks.masks import syntax_error, wrong_path
from lmr_author.checks.view import TaskView, once, read_json
from lmr_author.code import FunctionNode, Module, walk
from lmr_author.errors import LmrError
from lmr_author.task import INFO, Implementation, Severity
from lmr_author.task.evaluation import Evaluation, passes_without_solution
from lmr_author.task.recording import MANIFEST, SUPPORT, Recording, tampered
from lmr_author.texts import printable

_EXITS = frozenset(("sys.exit", "exit", "quit", "os._exit", "os.abort", "SystemExit"))
_BROAD = re.compile(r"(?:.*\.)?(?:Exception|BaseException|AssertionError)")
_SUPPRESS = re.compile(r"(?:\w+\.)*suppress\(.*\b(?:Exception|BaseException|AssertionError)\b.*\)")
_RUNNER = re.compile(r"(?:unittest|pytest|absltest)\.main|(?!subprocess).*[rR]unner(?:\(\))?\.run|\(\)\.run")
_DATA = re.compile(
    r"[^\s*{}%<>|]*[\w\])]\.(?:jsonl?|pth?|pkl|pickle|np[yz]|csv|tsv|txt|bin|ya?ml|h5|safetensors|mat)"
)
_WRITES = re.compile(
    r"(?:[^(]*\.)?(?:save\w*|dump|to_csv|to_json|write\w*|basicConfig|\w*FileHandler|remove|unlink|exists|isfile)\("
    r"|(?:[^(]*\.)?open\((?:.*, )?(?:mode=)?'[wax]b?\+?'",
    re.DOTALL,
)
"""The text of a call that writes a file, or asks for it."""
CALLS = 4
"""Calls of calls that are followed to see whether a function of a test can fail."""


@dataclass(frozen=True)
class UnitTest:
    """A unit test, with the modules of its own folder that it imports."""

    path: Path
    modules: tuple[Module, ...]

    @property
    def text(self) -> str:
        """Return the source of the test and its helpers."""
        return "\n".join(module.text for module in self.modules)

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """Return every node of the test and its helpers."""
        return tuple(node for module in self.modules for node in ast.walk(module.tree))

    @cached_property
    def calls(self) -> tuple[tuple[ast.Call, str], ...]:
        """Return (call, dotted name of what is called) of every call."""
        return tuple((node, dotted(node.func)) for node in self.nodes if isinstance(node, ast.Call))

    @cached_property
    def texts(self) -> tuple[tuple[str, int], ...]:
        """Return (text, line) of every string constant but docstrings; pieces of f-strings included."""
        docstrings = {id(node.value) for node in self.nodes if isinstance(node, ast.Expr)}
        strings = (
            node for node in self.nodes if isinstance(node, ast.Constant) and id(node) not in docstrings
        )
        return tuple((node.value, node.lineno) for node in strings if isinstance(node.value, str))

    @cached_property
    def names(self) -> frozenset[str]:
        """Return every identifier that the test uses, imports or spells in a string."""
        naming = (ast.Name, ast.Attribute, ast.Import, ast.ImportFrom)
        texts = [ast.unparse(node) for node in self.nodes if isinstance(node, naming)]
        return frozenset(re.findall(r"\w+", "\n".join([*texts, *(text for text, _ in self.texts)])))

    @cached_property
    def swallowed(self) -> dict[int, ast.AST]:
        """Return the broad handler, or ``with suppress``, around each node (by its id) that is in one."""
        found: dict[int, ast.AST] = {}
        for node in self.nodes:
            handler: ast.AST | None = None
            if isinstance(node, ast.Try):
                handler = next(filter(_swallows, node.handlers), None)
            elif isinstance(node, ast.With) and any(_SUPPRESS.match(ast.unparse(one)) for one in node.items):
                handler = node
            if handler is not None:
                inside = (item for part in getattr(node, "body", ()) for item in ast.walk(part))
                found |= {id(item): handler for item in inside}
        return found

    @cached_property
    def failures(self) -> tuple[ast.AST, ...]:
        """Return everything that can make the test fail, calls of its own functions that can fail included."""
        functions = [node for node in self.nodes if isinstance(node, FunctionNode)]
        failing: set[str] = set()
        for _ in range(CALLS):
            for function in functions:
                heard = (item for item in ast.walk(function) if id(item) not in self.swallowed)
                failing |= {function.name} if any(_can_fail(item, failing) for item in heard) else set()
        return tuple(node for node in self.nodes if _can_fail(node, failing))

    @cached_property
    def defined(self) -> frozenset[int]:
        """Return the ids of all nodes in functions and classes: they do not run when the file is run."""
        bodies = (node for node in self.nodes if isinstance(node, FunctionNode | ast.ClassDef))
        return frozenset(id(item) for node in bodies for item in ast.walk(node))

    @cached_property
    def files(self) -> tuple[tuple[str, int, bool], ...]:
        """Return (path as spelt, line, is written) of every data file that a constant names."""
        saving: list[ast.AST] = [call for call, _ in self.calls if _WRITES.match(ast.unparse(call))]
        names = {node.id for call in saving for node in ast.walk(call) if isinstance(node, ast.Name)}
        assigned = [node for node in self.nodes if isinstance(node, ast.Assign)]
        saving += [node.value for node in assigned if getattr(node.targets[0], "id", "") in names]
        written = {getattr(node, "value", None) for one in saving for node in ast.walk(one)}
        found = [one for one in self.texts if _DATA.fullmatch(one[0]) and "://" not in one[0]]
        return tuple((text, line, text in written) for text, line in found)


@once
def read_test(task: TaskView, target: Implementation) -> UnitTest | None:
    """Return a target's unit test; None when it is missing or not Python 3."""
    path = unit_test_path(task, target)
    module = task.module(path)
    if path is None or module is None:
        return None
    imports = [node for node in ast.walk(module.tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {word for node in imports for word in re.findall(r"\w+", ast.unparse(node))}
    beside = [path.parent / f"{name}.py" for name in sorted(names) if path.parent != task.repository]
    helpers = [task.module(one) for one in beside if one != path]
    return UnitTest(path, (module, *(helper for helper in helpers if helper)))


def dotted(node: ast.AST) -> str:
    """Return ``a.b.c`` of a name or attribute, ``().c`` where something else precedes it; "" for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    return f"{dotted(node.value) or '()'}.{node.attr}" if isinstance(node, ast.Attribute) else ""


def _can_fail(node: ast.AST, failing: Set[str] = frozenset()) -> bool:
    """Return True for a statement or call that makes a test fail: an assertion, a raise, a non-zero exit.

    Args:
        failing: names of functions that can fail.
    """
    if isinstance(node, ast.Assert):  # `assert (x, "message")` always holds
        holds = node.test.elts if isinstance(node.test, ast.Tuple) else getattr(node.test, "value", False)
        return not holds or not isinstance(node.test, ast.Tuple | ast.Constant)
    if isinstance(node, ast.Raise):
        return not isinstance(node.exc, ast.Call) or dotted(node.exc.func) != "SystemExit" or _exits(node.exc)
    name = dotted(node.func) if isinstance(node, ast.Call) else ""
    if isinstance(node, ast.Call) and name in _EXITS:
        return _exits(node)
    if isinstance(node, ast.Call) and name == "unittest.main":
        return all(one.arg != "exit" or getattr(one.value, "value", None) for one in node.keywords)
    last = name.rpartition(".")[2]
    return last.startswith(("assert", "_assert")) or last == "fail" or last in failing


def _exits(call: ast.Call) -> bool:
    """Return True when an exit's argument can be anything but success."""
    return bool(call.args) and getattr(call.args[0], "value", True) not in (0, None, False)


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
    found = unit_test_path(task, target)
    hint = "`lmr-author record` makes one"
    if found is not None and task.repository and not found.is_relative_to(task.repository):
        hint = f"move {task.relative(found)} to unit_test/ of the repository"
    yield from wrong_path(task, target, "unit_test_file", task.repository, found, hint)
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
    message, line = _powerless(test)
    if message:
        hint = "assert what must hold, and run the test: `if __name__ == '__main__': unittest.main()`"
        yield Problem(message, hint, line=line)
    elif proof := _proven_to_pass(task, target):
        yield Problem(proof, "compare what the target returns with stored values, and exit with 1")


def _powerless(test: UnitTest) -> tuple[str, int]:
    """Return why no failure reaches the exit code, and the line; "" when one may, or LMR503 says why none does."""
    runs = [call for call, name in test.calls if _RUNNER.fullmatch(name)]
    exits = [call for call, name in test.calls if name == "unittest.main" or name in _EXITS]
    # A runner fails only if the tests do: its exit code counts for nothing where they assert nothing.
    asserts = [node for node in test.failures if not (runs and node in exits)]
    if any(id(node) in test.swallowed and not isinstance(node, ast.Raise) for node in asserts):
        return "", 0  # LMR503
    if not asserts:
        logged = any(re.search(r"(?i)\bpass(ed)?\b", text) for text, _ in test.texts)
        verdict = "its verdict is only printed or logged" if logged else "it contains no assertion"
        return f"{verdict}: the test exits with 0 whatever happens", 0
    if any(id(node) not in test.defined and id(node) not in test.swallowed for node in test.failures):
        return "", 0
    if runs:
        return "the test runner's result does not reach the exit code", runs[-1].lineno
    return "run as a script, the file only defines its tests: nothing runs them", 0


def _proven_to_pass(task: TaskView, target: Implementation) -> str:
    """Return how the test passed without the solution in an evaluation of the present state; "" if it did not."""
    try:
        evaluation = Evaluation.from_json(read_json(task.read_bytes(task.task.evaluation_path)))
    except LmrError:
        return ""
    how = passes_without_solution(evaluation.gates, target.index)
    return f"{how}, as `lmr-author evaluate` has shown" if how and evaluation.is_of(state(task)) else ""


@_test_check(
    "LMR503",
    "a handler swallows failed assertions",
    rationale="An `except Exception` around an assertion turns every failure into a log line and exit code 0.",
)
def swallows(task: TaskView, target: Implementation, test: UnitTest) -> Iterator[Problem]:
    # Exceptions are raised and caught for other reasons too.
    asserting = (node for node in test.failures if not isinstance(node, ast.Raise))
    for handler in dict.fromkeys(test.swallowed[id(one)] for one in asserting if id(one) in test.swallowed):
        message = "this handler swallows failed assertions: the test goes on, and exits with 0"
        line = getattr(handler, "lineno", 0)
        yield Problem(message, "raise again in the handler, or remove it", line=line)


_COMPARING = re.compile(
    r"(?:.*\.)?(?:allclose|isclose|eq|equal|array_equal|assert(?:_?almost)?_?equals?|assert_allclose|assert_close"
    r"|assert_array_\w*equal|assert(?:Sequence|List|Dict|Tuple)Equal|assertIs)",
    re.IGNORECASE,
)
_SAME = re.compile(r"\.(?:detach|clone|copy|item|cpu|numpy)\(\)|\bcopy\.deepcopy\b")


@_test_check(
    "LMR504",
    "the test compares a value with itself",
    rationale="`allclose(loss, loss)` holds whatever was implemented. Two calls of the target are compared to see"
    " whether it is deterministic.",
)
def compares_with_itself(task: TaskView, target: Implementation, test: UnitTest) -> Iterator[Problem]:
    withs = [node for node in test.nodes if isinstance(node, ast.With)]
    opened = {id(item): ast.unparse(node.items[0]) for node in withs for item in ast.walk(node)}
    assigned: dict[str, set[str]] = defaultdict(set)
    for node in test.nodes:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            assigned[node.targets[0].id].add(opened.get(id(node), "") + ast.unparse(node.value))
    once = {name: texts.pop() for name, texts in assigned.items() if len(texts) == 1}
    loaded = {name: text for name, text in once.items() if re.search(r"loads?\(|open\(", text)}
    names = function_names(target)
    for node in test.nodes:
        sides: list[ast.expr] = []
        if isinstance(node, ast.Compare) and not isinstance(node.ops[0], ast.NotEq | ast.IsNot):
            sides = [node.left, *node.comparators]
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
            sides = [node.left, node.right]
        elif isinstance(node, ast.Call) and _COMPARING.fullmatch(dotted(node.func)):
            owner = [node.func.value] if isinstance(node.func, ast.Attribute) and len(node.args) == 1 else []
            sides = [*owner, *node.args[:2]]
        same = {_SAME.sub("", ast.unparse(side)).strip("()") for side in sides}
        values = {loaded.get(text, text) for text in same}
        calls = any(f"{name}(" in text for name in names for text in same)
        if len(sides) == 2 and len(values) == 1 and not calls:
            message = f"compares a value with itself: `{ast.unparse(node)[:80]}`"
            line = getattr(node, "lineno", 0)
            yield Problem(message, "compare with stored values of the golden", line=line)


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
    for text, line in [*texts, *(one for one in test.texts if "\n" not in one[0])]:
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
    if not one.complete or one.golden is None:
        return
    last = {item.qualname.rpartition(".")[2] for item in one.targets}
    wanted = {part for item in one.targets for part in item.qualname.split(".")}
    for _ in range(CALLS):  # a private function is reached through its callers
        for item in one.golden.definitions:
            if wanted & {dotted(node).rpartition(".")[2] for node in ast.walk(item.node)}:
                wanted |= set(item.qualname.split("."))
    own = [node for one in test.modules for node in one.tree.body if getattr(node, "name", "") in last]
    imports = [node for node in test.nodes if isinstance(node, ast.ImportFrom)]
    reached = {alias.asname or alias.name for node in imports for alias in node.names}
    reached |= {node.attr for node in test.nodes if isinstance(node, ast.Attribute)}
    if own and not target.class_name and not reached & last:
        message = "tests a definition of its own, not the goal file's"
        yield Problem(message, "import it from the goal file", line=own[0].lineno)
    elif not wanted & test.names:
        names = [f"{(node.module or '').replace('.', '/')}.py" for node in imports]
        modules = {task.inside(task.repository, name) for name in names} - {one.goal_path}
        if not any(name in (task.text(path) or "") for name in last for path in modules):
            message = f"never names {next(iter(function_names(target)), 'the target')}"
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
    if near:
        yield Problem(f'logs {near[0][0]!r:.40}, not "Passed"', hint, line=near[0][1])
    else:
        severity = None if _powerless(test)[0] else NOTE
        yield Problem('writes no verdict ("Passed" or "Failed")', hint, severity=severity)


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


_NEEDS = {
    "a GPU": re.compile(r"\.cuda\(\)|[\"'](?:cuda(?::\d+)?|nccl)[\"']"),
    "the network or a model": re.compile(
        r"\b(?:from_pretrained|SentenceTransformer|pipeline|load_dataset|hf_hub_download|snapshot_download"
        r"|spacy\.load|hub\.load)\(\s*(?:\w+=)?[\"'](?![./~])([\w./-]+)[\"']|\b(?:requests\.(?:get|post)|urlopen"
        r"|urlretrieve|OpenAI|Anthropic|(?:wget|gdown|nltk|stanza)\.download)\(|\b(?:pretrained|download)=True"
        r"|[A-Z_]+_API_KEY|\b(?:wget|curl|gdown|git clone|huggingface-cli|hf download)[\"' ]"
    ),
}


@_test_check(
    "LMR509",
    "the test needs a GPU, the network or a model",
    rationale="Verification runs on machines without a GPU and without a network. Small recorded inputs test the same"
    " function.",
    severity=WARNING,
    recorded=False,
)
def runs_anywhere(task: TaskView, target: Implementation, test: UnitTest) -> Iterator[Problem]:
    text = test.modules[0].text
    for need, pattern in _NEEDS.items():
        for number, line in enumerate(text.splitlines() if "mock" not in text else (), 1):
            match = pattern.search(line.partition("#")[0])
            local = match and match.lastindex and task.named(match[1].rpartition("/")[2])
            if match and not local and not (need == "a GPU" and "is_available" in text):
                hint = "record small inputs on a CPU: `lmr-author record`"
                yield Problem(f"needs {need}: {match[0]:.60}", hint, line=number)
                break


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
        beside = relative.startswith("unit_test/") or task.is_file(test.path.parent / text)
        if _EXPECTED.search(relative) and not written and not beside and relative in task.repository_files:
            message = f"expected values are read from {relative}, outside of unit_test/"
            yield Problem(message, "move the file to unit_test/", line=line, severity=WARNING)


@check(
    "LMR512",
    "a recording was changed",
    rationale="Expected values that were edited by hand, or half of a recording, make a test that no golden run ever"
    " confirmed.",
)
def recordings_untouched(task: TaskView) -> Iterator[Problem]:
    again = "record again: `lmr-author record`"
    folders = [entry for entry in task.repository_entries if entry.kind == "folder"]
    for entry in folders:
        if not re.fullmatch("unit_test/recordings/[^/]+", task.in_repository(entry)):
            continue
        folder = task.path(entry)
        manifest = folder / MANIFEST
        data = task.read_bytes(manifest)
        if data is None:
            cases = any(one.name.startswith("case_") for one in task.below(entry.relative))
            if cases and task.is_file(folder.parent.parent / SUPPORT):
                yield Problem(f"{MANIFEST} is missing", again, folder)
            continue
        if any(one.kind == "link" for one in task.below(entry.relative)):
            yield Problem("a recording contains a symbolic link", again, folder)
            continue
        try:
            changes = tampered(folder, Recording.from_json(read_json(data)))
        except LmrError as error:
            yield Problem(error.message, again, manifest)
            continue
        if changes:
            more = f"; and {len(changes) - 3} more" if len(changes) > 3 else ""
            yield Problem(printable("; ".join(changes[:3]) + more), again, manifest)


@check(
    "LMR514",
    "two tests write one log",
    rationale='Two tests that write one log overwrite or mix their verdicts: one "Failed" fails both, or the last'
    ' "Passed" passes both.',
)
def own_log_file(task: TaskView) -> Iterator[Problem]:
    owners: dict[str, dict[Path, Implementation]] = defaultdict(dict)
    for target in task.implementations:
        test = read_test(task, target)
        for text, _ in test.texts if test else ():
            if text.endswith(".log") and test is not None:
                owners[Path(text).name].setdefault(test.path, target)
    for log, tests in sorted(owners.items()):
        for path, target in tests.items() if len(tests) > 1 else ():
            others = ", ".join(str(other.index) for other in tests.values() if other is not target)
            hint = f"name it unit_test/logs/unit_test_{target.index}.log"
            message = f"writes {log}, as the test of implementation {others} does"
            yield Problem(message, hint, path, target=target)


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
    for node in test.nodes:
        values: list[ast.expr] = []
        if isinstance(node, ast.Call) and re.search(r"(?i)close|equal|approx", dotted(node.func)):
            values = [item.value for item in node.keywords if item.arg in _TOLERANCES]
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Lt | ast.LtE):
            left = ast.unparse(node.left)
            values = node.comparators if "abs(" in left and "len(" not in left else []
        width = max((_number(value) for value in values), default=0.0)
        # beside a large number the tolerance is small
        if width >= 0.1 and max(_number(one) for one in ast.walk(node)) <= 10 * width:
            message = f"a tolerance of {width:g} hides wrong results"
            hint = "use the smallest tolerance that the golden needs, as 1e-5"
            yield Problem(message, hint, line=values[0].lineno)
            break
    for golden, _, one in pair(task, target).complete:
        yield from _dropped_values(golden, one.qualname.rpartition(".")[2], test)


def _number(node: ast.AST) -> float:
    value = getattr(node, "value", 0)
    return float(value) if isinstance(value, int | float) else 0.0


def _dropped_values(golden: FunctionNode, name: str, test: UnitTest) -> Iterator[Problem]:
    """Yield a note where some of the values that the golden returns are looked at in no call."""
    returned = [node.value for node in walk(golden) if isinstance(node, ast.Return) and node.value]
    counts = {len(value.elts) if isinstance(value, ast.Tuple) else 0 for value in returned}
    count = counts.pop() if len(counts) == 1 else 0
    names = [node for node in test.nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
    loaded = {node.id for node in names} - {"_"}
    calls = [call for call, called in test.calls if called.rpartition(".")[2] == name]
    taken: dict[int, set[int]] = {}
    for node in test.nodes if count > 1 else ():
        if isinstance(node, ast.Subscript) and isinstance(index := getattr(node.slice, "value", None), int):
            taken[id(node.value)] = {index % count}
        elif isinstance(node, ast.Assign) and isinstance(target := node.targets[0], ast.Tuple):
            kept = {at for at, item in enumerate(target.elts) if getattr(item, "id", "") in loaded}
            taken[id(node.value)] = kept
    used = {at for call in calls for at in taken.get(id(call), range(count))}
    if calls and len(used) < count:
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
    image = "\n".join(item.text for item in parsed.instructions)
    if (
        re.search(r"sys\.path|PYTHONPATH|importlib|runpy|subprocess|\bexec\(", test.text)
        or re.search(r"PYTHONPATH|site-packages|setup\.py|install\s+(?:-(?!r)\S*\s+)*[./$]|\bpytest\b", image)
        or task.is_file(repository / "conftest.py")
    ):
        return
    for node in test.modules[0].tree.body:
        names = [node.module] if isinstance(node, ast.ImportFrom) and node.module and not node.level else []
        names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        for name, start in ((name, start) for name in names for start in ("", "src/")):
            first = f"{start}{name.partition('.')[0]}"
            if any(file.startswith((f"{first}/", f"{first}.py")) for file in task.repository_files):
                message = f"imports {name}, which only PYTHONPATH makes importable"
                hint = f"insert the absolute path of {start or repository.name} into sys.path first"
                yield Problem(message, hint, line=node.lineno, severity=WARNING if start else NOTE)
                return


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
    drawn = [(call.lineno, name) for call, name in test.calls if _DRAWS.fullmatch(name)]
    if drawn and not re.search(r"seed|RandomState\(\d|default_rng\(\d|generator=", test.modules[0].text):
        line, name = drawn[0]
        yield Problem(f"{name} draws without a seed", "set a seed first, or store the inputs", line=line)
