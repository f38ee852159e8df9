"""Which recorded call the golden also takes as its decorators compile it: a compiler refuses what Python runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lmr_author import replaying
from lmr_author.recording.choose import Proven
from lmr_author.recording.golden import Golden

NAME = "compiled"


@dataclass(frozen=True)
class Compiled:
    """What came of it.

    Attributes:
        by: what compiles the target; "" for nothing.
        case: name of the case that the compiled golden takes; "" for none.
        why: why it takes none.
    """

    by: str = ""
    case: str = ""
    why: str = ""


def taken(golden: Golden, chosen: Sequence[Proven], by: str) -> Compiled:
    """Run the chosen calls on the compiled golden. The smallest that returns is the one. Raises SandboxError."""
    run = golden.replay(
        [item.call.number for item in chosen], [replaying.Variant(NAME, compiled=True)], case_seconds=120
    )
    why = ""
    for position, item in sorted(enumerate(chosen, 1), key=lambda pair: pair[1].call.size):
        outcome = run.of(NAME, str(item.call.number))
        if outcome.status == "returned" and outcome.document is not None:
            return Compiled(by, f"case_{position}")
        why = why or (outcome.error_text or outcome.status)
    return Compiled(by, "", why)
