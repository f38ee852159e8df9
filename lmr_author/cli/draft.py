"""``lmr-author draft``."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from lmr_author.cli import ui
from lmr_author.cli.options import CloneOption, Format, FormatOption, PaperOption, read_text, taking_stand_ins
from lmr_author.core.errors import EXIT_CLEAN, EXIT_FINDINGS, UsageError
from lmr_author.core.texts import counted

if TYPE_CHECKING:
    from lmr_author.release.drafting.desk import DraftProgress, DraftRequest
    from lmr_author.release.drafting.draft import DraftOutcome
    from lmr_author.runtime.environment.where import Where

ENDINGS = {
    "sound": "the task is sound; nobody has confirmed it yet",
    "gave-up": "the model gave up: {detail}",
    "refused": "the model refused to answer: {detail}",
    "silent": "the model no longer used its tools: {detail}",
    "limit": "it reached the limit of {detail}; a larger --{detail} continues it",
    "error": "it stopped: {detail}. The same command continues it",
}
_LIST_HINT = (
    "write a paper, a repository's address and, optionally, a commit on each line; # starts a comment"
)


def draft(
    paper: Annotated[str | None, Argument(help="A PDF, its URL, or an arXiv id.")] = None,
    repo: Annotated[str | None, Option(metavar="URL", help="The repository's address.")] = None,
    commit: Annotated[str, Option(help="The commit; by default the newest.")] = "",
    papers: Annotated[
        Path | None, Option("--list", help="A file with PAPER URL [COMMIT] on each line.")
    ] = None,
    *,
    model: Annotated[str, Option(metavar="PROVIDER/MODEL", help="The model, as Inspect AI names it.")],
    out: Annotated[Path, Option(help="Folder of the recipes.")] = Path("recipes"),
    tasks: Annotated[Path, Option(help="Folder of the tasks made from them.")] = Path("tasks"),
    rounds: Annotated[int, Option(min=1, help="Runs of `make` for each paper.")] = 20,
    tokens: Annotated[int, Option(min=1, help="Tokens for each paper, sent and received.")] = 3_000_000,
    minutes: Annotated[float, Option(min=1, help="Minutes for each paper.")] = 120.0,
    cost: Annotated[
        float | None, Option(min=0, help="Dollars for each paper, if the provider tells.")
    ] = None,
    jobs: Annotated[int, Option("--jobs", "-j", min=1, max=64, help="Papers side by side.")] = 1,
    clone: CloneOption = None,
    stand_in: PaperOption = None,
    where: Where,
    output: FormatOption = Format.text,
) -> int:
    """Let a model write the recipe of a paper's task, until the task is sound or a limit is reached."""
    from lmr_author.release.drafting.desk import Budget, DraftOptions
    from lmr_author.release.drafting.draft import draft as draft_all

    requests = _requests(paper, repo, commit, papers)
    stand_ins = taking_stand_ins(clone, stand_in)
    budget = Budget(rounds, tokens, minutes, cost)
    options = DraftOptions(model, out, tasks, budget, where, stand_ins, jobs)
    with ui.progress("drafting") as progress:

        def say(line: str) -> None:
            ui.say(line)
            progress(line)

        drafts = draft_all(requests, options, say, progress)
    if output is Format.json:
        ui.print_json({"drafts": [_to_json(one) for one in drafts]})
    else:
        for one in drafts:
            _show(one, tasks)
    return EXIT_CLEAN if all(one.is_sound for one in drafts) else EXIT_FINDINGS


def _requests(
    paper: str | None, repo: str | None, commit: str, papers: Path | None
) -> Sequence[DraftRequest]:
    from lmr_author.release.drafting.desk import DraftRequest

    if papers is None:
        if not paper or not repo:
            raise UsageError(
                "a draft needs a paper and its repository", "as in: draft 2305.18290 --repo URL --model …"
            )
        return [DraftRequest(paper, repo, commit)]
    if paper or repo or commit:
        raise UsageError("--list excludes PAPER, --repo and --commit", "name one paper, or a list")
    requests = []
    for number, line in enumerate(read_text(papers, "--list").splitlines(), 1):
        try:
            words = shlex.split(line, comments=True)
        except ValueError as error:
            raise UsageError(f"{papers}:{number}: {error}", "close its quotes") from error
        if len(words) not in (0, 2, 3):
            raise UsageError(f"{papers}:{number}: not PAPER URL [COMMIT]", _LIST_HINT)
        if words:
            requests.append(DraftRequest(*words))
    if not requests:
        raise UsageError(f"{papers} names no paper", _LIST_HINT)
    return requests


def _show(one: DraftOutcome, tasks: Path) -> None:
    if one.state is None:
        ui.say(one.problem, f"{one.request.repository}:", "bold red", stderr=False)
        ui.hint(one.hint, indent=2, stderr=False)
        return
    state = one.state
    tone = "bold green" if one.is_sound else "bold red"
    ui.say(ENDINGS[state.ending].format(detail=state.detail), f"{state.name}:", tone, stderr=False)
    ui.say(f"{used(state)}; recipe: {one.recipe}", tone="dim", indent=2, stderr=False)
    if one.is_sound:
        ui.then("review", "--task", tasks / f"{state.id}-{state.name}", indent=2, stderr=False)


def used(state: DraftProgress) -> str:
    parts = [counted(state.rounds, "round"), f"{state.tokens:,} tokens", f"{state.seconds / 60:.0f} minutes"]
    parts += [f"${state.cost:.2f}"] if state.cost else []
    return ", ".join(parts)


def _to_json(one: DraftOutcome) -> dict[str, Any]:
    return {
        "paper": one.request.paper,
        "repository": one.request.repository,
        "recipe": str(one.recipe) if one.recipe else None,
        "draft": one.state.to_json() if one.state else None,
        "problem": one.problem,
        "hint": one.hint,
    }
