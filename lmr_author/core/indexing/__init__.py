"""An index of every function and class of a repository, read with :mod:`ast`."""

from __future__ import annotations

from lmr_author.core.indexing.index import Index, Unread, build
from lmr_author.core.indexing.read import MAX_BYTES, NEEDS_GPU, NOT_PARSED, IndexEntry

__all__ = ["MAX_BYTES", "NEEDS_GPU", "NOT_PARSED", "Index", "IndexEntry", "Unread", "build"]
