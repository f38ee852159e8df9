"""LMR601, 604: what the agent is told to do."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lmr_author.checks.base import Example, ImplementationCheck
from lmr_author.checks.example_texts import INSTRUCTION
from lmr_author.checks.view import TaskView
from lmr_author.model import Finding, Implementation, Severity

_TESTS = (
    r"(?:(?:unit[ _-]?tests?|tests|test cases?|unit_test\w*(?:\.py)?|test_\w+\.py|\w+_test\.py)\b"
    r"(?!\s*-?(?:data|set|split))"
    r"|test\b(?=\s*(?:[.,;:!?)`'\"]|$|(?:and|in|of|for|with|when|file|script|suite|it|by|without)\b)))"
)

_WHICH = (
    r"(?:(?:all|the|this|that|these|our|your|its|every|each|any|given|provided|corresponding|following|of|in"
    r"|hidden|[`'\"(/.]|unit_test/)\s*)*"
)

_PASS = re.compile(
    rf"\b(?:pass|passes|passing|satisf(?:y|ies|ying)|succeeds? (?:in|on))\s+{_WHICH}{_TESTS}"
    rf"|\b(?:{_TESTS}|logs?|script)[`'\"]*\s+(?:then |must |should |will )*"
    rf"(?:prints?|says?|shows?|reports?|outputs?|logs?)\s+[`'\"]*pass(?:ed|es)?\b"
    rf"|\b(?:should|must|has to|needs to)\s+(?:print|output|log|say|report)\s+[`'\"]*passed\b"
    rf"|\b(?:get|make|makes|making)\s+{_WHICH}{_TESTS}\s+pass\b"
    rf"|\b{_TESTS}\s+(?:will |must |should |can |to |all |then |be )*(?:pass|passes|passed|succeeds?|green)\b"
    rf"|\b{_TESTS}\s+(?:will |must |should |has to |have to )+(?:run|complete|finish|execute)s?\s+"
    rf"(?:without|with no|successfully)\b"
    rf"|\b(?:when|once|if|until|so that)\s+{_WHICH}(?:python3?\s+)?{_WHICH}{_TESTS}[`'\"]*\s+"
    rf"(?:runs?|ends?|exits?|completes?|finish(?:es)?)\s+"
    rf"(?:without|with no|successfully|cleanly|with (?:code |status )?(?:0|zero))"
    rf"|\b(?:none of|no)\s+{_WHICH}{_TESTS}\s+(?:may |must |should |will )*fails?\b"
    rf"|\buntil\s+(?:it|they|everything|{_WHICH}{_TESTS})\s+"
    rf"(?:(?:prints?|outputs?|says?)\s+[`'\"]*passed|pass|passes|succeeds?)\b"
    rf"|\b(?:contains?|shows?|says?|reads?)\s+[`'\"]*passed\b"
    rf"|\b(?:assertions|checks)\s+(?:in|of)\s+{_WHICH}{_TESTS}\s+(?:must |should |have to )*(?:hold|pass)\b"
    rf"|\bpytest\b[^.\n]{{0,40}}\b(?:exits? with|returns?)\s+(?:code\s+)?0\b"
    rf"|\bmatch(?:es)?\b[^.\n]{{0,40}}\bin\s+[`'\"]*(?:unit_test/)?unit_test\w*(?:\.py)?",
    re.IGNORECASE,
)
_MARKS = re.compile(r"[`\"]|\*\*")
"""Marks around code and words: they are no part of what is asked."""


def told(text: str) -> dict[str, object]:
    """The change of the instruction."""
    return {"instruction": text}


class InstructionCheck(ImplementationCheck):
    """A check that reads the instruction."""

    def at(self, view: TaskView, implementation: Implementation, message: str, hint: str) -> Finding:
        """A finding that points at the instruction."""
        position = view.position(implementation)
        pointer = f"/implementations/{position}" + ("/instruction" if implementation.instruction else "")
        return self.finding(
            view, message, hint, implementation=implementation, path="info.json", pointer=pointer
        )


GAP = "[to fill in: what it computes]"
"""What a draft of an instruction says where nothing tells the purpose of the function."""


class InstructionThere(InstructionCheck):
    code = "LMR601"
    title = "there is an instruction"
    rationale = "The instruction is all that an agent is told besides the paper and the code."
    failing = (
        Example("missing", implementation={"instruction": None}),
        Example("empty", implementation=told("  ")),
        Example("a placeholder", implementation=told("TODO")),
        Example("a gap of a draft", implementation=told(f"{INSTRUCTION} Its purpose: {GAP}.")),
    )
    passing = (
        Example(
            "a sentence",
            implementation=told("Implement the function `pairwise_loss` as section 3 describes it."),
        ),
    )

    def run_one(self, view: TaskView, implementation: Implementation) -> Iterator[Finding]:
        """At most one finding."""
        text = implementation.instruction.strip()
        if not text or len(text.split()) < 3 or text.upper().startswith(("TODO", "TBD", "FIXME", "XXX")):
            message = (
                "the instruction is missing or empty"
                if not text
                else f"the instruction says only {text[:40]!r}"
            )
            yield self.at(
                view,
                implementation,
                message,
                "say which function to implement, in which file, from which part of the paper",
            )
        elif GAP in text:
            yield self.at(
                view,
                implementation,
                "the instruction still has the gap of its draft",
                f"say it in place of {GAP!r}, in the paper's words: `lmr-author instruct`",
            )


class ImplementThePaper(InstructionCheck):
    code = "LMR604"
    title = "the instruction asks for the paper's method, not for passing a test"
    rationale = (
        "An agent told to pass the test optimises for the test: special cases, or edits of the test itself."
    )
    severity = Severity.WARNING
    failing = (
        Example(
            "pass the test",
            implementation=told(INSTRUCTION + " Make sure that it passes unit_test/unit_test_1.py."),
        ),
        Example(
            "the test prints Passed",
            implementation=told(INSTRUCTION + " Make sure that unit_test/unit_test_1.py prints Passed."),
        ),
        Example(
            "the test ends without an error",
            implementation=told(
                INSTRUCTION + " It is right when `python unit_test/unit_test_1.py` ends without an error."
            ),
        ),
        Example(
            "pass a test that is named by its file",
            implementation=told(INSTRUCTION + " You must pass `test_losses.py`."),
            also=("LMR602",),
        ),
        Example(
            "make them pass", implementation=told(INSTRUCTION + " Your code has to make the unit tests pass.")
        ),
        Example(
            "the test has to pass",
            implementation=told(
                "Complete `pairwise_loss` in `ranking/losses.py` so that all unit tests pass."
            ),
        ),
    )
    passing = (
        Example(
            "it will be tested",
            implementation=told(INSTRUCTION + " Your implementation will be tested on recorded inputs."),
        ),
    )

    def run_one(self, view: TaskView, implementation: Implementation) -> Iterator[Finding]:
        """At most one finding."""
        match = _PASS.search(_MARKS.sub("", implementation.instruction))
        if match:
            yield self.at(
                view,
                implementation,
                f"the instruction asks to pass a test: {match[0][:80]!r}",
                "ask for what the paper describes",
            )
