"""What to record, and by what it is driven: the choices of ``record``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lmr_author.errors import UsageError
from lmr_author.recording import checkers
from lmr_author.recording.sizes import MOST_BYTES


@dataclass(frozen=True)
class RecordOptions:
    """How to record.

    Attributes:
        target: as typed; None when the task has a single implementation.
        command: the annotator's command; with ``from_tests``, more words for pytest.
        from_tests: the repository's own tests drive the target.
        examples: calls written out, as Python text, that drive it.
        checks: ``PATH=KIND``, how parts of the outcome are compared.
        vary: also try variations of the recorded inputs.
        cases: how many cases to keep.
        sandbox, python, base_image: where it runs.
        seconds: time limit of the command.
        max_mb: limit of one recorded call, in MB.
        max_total_mb: limit of all cases of the task together, in MB.
        gradients: compare gradients with respect to the inputs too.
        resume: take the calls of an earlier run of the same command that was cut short, instead of running it.
        force: replace an existing recording (the old one is kept in ``authoring/removed/``).
    """

    target: str | None
    command: tuple[str, ...]
    cases: int = 3
    sandbox: str = "local"
    python: Path | None = None
    base_image: str | None = None
    seconds: float = 600.0
    max_mb: float = 8.0
    max_total_mb: float = MOST_BYTES / 2**20
    gradients: bool = False
    force: bool = False
    resume: bool = False
    from_tests: bool = False
    examples: tuple[str, ...] = ()
    vary: bool = False
    checks: tuple[str, ...] = ()


def check_options(options: RecordOptions) -> None:
    """One way to drive the target, not two, and checks that can be read. Raises UsageError."""
    checkers.parse(options.checks)
    ways = {
        "a command": bool(options.command) and not options.from_tests,
        "--from-tests": options.from_tests,
        "--from-example": bool(options.examples),
    }
    given = [name for name, used in ways.items() if used]
    if len(given) > 1:
        raise UsageError(f"the target is to be driven by {' and by '.join(given)}", "choose one of them")
