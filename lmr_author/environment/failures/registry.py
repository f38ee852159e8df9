"""Every explainer, in the order in which they are asked: what is surest first."""

from __future__ import annotations

from collections.abc import Sequence

from lmr_author.environment.failures.base import Explainer, Explanation, Failure
from lmr_author.environment.failures.dockerfiles import DOCKERFILES
from lmr_author.environment.failures.importing import IMPORTING, OF_THE_ENVIRONMENT
from lmr_author.environment.failures.installing import INSTALLING, SURE
from lmr_author.environment.failures.machine import MACHINE
from lmr_author.environment.failures.pythons import Python2

_TRACEBACK = "Traceback (most recent call last):"
_LED_TO = (
    "During handling of the above exception, another exception occurred:",
    "The above exception was the direct cause of the following exception:",
)

EXPLAINERS: tuple[type[Explainer], ...] = (*MACHINE, *SURE, *DOCKERFILES, *INSTALLING, *IMPORTING)
"""The machine's failures come first: their symptoms look like the task's. A missing program comes before "no wheel"."""


def explain(failure: Failure, kinds: Sequence[type[Explainer]] = EXPLAINERS) -> Explanation | None:
    """The first explanation that fits; None when none does, and the log has to be read."""
    for kind in kinds:
        found = kind().applies(failure)
        if found is not None:
            return found
    return None


def explain_traceback(text: str) -> Explanation | None:
    """What is wrong with the environment where some program ended with a traceback, of which ``text`` is all it said.

    The last exception is asked first, then those that led to it. What else was printed is not looked at: libraries
    warn of what nobody needs. None when it is something else: the program's own mistake.
    """
    parts = text.split(_TRACEBACK)
    chain = [parts[-1]]
    for part in reversed(parts[:-1]):
        if not part.rstrip().endswith(_LED_TO):
            break
        chain.insert(0, part)
    for count in dict.fromkeys((1, len(chain))):
        found = explain(
            Failure("import", "", _TRACEBACK.join(chain[-count:])), (*OF_THE_ENVIRONMENT, Python2)
        )
        # What no Python can read is a typing mistake, unless it is a library's.
        if found is not None and (found.name != Python2.name or found.change is not None):
            return found
    return None
