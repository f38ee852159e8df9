"""The criteria of a good task: each gives a number and a sentence that the annotator reads.

A function's score is the product of its values, each to the power of its weight: a function that fails one
criterion badly is no good task, whatever the others say.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from lmr_author.authoring.suggesting.paper import TABLES, Description
from lmr_author.core.indexing import Index, IndexEntry
from lmr_author.core.texts import counted, listed


@dataclass(frozen=True)
class CriterionScore:
    """The judgement of one criterion about a function.

    Attributes:
        value: 0 (no task) to 1.
        sentence: why, for the annotator.
        warning: the same in two or three words when it speaks against the function, else "".
    """

    value: float
    sentence: str
    warning: str = ""
    criterion: str = ""


@dataclass(frozen=True)
class Prospect:
    entry: IndexEntry
    index: Index
    description: Description
    repository: str = ""
    has_package: bool = False


def pages(numbers: Sequence[int]) -> str:
    """Return ``p. 4`` or ``p. 4, 5, 7 …``."""
    first = ", ".join(map(str, sorted(numbers[:3])))
    return f"p. {first}{' …' if len(numbers) > 3 else ''}"


def described(prospect: Prospect) -> CriterionScore:
    """The paper describes it, so that a model can implement it: its share of the best described function's score."""
    description = prospect.description
    if not description.matches and description.share == 1:
        return CriterionScore(1.0, "there is no text of the paper")
    if not description.matches:
        return CriterionScore(
            description.share, "shares no distinctive term with the paper", "not in the paper"
        )
    terms = ", ".join(f"{match.term} ({pages(match.pages)})" for match in description.matches)
    return CriterionScore(description.share, f"shares with the paper: {terms}")


LARGE = 45
"""Statements from which on a function does more than one thing."""
SMALL = (0.02, 0.08, 0.25, 0.5, 0.8)
"""Value of a function of so few statements."""


def size(prospect: Prospect) -> CriterionScore:
    """It is large enough to be a task and small enough to be one."""
    statements, branches = prospect.entry.statements, prospect.entry.branches
    text = f"{counted(statements, 'statement')}, {counted(branches, 'branch', 'branches')}"
    if statements < 4:
        return CriterionScore(SMALL[statements], f"{text}: almost nothing to implement", "trivial")
    if statements > LARGE:
        value = max(0.1, LARGE / statements)
        return CriterionScore(value, f"{text}: probably does more than one thing", "long")
    return CriterionScore(SMALL[4] if statements == 4 else 1.0, text)


_SETUP = ("__init__", "__post_init__", "__new__", "setup", "build_model", "build")
_METHOD_DUNDERS = ("__call__", "__getitem__", "__iter__")
_MACHINERY = re.compile(
    r"_*(add_.*arg|parse_arg|get_arg|get_pars|print|plot|log(_|$)|save|load|download|upgrade_|read(_|$)|write(_|$))"
)
_NO_METHOD = frozenset(("property", "setter", "abstractmethod"))
"""Decorators of what is no method of the paper."""
_TEST = re.compile(r"(^|/)(tests?|testing)/|(^|/)(test_[^/]*|[^/]*_test|conftest)\.py$")


def is_test(path: str) -> bool:
    return bool(_TEST.search(path))


def kind(prospect: Prospect) -> CriterionScore:
    """It belongs to the method, not to the machinery around it."""
    entry, name = prospect.entry, prospect.entry.name
    is_dunder = name.startswith("__") and name not in _METHOD_DUNDERS
    decorators = {decorator.rpartition(".")[2] for decorator in entry.decorators}
    rows = (
        (is_test(entry.path) or name.startswith("test_"), 0.05, "it is a test", "a test"),
        (name in _SETUP, 0.3, "it is setup code, which papers seldom describe", "a constructor"),
        (is_dunder, 0.15, "it is a Python protocol method, not part of the paper's method", "a dunder"),
        (
            _MACHINERY.match(name),
            0.3,
            "its name suggests input, output, logging or option parsing",
            "input or output",
        ),
        (
            "." in entry.function_name,
            0.5,
            f"it is nested in {entry.function_name.rpartition('.')[0]}",
            "nested",
        ),
        (
            decorators & _NO_METHOD,
            0.3,
            "its decorators make it a property or abstract",
            "a property or abstract",
        ),
    )
    for applies, value, sentence, warning in rows:
        if applies:
            return CriterionScore(value, sentence, warning)
    return CriterionScore(1.0, "a method" if entry.class_name else "a function")


_PROJECTS = frozenset(TABLES["projects"].split())
_EXAMPLES = re.compile(r"(?:examples?|demos?|tutorials?|samples?|docs?|benchmarks?)", re.I)
_FOREIGN = re.compile(r"third_?party|vendor(ed)?|site-packages|extern(al)?s?", re.I)


def has_own_package(paths: Iterable[str]) -> bool:
    """Return True when a repository's files have a top-level package, or one below ``src/``, that is its own."""
    for path in paths:
        folders = path.removeprefix("src/").split("/")
        if len(folders) == 2 and folders[1] == "__init__.py":
            name = folders[0].lower()
            foreign = name in _PROJECTS or _FOREIGN.fullmatch(name) or _EXAMPLES.fullmatch(name)
            if not foreign and not is_test(path):
                return True
    return False


def originality(prospect: Prospect) -> CriterionScore:
    """It is the repository's own code, not a library's: the paper's contribution is seldom in a copy."""
    own = prospect.repository.lower().replace("-", "_")
    for folder in prospect.entry.path.split("/")[:-1]:
        if prospect.has_package and _EXAMPLES.fullmatch(folder):
            return CriterionScore(
                0.3, f"it is in {folder}/, beside the repository's own package", "an example"
            )
        name = folder.lower().replace("-", "_")
        if _FOREIGN.fullmatch(folder) or (name in _PROJECTS and name not in own):
            return CriterionScore(0.4, f"it belongs to another project ({folder})", "another project's")
    return CriterionScore(1.0, "it appears to be the repository's own code")


_HOOKS = frozenset(TABLES["hooks"].split())


def called(prospect: Prospect) -> CriterionScore:
    """Something calls it, as only a call can be recorded. By name: ``loss(…)`` may call another ``loss``."""
    entry, index = prospect.entry, prospect.index
    if callers := index.callers(entry.name):
        often = sorted(callers, key=lambda caller: (is_test(caller[0]), -caller[1], caller[0]))
        times = counted(sum(count for _, count in callers), "time")
        return CriterionScore(1.0, f"called {times} by name: {listed([path for path, _ in often], 3)}")
    if entry.name in _HOOKS:
        return CriterionScore(1.0, "called by its framework")
    if entry.name in index.mentioned:
        return CriterionScore(0.9, "it is passed as a value, never called by name")
    return CriterionScore(0.6, "nothing in the repository calls it by name", "never called")


_ENTRY_POINTS = re.compile(r"main|cli(_main)?|run|train|evaluate|fit|launch|entry")
_UNSTORABLE = [(re.compile(row["pattern"], re.I), row["value"], row["what"]) for row in TABLES["unstorable"]]
_OUTSIDE = [(frozenset(row["names"].split()), row["value"], row["what"]) for row in TABLES["outside"]]


def recordable(prospect: Prospect) -> CriterionScore:
    """Its inputs can be stored and given to another implementation: the worst that its names say."""
    entry = prospect.entry
    obstacles: list[tuple[float, str]] = []
    if _ENTRY_POINTS.fullmatch(entry.name):
        obstacles.append((0.3, "is a program's entry point"))
    for parameter in entry.parameters:
        name, _, annotation = parameter.lstrip("*").partition(": ")
        for pattern, value, what in _UNSTORABLE:
            if pattern.search(name) or pattern.search(annotation):
                obstacles.append((value, f"takes {what} ({name})"))
    obstacles += [(value, what) for names, value, what in _OUTSIDE if names.intersection(entry.calls)]
    if entry.kind == "async":
        obstacles.append((0.7, "is a coroutine"))
    # A change of a tensor in place (`add_`) is recorded as a return value is.
    in_place = any(name.endswith("_") and not name.startswith("_") for name in entry.calls)
    if not (entry.returns or entry.class_name or entry.generator or in_place):
        obstacles.append((0.6, "returns nothing"))
    if not obstacles:
        return CriterionScore(1.0, "its inputs look like values that can be recorded")
    value, reason = min(obstacles)
    every = "; ".join(dict.fromkeys(text for _, text in sorted(obstacles)))
    return CriterionScore(value, f"hard to record: it {every}", reason)


_OBSTACLES = {
    "gpu": (0.7, "needs a GPU"),
    "program": (0.3, "its file runs when imported"),
    "command line": (0.1, "cannot run in a test"),
    "python 2": (0.1, "cannot run in a test"),
}


def runs(prospect: Prospect) -> CriterionScore:
    """A test can import its file and run it."""
    obstacle = prospect.entry.obstacle
    if obstacle is None:
        return CriterionScore(1.0, "no obstacle to running it in a test")
    value, warning = _OBSTACLES[obstacle.kind]
    if obstacle.kind == "gpu":
        warning = f"needs a GPU ({obstacle.lines})"
    return CriterionScore(value, obstacle.sentence, warning)


CRITERIA: dict[str, tuple[float, Callable[[Prospect], CriterionScore]]] = {
    "described": (1.0, described),
    "size": (1.0, size),
    "kind": (1.0, kind),
    "own": (1.0, originality),
    "called": (0.7, called),
    "recordable": (1.0, recordable),
    "runs": (1.0, runs),
}
"""Weight and function of each criterion, in the order in which an annotator reads them."""
