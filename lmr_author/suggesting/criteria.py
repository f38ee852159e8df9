"""The criteria of a good task: each gives a number and a sentence that the annotator reads.

A function's score is the product of its values, each to the power of its weight: a function that fails one
criterion badly is no good task, whatever the others say.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from lmr_author.suggesting.criterion import Case, Criterion, Judgement, pages
from lmr_author.suggesting.obstacles import NEEDS_GPU
from lmr_author.suggesting.recordable import Recordable
from lmr_author.texts import counted, listed

WEIGHTS = {
    "described": 1.0,
    "size": 1.0,
    "kind": 1.0,
    "own": 1.0,
    "called": 0.7,
    "recordable": 1.0,
    "runs": 1.0,
    "copies": 0.5,
}
"""Weight of each criterion; 0 leaves it out."""


class Described(Criterion):
    """The paper describes it, so that a model can implement it."""

    name = "described"

    def judge(self, case: Case) -> Judgement:
        """The share of the best described function's score."""
        found = case.description
        if not found.matches:
            return self.says(found.share, "shares no telling term with the paper", "not in the paper")
        terms = ", ".join(f"{match.term} ({pages(match.pages)})" for match in found.matches)
        return self.says(found.share, f"shares with the paper: {terms}")


class Size(Criterion):
    """It is large enough to be a task and small enough to be one."""

    name = "size"
    TOO_SMALL = 4
    LARGE = 45
    """Statements from which on a function does more than one thing."""

    def judge(self, case: Case) -> Judgement:
        """Grows up to five statements, falls beyond 45."""
        entry = case.entry
        said = f"{counted(entry.statements, 'statement')}, {counted(entry.branches, 'branch', 'branches')}"
        if entry.statements < self.TOO_SMALL:
            value = (0.02, 0.08, 0.25, 0.5)[entry.statements]
            return self.says(value, f"{said}: next to nothing to implement", "trivial")
        if entry.statements > self.LARGE:
            value = max(0.1, self.LARGE / entry.statements)
            return self.says(value, f"{said}: more than one thing to implement", "long")
        return self.says(0.8 if entry.statements == self.TOO_SMALL else 1.0, said)


class Kind(Criterion):
    """It belongs to the method, not to the machinery around it."""

    name = "kind"

    def judge(self, case: Case) -> Judgement:
        """Falls for constructors, tests, printing and nested functions."""
        entry, name = case.entry, case.entry.name
        if is_test(entry.path) or name.startswith("test_"):
            return self.says(0.05, "it is a test", "a test")
        if name in ("__init__", "__post_init__", "__new__", "setup", "build_model", "build"):
            return self.says(0.3, "it sets things up, which the paper seldom describes", "a constructor")
        if name.startswith("__") and name not in ("__call__", "__getitem__", "__iter__"):
            return self.says(0.15, "it is there for the language, not for the method", "a dunder")
        if re.match(
            r"_*(add_.*arg|parse_arg|get_arg|get_pars|print|plot|log(_|$)|save|load|download|upgrade_"
            r"|read(_|$)|write(_|$))",
            name,
        ):
            return self.says(0.3, "by its name it reads, writes, logs or parses options", "input or output")
        if "." in entry.function_name:
            outer = entry.function_name.rpartition(".")[0]
            return self.says(0.5, f"it is nested in {outer}", "nested")
        if any(
            item.rpartition(".")[2] in ("property", "setter", "abstractmethod") for item in entry.decorators
        ):
            return self.says(0.3, f"it is decorated with @{entry.decorators[0]}", "a property or abstract")
        return self.says(1.0, "a method" if entry.class_name else "a function")


class Own(Criterion):
    """It is the repository's own code, not a library's: the paper's contribution is seldom in a copy."""

    name = "own"

    def judge(self, case: Case) -> Judgement:
        """Falls for what was copied from another project, less where it was changed for this one."""
        origin = case.origin
        if origin is None:
            return self.says(1.0, "nothing says that it is another project's")
        if origin.adapted:
            return self.says(0.6, origin.reason, "adapted from a library")
        return self.says(0.4, origin.reason, "another project's")


class Called(Criterion):
    """Something calls it: only a call can be recorded."""

    name = "called"
    HOOKS = frozenset(
        {
            *("forward", "backward", "__call__", "__getitem__", "__iter__", "step", "update", "compute_loss"),
            *("training_step", "validation_step", "test_step", "configure_optimizers", "collate_fn"),
        }
    )
    """Names that a framework calls."""

    def judge(self, case: Case) -> Judgement:
        """Judge by name: ``loss(…)`` may call another ``loss``."""
        entry, index = case.entry, case.index
        callers = index.callers(entry.name)
        if callers:
            return self._by(callers)
        if entry.name in self.HOOKS:
            class_name = entry.class_name.rpartition(".")[2]
            made = index.callers(class_name) if class_name else ()
            if made:
                return self.says(1.0, f"its framework calls it; {class_name} is made in {_places(made)}")
            return self.says(0.9, "its framework calls it")
        if entry.name in index.mentioned:
            return self.says(0.9, "it is never called by name, but passed on")
        return self.says(0.6, "nothing in the repository calls it by name", "never called")

    def _by(self, callers: Sequence[tuple[str, int]]) -> Judgement:
        times = sum(number for _, number in callers)
        own = [item for item in callers if not is_test(item[0])]
        if not own:
            return self.says(0.9, f"called {counted(times, 'time')}, by tests only: {_places(callers)}")
        return self.says(1.0, f"called {counted(times, 'time')} by name: {_places(own)}")


class Runs(Criterion):
    """A test can import its file and run it."""

    name = "runs"

    def judge(self, case: Case) -> Judgement:
        """Falls where the command line is demanded on import, a builtin of Python 2 is used, or a GPU is needed."""
        if not case.obstacle:
            return self.says(1.0, "nothing that can be seen keeps a test from running it")
        if case.obstacle == NEEDS_GPU:
            return self.says(0.3, case.obstacle, "needs a GPU")
        return self.says(0.1, case.obstacle, "cannot run in a test")


class Unique(Criterion):
    """No other function gives the answer away."""

    name = "copies"

    def judge(self, case: Case) -> Judgement:
        """Falls with near copies: they have to be masked as well."""
        if not case.copies:
            return self.says(1.0, "no other function is like it")
        first = case.copies[0]
        more = f" and {len(case.copies) - 1} more" if len(case.copies) > 1 else ""
        return self.says(
            max(0.3, 0.7 - 0.02 * len(case.copies)),
            f"{first.share:.0%} of it is also in {first.entry.node_id}{more}: mask those too",
            f"{counted(len(case.copies), 'near copy', 'near copies')}",
        )


CRITERIA: tuple[Criterion, ...] = (
    Described(),
    Size(),
    Kind(),
    Own(),
    Called(),
    Recordable(),
    Runs(),
    Unique(),
)
"""Every criterion, in the order in which an annotator reads them."""


def score(judgements: Sequence[Judgement]) -> float:
    """Return the product of the judgements, 0 to 100."""
    product = 1.0
    for item in judgements:
        product *= item.value ** WEIGHTS[item.criterion]
    return 100 * product


@cache
def is_test(path: str) -> bool:
    """Recognize a test file by its path."""
    return bool(re.search(r"(^|/)(tests?|testing)/|(^|/)(test_[^/]*|[^/]*_test|conftest)\.py$", path))


def _places(callers: Sequence[tuple[str, int]]) -> str:
    names = [path for path, _ in sorted(callers, key=lambda item: (-item[1], item[0]))]
    return listed(names, 3)
