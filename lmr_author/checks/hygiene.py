"""LMR701–704: what has no place in a task's folder."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from lmr_author.checks.base import Check, Example
from lmr_author.checks.example_texts import MASKED, REPOSITORY
from lmr_author.checks.leak_files import compiled
from lmr_author.checks.listing import Entry
from lmr_author.checks.scan import is_history
from lmr_author.checks.unwanted import CACHES, EDITOR_FILES, LOGS, SYSTEM_FILES, built, fitting, suspects
from lmr_author.checks.view import TaskView
from lmr_author.model import Finding, Severity
from lmr_author.taskdir import AUTHORING

MANY = 8
"""More than so many are told in one finding."""


class Unwanted(Check):
    """Files and folders of some names, one finding for each, or for each folder with many of them."""

    severity = Severity.WARNING
    fixable = True
    patterns: tuple[str, ...] = ()
    what = ""

    def run(self, view: TaskView) -> Iterator[Finding]:
        """One finding for each file or folder; what lies in a folder that was named is not named again."""
        by_folder: dict[str, list[Entry]] = defaultdict(list)
        for entry in self.entries(view):
            by_folder[entry.folder].append(entry)
        named = [entry.relative for entries in by_folder.values() for entry in entries]
        if len(named) > MANY and len(by_folder) > 1:
            first = ", ".join(sorted(named)[:3])
            yield self.finding(
                view, f"{len(named)} {self.what}s: {first} …", "delete them", path=view.repository or ""
            )
            return
        for folder, entries in by_folder.items():
            if len(entries) > 4:
                yield self.finding(
                    view,
                    f"{len(entries)} {self.what}s, {entries[0].name} for one",
                    "delete them",
                    path=folder,
                )
                continue
            for entry in entries:
                yield self.finding(
                    view,
                    f"a {self.what}",
                    "delete it",
                    path=view.path(entry),
                    severity=self.weight(view, entry),
                )

    def entries(self, view: TaskView) -> Iterator[Entry]:
        """Each file or folder of this kind, and none that lies in another of them."""
        named: set[str] = set()
        for entry in suspects(view):
            if entry.kind in ("special", "closed") or not self.unwanted(view, entry):
                continue
            parts = entry.relative.split("/")
            inside = not named.isdisjoint("/".join(parts[:count]) for count in range(1, len(parts)))
            if not inside and parts[0] != AUTHORING and not is_history(entry.relative):
                named.add(entry.relative)
                yield entry

    def unwanted(self, view: TaskView, entry: Entry) -> bool:
        """Whether an entry is of this kind."""
        return entry.name in fitting(self.patterns)

    def weight(self, view: TaskView, entry: Entry) -> Severity:
        """How bad one is."""
        return self.severity


class NoSystemFiles(Unwanted):
    code = "LMR701"
    title = "no files of the operating system or of an editor"
    rationale = (
        "They differ from machine to machine, say who made them, and some (swap files, checkpoints) hold old"
        " versions of the code."
    )
    patterns = SYSTEM_FILES + EDITOR_FILES
    what = "file of the system or an editor"
    failing = (
        Example(".DS_Store", files={f"{REPOSITORY}/.DS_Store": "\0\0\0\1Bud1"}),
        Example(
            "notebook checkpoints", files={f"{REPOSITORY}/.ipynb_checkpoints/a-checkpoint.ipynb": "{}\n"}
        ),
        Example("an editor's settings", files={f"{REPOSITORY}/.idea/workspace.xml": "<project/>\n"}),
        Example("a backup", files={f"{REPOSITORY}/README.md.bak": "# Old\n"}),
        Example("what a merge left", files={f"{REPOSITORY}/README.md.orig": "# Old\n"}),
        Example("a swap file", files={f"{REPOSITORY}/ranking/.losses.py.swp": "b0VIM"}),
    )
    passing = (
        Example(".gitignore", files={f"{REPOSITORY}/.gitignore": ".DS_Store\n"}),
        Example(
            "what somebody else's code calls its original", files={f"{REPOSITORY}/README.orig": "# Old\n"}
        ),
    )


class NoCaches(Unwanted):
    code = "LMR702"
    title = "no caches and build products"
    rationale = (
        "They are made anew by every run, and sooner or later one of them is compiled from the golden"
        " (LMR401)."
    )
    patterns = CACHES
    what = "cache or build product"
    failing = (
        Example(
            "compiled from the masked file",
            files={f"{REPOSITORY}/ranking/__pycache__/losses.cpython-311.pyc": compiled(MASKED)},
        ),
        Example("pytest's cache", files={f"{REPOSITORY}/.pytest_cache/README.md": "# cache\n"}),
        Example(
            "what a build copied",
            files={f"{REPOSITORY}/build/lib/ranking/losses.py": MASKED},
        ),
        Example(
            "what a build compiled",
            files={f"{REPOSITORY}/build/temp.linux-x86_64-3.8/ranking/fast.o": "\x7fELF"},
        ),
        Example(
            "egg-info", files={f"{REPOSITORY}/margin_ranking.egg-info/PKG-INFO": "Name: margin-ranking\n"}
        ),
    )
    passing = (
        Example("a package called cache", files={f"{REPOSITORY}/ranking/cache.py": '"""A cache."""\n'}),
        Example("a package called build", files={f"{REPOSITORY}/build/lib/parse.py": '"""Building."""\n'}),
    )

    def unwanted(self, view: TaskView, entry: Entry) -> bool:
        """By name, and the folders that building the package makes."""
        return entry.relative in built(view) or super().unwanted(view, entry)


class NoLogs(Unwanted):
    code = "LMR703"
    title = "no logs of earlier runs"
    rationale = (
        'LMR-Bench\'s scripts decide by "Passed" in unit_test/logs/: a log that was shipped passes whatever'
        " the agent did."
    )
    fixable = False  # a test may read it
    patterns = LOGS
    what = "log of an earlier run"
    failing = (
        Example(
            "a verdict of the golden",
            files={f"{REPOSITORY}/unit_test/logs/unit_test_1.log": "INFO:root:Passed\n"},
        ),
        Example("of a cluster's job", files={f"{REPOSITORY}/slurm-1234.out": "epoch 1\n"}),
        Example("nohup.out", files={f"{REPOSITORY}/nohup.out": "epoch 1\n"}),
    )
    passing = (Example("a module called log", files={f"{REPOSITORY}/ranking/log.py": '"""Logging."""\n'}),)

    def unwanted(self, view: TaskView, entry: Entry) -> bool:
        """By name, and everything in unit_test/logs/ that can be a log."""
        in_logs = view.in_repository(entry).startswith("unit_test/logs/") and entry.suffix in (
            ".log",
            ".txt",
            ".out",
            "",
        )
        keeps = entry.name in (".gitkeep", ".gitignore", ".keep")
        return (entry.kind == "file" and in_logs and not keeps) or super().unwanted(view, entry)

    def weight(self, view: TaskView, entry: Entry) -> Severity:
        """A log far from the tests is only untidy: it may be the authors' own."""
        return Severity.WARNING if "unit_test" in entry.relative else Severity.NOTE


_ODD = re.compile(r"[\x00-\x1f\udc80-\udcff]")
"""Control characters, and bytes that are no UTF-8."""


class OrdinaryFiles(Check):
    code = "LMR704"
    title = "everything is an ordinary file or folder of the task"
    rationale = (
        "A link out of the task shows something else on every machine, and a pipe or device stops whatever"
        " reads it. Such things are never opened."
    )
    failing = (Example("a name with a line break", files={f"{REPOSITORY}/ranking/two\nlines.txt": "text\n"}),)
    passing = (Example("a name with a blank", files={f"{REPOSITORY}/ranking/two words.txt": "text\n"}),)

    def run(self, view: TaskView) -> Iterator[Finding]:
        """One finding for each link that leads out or nowhere, each special file and each impossible name."""
        root = view.root
        for entry in view.entries:
            odd = _ODD.search(entry.name) is not None
            if entry.kind in ("file", "folder") and not odd:
                continue
            path = view.path(entry)
            if entry.kind == "special":
                yield self.finding(view, "is a pipe, socket or device", "delete it", path=path)
            elif entry.kind == "closed":
                message = "is a folder that cannot be listed, so nothing in it was checked"
                yield self.finding(
                    view, message, "correct its permissions, or nest it less deeply", path=path
                )
            elif entry.kind == "link":
                real = os.path.realpath(path)
                if real != root and not real.startswith(root + os.sep):
                    yield self.finding(
                        view,
                        "is a symbolic link that leads out of the task",
                        "replace it by the file itself",
                        path=path,
                    )
                elif not Path(real).exists():
                    yield self.finding(
                        view,
                        "is a symbolic link that leads nowhere",
                        "delete it",
                        path=path,
                        severity=Severity.WARNING,
                    )
            if odd:
                yield self.finding(
                    view,
                    "has a name with control characters or bytes that are no UTF-8",
                    "rename it",
                    path=path,
                    severity=Severity.WARNING,
                )
