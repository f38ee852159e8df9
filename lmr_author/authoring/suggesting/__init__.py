"""Stage: rank functions by how well the paper describes them and how good a task each makes."""

from __future__ import annotations

from lmr_author.authoring.suggesting.paper import PaperText
from lmr_author.authoring.suggesting.ranking import Suggestion, Suggestions, rank, suggest, suggest_repository

__all__ = ["PaperText", "Suggestion", "Suggestions", "rank", "suggest", "suggest_repository"]
