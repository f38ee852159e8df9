"""The paper: found and fetched (arXiv id, URL, PDF file), and its text extracted."""

from __future__ import annotations

from lmr_author.paper.extract import Paper, extract
from lmr_author.paper.fetch import FetchedPaper, fetch

__all__ = ["FetchedPaper", "Paper", "extract", "fetch"]
