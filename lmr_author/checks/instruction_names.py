"""LMR603: the functions that the agent is told of."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from lmr_author.checks.base import Example
from lmr_author.checks.example_texts import INSTRUCTION
from lmr_author.checks.instruction import InstructionCheck, told
from lmr_author.checks.lookup import did_you_mean, function_names
from lmr_author.checks.pairing import pair
from lmr_author.checks.view import TaskView
from lmr_author.model import Finding, Implementation

_VERB = (
    r"\b(?:implement|complete|write|finish|fill in|mask|code)\w*\s+"
    r"(?:out\s+)?(?:the\s+|a\s+)?(?:body of\s+)?(?:the\s+)?"
)
_NAME = r"([A-Za-z_][\w.]*[A-Za-z0-9_])"
_KIND = r"(?:function|method|class)"

_NAMING = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_VERB}(?:\w+\s+)?{_KIND}\s*:?\s+(?:called\s+|named\s+)?(?:def\s+)?[`'\"*]*{_NAME}",
        rf"{_VERB}[`'\"*]+(?:def\s+)?{_NAME}(?:\([^)`]*\))?[`'\"*]",
        rf"{_VERB}([A-Za-z]\w*_\w+)\b",
        rf"\b(?:implement|complete|write|finish)\b[^.\n]{{0,40}}?\s([A-Za-z]\w*(?:_\w+)+|\w+\.\w+)\s+{_KIND}\b",
        rf"\b{_KIND}\s+(?:called|named)\s+[`'\"*]*{_NAME}",
        rf"[`'\"*]+{_NAME}(?:\(\))?[`'\"*]+\s+(?:{_KIND}s?|classes)\b",
        rf"\b(?:of|in|inside|from)\s+(?:the\s+)?class\s+[`'\"*]*{_NAME}",
    )
)
"""How an instruction names what is to be implemented, as a verb's object or beside the word function."""

_QUOTED = re.compile(rf"`{_NAME}(?:\(\))?`")
"""Names beside the target may be of the paper; they are wrong when they are almost names of the goal file."""

_CALLED = re.compile(r"(?<![\w.])([A-Za-z_]\w*_\w+)\(\)")

_NOT_A_NAME = frozenset(
    [
        "that",
        "which",
        "to",
        "for",
        "of",
        "in",
        "is",
        "as",
        "from",
        "with",
        "by",
        "based",
        "according",
        "below",
        "above",
        "described",
        "used",
        "and",
        "the",
        "this",
        "it",
    ]
)


class InstructionNames(InstructionCheck):
    code = "LMR603"
    title = "the functions that the instruction names exist"
    rationale = (
        "A renamed or misspelt function sends the agent to something else, or makes it write a new one that"
        " nobody calls."
    )
    failing = (
        Example(
            "another name",
            implementation=told(INSTRUCTION.replace("pairwise_loss", "pair_hinge_loss")),
        ),
        Example(
            "a typing error",
            implementation=told(INSTRUCTION.replace("pairwise_loss", "pairwise_los")),
        ),
        Example(
            "a helper that is almost the one there is",
            implementation=told(INSTRUCTION + " The scores go through `sigmoids` first."),
        ),
        Example(
            "a class that nobody defines",
            implementation=told(INSTRUCTION + " It belongs to the objective of the class PairwiseTrainer."),
        ),
        Example(
            "in quotes, without the word function",
            implementation=told(
                "Implement the `pairwise_objective` in `ranking/losses.py` as section 3 says."
            ),
        ),
    )
    passing = (
        Example(
            "a name of its own in quotes",
            implementation=told(INSTRUCTION + " The `pairwise_margin` is a hyperparameter of the paper."),
        ),
        Example(
            "a class's name with it",
            implementation=told(INSTRUCTION + " The class `ListLoss` stays as it is."),
        ),
    )

    def run_one(self, view: TaskView, implementation: Implementation) -> Iterator[Finding]:
        """One finding for each name."""
        one = pair(view, implementation)
        if view.repository is None or (one.goal is None and one.golden is None):
            return
        text = implementation.instruction
        found = [
            *(name for pattern in _NAMING for name in pattern.findall(text)),
            *_CALLED.findall(text),
        ]
        defined = [item.name for item in (one.goal.definitions if one.goal else ())]
        qualnames = [item.qualname for item in (one.goal.definitions if one.goal else ())]
        found += [name for name in _QUOTED.findall(text) if _is_almost(name, defined)]
        names = {name.rpartition(".")[2]: name for name in found}
        targets = list(function_names(implementation))
        for name, full in names.items():
            owner = full.rpartition(".")[0].rpartition(".")[2]
            telling = "_" in name.strip("_") or re.search(r"[a-z][A-Z]", name) or f"`{name}" in text
            telling = telling or (len(owner) > 3 and _known(view, owner))
            if not telling or name.lower() in _NOT_A_NAME or len(name) < 4 or _known(view, name):
                continue
            hint = did_you_mean(
                name,
                [item for item in (*targets, *qualnames) if item != name],
                0.5,
            )
            yield self.at(
                view,
                implementation,
                f"the instruction names {name}, which the repository does not have",
                hint or f"name {targets[0] if targets else 'the target'}",
            )


def _is_almost(name: str, defined: list[str]) -> bool:
    """Whether a name is a misspelt form of one that is defined."""
    return name not in defined and bool(difflib.get_close_matches(name, defined, 1, 0.9))


def _known(view: TaskView, name: str) -> bool:
    """Whether an identifier occurs anywhere in the repository's Python files."""
    wanted = re.compile(rb"(?<!\w)" + re.escape(name.encode()) + rb"(?!\w)")
    ordered = sorted(view.repository_entries, key=lambda entry: entry.relative.count("/"))
    for entry in ordered:
        if entry.kind == "file" and (
            entry.suffix in (".py", ".ipynb", ".pyi", ".yaml", ".yml", ".sh", ".md")
            or entry.name == "paper.json"
        ):
            data = view.read_once(view.path(entry), 4 * 1024 * 1024)
            if data and wanted.search(data):
                return True
    return False
