"""LMR003, LMR009: keys that are spelt as they once were, and the numbers of implementations."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from lmr_author.checks.base import Check, Example, Where
from lmr_author.checks.example_task import second_files, second_implementation
from lmr_author.checks.info_entries import raw_implementations, short
from lmr_author.checks.view import TaskView
from lmr_author.model import Finding, Severity


class LegacySpelling(Check):
    code = "LMR003"
    title = "the key is spelt retrieval_context"
    rationale = (
        "Most published tasks spell it `retrieval_content`, and the published scripts read only that. The"
        " contract says `retrieval_context`; a task with the other spelling, or without either, works with"
        " some tools only."
    )
    severity = Severity.WARNING
    fixable = True
    failing = (
        Example(
            "the legacy spelling",
            implementation={"retrieval_context": None, "retrieval_content": ["ranking/train.py"]},
        ),
        Example("neither spelling", implementation={"retrieval_context": None}),
    )
    passing = (Example("an empty list", implementation={"retrieval_context": []}),)

    def run(self, view: TaskView) -> Iterator[Finding]:
        """One finding for each implementation."""
        for position, implementation, entry in raw_implementations(view):
            pointer = f"/implementations/{position}"
            if "retrieval_content" in entry:
                both = "retrieval_context" in entry
                message = "retrieval_content is the misspelt form of retrieval_context" + (
                    ", which is there too" if both else ""
                )
                yield self.finding(
                    view,
                    message,
                    "remove the misspelt key" if both else "rename the key",
                    implementation=implementation,
                    path="info.json",
                    pointer=f"{pointer}/retrieval_content",
                )
            elif "retrieval_context" not in entry:
                close = difflib.get_close_matches("retrieval_context", list(entry), 1, 0.75)
                yield self.finding(
                    view,
                    "the key retrieval_context is missing",
                    (
                        f"rename the key {close[0]!r}"
                        if close
                        else "add it: a list of repository files, possibly empty"
                    ),
                    implementation=implementation,
                    path="info.json",
                    pointer=pointer,
                    fixable=bool(close),
                )
            elif not isinstance(entry["retrieval_context"], list):
                yield self.finding(
                    view,
                    "retrieval_context is not a list of paths",
                    'write a list, as in ["src/model.py"]',
                    implementation=implementation,
                    path="info.json",
                    pointer=f"{pointer}/retrieval_context",
                )


class IndexNumbers(Check):
    code = "LMR009"
    title = "implementations are numbered 1, 2, 3 …"
    fixable = True
    rationale = (
        "Tests, logs, recordings and results are named after the index; two implementations with one index"
        " overwrite each other."
    )
    failing = (
        Example(
            "two implementations have index 1",
            info={
                "implementations": second_implementation(
                    index=1,
                    goal_function="pairwise_loss",
                    class_name="",
                    unit_test_file="unit_test/unit_test_1.py",
                )
            },
            also=("LMR011", "LMR606"),
        ),
        Example("the index is missing", implementation={"index": None}),
        Example("the index is text", implementation={"index": "1"}),
        Example(
            "a number is left out",
            info={"implementations": second_implementation(index=3)},
            files=second_files(),
        ),
    )
    passing = (Example("one implementation with index 1"),)

    def run(self, view: TaskView) -> Iterator[Finding]:
        """One finding for each index that is not as it should be."""
        seen: set[int] = set()
        for position, implementation, entry in raw_implementations(view):
            index = entry.get("index")
            where: Where = {
                "implementation": implementation,
                "path": "info.json",
                "pointer": f"/implementations/{position}/index",
            }
            if "index" not in entry:
                where["pointer"] = f"/implementations/{position}"
                yield self.finding(view, "the key index is missing", f'add "index": {position + 1}', **where)
            elif not isinstance(index, int) or isinstance(index, bool):
                yield self.finding(
                    view, f"index is {short(repr(index))}, not a number", f"write {position + 1}", **where
                )
            elif index in seen:
                yield self.finding(view, f"index {index} is used twice", "number them 1, 2, 3 …", **where)
            elif index < 1:
                yield self.finding(
                    view, f"index is {index}, and counting starts at 1", f"write {position + 1}", **where
                )
            else:
                seen.add(index)
        numbers = [entry.get("index") for _, _, entry in raw_implementations(view)]
        if len(seen) == len(numbers) and sorted(seen) != list(range(1, len(seen) + 1)):
            listed = ", ".join(map(str, sorted(seen)))
            free = next(number for number in range(1, len(seen) + 1) if number not in seen)
            yield self.finding(
                view,
                f"implementations are numbered {listed:.60}, not 1 to {len(seen)}",
                f"the next function that `lmr-author mask` masks becomes {free}; or unmask the last one, and mask and "
                "record it again; by hand, number them 1, 2, 3 … and name tests and logs alike",
                path="info.json",
                pointer="/implementations",
                severity=Severity.WARNING,
                fixable=False,
            )
