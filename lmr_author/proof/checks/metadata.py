"""LMR0xx: info.json."""

from __future__ import annotations

import codecs
import difflib
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any, TypeGuard

from jsonschema import Draft202012Validator

from lmr_author.core import resources
from lmr_author.core.code import Module
from lmr_author.core.files import sha256_bytes
from lmr_author.core.parsing import NotParsed, json_data
from lmr_author.core.task import CATEGORIES, INFO, Implementation
from lmr_author.core.task.info import canonical_category, nearest_category
from lmr_author.core.texts import shortened
from lmr_author.proof.checks.base import (
    WARNING,
    Problem,
    check,
    closest_names_hint,
    dataset_check,
    target_check,
)
from lmr_author.proof.contents import TaskContents
from lmr_author.proof.targets import body_form, candidates, function_of, leaves, pair, pairs

_NUMBER = re.compile(r"^0*(\d+)[-_ .]")


@check(
    "LMR001",
    "info.json is missing or not a JSON object",
    rationale="info.json names all other files of a task; without it no tool can use the task.",
)
def info_readable(task: TaskContents) -> Iterator[Problem]:
    hint = "write it according to schemas/info.schema.json, or create the task with `lmr-author new-task`"
    data = task.read_bytes(task.task.root / INFO)
    if data is None:
        state = "not a readable file of at most 16 MiB" if INFO in task.by_path else "missing"
        yield Problem(f"info.json is {state}", hint, INFO)
        return
    repeated: list[str] = []

    def collect(members: list[tuple[str, Any]]) -> dict[str, Any]:
        repeated.extend(key for key, count in Counter(key for key, _ in members).items() if count > 1)
        return dict(members)

    try:
        value = json_data(data.decode("utf-8-sig"), collect)
    except UnicodeDecodeError:
        yield Problem("not readable as JSON: it is not UTF-8", "save it as UTF-8 JSON", INFO)
        return
    except NotParsed as error:
        where = f" (line {error.line}, column {error.column})" if error.line else ""
        yield Problem(f"not valid JSON: {error.reason}{where}", "correct the syntax", INFO, error.line)
        return
    if not isinstance(value, dict):
        yield Problem(f"contains a JSON {_JSON_KINDS.get(type(value), 'number')}, not an object", hint, INFO)
        return
    if data.startswith(codecs.BOM_UTF8):
        message = "starts with a byte order mark, which Python's `json.load` rejects"
        yield Problem(message, "save it as UTF-8 without BOM", INFO)
    for key in dict.fromkeys(repeated):
        message = f"one object contains the key {key!r:.60} twice: only the last counts"
        yield Problem(message, "remove one", INFO)


_JSON_KINDS = {list: "array", str: "string", bool: "boolean", type(None): "null"}
CHECKED_ELSEWHERE = frozenset(
    """
    repo_folder_name category instruction goal_function goal_file golden_file unit_test_file
    """.split()  # noqa: SIM905
)
"""Keys that have a check of their own."""


@cache
def validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(resources.schema(name))


@check(
    "LMR002",
    "info.json violates its schema",
    rationale="The benchmark's scripts read these keys unchecked. A missing or misspelt one raises a KeyError in the"
    " middle of an experiment.",
)
def info_schema(task: TaskContents) -> Iterator[Problem]:
    raw = task.raw
    if raw is None:
        return
    errors = validator("info").iter_errors(raw)
    for error in sorted(errors, key=lambda error: [str(part) for part in error.absolute_path]):
        yield from _schema_problems(task, error)
    if task.left_out:
        message = f"{task.left_out} implementations above the limit were not checked"
        yield Problem(message, "split the task", INFO, pointer="/implementations")
    if raw.get("implementations") == []:
        hint = "mask a function: `lmr-author mask FILE::FUNCTION`"
        yield Problem("no implementations: nothing is masked", hint, INFO, pointer="/implementations")
    if raw.get("paper_url") == "":
        yield Problem("paper_url is empty", "add the paper's address", INFO, pointer="/paper_url")
    for key in ("paper_url", "repo_url"):
        if re.match(r"file:|[/~]|\.\.?/", str(raw.get(key))):
            message = f"{key} is a local path: {shortened(str(raw[key]), 160)}"
            yield Problem(message, "replace it with the public address", INFO, pointer=f"/{key}")


def _schema_problems(task: TaskContents, error: Any) -> Iterator[Problem]:
    """Yield a problem for each missing key, or one for a wrong value; skip keys with a check of their own.

    Args:
        error: a ValidationError of jsonschema, whose attributes are untyped in its stubs.
    """
    path = list(error.absolute_path)
    pointer = "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)
    target = next((target for position, target, _ in task.numbered if path[1:2] == [position]), None)
    if error.validator == "required":
        for key in error.validator_value:
            if (
                key in error.instance
                or key in CHECKED_ELSEWHERE
                or (key == _CONTEXT and _LEGACY in error.instance)
            ):
                continue
            others = [name for name in error.instance if name not in error.validator_value]
            misspelt = difflib.get_close_matches(key, others, 1, 0.75)
            hint = f"rename the key {misspelt[0]!r} to {key!r}" if misspelt else f"add the key {key!r}"
            yield Problem(f"the key {key!r} is missing", hint, INFO, pointer=pointer, target=target)
    elif CHECKED_ELSEWHERE.isdisjoint(path) and _CONTEXT not in path:  # LMR605
        name = ".".join(map(str, path)) or "the document"
        hint = str(error.schema.get("description", ""))
        message = f"{name}: {shortened(error.message, 160)}"
        yield Problem(message, hint, INFO, pointer=pointer, target=target)


_CONTEXT, _LEGACY = "retrieval_context", "retrieval_content"


@check(
    "LMR003",
    "retrieval_context is spelled retrieval_content",
    rationale="Most published tasks spell it `retrieval_content`, and the published scripts read only that. The schema"
    " has `retrieval_context`; a task with the other spelling works only with some tools.",
    severity=WARNING,
)
def legacy_spelling(task: TaskContents) -> Iterator[Problem]:
    for position, target, entry in task.numbered:
        if _LEGACY in entry:
            is_double = _CONTEXT in entry
            message = f"{_LEGACY} is a misspelling of {_CONTEXT}" + (
                ", which is present too" if is_double else ""
            )
            hint = f"remove the key {_LEGACY!r}" if is_double else f"rename it to {_CONTEXT!r}"
            yield Problem(
                message, hint, INFO, pointer=f"/implementations/{position}/{_LEGACY}", target=target
            )


@check(
    "LMR004",
    "the category is not one of the nine",
    rationale="Results are reported by category. A missing one, free text, or a variant of a canonical name becomes a"
    " separate row in every table. The nine: " + "; ".join(CATEGORIES) + ".",
)
def category(task: TaskContents) -> Iterator[Problem]:
    for position, target, entry in task.numbered:
        value = entry.get("category")
        if value in CATEGORIES:
            continue
        text = value if isinstance(value, str) else ""
        pointer = f"/implementations/{position}" + ("/category" if "category" in entry else "")
        if meant := canonical_category(text):
            message = f"{text!r:.100} is a variant of {meant!r}"
            yield Problem(message, f"write {meant!r}", INFO, 0, pointer, target, WARNING)
            continue
        message = "the category is missing or empty"
        if value:
            message = f"{value!r:.100} is not one of the nine categories"
        near = nearest_category(text)
        choose = "choose one of the nine: `lmr-author explain LMR004` lists them"
        hint = f"did you mean {near!r}?" if near else choose
        yield Problem(message, hint, INFO, 0, pointer, target)


@check(
    "LMR005",
    "instance_id is not the folder's number",
    rationale="Results are stored by instance_id. With a wrong number they end up in another task's row.",
)
def instance_id(task: TaskContents) -> Iterator[Problem]:
    match = _NUMBER.match(task.name)
    value = task.raw.get("instance_id") if task.raw else None
    if match and _is_whole(value) and value != int(match[1]):
        message = f"instance_id is {value}, but the folder is number {int(match[1])}"
        yield Problem(message, f'write "instance_id": {int(match[1])}', INFO, pointer="/instance_id")


def _is_whole(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


@check(
    "LMR006",
    "folder_name is not the name of the folder",
    rationale="Images and results are named after folder_name; a misspelt one cannot be found from the folder, nor the"
    " folder from it.",
    severity=WARNING,
)
def folder_name(task: TaskContents) -> Iterator[Problem]:
    name = task.info.folder_name
    # Skip folders without a number (a copy, a checkout); some tasks name the repository's folder here.
    number = _NUMBER.match(task.name)
    if number and name not in ("", task.name, task.name[number.end() :], task.info.repo_folder_name):
        message = f"folder_name is {name!r:.80}, the folder is {task.name!r}"
        yield Problem(message, f"write {task.name!r}", INFO, pointer="/folder_name")


@target_check(
    "LMR007",
    "goal_function and class_name do not name exactly one function",
    rationale="Candidates are spliced into this function. With a class, a missing name, or one that several functions"
    " of the file share (`forward`!), it is unclear which code to implement and replace.",
)
def target_named(task: TaskContents, target: Implementation) -> Iterator[Problem]:
    names = target.function_names
    module = pair(task, target).golden or pair(task, target).goal
    hint = "name the masked function"
    if not names:
        message = "goal_function is missing or not a name"
    elif len(names) > 1:
        message = f"goal_function names {len(names)} functions: {', '.join(names)}"
        hint = "add one implementation for each"
    else:
        spelt = task.written(target, "class_name"), task.written(target, "goal_function")
        message, hint = _ambiguity(module, names[0], *spelt) if module else ("", "")
    if message:
        pointer = task.pointer(target, "goal_function")
        yield Problem(message, hint, INFO, pointer=pointer)


def _ambiguity(module: Module, name: str, class_name: str, goal_function: str) -> tuple[str, str]:
    definitions = candidates(module, name, class_name.strip())
    if not definitions:
        return "", ""  # LMR301 and LMR302 report that it is absent
    meant = definitions[0]
    classes = list(dict.fromkeys(definition.qualname.rpartition(".")[0] for definition in definitions))
    if len(classes) > 1:
        message = f"{name} is ambiguous: it is defined in {', '.join(classes)}"
        if class_name.strip():
            message = f"class_name {class_name.strip()!r:.80} is not a class of the file; {message}"
        return message, closest_names_hint(class_name.strip(), classes) or "set class_name"
    if meant.kind == "class":
        hint = "write the masked method in goal_function and the class in class_name"
        return f"{name} is a class", hint
    if len(definitions) > 1:
        lines = ", ".join(str(definition.line) for definition in definitions)
        message = f"{meant.qualname} is defined {len(definitions)} times, at lines {lines}"
        return message, "name an unambiguous function"
    outer, _, inner = meant.qualname.rpartition(
        "."
    )  # a nested function is written with its function, or without
    if (class_name, goal_function) in ((outer, inner), (meant.class_name, meant.function_name)):
        return "", ""
    message = f"the target is {meant.qualname}; goal_function is {goal_function!r:.80}, class_name {class_name!r:.80}"
    return message, f'write class_name "{meant.class_name}" and goal_function "{meant.function_name}"'


@dataset_check(
    "LMR008",
    "two tasks have the same instance_id",
    rationale="Two tasks with one id overwrite each other's results.",
)
def unique_instance_id(task: TaskContents) -> Iterator[tuple[str, Problem]]:
    value = task.raw.get("instance_id") if task.raw else None
    if isinstance(value, str) or _is_whole(value):
        message, hint = f"instance_id {value} is also that of", "give each task its own number"
        yield str(value).strip(), Problem(message, hint, INFO, pointer="/instance_id")


@check(
    "LMR009",
    "implementations are not numbered 1, 2, 3 …",
    rationale="Tests, logs, recordings and results have the index in their names; two implementations with one index"
    " overwrite each other.",
)
def index_numbers(task: TaskContents) -> Iterator[Problem]:
    used: set[int] = set()
    for position, target, entry in task.numbered:
        index = entry.get("index")
        if _is_whole(index) and index in used:
            pointer, hint = f"/implementations/{position}/index", "number them 1, 2, 3 …"
            yield Problem(f"index {index} is used twice", hint, INFO, pointer=pointer, target=target)
        elif _is_whole(index):
            used.add(index)
    free = set(range(1, len(used) + 1)) - used
    if free and len(used) == len(task.numbered):
        numbers = ", ".join(map(str, sorted(used)))
        hint = f"`lmr-author mask` numbers the next function {min(free)}; or renumber by hand, including tests and logs"
        message = f"implementations are numbered {numbers:.60}, not 1 to {len(used)}"
        yield Problem(message, hint, INFO, pointer="/implementations", severity=WARNING)


@target_check(
    "LMR010",
    "a path leaves the task",
    rationale="A path of the annotator's machine exists nowhere else, and with `..` tools read or write outside of the"
    " task.",
)
def paths_stay_inside(task: TaskContents, target: Implementation) -> Iterator[Problem]:
    roots = {"goal_file": "repository", "golden_file": "task", "unit_test_file": "repository"}
    for key, root in roots.items():
        folder = task.task.root if root == "task" else task.repository
        if leaves(task, folder, str(getattr(target, key))):
            message = f"{key} {task.written(target, key)!r:.120} leaves the {root}"
            pointer = task.pointer(target, key)
            yield Problem(message, "write a relative path without '..'", INFO, pointer=pointer)


@dataset_check(
    "LMR011",
    "a function is masked in two tasks or twice in one",
    rationale="The same target in two tasks counts one skill twice, and where only one copy is masked, the other task"
    " contains the answer.",
    severity=WARNING,
)
def unique_target(task: TaskContents) -> Iterator[tuple[str, Problem]]:
    repository = task.info.repo_url.strip().rstrip("/").removesuffix(".git").lower()
    if not repository:
        return
    for files in pairs(task):
        file = files.implementation.goal_file.rpartition("/")[2]
        for target in files.targets:
            golden = function_of(target.golden)
            if golden is not None:
                code = sha256_bytes(body_form(golden).encode("utf-8", "surrogatepass"))
                message = f"{target.qualname} of {file} is also masked by"
                problem = Problem(message, "mask it in one place only", INFO, target=files.implementation)
                yield "\n".join((repository, file, target.qualname, code)), problem
