"""The case folders: what each changes of the good task, and how one is written to disk.

``case.json`` has a title, ``expect`` (the codes that must be found, and no others), and any of

- ``write``: path → text of a small file; larger ones lie in the case folder at their path in the task
- ``replace``: path → {piece of the file: its replacement}
- ``delete``: paths; ``copy``: path → file of the task; ``compile``: path of a .pyc → source file of the task
- ``info``, ``implementation``: keys of info.json, or of its first implementation, to replace; null removes one
- ``second_implementation``: keys of a second implementation that differ from the first
- ``second``: whether to change the second of two tasks
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lmr_author.core import files
from lmr_author.core.task import Task
from tests import example

FOLDER = Path(__file__).parent / "cases"


@dataclass(frozen=True)
class Case:
    """A case folder."""

    folder: Path
    data: dict[str, Any]

    @property
    def name(self) -> str:
        """Return the name as tests show it: ``LMR502/fails-only-logs``."""
        return self.folder.relative_to(FOLDER).as_posix()

    @property
    def code(self) -> str:
        """Return the check that the case is about."""
        return self.folder.parent.name

    @property
    def files(self) -> list[Path]:
        """Return the files of the case folder that go into the task."""
        return sorted(path for path in self.folder.rglob("*") if path.is_file() and path.name != "case.json")

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
        info["implementations"][0] = example.replaced(first, self.data.get("implementation", {}))
        if "second_implementation" in self.data:
            info["implementations"].append(example.replaced(first, self.data["second_implementation"]))
        files.write_json(root / "info.json", example.replaced(info, self.data.get("info", {})))
        for path, pieces in self.data.get("replace", {}).items():
            text = (root / path).read_text("utf-8")
            for old, new in pieces.items():
                assert text.count(old) == 1, (self.name, path, old)
                text = text.replace(old, new)
            (root / path).write_text(text, "utf-8")
        for path, source in self.data.get("copy", {}).items():
            files.write_bytes(root / path, (root / source).read_bytes())
        for path, source in self.data.get("compile", {}).items():
            files.write_bytes(root / path, example.compiled((root / source).read_text("utf-8"))())
        for path in self.data.get("delete", []):
            (root / path).unlink()
        for path, text in self.data.get("write", {}).items():
            files.write_text(root / path, text)
        for path in self.files:
            target = root / path.relative_to(self.folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)


CASES = [
    Case(path.parent, json.loads(path.read_text("utf-8"))) for path in sorted(FOLDER.glob("LMR*/*/case.json"))
]


def first(code: str) -> Case:
    """Return the first case in which a check finds something."""
    return next(case for case in CASES if case.code == code and code in case.data["expect"])


def named(name: str) -> Case:
    """Return the case of a folder, as in ``LMR502/fails-only-logs``."""
    return next(case for case in CASES if case.name == name)
