"""The YAML file of ``mask --notes``, in which docstrings, comments and context are drafted and edited."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

import msgspec

from lmr_author.authoring.masking.body import Described, MaskNotes
from lmr_author.core.errors import LmrError
from lmr_author.core.parsing import NotParsed, yaml_data

if TYPE_CHECKING:
    import yaml

    from lmr_author.authoring.masking.context import Proposal  # it imports libcst, which takes 0.2 s

HEADER = """\
# The masked body of each function, for `lmr-author mask --notes FILE`.
# These are drafts: correct them, and empty or delete what should not be said.
"""

Text = Annotated[str, msgspec.Meta(min_length=1)]
Pair = Annotated[dict[str, str], msgspec.Meta(min_length=1, max_length=1)]
Entries = list[str | Pair]
Empty = Annotated[str, msgspec.Meta(max_length=0)]
"""The content of a key behind whose colon nothing is written."""


class _Dependencies(msgspec.Struct, forbid_unknown_fields=True):
    inside: Entries | Empty = ""
    outside: Entries | Empty = ""


class NotesEntry(msgspec.Struct, forbid_unknown_fields=True):
    """The notes on one function, as ``schemas/notes.schema.json`` describes them."""

    target: Text
    docstring: str = ""
    objective: str = ""
    inputs: Entries | Empty = ""
    outputs: Entries | Empty = ""
    dependencies: _Dependencies | Empty = ""
    steps: Entries | Empty = ""
    instruction: str = ""
    category: str = ""
    retrieval_context: list[Text] | Empty | None = None

    @property
    def described(self) -> Described:
        """The notes as ``mask`` takes them."""
        depends = self.dependencies if isinstance(self.dependencies, _Dependencies) else _Dependencies()
        notes = MaskNotes(
            objective=self.objective,
            inputs=_texts(self.inputs),
            outputs=_texts(self.outputs),
            dependencies=_texts(depends.inside),
            outside=_texts(depends.outside),
            steps=_texts(self.steps),
            docstring=self.docstring,
        )
        # An emptied list says that no context is wanted; a missing one leaves the question open.
        retrieval = None if self.retrieval_context is None else tuple(self.retrieval_context)
        return Described(notes, self.instruction.strip(), self.category, retrieval)


class _NotesFile(msgspec.Struct, forbid_unknown_fields=True):
    targets: Annotated[list[NotesEntry], msgspec.Meta(min_length=1)]


HINT = (
    f"the parts of a target: {', '.join(NotesEntry.__struct_fields__)}; "
    "`lmr-author mask TARGET --draft-notes FILE` writes a file to edit"
)


def read_notes_file(text: str, name: str) -> tuple[NotesEntry, ...]:
    """Read a notes file (``schemas/notes``).

    Every scalar is text (``yes`` and ``1.0`` too), and ``- x: the logits`` in a list is the entry
    "x: the logits".

    Args:
        text: its content.
        name: how errors call it.

    Raises:
        LmrError: no YAML, or not as the schema says; with the line, or the part, that is wrong.
    """
    try:
        data = yaml_data(text, as_text=True)
    except NotParsed as error:
        raise LmrError(
            f"{name}{error.place}: not valid YAML: {error.reason}",
            "put text with a colon or a quote into quotes, or on lines of its own behind `|`",
        ) from error
    try:
        return tuple(msgspec.convert(data, _NotesFile).targets)
    except msgspec.ValidationError as error:
        raise LmrError(f"{name}: {str(error).replace('`$.', '`')}", HINT) from error


def _texts(entries: Entries | str) -> tuple[str, ...]:
    texts: list[str] = []
    for entry in entries:
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
        docstring = _yaml({"docstring": notes.docstring})
        if name in documented:
            docstring = "# It has a docstring, which stays as it is.\n"
        depends = {"inside": _pairs(notes.dependencies), "outside": _pairs(notes.outside)}
        parts = [
            docstring,
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
