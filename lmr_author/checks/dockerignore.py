"""What ``.dockerignore`` keeps out of the build context."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Iterator

from lmr_author.checks.view import TaskView


def ignored(view: TaskView) -> Ignored:
    """The rules of the task's ``.dockerignore``."""
    return view.memo("dockerignore", lambda: Ignored(view))


class Ignored:
    """What rules keep out of the build context.

    A path is named itself or by a folder above it, and the last rule that fits decides.
    """

    def __init__(self, view: TaskView) -> None:
        read = list(_rules(view.text(view.task.dockerignore) or ""))
        self._rules = [(keeps_out, _expression(options)) for keeps_out, options in read]
        self._any = re.compile("|".join(rule.pattern for _, rule in self._rules))
        names = frozenset(name for _, options in read for name in options)
        self._names = None if any(_WILD.search(name) for name in names) else names
        self._folders = {"": -1}
        """Folders → the last rule that fits: asked for again with everything in them."""

    def covers(self, relative: str) -> bool:
        """Whether the rules keep a path of the task out."""
        if not self._rules:
            return False
        folder = relative.rpartition("/")[0]
        above = self._folders.get(folder)
        last = self._of_folder(folder) if above is None else above
        if self._any.match(relative) if self._names is None else relative in self._names:
            last = self._next(relative, last)
        return last >= 0 and self._rules[last][0]

    def _of_folder(self, path: str) -> int:
        """The number of the last rule that fits a folder or one above it; -1 for none."""
        new = []
        while path not in self._folders:
            new.append(path)
            path = path.rpartition("/")[0]
        last = self._folders[path]
        for path in reversed(new):
            self._folders[path] = last = self._next(path, last)
        return last

    def _next(self, path: str, last: int) -> int:
        """The last rule that fits a path, given the one that fits its folder."""
        later = range(len(self._rules) - 1, last, -1)
        return next((number for number in later if self._rules[number][1].match(path)), last)


_WILD = re.compile(r"[*?\[]")


def _rules(text: str) -> Iterator[tuple[bool, tuple[str, ...]]]:
    """(whether it keeps out, patterns of which one has to fit) of each line."""
    for line in text.splitlines():
        pattern = line.strip()
        if not pattern or pattern.startswith("#"):
            continue
        negated = pattern.startswith("!")
        pattern = pattern.lstrip("!").strip().removeprefix("./").strip("/")
        yield not negated, tuple(sorted({pattern, pattern.removeprefix("**/")}))


def _expression(options: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(fnmatch.translate, options)))
