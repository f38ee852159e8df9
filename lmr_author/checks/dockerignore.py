"""What ``.dockerignore`` keeps out of the build context."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator

from lmr_author.checks.view import TaskView


def ignored(view: TaskView) -> Ignored:
    """The rules of the task's ``.dockerignore``."""
    return view.memo("dockerignore", lambda: Ignored(view))


class Ignored:
    """What rules keep out of the build context.

    A path is named itself or by a folder above it, and the last rule that fits decides.
    """

    def __init__(self, view: TaskView) -> None:
        self._rules = list(_rules(view.text(view.task.dockerignore) or ""))
        self._any = re.compile("|".join(rule.pattern for _, rule in self._rules))
        self._known = {"": -1}
        """Paths → the last rule that fits; folders are asked for again with everything in them."""

    def covers(self, relative: str) -> bool:
        """Whether the rules keep a path of the task out."""
        last = self._last(relative) if self._rules else -1
        return last >= 0 and self._rules[last][0]

    def _last(self, path: str) -> int:
        """The number of the last rule that fits a path or a folder above it; -1 for none."""
        new = []
        while path not in self._known:
            new.append(path)
            path = path.rpartition("/")[0]
        last = self._known[path]
        for path in reversed(new):
            if self._any.match(path):
                later = range(len(self._rules) - 1, last, -1)
                last = next((number for number in later if self._rules[number][1].match(path)), last)
            self._known[path] = last
        return last


def _rules(text: str) -> Iterator[tuple[bool, re.Pattern[str]]]:
    """(whether it keeps out, which paths) of each line."""
    for line in text.splitlines():
        pattern = line.strip()
        if not pattern or pattern.startswith("#"):
            continue
        negated = pattern.startswith("!")
        pattern = pattern.lstrip("!").strip().removeprefix("./").strip("/")
        options = sorted({pattern, pattern.removeprefix("**/")})
        yield not negated, re.compile("|".join(map(fnmatch.translate, options)))
