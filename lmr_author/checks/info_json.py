"""LMR001, LMR002: ``info.json`` as a document."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator
from typing import Any

from lmr_author import resources
from lmr_author.checks.base import Check, Example
from lmr_author.checks.conforms import conforms
from lmr_author.checks.example_texts import INFO
from lmr_author.checks.info_entries import raw_implementations, short
from lmr_author.checks.view import TaskView
from lmr_author.model import Finding, Implementation

SAID_ELSEWHERE = frozenset(
    {
        "instance_id",  # LMR005
        "folder_name",  # LMR006
        "category",  # LMR004
        "retrieval_context",  # LMR003, LMR605
        "instruction",  # LMR601
        "index",  # LMR009
        "goal_function",  # LMR007
        "goal_file",  # LMR301
        "golden_file",  # LMR302
        "unit_test_file",  # LMR501
        "repo_folder_name",  # LMR103
    }
)
"""Keys whose absence or form a check of their own reports."""


_ON_A_MACHINE = ("file:", "/", "~", "./", "../")
"""What an address begins with that nobody else can open."""


class InfoReadable(Check):
    code = "LMR001"
    title = "info.json is a JSON object"
    rationale = (
        "Everything else about a task is found through info.json; without it no tool can use the task."
    )
    passing = (Example("the good task"),)
    failing = (
        Example("there is no info.json", files={"info.json": None}),
        Example("a comma is missing", files={"info.json": '{"instance_id": 1\n "year": 2024}\n'}),
        Example("it is a list", files={"info.json": "[]\n"}),
        Example("in UTF-16", files={"info.json": json.dumps(INFO, indent=2).encode("utf-16")}),
        Example("with a byte order mark", files={"info.json": "\ufeff" + json.dumps(INFO)}),
        Example("a key twice", files={"info.json": json.dumps(INFO).replace("{", '{"year": 2023, ', 1)}),
    )

    def run(self, view: TaskView) -> Iterator[Finding]:
        """One finding when the file cannot be used."""
        hint = "write it as schemas/info.schema.json says, or make the task with `lmr-author new-task`"
        if "info.json" not in view.by_path:
            yield self.finding(view, "info.json is missing", hint, path="info.json")
            return
        data = view.read_bytes(view.task.info_path)
        if data is None:
            yield self.finding(
                view, "info.json is no readable file of at most 16 MiB", hint, path="info.json"
            )
            return
        try:
            value = json.loads(data)
        except json.JSONDecodeError as error:
            message = f"not valid JSON: {error.msg} (line {error.lineno}, column {error.colno})"
            yield self.finding(view, message, "correct the syntax", path="info.json", line=error.lineno)
            return
        except (ValueError, RecursionError) as error:
            message = f"cannot be read as JSON: {type(error).__name__}"
            yield self.finding(view, message, "save it as UTF-8 JSON", path="info.json")
            return
        if not isinstance(value, dict):
            yield self.finding(view, f"holds a JSON {_kind(value)}, not an object", hint, path="info.json")
            return
        try:
            data.decode("utf-8")
        except ValueError:
            yield self.finding(view, "is not UTF-8", "save it as UTF-8", path="info.json")
        if data.startswith(b"\xef\xbb\xbf"):
            message = "begins with a byte order mark, at which Python's `json.load` stops"
            yield self.finding(view, message, "save it as UTF-8 without BOM", path="info.json")
        for key in _doubles(data):
            message = f"has the key {key!r:.60} twice in one object: only the last one is read"
            yield self.finding(view, message, "remove one of them", path="info.json")


def _violations(raw: dict[str, Any]) -> list[Any]:
    """What ``info.json`` has that its schema does not allow: jsonschema's errors, in the order of their places."""
    schema = resources.schema("info")
    if conforms(raw, schema):
        return []
    from jsonschema import Draft202012Validator

    errors = Draft202012Validator(schema).iter_errors(raw)
    return sorted(errors, key=lambda item: [str(part) for part in item.absolute_path])


class InfoSchema(Check):
    code = "LMR002"
    title = "info.json has the keys and types of its schema"
    fixable = True
    rationale = (
        "The benchmark's scripts read these keys without looking twice. A missing or misspelt one surfaces as"
        " a KeyError in the middle of an experiment."
    )
    passing = (Example("without the optional keys", info={"repo_commit": None, "license": None}),)
    failing = (
        Example("paper_url is missing", info={"paper_url": None}),
        Example("the year is text", info={"year": "2024"}),
        Example("there are no implementations", info={"implementations": []}),
        Example("paper_url is empty", info={"paper_url": ""}),
        Example("repo_url lies on somebody's machine", info={"repo_url": "file:///home/me/margin-ranking"}),
    )

    def run(self, view: TaskView) -> Iterator[Finding]:
        """One finding for each violation that no other check speaks about."""
        if view.raw is None:
            return
        for error in _violations(view.raw):
            place = list(error.absolute_path)
            if error.validator == "required":
                yield from self._missing(view, place, error.instance, error.validator_value)
            elif not any(part in SAID_ELSEWHERE for part in place):
                yield self.finding(
                    view,
                    f"{_name(place)}: {short(error.message)}",
                    _advice(error.validator, error.validator_value, error.instance)
                    or str(error.schema.get("description", "")),
                    path="info.json",
                    pointer=_pointer(place),
                    implementation=_implementation(view, place),
                )

        yield from self._unfinished(view, view.raw)

    def _unfinished(self, view: TaskView, raw: dict[str, Any]) -> Iterator[Finding]:
        """What may be empty while a task is being made, and not in a finished one; and what is too much."""
        if view.left_out:
            message = f"there are {view.left_out} implementations too many, which were not checked"
            yield self.finding(
                view, message, "make several tasks of it", path="info.json", pointer="/implementations"
            )
        if raw.get("implementations") == []:
            hint = "mask a function: `lmr-author mask FILE::FUNCTION`"
            message = "there are no implementations: nothing is masked"
            yield self.finding(view, message, hint, path="info.json", pointer="/implementations")
        if raw.get("paper_url") == "":
            hint = "add the address where the paper can be read"
            yield self.finding(view, "paper_url is empty", hint, path="info.json", pointer="/paper_url")
        for key in ("paper_url", "repo_url"):
            if str(raw.get(key)).startswith(_ON_A_MACHINE):
                message = f"{key} lies on somebody's machine: {short(str(raw[key]))}"
                hint = "put the public address in its place"
                yield self.finding(view, message, hint, path="info.json", pointer=f"/{key}")

    def _missing(self, view: TaskView, place: list[Any], instance: Any, keys: list[str]) -> Iterator[Finding]:
        for key in keys:
            if key in instance or key in SAID_ELSEWHERE or self._reported(view, key):
                continue
            known = set(keys)
            close = difflib.get_close_matches(key, [name for name in instance if name not in known], 1, 0.75)
            hint = f"rename the key {close[0]!r}" if close else f"add the key {key!r}"
            yield self.finding(
                view,
                f"the key {key!r} is missing",
                hint,
                path="info.json",
                pointer=_pointer(place),
                implementation=_implementation(view, place),
            )

    @staticmethod
    def _reported(view: TaskView, key: str) -> bool:
        return key == "implementations" and view.raw is not None and key in view.raw


def _advice(keyword: str, wanted: object, value: object) -> str:
    """What to write in place of a value of the wrong type; "" where that cannot be told."""
    if keyword != "type":
        return ""
    if wanted == "integer" and isinstance(value, str) and re.fullmatch(r"\s*-?\d+\s*", value):
        return f"write {int(value)}, without quotes"
    if wanted == "string" and isinstance(value, int | float) and not isinstance(value, bool):
        return f'write "{value}", in quotes'
    return ""


def _doubles(data: bytes) -> list[str]:
    """Keys that an object of a JSON document has twice."""
    found: list[str] = []

    def look(pairs: list[tuple[str, Any]]) -> None:
        names = [key for key, _ in pairs]
        found.extend(key for key in dict.fromkeys(names) if names.count(key) > 1)

    json.loads(data, object_pairs_hook=look)
    return found


def _kind(value: object) -> str:
    return {"list": "array", "str": "string", "NoneType": "null", "bool": "boolean"}.get(
        type(value).__name__, "number"
    )


def _pointer(place: list[Any]) -> str:
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in place)


def _name(place: list[Any]) -> str:
    return ".".join(str(part) for part in place) or "the document"


def _implementation(view: TaskView, place: list[Any]) -> Implementation | None:
    if len(place) < 2 or place[0] != "implementations":
        return None
    return next((one for at, one, _ in raw_implementations(view) if at == place[1]), None)
