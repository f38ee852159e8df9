"""Every function of a repository: found with :mod:`ast`, in parallel, cached by content.

What an entry says is read off a file in one pass over its *statements*. Walking the expressions too would
cost half as much again as parsing; what lies in them (names, calls) is read off the text instead, with
strings and comments cut out.
"""

from __future__ import annotations

from lmr_author.indexing.build import build
from lmr_author.indexing.cache import Cache
from lmr_author.indexing.entry import Entry
from lmr_author.indexing.index import Index, Unread

__all__ = ["Cache", "Entry", "Index", "Unread", "build"]
