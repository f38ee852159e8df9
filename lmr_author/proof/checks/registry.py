"""Every check, in the order of codes."""

from __future__ import annotations

import difflib
import re
from functools import cache

from lmr_author.core.errors import UsageError
from lmr_author.core.texts import did_you_mean
from lmr_author.proof.checks import (
    docker,
    goal_files,
    hygiene,
    instruction,
    leaks,
    ledger,
    masks,
    metadata,
    paper,
    unit_tests,
)
from lmr_author.proof.checks.base import Check

_MODULES = (
    metadata,
    paper,
    docker,
    goal_files,
    masks,
    leaks,
    unit_tests,
    instruction,
    hygiene,
    ledger,
)
_CHECKS = (value for module in _MODULES for value in vars(module).values() if isinstance(value, Check))
ALL_CHECKS: tuple[Check, ...] = tuple(sorted(_CHECKS, key=lambda check: check.code))

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
"""Name of a group by the first digit of its codes."""


@cache
def by_code() -> dict[str, Check]:
    return {check.code: check for check in ALL_CHECKS}


def matching(code: str) -> tuple[Check, ...]:
    """Return the checks of a code, a code's prefix or a group's name. Raises UsageError if there are none."""
    wanted = code.strip().upper()
    checks = tuple(
        check
        for check in ALL_CHECKS
        if (wanted.startswith("LMR") and check.code.startswith(wanted))
        or wanted == GROUPS[check.code[3]].upper()
    )
    if not checks:
        digits = re.sub(r"\D", "", wanted)
        codes = [known for known in by_code() if digits and known[3] == digits[0]]
        groups = ", ".join(f"LMR{digit} ({name})" for digit, name in GROUPS.items())
        close = difflib.get_close_matches(f"LMR{digits}", codes, 3)
        raise UsageError(f"no check has the code {code!r}", did_you_mean(close, f"groups: {groups}"))
    return checks
