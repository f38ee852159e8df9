"""The annotator's say in a recording: how parts are compared (``--check``), and functions that build objects."""

from __future__ import annotations

import ast
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lmr_author.authoring.recording.tolerance import BY_DTYPE, MOST_WIDENED, in_proportion, numbers_of
from lmr_author.core import code, files
from lmr_author.core.errors import Hint, LmrError, Setting, UsageError
from lmr_author.core.task.recording import FIXTURE_FILES, FIXTURES, Recording
from lmr_author.runtime.probe import compare
from lmr_author.runtime.probe.arrays import dtype_of
from lmr_author.runtime.probe.calling import CLOSURE, GLOBAL, GRAD
from lmr_author.runtime.probe.checking import load
from lmr_author.runtime.probe.compare import CHOSEN, DEFAULT, GRADS
from lmr_author.runtime.probe.document import BadDocument, Document, walk
from lmr_author.runtime.probe.objects import HELPERS
from lmr_author.runtime.probe.outcome import as_written
from lmr_author.runtime.replay.staging import copy_fixtures

HINT = (
    "as in --check 'value[0]=set' (any order), 'value=allclose:1e-4,1e-6' (relative, absolute), 'value[2]=exact', "
    "'value[3]=ignore'"
)
BY_THE_WAY = "the original changes it by the way"
WORKING_MEMORY = ".grad is working memory: an implementation may clear or keep it"
"""Reasons why a part is not compared."""
_NO_ARGUMENT = re.compile(f"^(?:{CLOSURE}|{GLOBAL})")
_OWN = f"{HELPERS}.{FIXTURES.removesuffix('.py')}:"
_STEPS = re.compile(r"\w+(?:\.\w+)*")
_NUMBER = r"\d*\.?\d+(?:[eE][+-]?\d+)?"
_CHECK = re.compile(
    r"(?P<path>.*\S)\s*=\s*"
    rf"(?:(?P<plain>exact|set|ignore)|allclose:(?P<rtol>{_NUMBER}),(?P<atol>{_NUMBER}))\s*"
)


def parse(texts: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Read ``--check``: path in the outcome → checker. Raises UsageError."""
    checks: dict[str, dict[str, Any]] = {}
    for text in texts:
        match = _CHECK.fullmatch(text)
        if match is None:
            raise UsageError(f"not a check: {text!r}", HINT)
        path, plain = match["path"].strip(), match["plain"]
        if plain:
            checks[path] = {"kind": plain}
        else:
            rtol, atol = float(match["rtol"]), float(match["atol"])
            if max(rtol, atol) >= 1:
                raise UsageError(f"a tolerance of 1 or more would pass anything: {text!r}", HINT)
            checks[path] = {"kind": "allclose", "rtol": rtol, "atol": atol}
    return checks


def check_option(path: str, kind: str) -> str:
    return f"--check {shlex.quote(f'{path}={kind}')}"


def nodes(tree: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield path and node of the values that JSON lacks: tensors, tuples, objects."""
    for path, node in walk(tree):
        if isinstance(node, dict) and "$" in node:
            yield path, node


def with_chosen(
    derived: Mapping[str, Mapping[str, Any]],
    checks: Mapping[str, Mapping[str, Any]],
    expected: Document,
    ignored: Iterable[str] = (),
    grads: bool = True,
    inputs: Document | None = None,
) -> dict[str, dict[str, Any]]:
    """Return the derived checkers with the chosen ones in their places; a choice for a part holds below it.

    ``ignored`` arguments are not compared unless the annotator says how; every part of the ``inputs`` can be ignored,
    also what the golden deletes or does not change. Raises LmrError for a part that there is not, and if nothing would
    be checked.
    """
    paths = {path for path, _ in walk(expected.tree)}
    for path, checker in checks.items():
        if path in paths:
            continue
        is_input = inputs is not None and any(path == given for given, _ in walk(inputs.tree))
        if not (checker["kind"] == "ignore" and is_input):
            named = ", ".join(sorted(part for part in paths if part and not part.startswith("@"))[:12])
            hint = Hint(f"it has: {named}", (Setting("--check"),))
            raise LmrError(f"the outcome has no part {path}", hint)
    chosen: dict[str, dict[str, Any]] = {name: {"kind": "ignore", "reason": BY_THE_WAY} for name in ignored}
    if not grads and any(node["$"] == "tensor" for _, node in nodes(expected.tree)):
        chosen[GRADS] = {"kind": "ignore", "reason": WORKING_MEMORY}
    chosen |= {path: {**checker, "reason": CHOSEN} for path, checker in checks.items()}
    ignores_value = chosen.get("value", {}).get("kind") == "ignore"
    if ignores_value and all(not path or "@" in path or path.startswith("value") for path in paths):
        hint = Hint("leave out {0}", (Setting("--check", (), "--check value=ignore"),))
        raise LmrError("nothing that the function returns would be checked", hint)

    # Items that are compared in any order keep their own checkers.
    replacing = [path for path, checker in chosen.items() if checker["kind"] != "set"]
    checkers: dict[str, dict[str, Any]] = {}
    for path, checker in derived.items():
        is_ignored_grad = GRADS in chosen and (path.startswith(GRAD) or path.endswith(".grad"))
        if not is_ignored_grad and not any(_holds_for(above, path) for above in replacing):
            checkers[path] = dict(checker)
    for path, checker in chosen.items():
        loosest = _loosest_below(path, derived) if checker["kind"] == "set" else {}
        checkers[path] = checker | loosest
    return checkers


def _holds_for(above: str, path: str) -> bool:
    return path == above or path.startswith((f"{above}.", f"{above}["))


def _loosest_below(path: str, derived: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    """Return the widest tolerance of items that are compared in any order: an item has no place of its own."""
    below = [inner for name, inner in derived.items() if name != path and _holds_for(path, name)]
    return {name: max(inner[name] for inner in below) for name in ("rtol", "atol")} if below else {}


def compact(checkers: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the same checkers as a default and its exceptions: the tolerance that most parts have is named once."""
    usual = Counter(
        (checker["rtol"], checker["atol"], checker.get("reason", ""))
        for path, checker in checkers.items()
        if checker["kind"] == "allclose" and checker.get("reason") != CHOSEN and "@" not in path
    )
    if DEFAULT in checkers or not usual:
        return {path: dict(checker) for path, checker in checkers.items()}
    rtol, atol, reason = usual.most_common(1)[0][0]
    default = {"kind": "allclose", "rtol": rtol, "atol": atol, "reason": reason}
    exceptions: dict[str, dict[str, Any]] = {DEFAULT: default}
    # Parts come after what is above them. A part below another exception would take that one's checker.
    for path, checker in checkers.items():
        if checker != default or "@" in path or any(_holds_for(above, path) for above in exceptions):
            exceptions[path] = dict(checker)
    return exceptions


# the annotator's own files


@dataclass(frozen=True)
class Helpers:
    """The annotator's ``unit_test/fixtures.py`` (or None), and the objects that it builds; it runs in a sandbox."""

    fixtures: Path | None = None
    fixture_names: tuple[str, ...] = ()

    def copy_into(self, folder: Path) -> None:
        if self.fixtures is not None:
            copy_fixtures(self.fixtures, folder)


def read_helpers(folder: Path) -> Helpers:
    """Read the helpers in a task's ``unit_test/``. Raises LmrError: one is not Python, or a fixture needs arguments."""
    fixtures = _functions(folder / FIXTURES)
    for name, function in fixtures.items():
        if any(default is None for _, default in code.parameters(function.args)):
            raise LmrError(
                f"{FIXTURES}: {name} needs arguments (line {function.lineno})",
                "fixtures are called without arguments; start the name of a helper with _",
            )
    return Helpers(folder / FIXTURES if _is_own(folder / FIXTURES) else None, tuple(fixtures))


def _is_own(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _functions(path: Path) -> dict[str, ast.FunctionDef]:
    if not _is_own(path):
        return {}
    try:
        tree = code.parse(path.read_bytes(), path.name)
    except (SyntaxError, ValueError) as error:
        raise LmrError(f"unit_test/{path.name} is not valid Python: {error}", "correct it") from error
    return {
        statement.name: statement
        for statement in tree.body
        if isinstance(statement, ast.FunctionDef) and not statement.name.startswith("_")
    }


def digests(helpers: Helpers, documents: Iterable[Document]) -> dict[str, str]:
    """Return file → SHA-256 of the helpers that cases with these inputs need."""
    if not helpers.fixtures or not any(map(uses_fixtures, documents)):
        return {}
    needed = [helpers.fixtures, *files.walk(helpers.fixtures.parent / FIXTURE_FILES)]
    return {path.relative_to(needed[0].parent).as_posix(): files.sha256_file(path) for path in needed}


def uses_fixtures(document: Document) -> bool:
    """Tell whether a document names a fixture, or a class or function of the file that has the fixtures."""
    for _, node in nodes(document.tree):
        named = node["v"] if node["$"] == "name" else node.get("cls", "")
        if node["$"] == "fixture" or str(named).startswith(_OWN):
            return True
    return False


def fixture_name(path: str) -> str | None:
    """Return the fixture that would provide a part: for ``tokenizer._lock`` that is ``tokenizer``; None for none."""
    match = _STEPS.match(as_written(_NO_ARGUMENT.sub("", path)))
    steps = match.group().split(".") if match else []
    public = [step for step in steps if step and not step.startswith("_")]
    return public[-1] if public and public[-1] not in ("self", "value") else None


def fixture_drafts(paths: Iterable[str]) -> list[str]:
    """Return functions that build parts, to be completed: ``def words(): return ...``."""
    names = dict.fromkeys(filter(None, map(fixture_name, paths)))
    return [f"def {name}(): return ..." for name in names]


def fixture_advice(paths: Iterable[str]) -> str:
    """Return how to provide parts that could not be stored; "" for no advice."""
    drafts = fixture_drafts(paths)
    if not drafts:
        return ""
    return (
        f"build it in a fixture instead: in unit_test/{FIXTURES} in the repository, write "
        f"{' and '.join(f'`{draft}`' for draft in drafts[:3])}, with your driver's code in place of the dots, and "
        "record again; or drive the function with values that can be stored"
    )


Tolerance = tuple[float, float]
"""Relative and absolute."""

_NAMED = {compare.DEFAULT: "every part that is not named", compare.GRADS: ".grad of every tensor"}


@dataclass(frozen=True)
class ComparedPart:
    """How a part of the outcome is compared in some cases.

    Attributes:
        path: ``*`` for every part without a checker of its own.
        tolerance: the widest of the cases; None for other kinds than ``allclose``.
        usual: the widest of its element types; None where it holds for no floating-point part.
        reason: "" where the annotator chose it without one.
    """

    path: str
    kind: str
    tolerance: Tolerance | None
    usual: Tolerance | None
    reason: str
    cases: tuple[str, ...]

    @property
    def is_weak(self) -> bool:
        """True for weak evidence: a part that is not compared, or a tolerance far from its type's own."""
        if self.kind == "ignore":
            return not (
                self.path in (compare.GRADS,) or self.path.startswith(GRAD) or self.path.endswith(".grad")
            )
        if self.tolerance is None or self.usual is None:
            return False
        return any(own > MOST_WIDENED * usual for own, usual in zip(self.tolerance, self.usual, strict=True))

    @property
    def named(self) -> str:
        return _NAMED.get(self.path) or as_written(self.path)

    @property
    def in_words(self) -> str:
        if self.kind == "ignore":
            return f"{self.named} is not compared"
        return f"{self.named} is compared with {in_numbers(self.tolerance)}, where {in_numbers(self.usual)} is usual"


def how(kind: str, tolerance: Tolerance | None) -> str:
    return "not compared" if kind == "ignore" else in_numbers(tolerance) or kind


def how_each(checkers: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """Return in words how the parts of a case are compared, each way once."""
    ways = []
    for checker in checkers.values():
        kind = str(checker.get("kind"))
        ways.append(how(kind, _tolerance(checker) if kind == "allclose" else None))
    return tuple(dict.fromkeys(ways))


def in_numbers(tolerance: Tolerance | None) -> str:
    return f"rtol {tolerance[0]:.2g}, atol {tolerance[1]:.2g}" if tolerance else ""


def compared_parts(folder: Path, recording: Recording) -> tuple[ComparedPart, ...]:
    """Return how the parts of all cases are compared: one entry for each part and kind, weak ones first.

    Args:
        folder: the recording's folder.
    """
    parts: dict[tuple[str, str], ComparedPart] = {}
    for case in recording.cases:
        for part in _of_case(folder, case.name, case.checkers):
            key = part.path, part.kind
            parts[key] = _merged(parts[key], part) if key in parts else part
    return tuple(sorted(parts.values(), key=lambda part: not part.is_weak))


def _merged(one: ComparedPart, other: ComparedPart) -> ComparedPart:
    # The case whose tolerance is farthest from the usual one speaks for all.
    widest = max((one, other), key=lambda part: (part.is_weak, part.tolerance or (0.0, 0.0)))
    return replace(widest, cases=(*one.cases, *other.cases))


def _of_case(folder: Path, name: str, checkers: Mapping[str, Mapping[str, Any]]) -> Iterator[ComparedPart]:
    try:
        place = str(files.inside(folder, name))
        expected, inputs = load(place, "expected"), load(place, "inputs")
    except (BadDocument, LmrError):  # the part is shown, with float32's tolerance for its own
        expected, inputs = Document({"value": 0.0}, {}), Document({}, {})
    usual = _usual(expected, inputs)
    for path, checker in checkers.items():
        kind, tolerance = str(checker.get("kind")), None
        reason = str(checker.get("reason") or "")
        if kind == "allclose":
            tolerance = _tolerance(checker)
        held = [usual[leaf] for leaf in usual if _holder(leaf, checkers) == path]
        loosest = (max(rtol for rtol, _ in held), max(atol for _, atol in held)) if held else None
        yield ComparedPart(
            path, kind, tolerance, loosest, "" if reason == compare.CHOSEN else reason, (name,)
        )


def _usual(expected: Document, inputs: Document) -> dict[str, Tolerance]:
    """Return the usual tolerance of each floating-point part, wider for large numbers, as `record` has it."""
    loosest = max(
        (BY_DTYPE.get(dtype_of(node), (0.0, 0.0)) for _, node in walk(inputs.tree)), default=(0.0, 0.0)
    )
    nodes, usual = dict(walk(expected.tree)), {}
    for leaf in compare.leaves(expected):
        own = max(BY_DTYPE.get(leaf.dtype, BY_DTYPE["float64"]), loosest)
        (_, atol), _ = in_proportion(own, numbers_of(expected, nodes[leaf.path]), None)
        usual[leaf.path] = own[0], max(own[1], atol)
    return usual


def _holder(path: str, checkers: Mapping[str, Any]) -> str:
    """Return the path of the checker that holds for a part: its own, or of the nearest part above."""
    while path and path not in checkers:
        path = path[: max(path.rfind("."), path.rfind("["), 0)]
    return path or compare.DEFAULT


def checker_of(path: str, checkers: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the checker of a part; an empty one for an exact comparison."""
    return checkers.get(_holder(path, checkers), {})


def _tolerance(checker: Mapping[str, Any]) -> Tolerance:
    return _number(checker.get("rtol")), _number(checker.get("atol"))


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
