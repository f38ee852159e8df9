"""``lmr-author explain``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument

from lmr_author.cli import ui
from lmr_author.cli.options import Format, FormatOption, complete_check

if TYPE_CHECKING:
    from lmr_author.proof.checks.base import Check


def explain(
    code: Annotated[
        str,
        Argument(
            metavar="[CODE]",
            autocompletion=complete_check,
            help="A check's code, as LMR401, its beginning, as LMR4, or a group, as leaks.",
        ),
    ] = "",
    output: FormatOption = Format.text,
) -> int:
    """Explain a check: the defect it finds, and why it matters. Without a code, list all checks."""
    from lmr_author.proof.checks.registry import ALL_CHECKS, GROUPS, matching

    every = code.strip().lower() in ("", "all")
    checks = ALL_CHECKS if every else matching(code)
    if output is Format.json:
        documents = [_as_json(check) for check in checks]
        ui.print_json(documents if every or len(documents) > 1 else documents[0])
    elif len(checks) == 1:
        (check,) = checks
        ui.say(f"{check.code}: {check.title}", tone="bold", hang=8, stderr=False)
        ui.say(f"{GROUPS[check.code[3]]}; severity {check.severity.value}", stderr=False)
        ui.say("", stderr=False)
        ui.say(check.rationale, hang=0, stderr=False)
        ui.then("validate", "--select", check.code)
    else:
        group = ""
        for check in checks:
            if check.code[3] != group:
                group = check.code[3]
                ui.say(GROUPS[group], tone="bold", stderr=False)
            line = f"{check.code}  {check.severity.value:<7}  {check.title}"
            ui.say(line, indent=2, hang=19, stderr=False)
    return 0


def _as_json(check: Check) -> dict[str, Any]:
    from lmr_author.proof.checks.registry import GROUPS

    return {
        "code": check.code,
        "group": GROUPS[check.code[3]],
        "title": check.title,
        "rationale": check.rationale,
        "severity": check.severity.value,
    }
