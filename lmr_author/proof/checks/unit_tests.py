"""LMR5xx: unit tests and recordings.

These checks read the text of a test and do not simulate it: `evaluate` runs it with the golden, the masked code and
wrong versions, and LMR502 reports the result.
"""

from __future__ import annotations

import ast
import re
import shlex
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from lmr_author.core.code import FunctionNode, Module, each, gpu_lines
from lmr_author.core.code.tree import last_name
from lmr_author.core.errors import LmrError
from lmr_author.core.task import INFO, Implementation, Severity, unit_test_name
from lmr_author.core.task.evaluation import Evaluation, passes_without_solution
from lmr_author.core.task.recording import MANIFEST, SUPPORT, Recording, tampered
from lmr_author.core.texts import printable
from lmr_author.proof.checks.base import (
    ERROR,
    NOTE,
    WARNING,
    Check,
    Problem,
    check,
    closest_names_hint,
    target_check,
)
from lmr_author.proof.checks.goal_files import syntax_error, wrong_path
from lmr_author.proof.checks.hygiene import state
from lmr_author.proof.contents import FileEntry, TaskContents, once, read_json
from lmr_author.proof.targets import names_unit_test, unit_test_path

_EXIT = re.compile(r"(?:(?:sys|os)\._?)?(?:exit|quit|abort|SystemExit)")
_ASSERTION = re.compile(r"_?assert\w*|fail|raises")
_BROAD = re.compile(r"\b(?:Exception|BaseException|AssertionError)\b")
_DATA = re.compile(
    r"[^\s*{}%<>|]*[\w\])]\.(?:jsonl?|pth?|pkl|pickle|np[yz]|csv|tsv|txt|bin|ya?ml|h5|safetensors|mat)"
)
_WRITES = re.compile(
    r"(?:[^(]*\.)?(?:save\w*|dump|to_csv|to_json|write\w*|basicConfig|\w*FileHandler|remove|unlink|exists|isfile)\("
    r"|(?:[^(]*\.)?open\((?:.*, )?(?:mode=)?'[wax]b?\+?'",
    re.DOTALL,
)
"""A call that writes a file, or tests whether it exists."""


class StringLiteral(NamedTuple):
    value: str
    line: int


@dataclass(frozen=True)
class UnitTest:
    path: Path
    modules: tuple[Module, ...]

    @cached_property
    def nodes(self) -> list[ast.AST]:
        return [node for module in self.modules for node in ast.walk(module.tree)]

    @cached_property
    def imports(self) -> list[StringLiteral]:
        statements = (node for node in self.nodes if isinstance(node, ast.Import | ast.ImportFrom))
        return [StringLiteral(ast.unparse(statement), statement.lineno) for statement in statements]

    @cached_property
    def texts(self) -> list[StringLiteral]:
        docstrings = {node.value for node in self.nodes if isinstance(node, ast.Expr)}
        constants = (node for node in self.nodes if isinstance(node, ast.Constant) and node not in docstrings)
        return [StringLiteral(node.value, node.lineno) for node in constants if isinstance(node.value, str)]

    @cached_property
    def failures(self) -> list[ast.AST]:
        """Nodes that can make the test fail, including calls of its own functions that contain some."""
        direct = {node for node in self.nodes if _can_fail(node)}
        functions = [node for node in self.nodes if isinstance(node, FunctionNode)]
        failing = {function.name for function in functions if not direct.isdisjoint(ast.walk(function))}
        calls = [node for node in self.nodes if isinstance(node, ast.Call)]
        return [*direct, *(call for call in calls if last_name(call.func) in failing)]

    @cached_property
    def data_files(self) -> dict[str, int]:
        """Data files that the test names but does not write → first line."""
        writing: list[ast.AST] = []
        for node in self.nodes:
            if isinstance(node, ast.Call) and _WRITES.match(ast.unparse(node)):
                writing += ast.walk(node)
        names = set(map(last_name, writing)) - {""}
        for node in self.nodes:
            if (
                isinstance(node, ast.Assign) and last_name(node.targets[0]) in names
            ):  # the path is in a variable
                writing += ast.walk(node.value)
        written = {PurePosixPath(str(node.value)).name for node in writing if isinstance(node, ast.Constant)}
        named = [text for text in reversed(self.texts) if _DATA.fullmatch(text.value)]
        return {
            path: line
            for path, line in named
            if "://" not in path and path.replace("\\", "/").rpartition("/")[2] not in written
        }


@once
def read_test(task: TaskContents, target: Implementation) -> UnitTest | None:
    path = unit_test_path(task, target)
    module = task.module(path)
    if path is None or module is None:
        return None
    modules = [module]
    imports = "\n".join(ast.unparse(node) for node in each(module.tree, ast.Import, ast.ImportFrom))
    for name in sorted(set(re.findall(r"\w+", imports))):
        beside = path.parent / f"{name}.py"
        if beside == path or path.parent == task.repository or task.is_support(beside):
            continue
        if helper := task.module(beside):
            modules.append(helper)
    return UnitTest(path, tuple(modules))


def _can_fail(node: ast.AST) -> bool:
    match node:
        case ast.Assert(test=ast.Constant(value=value)):
            return not value
        case ast.Assert(test=ast.Tuple(elts=values)):  # `assert (x, "message")` always holds
            return not values
        case ast.Raise(exc=ast.Call(func=ast.Name(id="SystemExit"))):
            return False  # `raise SystemExit(0)` is not a failure; the call is judged separately
        case ast.Assert() | ast.Raise():
            return True
        case ast.Call(func=function, args=arguments):
            if _ASSERTION.fullmatch(last_name(function)) or ast.unparse(function) == "unittest.main":
                return True
            is_zero = not arguments or (isinstance(arguments[0], ast.Constant) and not arguments[0].value)
            return _EXIT.fullmatch(ast.unparse(function)) is not None and not is_zero
    return False


TestRule = Callable[[TaskContents, Implementation, UnitTest], Iterable[Problem]]


def test_check(
    code: str, title: str, *, rationale: str, severity: Severity = ERROR, recorded: bool = True
) -> Callable[[TestRule], Check]:
    """Create a check from a rule about a unit test; a problem without a path concerns the test file.

    Args:
        recorded: also read tests that `lmr-author record` made.
    """

    def decorate(rule: TestRule) -> Check:
        def problems(task: TaskContents, target: Implementation) -> Iterator[Problem]:
            test = read_test(task, target)
            manifest = f"recordings/{target.index}/{MANIFEST}"
            if test is None or (not recorded and task.is_file(test.path.parent / manifest)):
                return
            for problem in rule(task, target, test):
                yield problem if problem.path else replace(problem, path=test.path)

        return target_check(code, title, rationale=rationale, severity=severity)(problems)

    return decorate


@target_check(
    "LMR501",
    "the unit test is missing or cannot be parsed",
    rationale="Without its test an implementation cannot be scored. A common slip is `unit_test.py` instead of"
    " `unit_test_1.py`.",
)
def test_exists(task: TaskContents, target: Implementation) -> Iterator[Problem]:
    path = unit_test_path(task, target)
    tests = [name for name in task.repository_files if name.endswith(".py") and "unit_test" in name]
    own, near = target.unit_test_file, ""
    if own not in ("", unit_test_name(target.index)):
        near = closest_names_hint(own, tests)
    hint = near or f"create one with `lmr-author record {shlex.quote(str(target.target))}`"
    yield from wrong_path(task, target, "unit_test_file", task.repository, hint)
    if path is None or path.suffix != ".py" or task.module(path) is not None:
        return
    line, cause, too_deep = syntax_error(task, path)
    if too_deep:
        hint = "move values to a file beside the test, and long conditions to functions"
        yield Problem(f"not checked: {cause}", hint, path, line, severity=WARNING)
    else:
        yield Problem(f"cannot be parsed as Python 3: {cause}", "correct the syntax", path, line)


@test_check(
    "LMR502",
    "the unit test cannot fail",
    rationale='24 of 35 published tests only log "Passed" or "Failed" and always exit with 0. Harnesses, shells'
    " and CI read exit codes, and any code can write a line to a log. A test needs an assertion or a nonzero exit"
    " code. This check also reports tests that passed without the solution in `lmr-author evaluate`.",
)
def cannot_fail(task: TaskContents, target: Implementation, test: UnitTest) -> Iterator[Problem]:
    if not test.failures:
        logs = any(re.search(r"(?i)\bpass(ed)?\b", text.value) for text in test.texts)
        verdict = "its verdict is only printed or logged" if logs else "it contains no assertion"
        hint = (
            "assert what the target returns, and run the test: `if __name__ == '__main__': unittest.main()`"
        )
        yield Problem(f"{verdict}: the test always exits with 0", hint)
    elif how := _passed_without_solution(task, target):
        message = f"{how} (seen by `lmr-author evaluate`)"
        yield Problem(
            message, "compare the target's return value with stored values, and exit with 1 on a difference"
        )


def _passed_without_solution(task: TaskContents, target: Implementation) -> str:
    try:
        evaluation = Evaluation.from_json(read_json(task.read_bytes(task.task.evaluation_path)))
    except LmrError:
        return ""
    return passes_without_solution(evaluation.gates, target.index) if evaluation.is_of(state(task)) else ""


@test_check(
    "LMR503",
    "an exception handler swallows failures",
    rationale="An `except Exception` around an assertion turns every failure into a log line and exit code 0.",
)
def swallows(task: TaskContents, target: Implementation, test: UnitTest) -> Iterator[Problem]:
    failures = {node for node in test.failures if not isinstance(node, ast.Raise)}
    for node in test.nodes:
        if not isinstance(node, ast.Try) or failures.isdisjoint(_walk(node.body)):
            continue
        for handler in node.handlers:
            is_broad = handler.type is None or _BROAD.search(ast.unparse(handler.type))
            if is_broad and not any(_can_fail(inner) or _keeps(inner) for inner in _walk(handler.body)):
                message = "this handler swallows failed assertions: the test continues and exits with 0"
                yield Problem(message, "re-raise in the handler, or remove it", line=handler.lineno)


def _walk(statements: Iterable[ast.stmt]) -> Iterator[ast.AST]:
    for statement in statements:
        yield from ast.walk(statement)


def _keeps(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr="append" | "add")):
            return True
        case ast.Assign() | ast.AugAssign() | ast.Return(value=ast.expr()):
            return True
    return False


@test_check(
    "LMR505",
    "the test uses the golden",
    rationale="A test of the golden passes whatever the agent writes, and the golden is not available while a"
    " candidate is judged.",
)
def uses_golden(task: TaskContents, target: Implementation, test: UnitTest) -> Iterator[Problem]:
    stem = Path(target.golden_file).stem
    named = rf"|(?<!\w){re.escape(stem)}(?!\w)" if re.search("gold|orig|solution", stem) else ""
    words = re.compile(rf"(?<![a-z])golden_files?(?![a-z]){named}")
    for text, line in [*test.imports, *test.texts]:
        match = words.search(text)
        if match and "\n" not in text:
            hint = "import the repository's own file, and compare with stored values"
            yield Problem(f"the test uses the golden ({match[0]})", hint, line=line)
            return


@test_check(
    "LMR506",
    "the test imports nothing from the repository",
    rationale="A test of a copy of the target, or of another library, passes with the masked code and says nothing"
    " about the agent's code.",
    recorded=False,
)
def imports_repository(task: TaskContents, target: Implementation, test: UnitTest) -> Iterator[Problem]:
    if names_unit_test(task, target):  # LMR510
        return
    code = [
        path for path in task.repository_files if path.endswith(".py") and not path.startswith("unit_test/")
    ]
    modules = {part for path in code for part in path.removesuffix(".py").split("/")}
    named = re.findall(r"\w+", "\n".join(text.value for text in (*test.imports, *test.texts)))
    if code and modules.isdisjoint(named):
        yield Problem("imports nothing from the repository", "import the goal file and call the target")


@test_check(
    "LMR507",
    'the test writes no "Passed"',
    rationale='LMR-Bench\'s scripts only count "Passed" in unit_test/logs/: without it, a correct solution scores 0.'
    " A note if the exit code reports failures.",
    severity=WARNING,
    recorded=False,
)
def writes_verdict(task: TaskContents, target: Implementation, test: UnitTest) -> Iterator[Problem]:
    if any("Passed" in text.value for text in test.texts):
        return
    near = [text for text in test.texts if re.search(r"(?i)\bpass(?:ed|es)?\b", text.value)]
    hint = 'log "Passed" or "Failed" to unit_test/logs/, in addition to the exit code'
    if near:
        yield Problem(f'logs {near[0].value!r:.40}, not "Passed"', hint, line=near[0].line)
    else:
        severity = NOTE if test.failures else None
        yield Problem('writes no verdict ("Passed" or "Failed")', hint, severity=severity)


_ELSEWHERE = re.compile(r"(?:[A-Za-z]:[\\/]|~/|/(?:home|Users|root|mnt|media|data|scratch)/)\S+")


@test_check(
    "LMR508",
    "a file that the test reads is missing",
    rationale="If a fixture, or its path, exists only on the annotator's machine, the test fails for everybody else.",
)
def fixtures_exist(task: TaskContents, target: Implementation, test: UnitTest) -> Iterator[Problem]:
    present = {entry.name for entry in task.entries if entry.kind == "file"}
    for text, line in test.data_files.items():
        name = text.replace("\\", "/").rpartition("/")[2]
        hint = "store it in unit_test/, and name it relative to the test's own folder"
        if _ELSEWHERE.fullmatch(text):
            yield Problem(f"reads {text!r:.120}, a path of another machine", hint, line=line)
        elif name not in {*present, ""} and not text.startswith((".", "/tmp")):
            hint = closest_names_hint(text, list(task.repository_files), 0.75) or hint
            yield Problem(f"reads {text!r:.120}, which is missing", hint, line=line)


_NETWORK = re.compile(
    r"\b(?:from_pretrained|SentenceTransformer|pipeline|load_dataset|hf_hub_download|snapshot_download"
    r"|spacy\.load|hub\.load)\(\s*(?:\w+=)?[\"'](?![./~])([\w./-]+)[\"']|\b(?:requests\.(?:get|post)|urlopen"
    r"|urlretrieve|OpenAI|Anthropic|(?:wget|gdown|nltk|stanza)\.download)\(|\b(?:pretrained|download)=True"
    r"|[A-Z_]+_API_KEY|\b(?:wget|curl|gdown|git clone|huggingface-cli|hf download)[\"' ]"
)


@test_check(
    "LMR509",
    "the test needs a GPU, the network or a model",
    rationale="Verification runs without a GPU and without a network. Small recorded inputs test the same function;"
    " `record --cuda-as-cpu` records a target that hard-codes `cuda`.",
    severity=WARNING,
    recorded=False,
)
def runs_anywhere(task: TaskContents, target: Implementation, test: UnitTest) -> Iterator[Problem]:
    module = test.modules[0]
    if "mock" in module.text:
        return
    hint = "record small inputs on a CPU: `lmr-author record`"
    code = [line.partition("#")[0] for line in module.text.splitlines()]
    matches = [(number, match) for number, line in enumerate(code, 1) if (match := _NETWORK.search(line))]
    for number, match in matches:
        if not (match.lastindex and task.named(match[1].rpartition("/")[2])):
            yield Problem(f"needs the network or a model: {match[0]:.60}", hint, line=number)
            break
    if "is_available" not in module.text:
        nccl = [number for number, line in enumerate(code, 1) if re.search(r"[\"']nccl[\"']", line)]
        for number in (nccl or gpu_lines(module.tree, module.tree))[:1]:
            yield Problem(f"needs a GPU: `{module.line_text(number).strip():.60}`", hint, line=number)


@target_check(
    "LMR510",
    "goal_file is the unit test",
    rationale="With the test as goal file, the agent is told to edit the file that judges it.",
)
def goal_is_not_test(task: TaskContents, target: Implementation) -> Iterator[Problem]:
    if names_unit_test(task, target):
        pointer = task.pointer(target, "goal_file")
        hint = "name the file that contains the masked function"
        yield Problem(
            f"goal_file {target.goal_file!r:.120} is part of the unit test", hint, INFO, pointer=pointer
        )


_EXPECTED = re.compile(r"expect|golden|reference|fixture|ground_?truth|test_?(?:data|case)", re.IGNORECASE)


@test_check(
    "LMR511",
    "the unit test or its expected values are outside of unit_test/",
    rationale="Only unit_test/ is withheld from the agent: tests and expected values elsewhere are visible to it."
    " LMR-Bench's scripts run only unit_test/unit_test_*.py.",
)
def test_in_its_folder(task: TaskContents, target: Implementation, test: UnitTest) -> Iterator[Problem]:
    inside = task.in_repository_path(test.path)
    if task.repository is None or not inside:
        return
    if not inside.startswith("unit_test/"):
        yield Problem("the unit test is outside of unit_test/", "move it there")
    for text, line in test.data_files.items():
        path = re.sub(r"^(?:\.\./|\./)+", "", text)
        is_outside = path in task.repository_files and not path.startswith("unit_test/")
        if is_outside and not task.is_file(test.path.parent / text) and _EXPECTED.search(path):
            message = f"expected values are read from {path}, outside of unit_test/"
            yield Problem(message, "move the file to unit_test/", line=line, severity=WARNING)


@check(
    "LMR514",
    "two tests write one log",
    rationale='Two tests that write one log overwrite or mix their verdicts: one "Failed" fails both, or the last'
    ' "Passed" passes both.',
)
def own_log_file(task: TaskContents) -> Iterator[Problem]:
    owners: dict[str, dict[Path, Implementation]] = defaultdict(dict)
    for target in task.implementations:
        test = read_test(task, target)
        if test is None:
            continue
        for text in test.texts:
            if text.value.endswith(".log"):
                owners[Path(text.value).name].setdefault(test.path, target)
    for log, tests in sorted(owners.items()):
        for path, target in tests.items():
            others = ", ".join(str(other.index) for other in tests.values() if other is not target)
            if others:
                hint = f"name it unit_test/logs/unit_test_{target.index}.log"
                message = f"writes {log}, as the test of implementation {others} does"
                yield Problem(message, hint, path, target=target)


@check(
    "LMR512",
    "a recording was changed",
    rationale="With hand-edited expected values or an incomplete recording, no run of the golden has confirmed the"
    " test.",
)
def recordings_untouched(task: TaskContents) -> Iterator[Problem]:
    for entry in task.repository_entries:
        if entry.kind == "folder" and re.fullmatch("unit_test/recordings/[^/]+", task.in_repository(entry)):
            yield from _recording_problems(task, entry)


def _recording_problems(task: TaskContents, entry: FileEntry) -> Iterator[Problem]:
    again = "record again: `lmr-author record`"
    folder, content = task.path(entry), task.below(entry.relative)
    manifest = folder / MANIFEST
    data = task.read_bytes(manifest)
    if data is None:
        has_cases = any(file.name.startswith("case_") for file in content)
        if has_cases and task.is_file(
            folder.parent.parent / SUPPORT
        ):  # else somebody's own folder of that name
            yield Problem(f"{MANIFEST} is missing", again, folder)
        return
    if any(file.kind == "link" for file in content):
        yield Problem("a recording contains a symbolic link", again, folder)
        return
    try:
        changes = tampered(folder, Recording.from_json(read_json(data)))
    except LmrError as error:
        changes = [error.message]
    if changes:
        more = f"; and {len(changes) - 3} more" if len(changes) > 3 else ""
        yield Problem(printable("; ".join(changes[:3]) + more), again, manifest)
