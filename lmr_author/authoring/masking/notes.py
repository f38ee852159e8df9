"""The words of a masked body: structured comment and docstring, and the YAML file in which they are edited."""

from __future__ import annotations

import difflib
import inspect
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from lmr_author.core import resources
from lmr_author.core.errors import LmrError

if TYPE_CHECKING:
    from lmr_author.authoring.masking.context import Proposal  # it imports libcst, which takes 0.2 s

WIDTH = 88
"""Column at which comment lines are wrapped, not counting the body's own indentation."""

INSIDE = "Dependencies in this file"
OUTSIDE = "Dependencies outside this file"


@dataclass(frozen=True)
class MaskNotes:
    """The annotator's words about a masked function; empty parts are left out.

    Nothing is filled in silently: dependencies or steps read off the golden would give it away.

    Attributes:
        objective: what the function is for, a sentence.
        inputs: one entry each, as in ``x: the logits, shape (batch, classes)``.
        outputs: likewise.
        dependencies: names of the same file that an implementation may use.
        outside: what it may use of other modules, as in ``torch.nn.functional as F``.
        steps: what to do, in order.
        docstring: for a function that has none; an existing docstring is never changed.
    """

    objective: str = ""
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    dependencies: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    docstring: str = ""

    @property
    def has_comment(self) -> bool:
        """True when there is more to say than the bare TODO."""
        return self.without_comment() != self

    def without_comment(self) -> MaskNotes:
        """Only the docstring: what ``--style todo`` leaves."""
        return MaskNotes(docstring=self.docstring)

    def lines(self, name: str) -> list[str]:
        """Return the comment lines for a function, not indented. :func:`read_notes` is the inverse."""
        result = [f"# TODO: implement {name}."]
        if one_line(self.objective):
            result += _wrapped(f"Objective: {self.objective}", "# ", "#   ")
        for title, entries in (("Inputs", self.inputs), ("Outputs", self.outputs)):
            result += _section(title, entries, numbered=False)
        for title, names in ((INSIDE, self.dependencies), (OUTSIDE, self.outside)):
            if joined := ", ".join(_said(names)):
                result += _wrapped(f"{title}: {joined}", "# ", "#   ")
        return result + _section("Steps", self.steps, numbered=True)


def masked_body(name: str, notes: MaskNotes, *, generator: bool) -> list[str]:
    """Return the lines of a masked body, not indented: comment, raise, and a yield that keeps a generator one."""
    body = [*notes.lines(name), "raise NotImplementedError"]
    if generator:
        body.append("yield  # keeps this function a generator")
    return body


def left_out_body(*, generator: bool) -> list[str]:
    """Return the lines of a body that was emptied because it is like a masked one: nobody has to write it."""
    body = ["# Left out, and not to be implemented.", "raise NotImplementedError"]
    if generator:
        body.append("yield  # keeps this function a generator")
    return body


def read_notes(lines: Sequence[str]) -> MaskNotes:
    """Return the notes that a masked body's comment holds; lines that are no part of such a comment are passed over.

    Words are kept, line breaks inside of an entry are not: ``read_notes(notes.lines(name))`` is ``notes``
    with every entry on one line.
    """
    texts: dict[str, list[str]] = {}
    title, listed = "", False
    for line in (line.strip() for line in lines):
        if heading := _HEADING.fullmatch(line):
            title, rest = heading["title"], (heading["rest"] or "").strip()
            listed = title in ("Inputs", "Outputs", "Steps")
            texts[title] = [] if listed else [rest]
        elif listed and (entry := _ENTRY.fullmatch(line)):
            texts[title].append(entry["text"])
        elif title and line.startswith("#   ") and texts[title]:
            texts[title][-1] += " " + line[1:].strip()
        else:
            title, listed = "", False
    texts = {key: [one_line(text) for text in found] for key, found in texts.items()}
    return MaskNotes(
        objective=" ".join(texts.get("Objective", [])),
        inputs=tuple(texts.get("Inputs", ())),
        outputs=tuple(texts.get("Outputs", ())),
        dependencies=_names(texts.get(INSIDE, [])),
        outside=_names(texts.get(OUTSIDE, [])),
        steps=tuple(texts.get("Steps", ())),
    )


def overlaid(notes: MaskNotes, over: MaskNotes) -> MaskNotes:
    """Notes with the parts that ``over`` has in their place."""
    given = {name: value for name, value in vars(over).items() if value}
    return replace(notes, **given)


def one_line(text: str) -> str:
    """Text on one line, without control characters, as a comment needs it."""
    return " ".join(re.sub(r"[\x00-\x1f\x7f]", " ", text).split())


_HEADING = re.compile(
    rf"# (?P<title>Objective|Inputs|Outputs|{INSIDE}|{OUTSIDE}|Steps):(?P<rest> .*)?", re.DOTALL
)
_ENTRY = re.compile(r"#   (?:-|\d+\.) (?P<text>.*)", re.DOTALL)


def _names(texts: list[str]) -> tuple[str, ...]:
    return tuple(name.strip() for text in texts for name in text.split(",") if name.strip())


def _said(entries: Iterable[str]) -> tuple[str, ...]:
    return tuple(text for text in map(one_line, entries) if text)


def _section(title: str, entries: Sequence[str], *, numbered: bool) -> list[str]:
    said = _said(entries)
    result = [f"# {title}:"] if said else []
    for number, entry in enumerate(said, 1):
        first = f"#   {number}. " if numbered else "#   - "
        result += _wrapped(entry, first, "#" + " " * (len(first) - 1))
    return result


def _wrapped(text: str, first: str, following: str) -> list[str]:
    return textwrap.wrap(
        one_line(text),
        WIDTH,
        initial_indent=first,
        subsequent_indent=following,
        break_long_words=False,
        break_on_hyphens=False,
    )


# docstrings

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def clean_docstring(text: str) -> str:
    """Return a docstring's text as `inspect.cleandoc` would give it back, without blanks behind its lines."""
    lines = (line.rstrip() for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    cleaned = inspect.cleandoc("\n".join(lines)).strip()
    return inspect.cleandoc(cleaned)  # text whose first line stood alone has a margin only now


def docstring_lines(text: str, can_hold: Callable[[str], bool] = lambda text: True) -> list[str]:
    """Return the lines of a docstring literal, not indented, whose cleaned value is ``clean_docstring(text)``.

    Args:
        text: the docstring; not empty.
        can_hold: tells whether the file's encoding has every character of a text. What it has not is later
            written as ``\\uXXXX``, which a raw literal would not understand.
    """
    text = clean_docstring(text)
    several = "\n" in text
    fits_raw = '"""' not in text and not _CONTROL.search(text) and can_hold(text)
    if "\\" in text and fits_raw and (several or not text.endswith(('"', "\\"))):
        prefix = "r"
    else:
        prefix = ""
        body = text if several else text.rstrip('"')
        closing = len(text) - len(body)
        text = body.replace("\\", "\\\\").replace('"""', r"\"\"\"") + r"\"" * closing
        text = _CONTROL.sub(lambda match: f"\\x{ord(match.group()):02x}", text)
    lines = f'{prefix}"""{text}'.split("\n")
    return [*lines, '"""'] if several else [lines[0] + '"""']


# the file of `mask --notes`

HEADER = """\
# The masked body of each function, for `lmr-author mask --notes FILE`.
# These are drafts: correct them, and empty or delete what should not be said.
"""

HINT = "see schemas/notes.schema.json, or let `lmr-author mask TARGET --draft-notes FILE` write one"

_KINDS = {
    "string": "text",
    "array": "a list with `- ` before each entry",
    "object": "a block of `key: value`",
}
_Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Described:
    """The notes, context and category of one function; None or "" where not given."""

    notes: MaskNotes | None = None
    instruction: str = ""
    category: str = ""
    retrieval: tuple[str, ...] | None = None


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
        LmrError: no YAML, or not as the schema says; with file and line.
    """
    import yaml
    from jsonschema import Draft202012Validator

    try:
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text)):
            raise LmrError(f"{name}: YAML aliases (*name) are not read here", "write the text out")
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
        where = f"{name}:{mark.line + 1}" if mark else name
        raise LmrError(
            f"{where}: not valid YAML: {problem or error}",
            "put text with a colon or a quote into quotes, or on lines of its own behind `|`",
        ) from error
    lines: dict[_Path, int] = {}
    data = _plain(node, (), lines, name) if node is not None else {}
    found = Draft202012Validator(resources.schema("notes")).iter_errors(data)
    for wrong in sorted(found, key=lambda item: lines.get(tuple(item.absolute_path), 0)):
        path, said = _explained(wrong)
        place = ".".join(str(part) for part in path if not isinstance(part, int)) or "the file"
        raise LmrError(f"{name}:{lines.get(path, 1)}: {place}: {said}", HINT)
    return tuple(
        NotesEntry(item["target"], lines["targets", number], _described(item))
        for number, item in enumerate(data["targets"])
    )


def _plain(node: Any, path: _Path, lines: dict[_Path, int], name: str) -> Any:
    """Return a YAML node as lists, dicts and texts; note the line of each, refuse a key that is given twice."""
    import yaml

    lines[path] = node.start_mark.line + 1
    if isinstance(node, yaml.ScalarNode):
        return "" if node.tag.endswith(":null") else node.value
    if isinstance(node, yaml.SequenceNode):
        return [_plain(item, (*path, number), lines, name) for number, item in enumerate(node.value)]
    result: dict[str, Any] = {}
    for key, value in node.value:
        line = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode) or key.value in result:
            text = getattr(key, "value", "?")
            raise LmrError(f"{name}:{line}: {text} is given twice, or is no plain key", HINT)
        result[key.value] = _plain(value, (*path, key.value), lines, name)
        lines[*path, key.value] = line
    return result


def _explained(error: Any) -> tuple[_Path, str]:
    """Return the place of a schema's error, and the error in the words of the file."""
    path, wanted = tuple(error.absolute_path), error.validator_value
    if error.validator == "additionalProperties":
        known = list(error.schema["properties"])
        unknown = next(key for key in error.instance if key not in known)
        close = difflib.get_close_matches(unknown, known, 1, 0.5)
        hint = f"did you mean {close[0]}?" if close else "only " + ", ".join(known)
        return (*path, unknown), f"unknown part, {hint}"
    if error.validator == "required":
        return path, f"`{next(key for key in wanted if key not in error.instance)}` is missing"
    if error.validator == "oneOf":
        parts = wanted[0].get("properties")
        return path, f"must hold {' and '.join(parts)}" if parts else "must be a list of texts"
    if error.validator == "type":
        return path, f"must be {_KINDS.get(wanted, wanted)}"
    return path, "must not be empty"


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
    found: list[str] = []
    for entry in entries or ():
        pairs = entry.items() if isinstance(entry, dict) else [(entry, "")]
        found += [f"{key}: {value}" if value else key for key, value in pairs]
    return tuple(text for text in found if text.strip())


def write_notes_file(
    drafts: Mapping[str, tuple[MaskNotes, Sequence[Proposal]]], has_docstring: Iterable[str] = ()
) -> str:
    """Return the text of a notes file with drafts, with comments that explain the parts.

    Args:
        drafts: by node id, the notes and the files proposed as context.
        has_docstring: node ids of functions that have one, which stays as it is.
    """
    kept, text = set(has_docstring), HEADER + "targets:\n"
    for name, (notes, proposals) in drafts.items():
        depends = {"inside": _items(notes.dependencies), "outside": _items(notes.outside)}
        parts = [
            "# It has a docstring, which stays as it is.\n"
            if name in kept
            else _yaml({"docstring": notes.docstring}),
            _yaml({"objective": notes.objective, "inputs": _items(notes.inputs)}),
            _yaml({"outputs": _items(notes.outputs)}),
            "# Names that the original uses: keep those that an implementer should know.\n",
            _yaml({"dependencies": depends}),
            "# Never drafted: read off the original, they would be the answer.\n",
            _yaml({"steps": _items(notes.steps)}),
            "# Files that the model also sees.\n",
            "retrieval_context:\n" if proposals else "retrieval_context: []\n",
            *(f"{_yaml([one.path]).rstrip()}  # {'; '.join(one.reasons)}\n" for one in proposals),
        ]
        text += _yaml([{"target": name}]) + textwrap.indent("".join(parts), "  ") + "\n"
    return text


def _items(entries: Sequence[str]) -> list[str | dict[str, str]]:
    """Return ``x: the logits`` as a pair, which YAML writes without quotes around all of it."""
    pairs = [(entry, *entry.partition(": ")) for entry in entries]
    return [{key: text} if key.strip() and text.strip() else entry for entry, key, _, text in pairs]


def _yaml(data: object) -> str:
    import yaml

    class Dumper(yaml.SafeDumper):
        """Writes text of several lines as a literal block, where such a block can hold it."""

    def text(dumper: yaml.SafeDumper, value: str) -> yaml.Node:
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "\n" in value else None)

    Dumper.add_representer(str, text)
    dumped: str = yaml.dump(data, Dumper=Dumper, allow_unicode=True, sort_keys=False, width=1_000_000)
    return dumped
