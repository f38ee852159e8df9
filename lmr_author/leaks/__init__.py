"""Where a solution can be read a second time: copies and near copies in any kind of file.

A golden function is taken apart into :class:`~lmr_author.leaks.statements.Statement` rows in which variables
are blanks; any file is taken apart into fragments (functions, comments, cells, passages); a fragment is
compared statement by statement (:mod:`~lmr_author.leaks.compare`), and :mod:`~lmr_author.leaks.judge` says
whether it *is* the solution or only looks like it. Nothing is imported, executed, unpickled or unpacked to
disk.
"""

from __future__ import annotations

from lmr_author.leaks.generated import is_generated
from lmr_author.leaks.search import Leak, in_file, in_text
from lmr_author.leaks.solution import Glance, Solution, solution

__all__ = ["Glance", "Leak", "Solution", "in_file", "in_text", "is_generated", "solution"]
