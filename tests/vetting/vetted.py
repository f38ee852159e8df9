"""Answers and stored vettings."""

from __future__ import annotations

import json
from pathlib import Path

from lmr_author.authoring.vetting import questions as evidence
from lmr_author.authoring.vetting.facts import gather_facts
from lmr_author.authoring.vetting.questions import QUESTIONS, VettingAnswer
from lmr_author.core.paper import Paper
from tests.cli.program import validate_with

YES = {name: VettingAnswer("yes") for name in QUESTIONS}
MIT = (
    "Permission is hereby granted, free of charge, to any person obtaining a copy.\n"
    'The software is provided "as is".\n'
)


def stored(tmp_path: Path) -> dict[str, object]:
    """What was written, as its schema says."""
    data: dict[str, object] = json.loads((tmp_path / "vetting.json").read_text())
    validate_with("vetting", data)
    return data


def said(question: str, *pages: str, venue: str = "") -> str:
    """What the paper's text says to a question."""
    paper = Paper(pages, "Wins", 2024, "the arXiv id", "", venue, ())
    found = evidence.merged(
        evidence.from_paper(paper, ""), evidence.from_facts(gather_facts(paper, None, ()), 2026)
    )
    return "\n".join(found[question])
