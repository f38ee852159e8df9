"""``lmr-author explain``."""

from __future__ import annotations

from typing import Annotated

import typer

from lmr_author.cli.common import Format, FormatOption, print_json


def explain(
    code: Annotated[
        str, typer.Argument(metavar="CODE", help="A check's code, as in LMR401; `all` lists them.")
    ],
    output: FormatOption = Format.text,
) -> int:
    """What a check means, why it matters, and an example."""
    from lmr_author.checks.describe import describe, describe_all
    from lmr_author.cli.render_checks import render_check, render_checks

    if code.strip().lower() == "all":
        every = describe_all()
        if output is Format.json:
            print_json([one.to_json() for one in every])
        else:
            render_checks(every)
        return 0
    one = describe(code)
    if output is Format.json:
        print_json(one.to_json())
    else:
        render_check(one)
    return 0
