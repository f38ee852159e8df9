"""How checks look on a terminal."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lmr_author.cli.render_text import coloured, one_line, paint

if TYPE_CHECKING:
    from lmr_author.checks.describe import Description, Shown

WIDTH = 100


def render_check(check: Description) -> None:
    """Print what a check means."""
    colour = coloured(sys.stdout)
    print(paint("task", f"{check.code}: {check.title}", colour))
    print(
        f"{check.group}; severity"
        f" {check.severity}{'; can be repaired automatically' if check.fixable else ''}\n"
    )
    print("\n".join(textwrap.wrap(check.rationale, WIDTH)))
    for title, examples in (("Found:", check.failing), ("Not found:", check.passing)):
        if examples:
            print("\n" + paint("task", title, colour))
            for example in examples:
                _example(example)


def render_checks(checks: Sequence[Description]) -> None:
    """Print the codes and titles of checks, by group."""
    group = ""
    for check in checks:
        if check.group != group:
            group = check.group
            print(paint("task", group, coloured(sys.stdout)))
        print(f"  {check.code}  {check.severity:<7}  {check.title}")


def _example(example: Shown) -> None:
    where = f" ({example.where})" if example.where else ""
    print(f"  - {example.title}{where}")
    for line in example.text.splitlines():
        print(f"      {one_line(line)}")
