"""LMR005, 006, 008: which task this is, and that no other says the same of itself."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lmr_author.checks.base import Check, Example, TreeCheck, Where
from lmr_author.checks.view import TaskView
from lmr_author.model import Finding, Severity

_NUMBER = re.compile(r"^0*(\d+)[-_ .]")


class InstanceId(Check):
    code = "LMR005"
    title = "instance_id is the number that the folder's name starts with"
    fixable = True
    rationale = (
        "Results are stored by instance_id. As text, or as another task's number, they end up in the wrong"
        " row."
    )
    failing = (
        Example("another number", info={"instance_id": 7}),
        Example("a string", info={"instance_id": "1"}),
        Example("missing", info={"instance_id": None}),
    )
    passing = (Example("1 in the folder 1-MarginRanking"),)

    def run(self, view: TaskView) -> Iterator[Finding]:
        """At most one finding."""
        if view.raw is None:
            return
        match = _NUMBER.match(view.name)
        number = int(match[1]) if match else None
        wanted = f'write "instance_id": {number if number is not None else "N"}, a number'
        if "instance_id" not in view.raw:
            yield self.finding(
                view, "the key instance_id is missing", wanted, path="info.json", fixable=number is not None
            )
            return
        value = view.raw["instance_id"]
        where: Where = {"path": "info.json", "pointer": "/instance_id"}
        if isinstance(value, bool) or not isinstance(value, int):
            what = f"the text {value!r}" if isinstance(value, str) else f"{value!r:.60}"
            where["fixable"] = number is not None
            yield self.finding(view, f"instance_id is {what}, not a whole number", wanted, **where)
        elif number is not None and value != number:
            yield self.finding(
                view, f"instance_id is {value}, but the folder is number {number}", "make them agree", **where
            )
        elif value < 0:
            yield self.finding(view, f"instance_id is {value}", "write a positive number", **where)


class FolderName(Check):
    code = "LMR006"
    title = "folder_name is the name of the folder"
    rationale = (
        "Images and results are named by folder_name; a misspelt one cannot be found from the folder, nor the"
        " folder from it."
    )
    severity = Severity.WARNING
    fixable = True
    failing = (
        Example("missing", info={"folder_name": None}),
        Example("misspelt", info={"folder_name": "1-MarginRankng"}),
    )
    passing = (Example("without the number", info={"folder_name": "MarginRanking"}),)

    def run(self, view: TaskView) -> Iterator[Finding]:
        """At most one finding."""
        if view.raw is None:
            return
        if not isinstance(view.raw.get("folder_name"), str) or not view.info.folder_name.strip():
            yield self.finding(
                view, "folder_name is missing or empty", f"write {view.name!r}", path="info.json"
            )
            return
        name = view.info.folder_name
        allowed = {view.name, _NUMBER.sub("", view.name)}
        # Some trees name the repository's folder here; and a task that lies in a folder without a number
        # (a copy, a checkout) says nothing about its name.
        if name in allowed or name == view.info.repo_folder_name or not _NUMBER.match(view.name):
            return
        yield self.finding(
            view,
            f"folder_name is {name!r:.80}, the folder is {view.name!r}",
            f"write {view.name!r}",
            path="info.json",
            pointer="/folder_name",
        )


class UniqueInstanceId(TreeCheck):
    code = "LMR008"
    title = "no two tasks have the same instance_id"
    rationale = "Two tasks with one id overwrite each other's results, and only the second is ever seen."
    failing = (Example("the second task has the first one's id", info={"instance_id": 1}, also=("LMR005",)),)
    passing = (Example("the second task has its own id"),)

    def claims(self, view: TaskView) -> Iterator[tuple[str, Finding]]:
        """The task's id."""
        value = view.raw.get("instance_id") if view.raw else None
        if isinstance(value, int | str) and not isinstance(value, bool):
            where: Where = {"path": "info.json", "pointer": "/instance_id"}
            hint = "give each task its own number"
            yield (
                str(value).strip(),
                self.finding(view, f"instance_id {value} is also that of", hint, **where),
            )
