"""``lmr-author explain``."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument

from lmr_author.cli import ui
from lmr_author.cli.options import Format, FormatOption, complete_check
from lmr_author.core.errors import UsageError
from lmr_author.core.texts import did_you_mean

if TYPE_CHECKING:
    from lmr_author.proof.checks.base import Check


GATES = {
    "build": "the environment builds; its versions are recorded",
    "untampered": "tests and expected outputs are the recorded ones",
    "golden-passes": "the golden passes every time it runs, with the same outputs",
    "masked-fails": "the masked repository fails every case, because of the mask and not of an import",
    "target-entered": "the test executes the function in the agent's tree",
    "trivial-fails": "returning None, an argument, or zeros of the right shape fails",
    "mutants-die": "small mistakes planted in the golden (a sign, a dropped `detach`, a wrong dim) make the test "
    "fail: at least nine of ten, not counting those that no call can tell from the golden or that were accepted as "
    "equivalent. A tenth of all may be accepted, each with a reason; with more, reviewers decide",
    "isolated": "all of this works without a network, not as root, on a read-only root, and within limits",
}
"""Each gate of ``evaluate`` → when it holds; docs/gates.md is made from it."""


def explain(
    code: Annotated[
        str,
        Argument(
            metavar="[CODE]",
            autocompletion=lambda: [*complete_check(), *GATES.items()],
            help="A check's code, as LMR401, its beginning, as LMR4, a group, as leaks, or a gate, as build.",
        ),
    ] = "",
    output: FormatOption = Format.text,
) -> int:
    """Explain a check (the defect, and why it matters) or a gate of `evaluate`. Without a code, list all."""
    from lmr_author.proof.checks.registry import ALL_CHECKS, GROUPS, matching

    if code in GATES:
        _explain_gate(code, output)
        return 0
    if close := difflib.get_close_matches(code, GATES, 1):
        raise UsageError(f"no check or gate is named {code!r}", did_you_mean(close))
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
        if every:
            ui.say("Gates of `evaluate`", tone="bold", stderr=False)
            for name, holds in GATES.items():
                ui.say(f"{name:<15}  {holds.partition(':')[0]}", indent=2, hang=19, stderr=False)
    return 0


def _explain_gate(name: str, output: Format) -> None:
    if output is Format.json:
        ui.print_json({"gate": name, "holds_when": GATES[name]})
        return
    ui.say(f"{name}: a gate of `lmr-author evaluate`", tone="bold", stderr=False)
    ui.say("", stderr=False)
    ui.say(f"It holds when {GATES[name]}.", hang=0, stderr=False)
    ui.then("evaluate")


def _as_json(check: Check) -> dict[str, Any]:
    from lmr_author.proof.checks.registry import GROUPS

    return {
        "code": check.code,
        "group": GROUPS[check.code[3]],
        "title": check.title,
        "rationale": check.rationale,
        "severity": check.severity.value,
    }
