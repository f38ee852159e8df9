"""The YAML file of ``mask --notes``, in which docstrings, comments and context are drafted and edited."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import msgspec

from lmr_author.authoring.masking.body import Described, MaskNotes
from lmr_author.core.errors import LmrError

if TYPE_CHECKING:
    import yaml

    from lmr_author.authoring.masking.context import Proposal  # it imports libcst, which takes 0.2 s

HEADER = """\
# The masked body of each function, for `lmr-author mask --notes FILE`.
# These are drafts: correct them, and empty or delete what should not be said.
"""

Text = Annotated[str, msgspec.Meta(min_length=1)]
Pair = Annotated[dict[str, str | None], msgspec.Meta(min_length=1, max_length=1)]
Entries = list[str | Pair] | None
"""None: nothing is written behind the colon."""
Part = TypeVar("Part", bound=msgspec.Struct)


class _Dependencies(msgspec.Struct, forbid_unknown_fields=True):
    inside: Entries = None
    outside: Entries = None


class _TargetPart(msgspec.Struct, forbid_unknown_fields=True):
    """What is said about one function, as ``schemas/notes.schema.json`` describes it."""

    target: Text
    docstring: str | None = None
    objective: str | None = None
    inputs: Entries = None
    outputs: Entries = None
    dependencies: _Dependencies | None = None
    steps: Entries = None
    instruction: str | None = None
    category: str | None = None
    retrieval_context: list[Text] | msgspec.UnsetType | None = msgspec.UNSET

    def described(self) -> Described:
        depends = self.dependencies or _Dependencies()
        notes = MaskNotes(
            objective=self.objective or "",
            inputs=_texts(self.inputs),
            outputs=_texts(self.outputs),
            dependencies=_texts(depends.inside),
            outside=_texts(depends.outside),
            steps=_texts(self.steps),
            docstring=self.docstring or "",
        )
        # An emptied list says that no context is wanted, a part that is left out says nothing.
        retrieval = None
        if self.retrieval_context is not msgspec.UNSET:
            retrieval = tuple(self.retrieval_context or ())
        return Described(notes, (self.instruction or "").strip(), self.category or "", retrieval)


class _NotesFile(msgspec.Struct, forbid_unknown_fields=True):
    targets: Annotated[list[Any], msgspec.Meta(min_length=1)]


HINT = (
    f"the parts of a target: {', '.join(_TargetPart.__struct_fields__)}; "
    "`lmr-author mask TARGET --draft-notes FILE` writes a file to edit"
)


@dataclass(frozen=True)
class NotesEntry:
    """One entry of a notes file: a target as typed there, its line, and what is said about it."""

    target: str
    line: int
    described: Described


def read_notes_file(text: str, name: str) -> tuple[NotesEntry, ...]:
    """Read a notes file (``schemas/notes``).

    Every scalar is text (``yes`` and ``1.0`` too), and ``- x: the logits`` in a list is the entry
    "x: the logits".

    Args:
        text: its content.
        name: how errors call it.

    Raises:
        LmrError: no YAML, or not as the schema says; with the file, and the line of the target.
    """
    root = _parsed(text, name)
    targets = _converted(_plain(root, name), _NotesFile, f"{name}:1").targets
    (sequence,) = (value for key, value in root.value if key.value == "targets")
    entries = []
    for node, target in zip(sequence.value, targets, strict=True):
        line = node.start_mark.line + 1
        part = _converted(target, _TargetPart, f"{name}:{line}")
        entries.append(NotesEntry(part.target, line, part.described()))
    return tuple(entries)


def _parsed(text: str, name: str) -> yaml.Node:
    import yaml

    try:
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text)):
            raise LmrError(f"{name}: YAML aliases (*name) are not read here", "write the text out")
        return yaml.compose(text, Loader=yaml.BaseLoader) or yaml.MappingNode("", [])
    except yaml.YAMLError as error:
        mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
        where = f"{name}:{mark.line + 1}" if mark else name
        raise LmrError(
            f"{where}: not valid YAML: {problem or error}",
            "put text with a colon or a quote into quotes, or on lines of its own behind `|`",
        ) from error


def _plain(node: yaml.Node, name: str) -> Any:
    """Return a YAML node as lists, dicts and texts; refuse a key that is given twice, which YAML lets pass."""
    import yaml

    if isinstance(node, yaml.ScalarNode):
        return node.value
    if isinstance(node, yaml.SequenceNode):
        return [_plain(entry, name) for entry in node.value]
    mapping: dict[str, Any] = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode) or key.value in mapping:
            text = key.value if isinstance(key, yaml.ScalarNode) else "?"
            line = key.start_mark.line + 1
            raise LmrError(f"{name}:{line}: {text} is given twice, or is no plain key", HINT)
        content = _plain(value, name)
        mapping[key.value] = None if content == "" else content
    return mapping


def _converted(data: Any, kind: type[Part], where: str) -> Part:
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        raise LmrError(f"{where}: {str(error).replace('`$.', '`')}", HINT) from error


def _texts(entries: Entries) -> tuple[str, ...]:
    texts: list[str] = []
    for entry in entries or ():
        if isinstance(entry, str):
            texts.append(entry)
        else:
            texts += [f"{key}: {value}" if value else key for key, value in entry.items()]
    return tuple(text for text in texts if text.strip())


def write_notes_file(
    drafts: Mapping[str, tuple[MaskNotes, Sequence[Proposal]]], has_docstring: Iterable[str] = ()
) -> str:
    """Return the text of a notes file with drafts, with comments that explain the parts.

    Args:
        drafts: by node id, the notes and the files proposed as context.
        has_docstring: node ids of functions that have one, which stays as it is.
    """
    documented, text = set(has_docstring), HEADER + "targets:\n"
    for name, (notes, proposals) in drafts.items():
        depends = {"inside": _pairs(notes.dependencies), "outside": _pairs(notes.outside)}
        parts = [
            "# It has a docstring, which stays as it is.\n"
            if name in documented
            else _yaml({"docstring": notes.docstring}),
            _yaml({"objective": notes.objective, "inputs": _pairs(notes.inputs)}),
            _yaml({"outputs": _pairs(notes.outputs)}),
            "# Names that the original uses: keep those that an implementer should know.\n",
            _yaml({"dependencies": depends}),
            "# Never drafted: read off the original, they would be the answer.\n",
            _yaml({"steps": _pairs(notes.steps)}),
            "# Files that the model also sees.\n",
            "retrieval_context:\n" if proposals else "retrieval_context: []\n",
        ]
        for proposal in proposals:
            parts.append(f"{_yaml([proposal.path]).rstrip()}  # {'; '.join(proposal.reasons)}\n")
        text += _yaml([{"target": name}]) + textwrap.indent("".join(parts), "  ") + "\n"
    return text


def _pairs(entries: Sequence[str]) -> list[str | dict[str, str]]:
    """Return ``x: the logits`` as a pair, which YAML writes without quotes around all of it."""
    pairs: list[str | dict[str, str]] = []
    for entry in entries:
        key, _, text = entry.partition(": ")
        pairs.append({key: text} if key.strip() and text.strip() else entry)
    return pairs


def _yaml(data: object) -> str:
    import yaml

    class Dumper(yaml.SafeDumper):
        """Writes text of several lines as a literal block, where such a block can hold it."""

    def text(dumper: yaml.SafeDumper, value: str) -> yaml.Node:
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "\n" in value else None)

    Dumper.add_representer(str, text)
    dumped: str = yaml.dump(data, Dumper=Dumper, allow_unicode=True, sort_keys=False, width=1_000_000)
    return dumped
