"""``--notes FILE``: what the annotator says about one or several targets, as YAML (``schemas/notes``)."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lmr_author import resources
from lmr_author.errors import LmrError
from lmr_author.masking.context import Proposal
from lmr_author.masking.notes import MaskNotes

HEADER = """\
# The masked body of each function, for `lmr-author mask --notes FILE`.
# These are drafts: correct them, and empty or delete what should not be said.
"""

HINT = "see schemas/notes.schema.json, or let `lmr-author mask TARGET --draft-notes FILE` write one"

_KEYED = re.compile(r"(?P<name>[^\s:'\"\[\]{}#&*!|>%@`,?-][^:'\"\[\]{}#]*): (?P<text>.+)")


@dataclass(frozen=True)
class Described:
    """An entry about one function; None or "" for what is not."""

    notes: MaskNotes | None = None
    instruction: str = ""
    category: str = ""
    retrieval: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Entry:
    """One entry of a notes file: a target as typed there, its line, and what is said about it."""

    target: str
    line: int
    described: Described


def read_notes_file(text: str, name: str) -> tuple[Entry, ...]:
    """Read a notes file.

    Every scalar is text (``yes`` and ``1.0`` too), and ``- x: the logits`` in a list is the entry
    "x: the logits".

    Args:
        text: its content.
        name: how errors call it.

    Raises:
        LmrError: no YAML, or not as the schema says; with file and line.
    """
    import yaml

    try:
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text)):
            raise LmrError(f"{name}: YAML aliases (*name) are not read here", "write the text out")
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise LmrError(
            f"{name}:{line}: not valid YAML: {error.problem or error.context}",
            "put text with a colon or a quote into quotes, or on lines of its own behind `|`",
        ) from error
    except yaml.YAMLError as error:
        raise LmrError(f"{name}: not valid YAML: {error}", HINT) from error
    lines: dict[tuple[str | int, ...], int] = {}
    data = _plain(node, (), lines, name) if node is not None else {}
    _validate(data, lines, name)
    return tuple(
        Entry(str(item["target"]), lines["targets", number], _described(item))
        for number, item in enumerate(data["targets"])
    )


def write_notes_file(
    drafts: Mapping[str, tuple[MaskNotes, Sequence[Proposal]]], has_docstring: Iterable[str] = ()
) -> str:
    """The text of a notes file with drafts, with comments that say what is what.

    Args:
        drafts: by node id, the notes and the files proposed as context.
        has_docstring: node ids of functions that have one, which stays as it is.
    """
    kept = set(has_docstring)
    parts = [_entry(name, notes, files, name in kept) for name, (notes, files) in drafts.items()]
    return HEADER + "targets:\n" + "\n".join(parts)


def _entry(name: str, notes: MaskNotes, proposals: Sequence[Proposal], has_docstring: bool) -> str:
    lines = [f"- target: {_scalar(name)}"]
    if has_docstring:
        lines.append("  # It has a docstring, which stays as it is.")
    else:
        lines += ["  docstring: " + _block(notes.docstring)]
    lines.append(f"  objective: {_scalar(notes.objective)}")
    lines += _list("inputs", notes.inputs, 2)
    lines += _list("outputs", notes.outputs, 2)
    lines.append("  # Names that the original uses: keep those that an implementer should know.")
    lines.append("  dependencies:")
    lines += _list("inside", notes.dependencies, 4)
    lines += _list("outside", notes.outside, 4)
    lines.append("  # Never drafted: read off the original, they would be the answer.")
    lines += _list("steps", notes.steps, 2)
    lines.append("  # Files that a model is given with the masked one.")
    lines.append("  retrieval_context:" if proposals else "  retrieval_context: []")
    for proposal in proposals:
        lines.append(f"  - {_scalar(proposal.path)}  # {'; '.join(proposal.reasons)}")
    return "\n".join(lines) + "\n"


def _list(key: str, entries: Sequence[str], indent: int) -> list[str]:
    start = " " * indent
    if not entries:
        return [f"{start}{key}: []"]
    return [f"{start}{key}:", *(f"{start}- {_item(entry)}" for entry in entries)]


def _item(entry: str) -> str:
    """``x: the logits`` without quotes around all of it, as a person would write it."""
    if match := _KEYED.fullmatch(entry):
        return f"{_scalar(match['name'])}: {_scalar(match['text'])}"
    return _scalar(entry)


def _scalar(text: str) -> str:
    import yaml

    dumped: str = yaml.safe_dump(text, allow_unicode=True, width=1_000_000)
    return dumped.removesuffix("...\n").rstrip("\n")


def _block(text: str) -> str:
    """Text on several lines as a literal block; what such a block cannot hold is quoted."""
    lines = text.split("\n")
    odd = text != text.strip() or any(line != line.rstrip() for line in lines)
    if len(lines) == 1 or odd or not all(char.isprintable() for line in lines for char in line):
        import yaml

        quoted: str = yaml.safe_dump(text, allow_unicode=True, width=1_000_000, default_style='"')
        return quoted.rstrip("\n") if len(lines) > 1 else _scalar(text)
    return "|-\n" + "\n".join("    " + line if line else "" for line in lines)


def _plain(node: Any, path: tuple[str | int, ...], lines: dict[tuple[str | int, ...], int], name: str) -> Any:
    """A YAML node as lists, dicts and texts; notes the line of each, refuses a key that is given twice."""
    import yaml

    lines[path] = node.start_mark.line + 1
    if isinstance(node, yaml.ScalarNode):
        return "" if node.tag.endswith(":null") else node.value
    if isinstance(node, yaml.SequenceNode):
        return [_plain(item, (*path, number), lines, name) for number, item in enumerate(node.value)]
    result: dict[str, Any] = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode) or key.value in result:
            where = f"{name}:{key.start_mark.line + 1}"
            raise LmrError(f"{where}: {getattr(key, 'value', '?')} is given twice, or is no plain key", HINT)
        result[key.value] = _plain(value, (*path, key.value), lines, name)
        lines[*path, key.value] = key.start_mark.line + 1
    return result


def _validate(data: Any, lines: Mapping[tuple[str | int, ...], int], name: str) -> None:
    from jsonschema import Draft202012Validator

    found = Draft202012Validator(resources.schema("notes")).iter_errors(data)
    errors = sorted(found, key=lambda item: lines.get(tuple(item.absolute_path), 0))
    if not errors:
        return
    path, said = tuple(errors[0].absolute_path), _said(errors[0])
    if errors[0].validator == "additionalProperties":
        unknown = next(key for key in errors[0].instance if key not in errors[0].schema["properties"])
        known = list(errors[0].schema["properties"])
        close = difflib.get_close_matches(unknown, known, 1, 0.5)
        path = (*path, unknown)
        said = (
            f"there is no such part, {f'did you mean {close[0]}?' if close else 'only ' + ', '.join(known)}"
        )
    place = ".".join(str(part) for part in path if not isinstance(part, int)) or "the file"
    raise LmrError(f"{name}:{lines.get(path, 1)}: {place}: {said}", HINT)


def _said(error: Any) -> str:
    """A schema's error in the words of the file."""
    if error.validator == "required":
        missing = next(key for key in error.validator_value if key not in error.instance)
        return f"its `{missing}` is missing"
    if error.validator == "oneOf":
        wanted = error.validator_value[0].get("properties")
        return f"has to hold {' and '.join(wanted)}" if wanted else "has to be a list of texts"
    kinds = {
        "string": "text",
        "array": "a list with `- ` before each entry",
        "object": "a block of `key: value`",
    }
    if error.validator == "type":
        return f"has to be {kinds.get(error.validator_value, error.validator_value)}"
    return "must not be empty"


def _described(item: Mapping[str, Any]) -> Described:
    depends = item.get("dependencies") or {}
    notes = MaskNotes(
        objective=item.get("objective", ""),
        inputs=_texts(item.get("inputs")),
        outputs=_texts(item.get("outputs")),
        dependencies=_texts(depends.get("inside")),
        outside=_texts(depends.get("outside")),
        steps=_texts(item.get("steps")),
        docstring=item.get("docstring", ""),
    )
    retrieval = item.get("retrieval_context")
    return Described(
        notes=notes,
        instruction=item.get("instruction", "").strip(),
        category=item.get("category", ""),
        retrieval=None if retrieval is None else _texts(retrieval),
    )


def _texts(entries: Any) -> tuple[str, ...]:
    found = []
    for entry in entries or ():
        if isinstance(entry, dict):
            found += [f"{key}: {value}" if value else key for key, value in entry.items()]
        else:
            found.append(entry)
    return tuple(text for text in found if text.strip())
