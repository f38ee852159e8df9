"""The cases of checks: what each changes of the good task. One TOML file for each group, a table for each case.

A case, ``LMR502/no-assertion``, has a title, ``expect`` (the codes that must be found, and no others), and any of

- ``write``: path → text of a file; ``encoding``: path → encoding of such a file, where it is not UTF-8
- ``replace``: tables with the file, a piece of its text and the replacement
- ``delete``: paths; ``copy``: path → file of the task; ``compile``: path of a .pyc → source file of the task
- ``info``, ``implementation``: keys of info.json, or of its first implementation, to replace
- ``second_implementation``: keys of a second implementation that differ from the first
- ``removed``: keys that one of these three is to lack
- ``second``: whether to change the second of two tasks
"""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lmr_author.core import files
from lmr_author.core.task import Task
from tests import example

FOLDER = Path(__file__).parent / "cases"


@dataclass(frozen=True)
class Case:
    """One table of a case file."""

    name: str
    data: dict[str, Any]

    @property
    def code(self) -> str:
        """Return the check that the case is about."""
        return self.name.partition("/")[0]

    def write(self, parent: Path) -> list[Task]:
        """Write the task, or both of them, below a folder."""
        tasks = [example.write(parent, number) for number in ((1, 2) if self.data.get("second") else (1,))]
        self.apply(tasks[-1])
        return tasks

    def apply(self, task: Task) -> None:
        """Change a good task, or one that another case has changed."""
        root = task.root
        info = json.loads((root / "info.json").read_text("utf-8"))
        first, *_ = info["implementations"]
        info["implementations"][0] = example.replaced(first, self.changed("implementation"))
        if second := self.changed("second_implementation"):
            info["implementations"].append(example.replaced(first, second))
        files.write_json(root / "info.json", example.replaced(info, self.changed("info")))
        for piece in self.data.get("replace", []):
            path = root / piece["file"]
            text = path.read_text("utf-8")
            assert text.count(piece["old"]) == 1, (self.name, piece)
            path.write_text(text.replace(piece["old"], piece["new"]), "utf-8")
        for path, source in self.data.get("copy", {}).items():
            files.write_bytes(root / path, (root / source).read_bytes())
        for path, source in self.data.get("compile", {}).items():
            files.write_bytes(root / path, example.compiled((root / source).read_text("utf-8"))())
        for path in self.data.get("delete", []):
            (root / path).unlink()
        for path, text in self.data.get("write", {}).items():
            encoding = self.data.get("encoding", {}).get(path, "utf-8")
            files.write_bytes(root / path, text.encode(encoding))

    def changed(self, part: str) -> dict[str, Any]:
        """Return the keys of a part of info.json that differ from the good task; None for those that it lacks."""
        removed = self.data.get("removed", {}).get(part, [])
        return {**self.data.get(part, {}), **dict.fromkeys(removed)}


CASES = [
    Case(name, data)
    for path in sorted(FOLDER.glob("LMR*.toml"))
    for name, data in tomllib.loads(path.read_text("utf-8")).items()
]


def first(code: str) -> Case:
    """Return the first case in which a check finds something."""
    return next(case for case in CASES if case.code == code and code in case.data["expect"])


def named(name: str) -> Case:
    """Return the case with a name, as in ``LMR502/fails-only-logs``."""
    return next(case for case in CASES if case.name == name)
