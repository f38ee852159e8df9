"""What a judge says about one version of a target."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

BUSY = "evaluate again when the machine has less to do, or with more --seconds"
"""What to do where the golden fails beside the versions that it is to be told from, which it does not alone."""


@dataclass(frozen=True)
class Verdict:
    """How a version of the target fared.

    Attributes:
        passed: it passes the test.
        reason: why not, one line; "" when it passed.
        by_mask: it failed, in every case, because the masked body raised.
        entered: a statement of the target's body was executed; None when that was not watched.
        file: file the executed target was defined in, relative to the tree; absolute when it lies elsewhere.
        facts: what the sandbox reported about itself.
        identity: equal for two runs exactly when they gave the same outputs bit for bit; "" if unknown.
        seconds: what the slowest case took, as the sandbox claims.
        log: output of the run, for people.
        advice: what to do when the golden fails so; "" when that is not known.
        late: it failed in nothing but that its time ran out.
        untold: why nothing can be said of it, as the golden failed beside it; "" otherwise.
    """

    passed: bool
    reason: str = ""
    by_mask: bool = False
    entered: bool | None = None
    file: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    identity: str = ""
    seconds: float = 0.0
    log: str = ""
    advice: str = ""
    late: bool = False
    untold: str = ""
