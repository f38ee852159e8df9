"""Targets of one task that are copies of each other.

A candidate is judged with the other targets solved, as its own may call them. It could then call its copy too: a copy
stays masked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from lmr_author.core import code
from lmr_author.core.errors import LmrError
from lmr_author.core.task import Implementation, Task, TaskInfo
from lmr_author.proof import leaks
from lmr_author.proof.leaks.statements import of_function
from lmr_author.runtime.replay import staging


@dataclass(frozen=True)
class _Golden:
    """A masked function in its golden file."""

    place: staging.Place
    module: code.Module
    node: code.FunctionNode

    @property
    def statements(self) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
        return [item.exact for item in of_function(self.node)]


def find_twins(
    task: Task, info: TaskInfo, implementation: Implementation, qualnames: Sequence[str] = ()
) -> list[staging.Place]:
    """Return the functions of other targets that contain the solution of this one.

    Args:
        qualnames: the masked functions, if they are not the one that the implementation names.
    """
    others = [one for one in info.implementations if one.index != implementation.index]
    if not others:
        return []
    mine = list(_goldens(task, implementation, qualnames or (implementation.qualname,)))
    found = [
        leaks.solution_of(implementation, one.place.qualname, one.module, one.node, None, None)
        for one in mine
    ]
    solutions = [one for one in found if one is not None]
    twins = []
    for other in others:
        for theirs in _goldens(task, other, (other.qualname,)):
            # The search leaves out what is too small to be recognized.
            same = any(one.statements and one.statements == theirs.statements for one in mine)
            copies = leaks.in_file(theirs.place.path, theirs.module.data, solutions)
            named = (leak.where for leak in copies if leak.sure and leak.kind == "code")
            if same or theirs.place.qualname in named:
                twins.append(theirs.place)
    return twins


def _goldens(task: Task, one: Implementation, qualnames: Sequence[str]) -> Iterator[_Golden]:
    """Yield the functions of an implementation, or of the class that it names; nothing where they are missing."""
    with suppress(LmrError):  # its own gates report it
        module = code.Module.parse(staging.read_golden(task, one), one.golden_file)
        for item in module.definitions:
            meant = any(item.qualname == name or item.qualname.startswith(f"{name}.") for name in qualnames)
            own = item.qualname == one.qualname
            if own and one.nth is not None and item.nth != one.nth:
                continue  # a getter is not its setter
            if meant and isinstance(item.node, code.FunctionNode):
                nth = one.nth if own else None
                yield _Golden(staging.Place(one.goal_file, item.qualname, nth), module, item.node)
