"""A round of a draft: ``make`` runs on the recipe so far, and answers with facts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from lmr_author.core.errors import LmrError
from lmr_author.core.task import CATEGORIES, Progress
from lmr_author.core.task.ledger import LEDGER
from lmr_author.release.drafting.desk import Desk
from lmr_author.release.export.output import render
from lmr_author.release.recipes.make import MakeOptions, Problem
from lmr_author.release.recipes.recipe import Folder, read
from lmr_author.release.recipes.results import problem, state, to_json
from lmr_author.release.recipes.side_by_side import in_a_process

FEWEST = {"misreading": ("failed", 6), "rewrite": ("passed", 2)}
"""Kind of answer → its verdict, and how many there have to be for each target."""
SHOWN = 12
"""Survivors of a target, and kinds of tolerances, that are listed for a model at once."""


def craft() -> str:
    """Return what makes a good task, for a drafting model and for an agent with a command line."""
    fewest = {kind: many for kind, (_, many) in FEWEST.items()}
    return render("draft/craft.md.j2", categories=CATEGORIES, fewest=fewest)


def make_round(desk: Desk, options: MakeOptions, show: Progress) -> dict[str, Any]:
    """Make the recipe up to ``options.to``, and return the outcome as ``make --format json`` has it.

    ``still_missing`` lists the requirements of a draft that ``make`` does not check. The draft ends once nothing is
    missing and the task is sound. Only a run of ``make`` is a round.
    """
    try:
        folder = read(desk.recipe)
    except LmrError as error:
        return {"state": "not made", "error": msgspec.to_builtins(Problem.of(error))}
    if changed := list(_changed(desk, folder)):
        return {
            "state": "not made",
            "error": {"message": "fields that are given were changed", "fields": changed},
        }
    desk.note(rounds=desk.state.rounds + 1)
    row = in_a_process(folder, options, show)
    if row.error and row.error.of_machine:
        desk.end("error", f"{row.error.message}; {row.error.hint}")
    missing = list(_missing(folder))
    if row.sound and not missing:
        desk.end("sound")
    return {"state": state(row), "why": problem(row), "still_missing": missing, **_shortly(to_json(row))}


def _shortly(facts: dict[str, Any]) -> dict[str, Any]:
    """Replace the list of cases, which is most of the facts and changes nothing, by its length."""
    for target in facts["targets"]:
        cases = target.pop("cases")
        target["cases"] = len(cases)
        target["cases_made_of_others"] = sum(bool(case["made_of"]) for case in cases)
        target["tolerances"] = list({str(case["tolerance"]): case["tolerance"] for case in cases}.values())[
            :SHOWN
        ]
        target["survivors"] = target["survivors"][:SHOWN]
    return facts


def _changed(desk: Desk, folder: Folder) -> Iterator[dict[str, object]]:
    recipe, given = folder.recipe, desk.state
    for field, has, value in (
        ("id", recipe.id, given.id),
        ("name", recipe.name, given.name),
        ("paper.source", recipe.paper.source, given.paper),
        ("repository.url", recipe.repository.url, given.repository),
        ("repository.commit", recipe.repository.commit, given.commit),
        ("repository.files", recipe.repository.files, ""),
        ("left_out", recipe.left_out, ""),
    ):
        if has != value:
            yield {"field": field, "value": value}


def _missing(folder: Folder) -> Iterator[str]:
    passages = folder.ledger.entries
    for index, target in enumerate(folder.recipe.targets, 1):
        for kind, (outcome, fewest) in FEWEST.items():
            has = sum(
                answer.kind == kind and answer.outcome == outcome for answer in target.expected.values()
            )
            if has < fewest:
                yield f"target {index} has {has} answers of kind {kind} with outcome {outcome}, and needs {fewest}"
        if not any(entry.index == index and entry.relation == "implements" for entry in passages):
            yield f"target {index} has no entry `implements` in {LEDGER}"
