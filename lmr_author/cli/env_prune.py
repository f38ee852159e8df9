"""``lmr-author env prune``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from lmr_author.cli.common import NoInputOption, can_ask

if TYPE_CHECKING:
    from lmr_author.environment.prune import PrunePlan


def env_prune(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be removed.")] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="Also images and environments that were used lately.")
    ] = False,
    older_than: Annotated[
        float, typer.Option("--older-than", min=0, metavar="DAYS", help="Not used for so many days.")
    ] = 30.0,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    no_input: NoInputOption = False,
) -> int:
    """Remove images, containers and local environments that are ours and unused."""
    from lmr_author.cli import ask
    from lmr_author.cli.render import console, progress
    from lmr_author.environment import prune as workflow
    from lmr_author.errors import EXIT_CLEAN, EXIT_FINDINGS, UsageError
    from lmr_author.texts import size_text

    plan = workflow.plan(workflow.PruneOptions(older_than, everything))
    _show(plan)
    if plan.empty or dry_run:
        return EXIT_CLEAN
    if not yes:
        if not can_ask(no_input):
            raise UsageError(
                "env prune removes what it lists above", "add --yes, or --dry-run to only see it"
            )
        if not ask.confirm("Remove all of it?", default=False):
            return EXIT_CLEAN
    with progress("removing") as say:
        done = workflow.prune(plan, say)
    screen = console()
    screen.print(f"freed {size_text(done.bytes)}", markup=False)
    for words in done.failed:
        screen.print(f"not removed: {words}", markup=False)
    return EXIT_FINDINGS if done.failed else EXIT_CLEAN


def _show(plan: PrunePlan) -> None:
    from lmr_author.cli.render import console
    from lmr_author.sandbox.docker_engine import ago
    from lmr_author.texts import size_text

    screen = console()
    if plan.engine is None:
        screen.print(f"note: {plan.no_engine}, so only local environments are looked at", markup=False)
    for item in plan.engine.remove if plan.engine else ():
        room = f", {size_text(item.bytes)}" if item.bytes else ""
        screen.print(f"  {item.kind:<11} {item.name} ({item.why}{room})", markup=False)
    for each in plan.locals:
        screen.print(
            f"  environment {each.path.name} (used {ago(each.days)}, {size_text(each.bytes)})",
            markup=False,
        )
    kept = plan.engine.keep if plan.engine else ()
    if kept:
        screen.print(f"kept: {'; '.join(f'{item.name} ({item.why})' for item in kept)}", markup=False)
    words = "nothing to remove" if plan.empty else f"to be freed: at least {size_text(plan.bytes)}"
    screen.print(words, markup=False)
