"""Find copies and near copies of a solution in any kind of file.

A golden function becomes :class:`~lmr_author.proof.leaks.statements.Statement` rows in which variables are blanks; a
file becomes fragments (functions, comments, cells, texts). Both are compared statement by statement, and
:mod:`~lmr_author.proof.leaks.search` decides whether a fragment *is* the solution or a look-alike.
:func:`~lmr_author.proof.leaks.tree.search` searches all files of a task.
Nothing is imported, executed, unpickled or unpacked to disk.
"""

from __future__ import annotations

from lmr_author.proof.leaks.search import Leak, in_file, is_generated
from lmr_author.proof.leaks.solution import Solution, solution_of
from lmr_author.proof.leaks.tree import FileLeak, search

__all__ = ["FileLeak", "Leak", "Solution", "in_file", "is_generated", "search", "solution_of"]
