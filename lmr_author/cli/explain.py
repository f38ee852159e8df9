"""``lmr-author explain``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lmr_author.cli.options import Format, FormatOption
from lmr_author.cli.ui import coloured, columns, paint, print_json, wrapped

if TYPE_CHECKING:
    from lmr_author.checks.base import Check


def explain(
    code: Annotated[
        str,
        typer.Argument(metavar="[CODE]", help="A check's code, as in LMR401, or the beginning of several."),
    ] = "",
    output: FormatOption = Format.text,
) -> int:
    """Explain a check: the defect it finds, and why it matters. Without a code, list all checks."""
    from lmr_author.checks.registry import ALL_CHECKS, matching

    every = code.strip().lower() in ("", "all")
    checks = ALL_CHECKS if every else matching(code)
    if output is Format.json:
        print_json([_as_json(one) for one in checks] if every or len(checks) > 1 else _as_json(checks[0]))
    elif len(checks) == 1:
        _print_page(checks[0])
    else:
        _print_list(checks)
    return 0


def _as_json(check: Check) -> dict[str, Any]:
    from lmr_author.checks.registry import GROUPS

    return {
        "code": check.code,
        "group": GROUPS[check.code[3]],
        "title": check.title,
        "rationale": check.rationale,
        "severity": check.severity.value,
        "fixable": check.fixable,
    }


def _print_page(check: Check) -> None:
    page = _as_json(check)
    head = f"{check.code}: {check.title}"
    print(paint("task", "\n".join(wrapped(head, columns(), 8)), coloured(sys.stdout)))
    print(f"{page['group']}; severity {page['severity']}\n")
    print("\n".join(wrapped(check.rationale, min(columns(), 100), 0)))
    if check.fixable:
        print("\nFix: `lmr-author validate --fix` repairs it where only one repair is right.")


def _print_list(checks: tuple[Check, ...]) -> None:
    group = ""
    for check in checks:
        page = _as_json(check)
        if page["group"] != group:
            group = page["group"]
            print(paint("task", group, coloured(sys.stdout)))
        print("\n".join(wrapped(f"  {check.code}  {page['severity']:<7}  {check.title}", columns(), 19)))
