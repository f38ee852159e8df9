"""LMR606–608: what a good instruction says, and what it keeps to itself."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from lmr_author.checks.base import Example
from lmr_author.checks.bodies import statements
from lmr_author.checks.example_task import second_files, second_implementation
from lmr_author.checks.example_texts import GOLDEN, INSTRUCTION, MASKED, REPOSITORY
from lmr_author.checks.instruction import InstructionCheck, told
from lmr_author.checks.instruction_names import InstructionNames
from lmr_author.checks.lookup import function_names
from lmr_author.checks.pairing import pair
from lmr_author.checks.view import TaskView
from lmr_author.model import Finding, Implementation, Severity
from lmr_author.source import walk

SHORTEST = 20
"""Characters, without spaces, below which an expression of the golden says nothing when it is quoted."""
STEPS = (ast.BinOp, ast.Call, ast.Compare, ast.comprehension)
"""What computes; one of them alone (``RandomState(1)``) is a fact that an instruction may have to tell."""

_RESULT = re.compile(r"\b(?:return|output|yield|result|produce|give[sn]?\b|compute|update|set)\w*", re.I)


def _undocumented(module: str) -> str:
    """The example's module with one line in place of the target's docstring."""
    head, _, rest = module.partition('    """Mean smooth hinge')
    return head + '    """Mean smooth hinge of a list."""\n' + rest.partition('"""\n')[2]


def _words(text: str) -> int:
    return len(text.split())


class NamesTheTarget(InstructionCheck):
    code = "LMR606"
    title = "the instruction names the function to implement"
    rationale = (
        "A file can hold several masked functions. An agent that is told only about \u201cthe loss\u201d has to"
        " guess which one is meant."
    )
    severity = Severity.WARNING
    failing = (
        Example(
            "two functions of the file are masked",
            info={"implementations": second_implementation()},
            implementation=told(
                "Implement the pairwise loss in `ranking/losses.py` as section 3 says; return it."
            ),
            files=second_files(),
        ),
    )
    passing = (
        Example("by its name", implementation=told(INSTRUCTION)),
        Example(
            "only one function of the file is masked",
            implementation=told(
                "Implement the pairwise loss in `ranking/losses.py` as section 3 says; return it."
            ),
        ),
    )

    def run_one(self, view: TaskView, implementation: Implementation) -> Iterator[Finding]:
        """At most one finding; none where one function of the file is masked, or LMR603 finds a misspelt name."""
        text = implementation.instruction
        if sum(one.goal_file == implementation.goal_file for one in view.implementations) < 2:
            return
        names = function_names(implementation)
        class_name = implementation.class_name.rpartition(".")[2]
        wanted = (
            [*names, class_name] if class_name and set(names) & {"forward", "__call__", "__init__"} else names
        )
        there = pair(view, implementation).complete
        meant = [one.qualname.rpartition(".")[2] for _, _, one in there]
        if _words(text) < 3 or not there or any(_named(name, text) for name in (*wanted, *meant)):
            return
        if any(True for _ in InstructionNames().run_one(view, implementation)):
            return
        yield self.at(
            view, implementation, f"the instruction does not name {names[0]}", f"name it: `{names[0]}`"
        )


def _named(name: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


class BodyNotGivenAway(InstructionCheck):
    code = "LMR607"
    title = "the instruction does not quote the solution"
    rationale = (
        "The paper is what an agent should work from. A line of the original in the instruction is copied, and"
        " the task measures typing."
    )
    severity = Severity.WARNING
    failing = (
        Example(
            "a statement of the original",
            implementation=told(
                INSTRUCTION + " Append math.log1p(math.exp(margin - difference)) for each pair."
            ),
        ),
    )
    passing = (
        Example("a formula in words", implementation=told(INSTRUCTION + " The penalty is a smooth hinge.")),
        Example("a name of the signature", implementation=told(INSTRUCTION + " `margin` is a number.")),
    )

    def run_one(self, view: TaskView, implementation: Implementation) -> Iterator[Finding]:
        """At most one finding: the longest quotation."""
        quoted = [
            code
            for golden, _, _ in pair(view, implementation).complete
            for code in quotations(golden, implementation.instruction)
        ]
        if quoted:
            longest = max(quoted, key=len)
            yield self.at(
                view,
                implementation,
                f"the instruction quotes the solution: {longest[:80]!r}",
                "say what it does, or name the paper's equation",
            )


def quotations(golden: ast.FunctionDef | ast.AsyncFunctionDef, text: str) -> list[str]:
    """The expressions of a body that a text quotes, whatever their layout."""
    squeezed = _squeezed(text)
    return [code for code in _telling(golden, squeezed) if _squeezed(code) in squeezed]


def _telling(golden: ast.FunctionDef | ast.AsyncFunctionDef, text: str) -> Iterator[str]:
    """Expressions of a body that compute something, of names in a text, as source text."""
    for statement in statements(golden):
        for node in walk(statement):
            if not isinstance(node, STEPS):
                continue
            parts = walk(node)
            if any(isinstance(part, ast.Name) and part.id not in text for part in parts):
                continue
            if sum(isinstance(part, STEPS) for part in parts) > 1:
                try:
                    code = ast.unparse(node)
                except (ValueError, RecursionError):
                    continue
                if len(_squeezed(code)) >= SHORTEST:
                    yield code


def _squeezed(text: str) -> str:
    """Without white space and quotation marks, so that layout and quoting hide nothing."""
    return re.sub(r"[\s`'\"]+", "", text)


class InputsAndOutputs(InstructionCheck):
    code = "LMR608"
    title = "the instruction says what goes in and what comes out"
    rationale = (
        "Without the shape of the answer an agent that understood the paper still fails: a mean in place of a"
        " sum, one value in place of two."
    )
    severity = Severity.NOTE
    failing = (
        Example(
            "neither, and the docstring does not, either",
            implementation=told(
                "Implement the function `pairwise_loss` in `ranking/losses.py`, see section 3."
            ),
            files={
                "golden_files/losses_golden.py": _undocumented(GOLDEN),
                f"{REPOSITORY}/ranking/losses.py": _undocumented(MASKED),
            },
        ),
    )
    passing = (
        Example(
            "the docstring has them",
            implementation=told(
                "Implement the function `pairwise_loss` in `ranking/losses.py` by section 3."
            ),
        ),
    )

    def run_one(self, view: TaskView, implementation: Implementation) -> Iterator[Finding]:
        """At most one finding; none where the docstring, which the agent sees, describes them.

        Instructions that were written by hand, without records, follow the style of their time.
        """
        if not view.has_provenance:
            return
        text = implementation.instruction
        one = pair(view, implementation)
        if _words(text) < 3 or not one.complete:
            return
        _, masked, _ = one.complete[0]
        docstring = ast.get_docstring(masked) or ""
        said = f"{text} {docstring}"
        parameters = [item.arg for item in (*masked.args.args, *masked.args.kwonlyargs) if item.arg != "self"]
        result_told = not _gives(one.complete[0][0]) or _RESULT.search(said)
        if not result_told and not any(_named(name, said) for name in parameters):
            missing = "what is returned or any of its parameters" if parameters else "what is returned"
            yield self.at(
                view,
                implementation,
                f"neither the instruction nor the docstring says {missing}",
                "say inputs and outputs in a sentence; `lmr-author instruct` drafts one",
            )


def _gives(golden: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether it returns or yields a value, as far as its text shows."""
    return any(
        (isinstance(node, ast.Return) and node.value is not None)
        or isinstance(node, (ast.Yield, ast.YieldFrom))
        for node in walk(golden)
    )
