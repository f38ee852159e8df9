"""An index of every function and class of a repository, read with :mod:`ast`."""

from __future__ import annotations

from lmr_author.indexing.entry import Entry
from lmr_author.indexing.index import Index, Unread, build
from lmr_author.indexing.read import MAX_BYTES, NOT_PARSED, content

__all__ = ["MAX_BYTES", "NOT_PARSED", "Entry", "Index", "Unread", "build", "content"]
