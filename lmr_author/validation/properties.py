"""The four properties of LMR-Bench's Table 1, each with the checks that prove it and the evidence seen.

A task of the benchmark is made from a publication, asks for code inside a whole repository, is judged by unit
tests, and has a Docker image to run in: a Dockerfile in which nothing was found that stops its build, keeps the
masked repository out of the image, or brings the solution into it. A property holds when none of its checks finds
an error *and* something was there to be checked; a check that did not run proves nothing. Where the task's
evaluation is of its present state, the day is named.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from lmr_author.checks import dockerfile
from lmr_author.checks.lookup import unit_test_path
from lmr_author.checks.view import TaskView, readable
from lmr_author.task import Finding, Severity

STALE = "LMR803"
"""The check that an evaluation is of the task as it is now."""


@dataclass(frozen=True)
class Property:
    """One of the four.

    Attributes:
        name: as the table has it.
        codes: the checks that prove it.
        evidence: what of it is seen in a task, in a few words; "" when there is nothing.
        ran_in: sandboxes in which a passed evaluation proves it by running.
        doubted_by: checks of which a warning is enough to deny it.
    """

    name: str
    codes: tuple[str, ...]
    evidence: Callable[[TaskView], str]
    ran_in: tuple[str, ...] = ()
    doubted_by: tuple[str, ...] = ()


@dataclass(frozen=True)
class Evidence:
    """The evidence for a property in a task.

    Attributes:
        shown: in a few words; "" when there is nothing.
        run: when and how a run proved it, for the task as it was then; "" when none did.
    """

    shown: str
    run: str = ""


@dataclass(frozen=True)
class Held:
    """A property of a task and the reason why it holds or not.

    Attributes:
        name: of the property.
        holds: None when checks that would prove it did not run.
        evidence: what was seen.
    """

    name: str
    holds: bool | None
    evidence: str

    def to_json(self) -> dict[str, Any]:
        """As ``validate --format json`` prints it."""
        return asdict(self)


def _paper(view: TaskView) -> str:
    paper = view.repository / "paper.json" if view.repository else None
    try:
        pages = json.loads(view.read_bytes(paper) or b"null")
    except (ValueError, RecursionError):
        return ""
    count = len(pages) if isinstance(pages, dict | list) else 0
    return f"{count} page{'s' * (count != 1)} of text" if count else ""


def _repository(view: TaskView) -> str:
    files = (entry for entry in view.repository_entries if entry.kind == "file" and entry.suffix == ".py")
    count = sum(not view.in_repository(entry).startswith("unit_test/") for entry in files)
    return f"{count} Python files" if count > 1 else ""


def _tests(view: TaskView) -> str:
    wanted = len(view.implementations)
    found = sum(unit_test_path(view, one) is not None for one in view.implementations)
    return f"{found} for {wanted} implementation{'s' * (wanted != 1)}" if 0 < found == wanted else ""


def _docker(view: TaskView) -> str:
    parsed = dockerfile.read(view)
    bases = [parsed.expand(item.text) for item in parsed.named("FROM")] if parsed else []
    words = [word for word in (bases[-1].split() if bases else ()) if not word.startswith("--")]
    return f"FROM {words[0]}"[:80] if words else ""


def _evaluated(view: TaskView) -> tuple[str, str]:
    """Return the sandbox in which every gate held, and when, in words; empty when that is not on record."""
    try:
        data = json.loads(view.read_bytes(view.task.evaluation_path) or b"null")
    except (ValueError, RecursionError):
        return "", ""
    if not isinstance(data, dict) or data.get("passed") is not True:
        return "", ""
    sandbox = data["sandbox"] if isinstance(data.get("sandbox"), dict) else {}
    other = sandbox.get("other_base_image")
    image = f", with the base image {readable(str(other))[:80]}" if other else ""
    return str(sandbox.get("kind")), f"proven by running on {str(data.get('started'))[:10]}{image}"


PROPERTIES = (
    Property("from a publication", ("LMR001", "LMR101", "LMR102"), _paper),
    Property("repository-level", ("LMR001", "LMR103", "LMR301"), _repository),
    Property(
        "unit tests",
        ("LMR001", "LMR501", "LMR502", "LMR503", "LMR504", "LMR505", "LMR506", "LMR508", "LMR512"),
        _tests,
        ("docker", "local"),
    ),
    Property(
        "Docker",
        ("LMR201", "LMR202", "LMR203", "LMR204", "LMR205", "LMR406"),
        _docker,
        ("docker",),
        ("LMR206",),
    ),
)


def evidence(view: TaskView) -> tuple[Evidence, ...]:
    """Return what is seen of each property in a task, in the order of :data:`PROPERTIES`."""
    sandbox, run = _evaluated(view)
    return tuple(Evidence(one.evidence(view), run if sandbox in one.ran_in else "") for one in PROPERTIES)


def judge(seen: Sequence[Evidence], findings: Sequence[Finding], ran: Collection[str]) -> tuple[Held, ...]:
    """Decide which properties hold.

    Args:
        seen: the evidence; empty when it could not be gathered.
        findings: those that count.
        ran: codes of the checks that ran.
    """
    errors = {finding.code for finding in findings if finding.severity is Severity.ERROR}
    warned = {finding.code for finding in findings if finding.severity is Severity.WARNING} | errors
    current = STALE in ran and all(finding.code != STALE for finding in findings)
    result = []
    for one, what in zip(PROPERTIES, seen or (Evidence(""),) * len(PROPERTIES), strict=True):
        denied = errors.intersection(one.codes) | warned.intersection(one.doubted_by)
        holds: bool | None = bool(what.shown) and not denied
        if holds and not {*one.codes, *one.doubted_by} <= set(ran):
            holds = None
        against = f"see {', '.join(sorted(denied))}" if denied else ""
        proof = what.run if current and not denied else ""
        shown = "; ".join(filter(None, (what.shown, against))) + (
            f", {proof}" if what.shown and proof else ""
        )
        result.append(Held(one.name, holds, shown))
    return tuple(result)
