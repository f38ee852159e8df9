"""Stage: rank functions by how well the paper describes them and how good a task each makes."""

from __future__ import annotations

from lmr_author.suggesting.obstacles import reader
from lmr_author.suggesting.paper import PaperText
from lmr_author.suggesting.rank import Suggestion, rank

__all__ = ["PaperText", "Suggestion", "rank", "reader"]
