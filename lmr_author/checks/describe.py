"""What a check is, in words: for `explain` and for docs/checks.md."""

from __future__ import annotations

import difflib
import json
from dataclasses import dataclass
from typing import Any

from lmr_author.checks.base import Check, Example, TreeCheck
from lmr_author.checks.example_texts import FILES
from lmr_author.checks.registry import ALL_CHECKS, by_code
from lmr_author.errors import UsageError
from lmr_author.texts import shortened

GROUPS = {
    "0": "Metadata",
    "1": "Paper and repository",
    "2": "Environment",
    "3": "Masking and golden",
    "4": "Leaks",
    "5": "Unit tests and recordings",
    "6": "Instruction",
    "7": "Hygiene",
    "8": "Authoring records",
}
"""What the first digit of a code stands for."""

MAX_LINES = 14


@dataclass(frozen=True)
class Shown:
    """An example in words, with the lines that make it one."""

    title: str
    where: str
    text: str


@dataclass(frozen=True)
class Description:
    """A check in words."""

    code: str
    group: str
    title: str
    rationale: str
    severity: str
    fixable: bool
    failing: tuple[Shown, ...]
    passing: tuple[Shown, ...]

    def to_json(self) -> dict[str, Any]:
        """The description as `explain --format json` prints it."""
        return {
            "code": self.code,
            "group": self.group,
            "title": self.title,
            "rationale": self.rationale,
            "severity": self.severity,
            "fixable": self.fixable,
            "failing": [vars(item) for item in self.failing],
            "passing": [vars(item) for item in self.passing],
        }


def describe(code: str) -> Description:
    """The check of a code. Raises UsageError, with what may have been meant."""
    wanted = code.strip().upper()
    check = by_code().get(wanted)
    if check is None:
        begun = [known for known in by_code() if wanted.startswith("LMR") and known.startswith(wanted)]
        close = begun or difflib.get_close_matches(wanted, list(by_code()), 3, 0.5)
        raise UsageError(
            f"no check has the code {code!r}",
            f"did you mean {' or '.join(close)}?" if close else "`lmr-author explain all` lists them",
        )
    return _describe(check)


def describe_all() -> list[Description]:
    """Every check in words, in the order of codes."""
    return [_describe(check) for check in ALL_CHECKS]


def _describe(check: Check) -> Description:
    return Description(
        code=check.code,
        group=GROUPS[check.code[3]],
        title=check.title,
        rationale=check.rationale,
        severity=check.severity.value,
        fixable=check.fixable,
        failing=tuple(_show(example, isinstance(check, TreeCheck)) for example in check.failing),
        passing=tuple(_show(example, isinstance(check, TreeCheck)) for example in check.passing),
    )


def _show(example: Example, second: bool) -> Shown:
    """The first change of an example that can be shown, as the lines that differ from the good task."""
    title = f"{example.title}" + (" (in a second task)" if second and (example.info or example.files) else "")
    for path, content in example.files.items():
        if content is None:
            return Shown(title, path, "(removed)")
        if not isinstance(content, str):
            return Shown(title, path, "(a compiled file)" if callable(content) else f"({len(content)} bytes)")
        return Shown(title, path.replace("\n", "\\n"), _changed(FILES.get(path, ""), content))
    changes = {**example.info, **example.implementation}
    if not changes:
        return Shown(title, "", "")
    shown = {key: value for key, value in changes.items() if value is not None}
    removed = [f"(without the key {key!r})" for key, value in changes.items() if value is None]
    text = json.dumps(shown, indent=2, ensure_ascii=False).splitlines()[1:-1] if shown else []
    return Shown(title, "info.json", "\n".join([*_cut([line[2:] for line in text]), *removed]))


def _changed(before: str, after: str) -> str:
    if not before:
        return "\n".join(_cut(after.splitlines())).replace("\0", "\\0")
    if before.replace("\n", "\r\n") == after:
        return "(every line ends in CRLF)"
    lines = list(difflib.unified_diff(before.splitlines(), after.splitlines(), n=1, lineterm=""))[2:]
    return "\n".join(_cut([line for line in lines if not line.startswith("@@")]))


def _cut(lines: list[str]) -> list[str]:
    lines = [shortened(line, 110) for line in lines]
    return lines if len(lines) <= MAX_LINES else [*lines[: MAX_LINES - 1], "…"]
