"""A process that validates tasks: a request on each line of stdin, an answer on each line of stdout.

    worker.py CODE… <REQUESTS >ANSWERS

A request is a JSON object: ``root``, the task's folder; ``cached``, whether there is a cache; and ``asked``, whether it
may know the task. An answer is an :class:`Answer`. A process that dies, or takes too long, has done so over the first
task that it gave no answer for.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hyperscan  # noqa: F401  # used for every task: copies of this process do not load it each for itself

from lmr_author.checks.base import Check
from lmr_author.checks.registry import by_code
from lmr_author.checks.view import TaskView
from lmr_author.taskdir import TaskDir
from lmr_author.validation import limits
from lmr_author.validation.examine import examine
from lmr_author.validation.result import TaskResult
from lmr_author.validation.store import Store


@dataclass(frozen=True)
class Answer:
    """What is found in a task, and where it is to be kept.

    Attributes:
        result: the findings.
        content: the key of the task's content; "" when the result is not to be kept.
        state: the state that the task was in; "" when that does not stand for a content.
    """

    result: TaskResult
    content: str = ""
    state: str = ""

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return {"result": self.result.to_json(), "content": self.content, "state": self.state}

    @classmethod
    def from_json(cls, data: Any) -> Answer:
        """What :meth:`to_json` wrote. Raises KeyError, TypeError or ValueError for anything else."""
        return cls(TaskResult.from_json(data["result"]), str(data["content"]), str(data["state"]))


def look(task: TaskDir, checks: Sequence[Check], store: Store | None, *, asked: bool) -> Answer:
    """The result of a task, known or new; without a store it is not to be kept.

    Args:
        asked: whether the store may know it.
    """
    view = TaskView(task)
    if store is None:
        return Answer(examine(view, checks))
    content = store.content_key(view)
    known = store.results([content]) if asked else {}
    result = known.get(content) or examine(view, checks)
    state = store.state(view)
    return Answer(result) if state is None else Answer(result, content, state)


def main() -> None:
    """Answer requests until there are no more."""
    serve(sys.argv[1:])


def serve(codes: Sequence[str]) -> None:
    """Answer the requests on file 0 in file 1, until there are no more.

    Args:
        codes: of the checks to run.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started this ends it
    most = limits.in_use() + limits.MAX_MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nothing else may come between the answers
    gc.freeze()  # trees of code have no cycles: looking for some is a fifth of the time
    gc.set_threshold(100_000, 50, 50)
    checks = [by_code()[code] for code in codes]
    store = Store.of_user(codes)
    for line in os.fdopen(0, "rb", closefd=False):
        request = json.loads(line)
        task = TaskDir(Path(request["root"]))
        answer = look(task, checks, store if request["cached"] else None, asked=request["asked"])
        out.write(json.dumps(answer.to_json()).encode("ascii") + b"\n")
        out.flush()


if __name__ == "__main__":
    main()
