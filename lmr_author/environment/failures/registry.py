"""Every explainer, in the order in which they are asked: what is surest first."""

from __future__ import annotations

from lmr_author.environment.failures.base import Explainer, Explanation, Failure
from lmr_author.environment.failures.dockerfiles import DOCKERFILES
from lmr_author.environment.failures.importing import IMPORTING
from lmr_author.environment.failures.installing import INSTALLING, SURE
from lmr_author.environment.failures.machine import MACHINE

EXPLAINERS: tuple[type[Explainer], ...] = (*MACHINE, *SURE, *DOCKERFILES, *INSTALLING, *IMPORTING)
"""The machine's failures come first: their symptoms look like the task's. A missing program comes before "no wheel"."""


def explain(failure: Failure) -> Explanation | None:
    """The first explanation that fits; None when none does, and the log has to be read."""
    for kind in EXPLAINERS:
        found = kind().applies(failure)
        if found is not None:
            return found
    return None
