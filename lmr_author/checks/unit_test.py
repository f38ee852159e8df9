"""LMR5xx: unit tests and recordings.

These rules state plain facts about a test's text. What a test *does* is proven by running: `evaluate` runs a test
with the golden, the masked code and wrong versions, and LMR502 reports what that has shown.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

from lmr_author.checks import dockerfile
from lmr_author.checks.base import NOTE, WARNING, Problem, check, target_check
from lmr_author.checks.lookup import (
    clean_path,
    did_you_mean,
    function_names,
    goal_path,
    leaves,
    unit_test_path,
)
from lmr_author.checks.masks import syntax_error
from lmr_author.checks.pairing import pair, pairs
from lmr_author.checks.test_code import EXITS, UnitTest, dotted, is_dead, read_test
from lmr_author.checks.view import TaskView
from lmr_author.errors import LmrError
from lmr_author.files import sha256_file
from lmr_author.task import Implementation
from lmr_author.task.evaluation import Evaluation, passes_without_solution
from lmr_author.task.recording import SUPPORT
from lmr_author.task.state import State


@target_check(
    "LMR501",
    "the unit test is missing or cannot be parsed",
    rationale="Without its test an implementation cannot be scored. `unit_test.py` for `unit_test_1.py` is the usual"
    " slip.",
    fixable=True,
)
def test_exists(task: TaskView, target: Implementation) -> Iterator[Problem]:
    named, pointer = target.unit_test_file, f"/implementations/{task.position(target)}"
    shown = f"unit_test_file {named!r:.120} does not exist" if named else "unit_test_file is missing"
    found = unit_test_path(task, target)
    if task.repository is None:
        if task.is_empty and found is None:
            hint = "`lmr-author record` makes one when the repository is present"
            yield Problem(f"{shown}: the repository is empty", hint, "info.json", pointer=pointer)
    elif not leaves(task, task.repository, named):
        pointer += "/unit_test_file" if named else ""
        exact = task.inside(task.repository, clean_path(named))
        if exact is None or not task.is_file(exact):
            meant = task.in_repository_path(found)
            hint = f"did you mean {meant}?" if meant else "`lmr-author record` makes one"
            if found is not None and not meant:
                hint = f"move {task.relative(found)} to unit_test/ of the repository"
            yield Problem(shown, hint, "info.json", pointer=pointer)
        elif "\\" in named or named != named.strip():
            message = f"unit_test_file {named!r:.120} contains backslashes or surrounding blanks"
            yield Problem(message, "separate with /, without blanks", "info.json", pointer=pointer)
    if found is not None and found.suffix == ".py" and task.module(found) is None:
        line, cause = syntax_error(task, found)
        yield Problem(f"cannot be parsed as Python 3: {cause}", "correct the syntax", found, line)


@target_check(
    "LMR502",
    "the unit test cannot fail",
    rationale='24 of 35 published tests only log "Passed" or "Failed" and exit with 0 whatever happens. Harnesses,'
    " shells and CI read exit codes; a verdict that stands only in a log can be forged by a line in a log. A"
    " test needs an assertion, or an exit with a code, that is reached when it runs as a script.",
)
def cannot_fail(task: TaskView, target: Implementation) -> Iterator[Problem]:
    test = read_test(task, target)
    if test is None:
        return
    hint = "assert what must hold, and run the test: `if __name__ == '__main__': unittest.main()`"
    message, line = _powerless(task, test)
    if message:
        yield Problem(message, hint, test.path, line)
    elif proof := _proven_to_pass(task, target):
        yield Problem(proof, "compare what the target returns with stored values, and exit with 1", test.path)


def _powerless(task: TaskView, test: UnitTest) -> tuple[str, int]:
    """Return why no failure reaches the exit code, and the line; "" when one may, or LMR503 says why none does."""
    for node in test.nodes:
        if isinstance(node, ast.Assert) and isinstance(node.test, ast.Tuple) and node.test.elts:
            return f"`assert {ast.unparse(node.test)[:60]}` always holds: it asserts a tuple", node.lineno
    runs = [call for call, name in test.calls if _RUNNER.fullmatch(name)]
    # What runs the tests fails only if they do: its exit code counts for nothing where they assert nothing.
    asserts = [item for item in test.failures if not (runs and _is_exit(item.node))]
    if any(item.handler and not isinstance(item.node, ast.Raise) for item in asserts):
        return "", 0  # LMR503
    if asserts and any(item.top and item.handler is None for item in test.failures):
        return "", 0
    if not asserts:
        logged = any(re.search(r"(?i)\bpass(ed)?\b", text) for text, _ in test.texts)
        verdict = (
            "its verdict is only printed or logged"
            if logged
            else "it contains no assertion, raise or exit code"
        )
        return f"{verdict}: the test exits with 0 whatever happens", 0
    if runs:
        return "the test runner's result does not reach the exit code", runs[-1].lineno
    dead = [node.lineno for node in test.module.tree.body if is_dead(node)]
    parsed = dockerfile.read(task)
    if parsed is not None and any("pytest" in item.text for item in parsed.named("CMD", "ENTRYPOINT")):
        return "", 0
    return "run as a script, the file only defines its tests: nothing runs them", dead[0] if dead else 0


_RUNNER = re.compile(r"(?:unittest|pytest|absltest)\.main|(?!subprocess).*[rR]unner(?:\(\))?\.run|\(\)\.run")


def _is_exit(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and dotted(node.func) in ("unittest.main", *EXITS)


def _proven_to_pass(task: TaskView, target: Implementation) -> str:
    """Return how the test passed without the solution in an evaluation of the present state; "" if it did not."""
    try:
        evaluation = Evaluation.from_json(json.loads(task.read_bytes(task.task.evaluation_path) or b"null"))
    except (ValueError, RecursionError, LmrError):
        return ""
    how = passes_without_solution(evaluation.gates, target.index)
    if not how or not evaluation.is_of(State.of(task.task)):
        return ""
    return f"{how}, as `lmr-author evaluate` has shown"


@target_check(
    "LMR503",
    "a handler swallows failed assertions",
    rationale="An `except Exception` around an assertion turns every failure into a log line and exit code 0.",
)
def swallows(task: TaskView, target: Implementation) -> Iterator[Problem]:
    test = read_test(task, target)
    # Exceptions are raised and caught for other reasons too.
    swallowed = [
        item
        for item in (test.failures if test else ())
        if item.handler and not isinstance(item.node, ast.Raise)
    ]
    for handler in dict.fromkeys(item.handler for item in swallowed):
        message = "this handler swallows failed assertions: the test goes on, and exits with 0"
        hint = "raise again in the handler, or remove it"
        assert test is not None
        yield Problem(message, hint, test.path, getattr(handler, "lineno", 0))


_COMPARING = re.compile(
    r"(?:.*\.)?(?:allclose|isclose|equal|array_equal|assert(?:_?almost)?_?equals?|assert_allclose|assert_close"
    r"|assert_array_\w*equal|assertSequenceEqual|assertListEqual|assertDictEqual|assertTupleEqual|assertIs)",
    re.IGNORECASE,
)


@target_check(
    "LMR504",
    "the test compares a value with itself",
    rationale="`allclose(loss, loss)` holds whatever was implemented.",
)
def compares_with_itself(task: TaskView, target: Implementation) -> Iterator[Problem]:
    test = read_test(task, target)
    if test is None:
        return
    names = [f"'{name}'" for name in function_names(target)]
    compared = [
        (node, _source(left, test, names), _source(right, test, names))
        for node, left, right in _compared(test)
    ]
    for node, left, right in compared:
        # Beside a real comparison, two equal calls of the target ask whether it is deterministic.
        repeats = any(name in left for name in names) and any(one != other for _, one, other in compared)
        if left == right and not repeats:
            message = f"compares a value with itself: `{ast.unparse(node)[:80]}`"
            yield Problem(
                message, "compare with stored values of the golden", test.path, getattr(node, "lineno", 0)
            )


_SAME = frozenset(["detach", "clone", "copy", "deepcopy", "item", "cpu", "numpy"])


def _source(node: ast.expr, test: UnitTest, names: list[str]) -> str:
    """Return an operand in comparable form; of a name that is assigned once, what it was read or called from."""
    while isinstance(node, ast.Call) and dotted(node.func).rpartition(".")[2] in _SAME:
        inner = node.args[0] if node.args else getattr(node.func, "value", None)
        if inner is None:
            break
        node = inner
    assigned = test.set_once.get(node.id, "") if isinstance(node, ast.Name) else ""
    telling = any(word in assigned for word in ("'load'", "'loads'", "'open'", *names))
    return assigned if telling else ast.dump(node)


def _compared(test: UnitTest) -> Iterator[tuple[ast.AST, ast.expr, ast.expr]]:
    """Yield (node, one side, the other side) of what is compared."""
    for node in test.nodes:
        if (
            isinstance(node, ast.Compare)
            and len(node.ops) == 1
            and not isinstance(node.ops[0], ast.NotEq | ast.IsNot)
        ):
            yield node, node.left, node.comparators[0]
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
            yield node, node.left, node.right
        elif isinstance(node, ast.Call) and len(node.args) >= 2 and _COMPARING.fullmatch(dotted(node.func)):
            yield node, node.args[0], node.args[1]
        elif (
            isinstance(node, ast.Call)
            and dotted(node.func).endswith((".equal", ".allclose", ".eq"))
            and node.args
        ):
            assert isinstance(node.func, ast.Attribute)
            yield node, node.func.value, node.args[0]


@target_check(
    "LMR505",
    "the test uses the golden",
    rationale="A test of the golden passes whatever the agent writes, and the golden is not there when a candidate is"
    " judged.",
)
def uses_golden(task: TaskView, target: Implementation) -> Iterator[Problem]:
    test = read_test(task, target)
    stem = Path(clean_path(target.golden_file)).stem
    named = rf"|(?<!\w){re.escape(stem)}(?!\w)" if re.search("gold|orig|solution", stem) else ""
    words = re.compile(rf"(?<![a-z])golden_files?(?![a-z]){named}")
    for node in test.nodes if test else ():
        if isinstance(node, ast.Import | ast.ImportFrom):
            text = " ".join([getattr(node, "module", None) or "", *(alias.name for alias in node.names)])
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and "\n" not in node.value:
            text = node.value
        else:
            continue
        if match := words.search(text):
            hint = "import the repository's own file, and compare with stored values"
            assert test is not None
            yield Problem(f"the test uses the golden ({match[0]})", hint, test.path, node.lineno)
            return


@target_check(
    "LMR506",
    "the test never names the target",
    rationale="A test that never runs the target says nothing about it, and passes with the masked code.",
)
def names_target(task: TaskView, target: Implementation) -> Iterator[Problem]:
    test = read_test(task, target)
    one = pair(task, target)
    wanted = {part for item in one.targets for part in item.qualname.split(".")} | set(function_names(target))
    last = {item.qualname.rpartition(".")[2] for item in one.targets}
    for item in (
        one.golden.definitions if one.golden else ()
    ):  # a private function is reached through its callers
        if last & {dotted(node).rpartition(".")[2] for node in ast.walk(item.node)}:
            wanted |= set(item.qualname.split("."))
    if test is None or not one.complete or _is_recorded(task, target):
        return
    own = [
        node
        for tree in test.trees
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name in last
    ]
    imports = [node for node in test.nodes if isinstance(node, ast.ImportFrom)]
    imported = {alias.asname or alias.name for node in imports for alias in node.names}
    reached = imported | {node.attr for node in test.nodes if isinstance(node, ast.Attribute)}
    if own and not target.class_name and not reached & last:
        message = f"tests a definition of {own[0].name} of its own, not the goal file's"
        yield Problem(message, "import it from the goal file", test.path, own[0].lineno)
    elif not wanted & test.names and not _imports_a_caller(task, test, last):
        message = f"never names {function_names(target)[0] if function_names(target) else 'the target'}"
        yield Problem(message, "import the goal file and call the target", test.path)


def _imports_a_caller(task: TaskView, test: UnitTest, names: set[str]) -> bool:
    """Return whether the test imports another module of the repository that names the target."""
    for node in test.nodes:
        name = node.module if isinstance(node, ast.ImportFrom) else None
        path = task.inside(task.repository, f"{name.replace('.', '/')}.py") if name else None
        if path is not None and any(
            re.search(rf"\b{re.escape(one)}\b", task.text(path) or "") for one in names
        ):
            return True
    return False


def _is_recorded(task: TaskView, target: Implementation) -> bool:
    """Return whether the test was made by `lmr-author record`, which writes a manifest beside it."""
    path = unit_test_path(task, target)
    return path is not None and task.is_file(
        path.parent / "recordings" / str(target.index) / "recording.json"
    )


@target_check(
    "LMR507",
    'the test writes no "Passed"',
    rationale='LMR-Bench\'s scripts count "Passed" in unit_test/logs/ and read nothing else: a right solution scores'
    " 0. Where the exit code tells, it is a note.",
    severity=WARNING,
)
def writes_verdict(task: TaskView, target: Implementation) -> Iterator[Problem]:
    test = read_test(task, target)
    if test is None or _is_recorded(task, target) or any("Passed" in text for text, _ in test.texts):
        return
    near = [(text, line) for text, line in test.texts if re.search(r"(?i)\bpass(?:ed|es)?\b", text)]
    hint = 'log "Passed" or "Failed" to unit_test/logs/, beside the exit code'
    message = f'logs {near[0][0]!r:.40}, not "Passed"' if near else 'writes no verdict ("Passed" or "Failed")'
    severity = NOTE if not near and not _powerless(task, test)[0] else None
    yield Problem(message, hint, test.path, near[0][1] if near else 0, severity=severity)


_ELSEWHERE = re.compile(r"(?:[A-Za-z]:[\\/]|~/|/(?:home|Users|root|mnt|media|data|scratch)/)\S+")


@target_check(
    "LMR508",
    "a file that the test reads is missing",
    rationale="A fixture that stayed on the annotator's machine, or whose path exists only there, makes the test fail"
    " for everybody else.",
)
def fixtures_exist(task: TaskView, target: Implementation) -> Iterator[Problem]:
    test = read_test(task, target)
    if test is None:
        return
    files = [task.in_repository(entry) for entry in task.repository_entries if entry.kind == "file"]
    present = {entry.name for entry in task.entries if entry.kind == "file"}
    written = {Path(text).name for text, _, writes in test.files if writes}
    hint = "store it in unit_test/, and name it relative to the test's own folder"
    for text, line, writes in {
        text: (text, line, writes) for text, line, writes in reversed(test.files)
    }.values():
        name = text.replace("\\", "/").rpartition("/")[2]
        if _ELSEWHERE.fullmatch(text):
            yield Problem(f"names {text!r:.120}, a path of another machine", hint, test.path, line)
        elif not writes and name not in written | present and not text.startswith((".", "/tmp")) and name:
            yield Problem(
                f"names {text!r:.120}, which is missing",
                did_you_mean(text, files, 0.75) or hint,
                test.path,
                line,
            )


_GPU = re.compile(r"\.cuda\(\)|[\"'](?:cuda(?::\d+)?|nccl)[\"']")
_FETCHES = re.compile(
    r"\b(?:\w+\.)?(?:from_pretrained|SentenceTransformer|pipeline|load_dataset|hf_hub_download|snapshot_download"
    r"|spacy\.load|torch\.hub\.load)\(\s*(?:\w+=)?[\"'](?![./~])([\w./-]+)[\"']|\b(?:requests\.(?:get|post)|urlopen|urlretrieve|OpenAI"
    r"|Anthropic|(?:wget|gdown|nltk|stanza)\.download)\(|\b(?:pretrained|download)=True|[A-Z_]+_API_KEY"
    r"|\b(?:wget|curl|gdown|git clone|huggingface-cli|hf download)[\"' ]"
)


@target_check(
    "LMR509",
    "the test needs a GPU, the network or a model",
    rationale="Verification runs on machines without a GPU and without a network. Small recorded inputs test the same"
    " function.",
    severity=WARNING,
)
def runs_anywhere(task: TaskView, target: Implementation) -> Iterator[Problem]:
    test = read_test(task, target)
    if test is None or _is_recorded(task, target) or "mock" in test.module.text:
        return
    hint = "record small inputs on a CPU: `lmr-author record`"
    lines = [line.partition("#")[0] for line in test.module.text.splitlines()]
    guarded = "is_available" in test.module.text
    for number, line in enumerate(lines if not guarded else (), 1):
        if match := _GPU.search(line):
            yield Problem(f"needs a GPU: {match[0]}", hint, test.path, number)
            break
    for number, line in enumerate(lines, 1):
        match = _FETCHES.search(line)
        places = [task.repository / start for start in ("", "unit_test")] if task.repository else []
        if match and not (match[1] and any(task.exists(place / match[1]) for place in places)):
            yield Problem(f"needs the network or a model: {match[0]:.60}", hint, test.path, number)
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
        pointer = f"/implementations/{task.position(target)}/goal_file"
        yield Problem(
            message, "name the file that contains the masked function", "info.json", pointer=pointer
        )


_EXPECTED = re.compile(r"expect|golden|reference|fixture|ground_?truth|test_?(?:data|case)", re.IGNORECASE)


@target_check(
    "LMR511",
    "the unit test or its expected values lie outside of unit_test/",
    rationale="Everything in unit_test/ is withheld from the agent, and nothing else is: a test or expected values"
    " elsewhere are part of what it is given. LMR-Bench's scripts run unit_test/unit_test_*.py only.",
)
def test_in_its_folder(task: TaskView, target: Implementation) -> Iterator[Problem]:
    test = read_test(task, target)
    inside = task.in_repository_path(unit_test_path(task, target))
    if test is None or task.repository is None or not inside:
        return
    if not inside.startswith("unit_test/"):
        yield Problem("the unit test lies outside of unit_test/", "move it there", test.path)
    for text, line, writes in test.files:
        relative = re.sub(r"^(?:\.\./|\./)+", "", text)
        outside = not relative.startswith(("unit_test/", "/")) and task.is_file(task.repository / relative)
        beside = task.is_file(test.path.parent / text)
        if outside and not beside and not writes and _EXPECTED.search(relative):
            message = f"expected values are read from {relative}, outside of unit_test/"
            yield Problem(message, "move the file to unit_test/", test.path, line, severity=WARNING)


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
        if data is not None:
            yield from _changed_files(task, place, data)
        elif task.is_file(task.task.root / tests / SUPPORT) and any(
            name.startswith(f"{folder}/case_") for name in folders
        ):
            yield Problem("recording.json is missing", again, place.parent)


def _changed_files(task: TaskView, place: Path, data: bytes) -> Iterator[Problem]:
    """Yield a problem for each file that is not as the manifest says."""
    again, tests = "record again: `lmr-author record`", place.parent.parent.parent
    try:
        manifest = json.loads(data)
        wanted = [
            (place.parent / str(case["name"]) / file, digest)
            for case in manifest["cases"]
            for file, digest in case["files"].items()
        ]
        for key in ("support", "helpers"):
            wanted += [(tests / str(file), digest) for file, digest in (manifest.get(key) or {}).items()]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        yield Problem("recording.json cannot be read", again, place)
        return
    for path, digest in wanted:
        relative = path.relative_to(task.task.root).as_posix()
        if ".." in path.parts[len(task.task.root.parts) :] or task.inside(task.task.root, relative) is None:
            yield Problem("recording.json names a file outside of the recording", again, place)
        elif not task.is_file(path):
            yield Problem(f"{task.relative(path)} is missing", again, place)
        elif sha256_file(path) != digest:
            yield Problem("differs from what was recorded", again, path)


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


_TOLERANCES = frozenset(
    """
    atol rtol delta abs rel abs_tol rel_tol tol tolerance
    """.split()  # noqa: SIM905
)


@target_check(
    "LMR515",
    "the test compares too little",
    rationale="What is not compared may be anything: a test that looks at one of three returned values passes with the"
    " other two wrong (a note: they may not matter), and a tolerance of 0.1 or more hides dropped terms and"
    " wrong constants.",
    severity=WARNING,
)
def compares_enough(task: TaskView, target: Implementation) -> Iterator[Problem]:
    test = read_test(task, target)
    if test is None or _is_recorded(task, target):
        return
    for line, tolerance in _tolerances(test):
        message = f"a tolerance of {tolerance:g} hides wrong results"
        yield Problem(message, "use the smallest tolerance that the golden needs, as 1e-5", test.path, line)
        break
    yield from _dropped_values(task, target, test)


def _tolerances(test: UnitTest) -> Iterator[tuple[int, float]]:
    """Yield (line, tolerance) of each comparison that is too wide."""
    for node in test.nodes:
        if isinstance(node, ast.Call) and (
            _COMPARING.fullmatch(dotted(node.func)) or "approx" in dotted(node.func)
        ):
            values = [item.value for item in node.keywords if item.arg in _TOLERANCES]
            places = [item.value for item in node.keywords if item.arg in ("places", "decimal")]
            if any(isinstance(one, ast.Constant) and one.value in (0, -1) for one in places):
                yield node.lineno, 0.5
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Lt | ast.LtE):
            left = ast.unparse(node.left)
            values = node.comparators if "abs(" in left and "len(" not in left else []
        else:
            continue
        for value in values:
            width = value.value if isinstance(value, ast.Constant) else 0
            if isinstance(width, float | int) and width >= 0.1 and not _has_larger(node, 10 * width):
                yield node.lineno, float(width)


def _has_larger(node: ast.AST, limit: float) -> bool:
    """Return whether a comparison holds a number beside which a tolerance is small."""
    numbers = (item.value for item in ast.walk(node) if isinstance(item, ast.Constant))
    return any(isinstance(number, int | float) and number > limit for number in numbers)


def _dropped_values(task: TaskView, target: Implementation, test: UnitTest) -> Iterator[Problem]:
    """Yield a note where some of the values that the golden returns are looked at in no call."""
    for golden, _, one in pair(task, target).complete:
        name = one.qualname.rpartition(".")[2]
        counts = {
            len(item.value.elts) if isinstance(item.value, ast.Tuple) else 0 for item in _returns(golden)
        }
        count = counts.pop() if len(counts) == 1 else 0
        loaded = {
            node.id for node in test.nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
        }
        used: set[int] = set()
        line, calls = 0, 0
        for node in test.nodes if count > 1 else ():
            value = node.value if isinstance(node, ast.Assign | ast.Subscript) else None
            if not isinstance(value, ast.Call) or dotted(value.func).rpartition(".")[2] != name:
                continue
            line, calls = line or node.lineno, calls + 1  # type: ignore[attr-defined]
            if isinstance(node, ast.Subscript):
                index = getattr(node.slice, "value", None)
                used |= {index % count} if isinstance(index, int) else set(range(count))
            elif isinstance(node, ast.Assign):
                places = node.targets[0].elts if isinstance(node.targets[0], ast.Tuple) else []
                named = [getattr(item, "id", "") for item in places]
                kept = {at for at, item in enumerate(named) if item in loaded and item != "_"}
                used |= kept if len(named) == count else set(range(count))
        everywhere = sum(dotted(call.func).rpartition(".")[2] == name for call, _ in test.calls)
        if calls and calls == everywhere and len(used) < count:
            missing = ", ".join(str(at + 1) for at in range(count) if at not in used)
            message = (
                f"{len(used)} of the {count} values that {name} returns are compared, not number {missing}"
            )
            yield Problem(message, "compare all that it returns", test.path, line, severity=NOTE)


def _returns(function: ast.AST) -> list[ast.Return]:
    """Return the value-returning statements of a function, those of functions inside it left out."""
    found, waiting = [], list(getattr(function, "body", []))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Return) and node.value is not None:
            found.append(node)
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            waiting += ast.iter_child_nodes(node)
    return found


@target_check(
    "LMR517",
    "the test does not find the repository's modules",
    rationale="Python looks for modules in the test's own folder, not in the one it is started from. LMR-Bench's"
    " scripts set PYTHONPATH to the repository's folder: a test that relies on it fails in any other harness,"
    " which is a note; what lies below src/ is not found even so.",
    severity=WARNING,
)
def finds_repository(task: TaskView, target: Implementation) -> Iterator[Problem]:
    test = read_test(task, target)
    if test is None or task.repository is None or test.path.parent == task.repository:
        return
    text = "\n".join(module.text for module in (test.module, *test.helpers))
    if re.search(r"sys\.path|PYTHONPATH|importlib|runpy|subprocess|\bexec\(", text) or _image_finds(task):
        return
    hint = "begin with sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))"
    for node in test.module.tree.body:
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
        names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        for name in names:
            first = name.partition(".")[0]
            if _is_module(task, test.path.parent, first):
                continue
            if _is_module(task, task.repository, first):
                message = f"imports {name}, which only PYTHONPATH makes importable"
                yield Problem(message, hint, test.path, node.lineno, severity=NOTE)
                return
            for folder in ("src", "lib", "python"):
                if _is_module(task, task.repository / folder, first):
                    message = f"imports {name}, which is in {folder}/, where Python does not look"
                    yield Problem(message, f"insert {folder}/ into sys.path first", test.path, node.lineno)
                    return


def _is_module(task: TaskView, folder: Path, name: str) -> bool:
    return task.is_file(folder / f"{name}.py") or (bool(name) and task.is_folder(folder / name))


def _image_finds(task: TaskView) -> bool:
    """Return whether the image, or pytest's conftest.py, may make the repository importable."""
    assert task.repository is not None
    parsed = dockerfile.read(task)
    text = "\n".join(item.text for item in parsed.instructions) if parsed else ""
    installed = re.search(
        r"PYTHONPATH|site-packages|setup\.py|install\s+(?:-(?!r)\S*\s+)*[./$]|\bpytest\b", text
    )
    return parsed is None or installed is not None or task.is_file(task.repository / "conftest.py")


_DRAWS = re.compile(
    r"torch\.(?:rand|randn|randint|randperm|normal)|(?:np|numpy)\.random\.(?!seed|default_rng|RandomState|[gs]et_state)\w+"
    r"|random\.(?:random|randint|choice|choices|shuffle|sample|uniform|gauss)"
)


@target_check(
    "LMR518",
    "the test draws random numbers without a seed",
    rationale="Where the target is given other numbers in each run, and the result is compared with stored ones, the"
    " golden itself fails by chance, and a wrong solution may pass.",
    severity=NOTE,
)
def seeded(task: TaskView, target: Implementation) -> Iterator[Problem]:
    test = read_test(task, target)
    drawn = [call for call, name in test.calls if _DRAWS.fullmatch(name)] if test else []
    if (
        test is not None
        and drawn
        and not re.search(r"seed|RandomState\(\d|default_rng\(\d|generator=", test.module.text)
    ):
        message = f"{dotted(drawn[0].func)} draws without a seed"
        yield Problem(message, "set a seed first, or store the inputs", test.path, drawn[0].lineno)
