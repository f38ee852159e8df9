"""LMR0xx: info.json."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

from lmr_author.core import resources
from lmr_author.core.code import Module
from lmr_author.core.files import sha256_bytes
from lmr_author.core.task import CATEGORIES, INFO, Implementation
from lmr_author.core.texts import shortened
from lmr_author.proof.checks.base import WARNING, Problem, check, dataset_check, target_check
from lmr_author.proof.checks.lookup import (
    body_form,
    candidates,
    clean_path,
    did_you_mean,
    function_names,
    leaves,
    pair,
    pairs,
)
from lmr_author.proof.checks.view import TaskView

_NUMBER = re.compile(r"^0*(\d+)[-_ .]")


@check(
    "LMR001",
    "info.json is missing or not a JSON object",
    rationale="Everything else about a task is found through info.json; without it no tool can use the task.",
)
def info_readable(task: TaskView) -> Iterator[Problem]:
    hint = "write it as schemas/info.schema.json says, or make the task with `lmr-author new-task`"
    data = task.read_bytes(task.task.root / INFO)
    if data is None:
        missing = INFO not in task.by_path
        yield Problem(
            f"info.json is {'missing' if missing else 'not a readable file of at most 16 MiB'}", hint, INFO
        )
        return
    duplicates: list[str] = []

    def collect(items: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [key for key, _ in items]
        duplicates.extend(key for key in dict.fromkeys(names) if names.count(key) > 1)
        return dict(items)

    try:
        value = json.loads(data, object_pairs_hook=collect)
    except json.JSONDecodeError as error:
        message = f"not valid JSON: {error.msg} (line {error.lineno}, column {error.colno})"
        yield Problem(message, "correct the syntax", INFO, error.lineno)
        return
    except (ValueError, RecursionError) as error:
        cause = "it is too deeply nested" if isinstance(error, RecursionError) else "it is not UTF-8"
        yield Problem(f"not readable as JSON: {cause}", "save it as UTF-8 JSON", INFO)
        return
    if not isinstance(value, dict):
        kinds = {list: "array", str: "string", bool: "boolean", type(None): "null"}
        yield Problem(f"contains a JSON {kinds.get(type(value), 'number')}, not an object", hint, INFO)
        return
    try:
        data.decode("utf-8")
    except ValueError:
        yield Problem("not UTF-8", "save it as UTF-8", INFO)
    if data.startswith(b"\xef\xbb\xbf"):
        message = "starts with a byte order mark, which Python's `json.load` rejects"
        yield Problem(message, "save it as UTF-8 without BOM", INFO)
    for key in duplicates:
        yield Problem(
            f"one object contains the key {key!r:.60} twice: only the last is read", "remove one", INFO
        )


CHECKED_ELSEWHERE = (
    *(
        "instance_id",
        "folder_name",
        "repo_folder_name",
        "index",
        "category",
        "instruction",
        "retrieval_context",
    ),
    *("goal_function", "goal_file", "golden_file", "unit_test_file"),
)
"""Keys that have a check of their own."""


@cache
def validator(name: str) -> Draft202012Validator:
    """Return the validator of one of our schemas."""
    return Draft202012Validator(resources.schema(name))


@check(
    "LMR002",
    "info.json violates its schema",
    rationale="The benchmark's scripts read these keys without checking. A missing or misspelt one surfaces as a"
    " KeyError in the middle of an experiment.",
    fixable=True,
)
def info_schema(task: TaskView) -> Iterator[Problem]:
    raw = task.raw
    if raw is None:
        return
    by_position = {position: target for position, target, _ in task.numbered}
    errors = validator("info").iter_errors(raw)
    for error in sorted(errors, key=lambda item: [str(part) for part in item.absolute_path]):
        place = list(error.absolute_path)
        pointer = "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in place)
        target = by_position.get(place[1]) if len(place) > 1 and isinstance(place[1], int) else None
        if error.validator == "required":
            for key in error.validator_value:
                if key not in error.instance and key not in CHECKED_ELSEWHERE:
                    others = [name for name in error.instance if name not in error.validator_value]
                    close = difflib.get_close_matches(key, others, 1, 0.75)
                    hint = f"rename the key {close[0]!r}" if close else f"add the key {key!r}"
                    yield Problem(f"the key {key!r} is missing", hint, INFO, pointer=pointer, target=target)
        elif not any(part in CHECKED_ELSEWHERE for part in place):
            name = ".".join(map(str, place)) or "the document"
            hint = _type_hint(error.validator, error.validator_value, error.instance)
            hint = hint or str(error.schema.get("description", ""))
            yield Problem(
                f"{name}: {shortened(error.message, 160)}", hint, INFO, pointer=pointer, target=target
            )
    if task.left_out:
        message = f"{task.left_out} implementations too many; they were not checked"
        yield Problem(message, "split the task", INFO, pointer="/implementations")
    if raw.get("implementations") == []:
        hint = "mask a function: `lmr-author mask FILE::FUNCTION`"
        yield Problem("no implementations: nothing is masked", hint, INFO, pointer="/implementations")
    if raw.get("paper_url") == "":
        yield Problem("paper_url is empty", "add the paper's address", INFO, pointer="/paper_url")
    for key in ("paper_url", "repo_url"):
        if str(raw.get(key)).startswith(("file:", "/", "~", "./", "../")):
            message = f"{key} is a path on somebody's machine: {shortened(str(raw[key]), 160)}"
            yield Problem(message, "replace it by the public address", INFO, pointer=f"/{key}")


def _type_hint(keyword: str, wanted: object, value: object) -> str:
    if keyword == "type" and wanted == "integer" and re.fullmatch(r"\s*-?\d+\s*", str(value)):
        return f"write {int(str(value))}, without quotes"
    if keyword == "type" and wanted == "string" and type(value) in (int, float):
        return f'write "{value}", in quotes'
    return ""


@check(
    "LMR003",
    "the key retrieval_context is missing or misspelt",
    rationale="Most published tasks spell it `retrieval_content`, and the published scripts read only that. The"
    " contract says `retrieval_context`; a task with the other spelling, or without either, works with some"
    " tools only.",
    severity=WARNING,
    fixable=True,
)
def legacy_spelling(task: TaskView) -> Iterator[Problem]:
    for position, target, entry in task.numbered:
        pointer = f"/implementations/{position}"
        if "retrieval_content" in entry:
            both = "retrieval_context" in entry
            message = "retrieval_content is a misspelling of retrieval_context" + (
                ", which is present too" if both else ""
            )
            hint = "remove the misspelt key" if both else "rename the key"
            yield Problem(message, hint, INFO, pointer=f"{pointer}/retrieval_content", target=target)
        elif "retrieval_context" not in entry:
            close = difflib.get_close_matches("retrieval_context", list(entry), 1, 0.75)
            hint = f"rename the key {close[0]!r}" if close else "add it: a list of files, possibly empty"
            message = "the key retrieval_context is missing"
            yield Problem(message, hint, INFO, pointer=pointer, target=target)
        elif not isinstance(entry["retrieval_context"], list):
            message, hint = "retrieval_context is not a list of paths", 'write a list, as in ["src/model.py"]'
            yield Problem(message, hint, INFO, pointer=f"{pointer}/retrieval_context", target=target)


@check(
    "LMR004",
    "the category is not one of the nine",
    rationale="Results are reported by category. A missing one, free text, or a longer form of a canonical name makes"
    " a row of its own in every table. The nine: " + "; ".join(CATEGORIES) + ".",
    fixable=True,
)
def category(task: TaskView) -> Iterator[Problem]:
    for position, target, entry in task.numbered:
        given = entry.get("category")
        if given in CATEGORIES:
            continue
        meant = canonical_category(given) if isinstance(given, str) else None
        hint = "choose one of the nine: `lmr-author explain LMR004` lists them"
        if not given or (isinstance(given, str) and not given.strip()):
            message = "the category is missing or empty"
        elif not isinstance(given, str):
            message = "the category is not a text"
        elif meant:
            message, hint = f"{given!r:.100} is a form of {meant!r}", f"write {meant!r}"
        else:
            message, near = f"{given!r:.100} is not one of the nine categories", nearest_category(given)
            hint = f"did you mean {near!r}?" if near else hint
        pointer = f"/implementations/{position}" + ("/category" if "category" in entry else "")
        severity = WARNING if meant else None
        yield Problem(message, hint, INFO, 0, pointer, target, severity)


def canonical_category(text: str) -> str | None:
    """Return the category that a longer or differently written form means; None when that is unclear.

    All significant words of the canonical name have to occur: "Training Objectives and Optimization Techniques" is
    one, "loss function" is not.
    """
    found = [one for one in CATEGORIES if _words(one) <= _words(text)]
    return found[0] if len(found) == 1 else None


def nearest_category(text: str) -> str:
    """Return the category that shares most words with a text; "" when none does, or several."""
    words = _words(text) - {"learning"}  # hardly a method goes without it
    scored = sorted(((len(words & _words(one)), one) for one in CATEGORIES), reverse=True)
    return scored[0][1] if scored[0][0] > scored[1][0] else ""


_FILLER = frozenset(
    """
    and or of for the in a an with technique method approach design computation computing task module
    """.split()  # noqa: SIM905
)


def _words(text: str) -> set[str]:
    found = re.findall(r"[a-z]+", text.lower().replace("isation", "ization"))
    return {word[:-3] + "y" if word.endswith("ies") else word.removesuffix("s") for word in found} - _FILLER


@check(
    "LMR005",
    "instance_id is not the number of the folder",
    rationale="Results are stored by instance_id. As text, or as another task's number, they end up in the wrong row.",
    fixable=True,
)
def instance_id(task: TaskView) -> Iterator[Problem]:
    if task.raw is None:
        return
    match = _NUMBER.match(task.name)
    number = int(match[1]) if match else None
    value, pointer = task.raw.get("instance_id"), "/instance_id"
    hint = f'write "instance_id": {number if match else "N"}, a number'
    whole = isinstance(value, int) and not isinstance(value, bool)
    if "instance_id" not in task.raw:
        message, pointer = "the key instance_id is missing", ""
    elif not whole:
        shown = f"the text {value!r}" if isinstance(value, str) else f"{value!r:.60}"
        message = f"instance_id is {shown}, not a whole number"
    elif match and value != number:
        message, hint = f"instance_id is {value}, but the folder is number {number}", "make them agree"
    elif isinstance(value, int) and value < 0:
        message, hint = f"instance_id is {value}", "write a positive number"
    else:
        return
    yield Problem(message, hint, INFO, pointer=pointer)


@check(
    "LMR006",
    "folder_name is not the name of the folder",
    rationale="Images and results are named after folder_name; a misspelt one cannot be found from the folder, nor the"
    " folder from it.",
    severity=WARNING,
    fixable=True,
)
def folder_name(task: TaskView) -> Iterator[Problem]:
    if task.raw is None:
        return
    name, hint = task.info.folder_name, f"write {task.name!r}"
    if not isinstance(task.raw.get("folder_name"), str) or not name.strip():
        yield Problem("folder_name is missing or empty", hint, INFO)
    # Some tasks name the repository's folder here; a folder without a number (a copy, a checkout) says nothing.
    elif name not in (task.name, _NUMBER.sub("", task.name), task.info.repo_folder_name) and _NUMBER.match(
        task.name
    ):
        message = f"folder_name is {name!r:.80}, the folder is {task.name!r}"
        yield Problem(message, hint, INFO, pointer="/folder_name")


@target_check(
    "LMR007",
    "goal_function and class_name do not name exactly one function",
    rationale="Candidates are spliced into this function. A class, an absent name or one that several functions of the"
    " file share (`forward`!) leaves open what was to be implemented, and what is replaced.",
    fixable=True,
)
def target_named(task: TaskView, target: Implementation) -> Iterator[Problem]:
    names = function_names(target)
    module = pair(task, target).golden or pair(task, target).goal
    hint = "name the masked function"
    if not names:
        message = "goal_function is missing or not a name"
    elif len(names) > 1:
        message = f"goal_function names {len(names)} functions: {', '.join(names)}"
        hint = "write one implementation for each"
    else:
        message, hint = _ambiguity(module, names[0], target) if module else ("", "")
    if message:
        pointer = task.pointer(target, "goal_function")
        yield Problem(message, hint, INFO, pointer=pointer)


def _ambiguity(module: Module, name: str, target: Implementation) -> tuple[str, str]:
    """Return (message, hint) for a name that does not mean exactly one function, or is spelt otherwise."""
    given, given_class = target.goal_function, target.class_name
    found = candidates(module, name, given_class.strip())
    if not found:
        return "", ""  # LMR301 and LMR302 report that it is absent
    one = found[0]
    owner, _, function = one.qualname.rpartition(".")
    qualnames = dict.fromkeys(item.qualname for item in found)
    if len(qualnames) > 1:
        classes = [qualname.rpartition(".")[0] for qualname in qualnames]
        message = f"{name} is defined in {', '.join(classes)}: which one is meant?"
        if given_class.strip():
            message = f"class_name {given_class.strip()!r:.80} is not a class of the file; {message}"
        return message, did_you_mean(given_class.strip(), classes) or "set class_name"
    if one.kind == "class":
        hint = "write the masked method in goal_function and the class in class_name"
        return f"{name} is a class", hint
    if len(found) > 1:
        lines = ", ".join(str(item.line) for item in found)
        message = f"{one.qualname} is defined {len(found)} times, at lines {lines}"
        return message, "name an unambiguous function"
    own = (one.class_name, one.function_name)
    nested = one.class_name != owner and (given_class.strip(), given.strip()) == own
    if (owner, function) == (given_class, given) or nested:  # a nested function: outer.inner is its name
        return "", ""
    message = (
        f"{one.qualname} is meant, but goal_function is {given!r:.80} and class_name {given_class!r:.80}"
    )
    return message, f'write class_name "{one.class_name}" and goal_function "{one.function_name}"'


@dataset_check(
    "LMR008",
    "two tasks have the same instance_id",
    rationale="Two tasks with one id overwrite each other's results, and only the second is ever seen.",
)
def unique_instance_id(task: TaskView) -> Iterator[tuple[str, Problem]]:
    value = task.raw.get("instance_id") if task.raw else None
    if isinstance(value, int | str) and not isinstance(value, bool):
        message, hint = f"instance_id {value} is also that of", "give each task its own number"
        yield str(value).strip(), Problem(message, hint, INFO, pointer="/instance_id")


@check(
    "LMR009",
    "implementations are not numbered 1, 2, 3 …",
    rationale="Tests, logs, recordings and results are named after the index; two implementations with one index"
    " overwrite each other.",
    fixable=True,
)
def index_numbers(task: TaskView) -> Iterator[Problem]:
    seen: set[int] = set()
    entries = list(task.numbered)
    for position, target, entry in entries:
        index, pointer = entry.get("index"), f"/implementations/{position}/index"
        wanted = f"write {position + 1}"
        if "index" not in entry:
            message, wanted = "the key index is missing", f'add "index": {position + 1}'
            pointer = f"/implementations/{position}"
        elif not isinstance(index, int) or isinstance(index, bool):
            message = f"index is {shortened(repr(index), 160)}, not a number"
        elif index in seen:
            message, wanted = f"index {index} is used twice", "number them 1, 2, 3 …"
        elif index < 1:
            message = f"index is {index}; counting starts at 1"
        else:
            seen.add(index)
            continue
        yield Problem(message, wanted, INFO, pointer=pointer, target=target)
    if len(seen) == len(entries) and seen != set(range(1, len(seen) + 1)):
        free = min(set(range(1, len(seen) + 1)) - seen)
        numbers = ", ".join(map(str, sorted(seen)))
        hint = (
            f"the next function that `lmr-author mask` masks becomes {free}; or unmask the last one, mask and record"
            " it again; by hand, number them 1, 2, 3 … and rename tests and logs alike"
        )
        message = f"implementations are numbered {numbers:.60}, not 1 to {len(seen)}"
        yield Problem(message, hint, INFO, pointer="/implementations", severity=WARNING)


@target_check(
    "LMR010",
    "a path leaves the task",
    rationale="A path of the annotator's own machine exists nowhere else, and one with `..` makes tools read or write"
    " outside of the task.",
)
def paths_stay_inside(task: TaskView, target: Implementation) -> Iterator[Problem]:
    for key in ("goal_file", "golden_file", "unit_test_file"):
        text, golden = str(getattr(target, key)), key == "golden_file"
        if leaves(task, task.task.root if golden else task.repository, text):
            message = f"{key} {text!r:.120} leaves the {'task' if golden else 'repository'}"
            pointer = task.pointer(target, key)
            yield Problem(message, "write a relative path without '..'", INFO, pointer=pointer)


@dataset_check(
    "LMR011",
    "a function is masked in two tasks or twice in one",
    rationale="The same target twice counts one skill double, and where only one copy is masked the other task gives"
    " the answer.",
    severity=WARNING,
)
def unique_target(task: TaskView) -> Iterator[tuple[str, Problem]]:
    repository = task.info.repo_url.strip().rstrip("/").removesuffix(".git").lower()
    for one in pairs(task) if repository else ():
        file = clean_path(one.implementation.goal_file).rpartition("/")[2]
        for target in one.targets:
            if target.golden is not None and target.golden.kind == "function":
                code = sha256_bytes(body_form(target.golden.node).encode("utf-8", "surrogatepass"))
                message = f"{target.qualname} of {file} is also masked by"
                problem = Problem(message, "mask it in one place only", INFO, target=one.implementation)
                yield "\n".join((repository, file, target.qualname, code)), problem
