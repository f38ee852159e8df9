"""The states of a task that records are about: all of its content, and what of it running depends on.

A sign-off is about the whole task, the mutants that were accepted for it, and its ledger. An evaluation is about what
is run: another instruction, category or address of the paper leaves it standing. See
``docs/decisions/0012-what-an-evaluation-is-of.md``.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from lmr_author.core import files
from lmr_author.core.errors import LmrError
from lmr_author.core.task.folder import INFO, Task

_NOT_RUN = frozenset(
    {
        "instance_id",
        "paper_name",
        "paper_url",
        "year",
        "repo_url",
        "repo_commit",
        "repo_patch",
        "license",
        "paper_license",
        "implementations",
    }
)
"""Keys of ``info.json`` that no run depends on; one that is not known might."""
_NOT_RUN_OF_ONE = frozenset({"instruction", "category", "retrieval_context", "retrieval_content"})
"""Those of an implementation."""


@dataclass(frozen=True)
class State:
    """A task as it is at one time.

    Attributes:
        content: digest of every file that makes the task what it is.
        running: digest of those that running depends on.
        reviewed: what a sign-off holds for: the content, the mutants that are accepted as equivalent, and the ledger;
            "" of an evaluation, which says nothing about it.
    """

    content: str
    running: str
    reviewed: str = ""

    @classmethod
    def of(cls, task: Task) -> State:
        """Return the task's state now; reads every file once."""
        content, running = hashlib.sha256(), hashlib.sha256()
        for name, digest in task.content():
            content.update(name + b"\0" + digest.encode() + b"\n")
            if name == INFO.encode():
                digest = files.sha256_bytes(_run_of_info(task))
            running.update(name + b"\0" + digest.encode() + b"\n")
        of_content = content.hexdigest()
        return cls(of_content, running.hexdigest(), reviewed_digest(task, of_content))


def reviewed_digest(task: Task, content: str = "") -> str:
    """Return the SHA-256 of what a sign-off holds for; ``content`` is the digest of the content, where known."""
    content = content or task.content_digest()
    for path in (task.equivalent_mutants_path, task.ledger_path):
        if path.is_file():
            content = files.sha256_bytes(f"{content}\0{files.sha256_file(path)}".encode())
    return content


def _run_of_info(task: Task) -> bytes:
    """``info.json`` without what no run depends on; as it stands where it is none."""
    try:
        data = task.load_raw()
    except (LmrError, RecursionError):
        return task.info_path.read_bytes()
    run = {key: value for key, value in data.items() if key not in _NOT_RUN}
    each = data.get("implementations")
    run["implementations"] = [_run_of_one(entry) for entry in each] if isinstance(each, list) else each
    return json.dumps(run, sort_keys=True).encode()


def _run_of_one(entry: Any) -> Any:
    if not isinstance(entry, dict):
        return entry
    return {key: value for key, value in entry.items() if key not in _NOT_RUN_OF_ONE}
