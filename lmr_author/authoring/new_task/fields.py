"""Change facts in ``info.json`` and about the paper: only to what the schema and the checks accept."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from lmr_author.core import files
from lmr_author.core.errors import LmrError, UsageError
from lmr_author.core.locks import changes_task
from lmr_author.core.task import INFO, Task, ledger
from lmr_author.core.task.info import context_key
from lmr_author.core.task.ledger import Ledger
from lmr_author.core.task.provenance import Provenance
from lmr_author.core.texts import choices_hint, shortened
from lmr_author.proof.checks.ledger import require_true
from lmr_author.proof.checks.metadata import validator
from lmr_author.proof.contents import TaskContents
from lmr_author.proof.validation.run import select_checks


@dataclass(frozen=True)
class Field:
    """A fact that can be changed.

    Attributes:
        key: its key in info.json, or of the paper in authoring/provenance.json.
        purpose: its meaning, for people.
        owner: what has the key; the ledger is a record of its own.
        many: true for a list, written with commas or semicolons.
    """

    key: str
    purpose: str
    owner: Literal["task", "implementation", "paper", "ledger"] = "task"
    many: str = ""


FIELDS = {
    "title": Field("paper_name", "title of the paper"),
    "authors": Field("authors", "its authors, separated by semicolons", "paper", ";"),
    "year": Field("year", "its year"),
    "venue": Field("venue", "its journal or conference", "paper"),
    "paper_url": Field("paper_url", "its web address"),
    "paper_license": Field("paper_license", "its licence, such as CC-BY-4.0"),
    "repo_url": Field("repo_url", "the repository's public address"),
    "license": Field("license", "the repository's licence, such as MIT"),
    "instruction": Field("instruction", "the task for the model", "implementation"),
    "category": Field("category", "one of the nine categories", "implementation"),
    "retrieval": Field(
        "retrieval_context", "files that the model also sees, separated by commas", "implementation", ","
    ),
    "ledger": Field("", "paper beside code, as @ledger.yaml; empty to remove it", "ledger"),
}
_KEPT = {"title": "title", "year": "year", "paper_url": "url"}
"""Facts of info.json that the paper's record in provenance.json repeats: field → its key there."""


@dataclass(frozen=True)
class Change:
    field: str
    before: str
    after: str


@changes_task
def set_fields(task: Task, /, values: Mapping[str, str], implementation: int | None = None) -> list[Change]:
    """Change fields; nothing is written unless all of them are accepted.

    Args:
        values: field → text.
        implementation: index of the one whose instruction, category or retrieval context changes.

    Raises UsageError for an unknown field, and for a value that the schema or a check refuses.
    """
    raw = task.load_raw()
    provenance = Provenance.read_if_valid(task.provenance_path)
    changed = copy.deepcopy(raw)
    paper: dict[str, Any] = {}
    changes, pointers = [], []
    before = read_fields(task, implementation)
    stated: Ledger | None = None
    for name, text in values.items():
        field = _field(name)
        if field.owner == "ledger":
            stated = ledger.parse(text, name)
            changes.append(Change(name, before[name], stated.as_yaml()))
            continue
        value = _value(name, text.strip())
        if field.owner == "paper":
            paper[field.key] = tuple(value) if field.many else value
        else:
            owner, pointer = _owner(task, changed, field, implementation)
            key = context_key(owner) if name == "retrieval" else field.key
            if value == "" and name in ("license", "paper_license"):
                owner.pop(key, None)
            else:
                owner[key] = value
            pointers.append(f"{pointer}/{key}")
            if name in _KEPT:
                paper[_KEPT[name]] = value
        changes.append(Change(name, before.get(name, ""), _text(field, value)))
    if provenance is None and any(_field(name).owner == "paper" for name in values):
        raise LmrError(
            f"{task.name} has no authoring/provenance.json, where authors and venue are stored",
            "leave them out: `lmr-author new-task` writes that file",
        )
    contents = _require_accepted(task, changed, pointers)
    if stated is not None:
        stated = require_true(contents, stated, "ledger")
    if provenance is not None:
        if "year" in paper:
            paper["year_origin"] = "given"
        replace(provenance, paper=replace(provenance.paper, **paper)).write(task.provenance_path)
    if changed != raw:
        files.write_json(task.info_path, changed)
    if stated is not None:
        ledger.save(task, stated)
    return changes


def read_fields(task: Task, implementation: int | None = None) -> dict[str, str]:
    """Return field → text, as they are now; those of an implementation only where it is clear which."""
    raw = task.load_raw()
    provenance = Provenance.read_if_valid(task.provenance_path)
    shown = {}
    for name, field in FIELDS.items():
        if field.owner == "paper":
            shown[name] = _text(field, getattr(provenance.paper, field.key)) if provenance else ""
        elif field.owner == "ledger":
            shown[name] = ledger.load(task).as_yaml()
        else:
            try:
                owner, _ = _owner(task, raw, field, implementation)
            except UsageError:
                continue
            key = context_key(owner) if name == "retrieval" else field.key
            shown[name] = _text(field, owner.get(key, ""))
    return shown


def _field(name: str) -> Field:
    if name not in FIELDS:
        raise UsageError(f"unknown field {name!r}", choices_hint(name, FIELDS, "fields"))
    return FIELDS[name]


def _owner(
    task: Task, raw: dict[str, Any], field: Field, implementation: int | None
) -> tuple[dict[str, Any], str]:
    if field.owner == "task":
        return raw, ""
    index = task.load().implementation(implementation).index
    entries = raw.get("implementations", [])
    for position, entry in enumerate(entries):
        if isinstance(entry, dict) and entry.get("index", position + 1) == index:
            return entry, f"/implementations/{position}"
    raise UsageError(f"info.json has no implementation {index}", "see `lmr-author status`")


def _value(name: str, text: str) -> Any:
    separator = FIELDS[name].many
    if separator:
        return [] if text == "none" else [part.strip() for part in text.split(separator) if part.strip()]
    if name == "instruction" and not text:
        raise UsageError("the instruction is empty", "say what to implement, as in instruction=@FILE")
    if name == "year":
        if not text.isdecimal():
            raise UsageError(f"year: {text!r} is not a year", "as in year=2023")
        return int(text)
    return text


def _text(field: Field, value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"{field.many} ".join(map(str, value)) or "none"
    return str(value)


def _require_accepted(task: Task, raw: dict[str, Any], pointers: Iterable[str]) -> TaskContents:
    """Return the task with another info.json. Raises UsageError for what the schema or a check refuses."""
    touched = tuple(pointers)
    for error in validator("info").iter_errors(raw):
        pointer = "/" + "/".join(map(str, error.absolute_path))
        if pointer.startswith(touched) and not pointer.startswith("/implementations"):
            hint = str(error.schema.get("description", ""))
            raise UsageError(f"{pointer.strip('/')}: {shortened(error.message, 160)}", hint)
    contents = TaskContents(task)
    contents.raw = raw
    for check in select_checks(select=["LMR0", "LMR605"]):
        for finding in check.run(contents):
            if finding.path == INFO and finding.pointer.startswith(touched):
                raise UsageError(finding.message, finding.hint)
    return contents
