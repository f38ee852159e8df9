"""``info.json``: a task in LMR-Bench's published format (``schemas/info.schema.json``); masked look-alikes."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import msgspec

from lmr_author.core.errors import TargetError, UsageError
from lmr_author.core.task.record import Index, Record, Text

CATEGORIES = (
    "Feature Learning & Representation",
    "Neural Network Architectures",
    "Prompt Engineering & Instruction Tuning",
    "Information Extraction",
    "Data Augmentation",
    "Training Objectives & Optimization",
    "Decoding & Search Strategies",
    "Evaluation Metrics",
    "Interpretability & Explainability",
)
"""The nine categories of LMR-Bench, in the paper's order."""


def require_category(name: str) -> None:
    if name not in CATEGORIES:
        near = nearest_category(name)
        guess = f"did you mean {near!r}? " if near else ""
        raise UsageError(f"unknown category {name!r}", f"{guess}one of: {'; '.join(CATEGORIES)}")


def nearest_category(text: str) -> str:
    """Return the category that shares most words with a text, else the one that is spelled like it; "" for none."""
    words = category_words(text) - {"learning"}  # almost every method has it
    shared = {category: len(words & category_words(category)) for category in CATEGORIES}
    most = [category for category in CATEGORIES if shared[category] == max(shared.values())]
    near = most if max(shared.values()) else difflib.get_close_matches(text, CATEGORIES, n=1)
    return near[0] if len(near) == 1 else ""


_FILLER = frozenset(
    """
    and or of for the in a an with technique method approach design computation computing task module
    """.split()  # noqa: SIM905
)


def canonical_category(text: str) -> str | None:
    """Return the category of which a text has all significant words; None when that is not exactly one.

    "Training Objectives and Optimization Techniques" is one, "loss function" is not.
    """
    meant = [category for category in CATEGORIES if category_words(category) <= category_words(text)]
    return meant[0] if len(meant) == 1 else None


def category_words(text: str) -> set[str]:
    words = re.findall(r"[a-z]+", text.lower().replace("isation", "ization"))
    return {re.sub("ies$", "y", word).removesuffix("s") for word in words} - _FILLER


def clean_path(text: str) -> str:
    """Return a path with ``/`` and without ``./`` and surrounding blanks."""
    return re.sub(r"/{2,}", "/", text.strip().replace("\\", "/")).removeprefix("./")


def context_key(entry: Mapping[str, Any]) -> str:
    """Return the key under which an entry has the files of the prompt: the published one, or the old."""
    old = "retrieval_content" in entry and "retrieval_context" not in entry
    return "retrieval_content" if old else "retrieval_context"


Progress = Callable[[str], None]
"""Receives a line about what is being done: a :class:`~lmr_author.core.texts.Step` where its end can be told."""


TORCH_FAMILY = frozenset({"torch", "torchvision", "torchaudio", "triton", "pytorch-triton"})
"""Packages that the base image brings; they are never installed over it, and a lock leaves them out."""

OPTIONAL = ("repo_commit", "repo_patch", "license", "paper_license")
"""Keys of ``info.json`` that are written only when known."""

_TARGET = re.compile(r"^(?P<path>.+?)::(?P<name>[^#:]+(?:::[^#:]+)*)(?:#(?P<nth>\d+)|:(?P<line>\d+))?$")


@dataclass(frozen=True)
class Target:
    """A function or class named by a pytest-style node id.

    ``path::qualname`` with ``.`` or ``::`` between the parts of the qualified name; a name defined
    more than once takes ``#2`` (the second definition, in file order) or ``:LINE``.
    """

    path: str
    qualname: str
    nth: int | None = None
    line: int | None = None

    @classmethod
    def parse(cls, text: str) -> Target:
        match = _TARGET.match(text.strip())
        if match is None:
            raise TargetError(
                f"not a target: {text!r}",
                "name it as FILE::FUNCTION or FILE::Class.method, as in trainers.py::preference_loss",
            )
        qualname = ".".join(part.strip() for part in re.split(r"::|\.", match["name"]))
        nth, line = match["nth"], match["line"]
        path = match["path"].replace("\\", "/").removeprefix("./")
        return cls(path, qualname, int(nth) if nth else None, int(line) if line else None)

    @property
    def name(self) -> str:
        return self.qualname.rpartition(".")[2]

    def __str__(self) -> str:
        suffix = f"#{self.nth}" if self.nth else f":{self.line}" if self.line else ""
        dash = "./" if self.path.startswith("-") else ""  # on a command line it would be an option
        return f"{dash}{self.path}::{self.qualname}{suffix}"


@dataclass(frozen=True, kw_only=True)
class Implementation:
    """One masked function of a task: an entry of ``implementations`` in ``info.json``, keys in the published order.

    Attributes:
        nth: number of the definition among those of its name in the file, from 1; None where the name alone tells
            it. Its key is ``goal_nth``.
    """

    instruction: str
    index: int
    category: str
    goal_file: str
    goal_function: str
    class_name: str
    nth: int | None = None
    golden_file: str
    retrieval_context: tuple[str, ...]
    unit_test_file: str

    @property
    def qualname(self) -> str:
        """``Class.method`` or ``function``: the target's qualified name inside the goal file."""
        return f"{self.class_name}.{self.goal_function}" if self.class_name else self.goal_function

    @property
    def target(self) -> Target:
        return Target(self.goal_file, self.qualname, self.nth)

    @property
    def function_names(self) -> tuple[str, ...]:
        """The names that ``goal_function`` holds: one in a good task, several or none in the wild."""
        return _function_names(self.goal_function)

    def to_json(self) -> dict[str, Any]:
        data = {
            "goal_nth" if key == "nth" else key: value for key, value in msgspec.to_builtins(self).items()
        }
        data["retrieval_context"] = list(self.retrieval_context)
        return {key: value for key, value in data.items() if value is not None}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], position: int = 0) -> Implementation:
        """Read an entry in any of the published spellings; what is missing becomes empty."""
        context = data.get(context_key(data))
        index, nth = data.get("index"), data.get("goal_nth")
        texts = _texts(cls, data)
        for key in ("goal_file", "golden_file", "unit_test_file"):
            texts[key] = clean_path(texts[key])
        names = _function_names(texts["goal_function"])
        if len(names) == 1:
            texts["goal_function"] = names[0]
        texts["class_name"] = texts["class_name"].strip()
        texts["category"] = canonical_category(texts["category"]) or texts["category"]
        return cls(
            index=index if isinstance(index, int) else position + 1,
            nth=nth if isinstance(nth, int) and nth > 0 else None,
            retrieval_context=tuple(map(_text, context)) if isinstance(context, list) else (),
            **texts,
        )


@dataclass(frozen=True)
class AlsoMasked(Record):
    """One look-alike that was masked together with a target: an entry of ``authoring/also-masked.json``.

    A second copy of the solution in the agent's tree gives it away, so ``mask --also`` empties it too. It is not part
    of the task: nobody has to implement it, and the golden runs without it.

    Attributes:
        path: its file, relative to the repository.
        qualname: qualified name of the definition in that file.
        nth: number of the definition among those of the same name, from 1.
        target: node id of the masked function that it resembles.
        original: its file before anything in it was masked, relative to the task; "" for a goal file, which
            has a golden.
    """

    path: Text
    qualname: Text
    nth: Index = 1
    target: str = ""
    original: str = ""

    @property
    def node_id(self) -> str:
        return f"{self.path}::{self.qualname}" + (f"#{self.nth}" if self.nth > 1 else "")


@dataclass(frozen=True)
class AlsoMaskedList(Record):
    """Look-alikes that were masked.

    Attributes:
        also: the look-alikes, sorted by file and name.
    """

    also: tuple[AlsoMasked, ...]


@dataclass(frozen=True)
class TaskInfo:
    """``info.json``: what a task is, in LMR-Bench's published format (``schemas/info.schema.json``)."""

    instance_id: int
    paper_name: str
    folder_name: str
    paper_url: str
    year: int
    repo_url: str
    repo_folder_name: str
    repo_commit: str = ""
    repo_patch: str = ""
    license: str = ""
    paper_license: str = ""
    implementations: tuple[Implementation, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the document as written: optional keys only when known."""
        data = {
            key: value for key, value in msgspec.to_builtins(self).items() if key not in OPTIONAL or value
        }
        return {**data, "implementations": [each.to_json() for each in self.implementations]}

    def with_implementation(self, new: Implementation) -> TaskInfo:
        others = [each for each in self.implementations if each.index != new.index]
        return replace(self, implementations=tuple(sorted([*others, new], key=lambda each: each.index)))

    @property
    def goal_files(self) -> tuple[str, ...]:
        """Python files with something masked in them, each once, by their paths in the repository."""
        names = dict.fromkeys(implementation.goal_file for implementation in self.implementations)
        return tuple(name for name in names if name.endswith(".py"))

    def implementation(self, index: int | None) -> Implementation:
        """Return the implementation with an index, or the only one. Raises UsageError when it is not clear which."""
        if index is None and len(self.implementations) == 1:
            return self.implementations[0]
        for implementation in self.implementations:
            if implementation.index == index:
                return implementation
        numbers = [str(implementation.index) for implementation in self.implementations]
        if not numbers:
            hint = "mask a function: lmr-author mask FILE::FUNCTION"
            raise UsageError("the task has no implementation: nothing is masked", hint)
        if index is None:
            raise UsageError(
                f"which implementation? (the task has {', '.join(numbers)})", "add --implementation N"
            )
        raise UsageError(
            f"there is no implementation {index} (the task has {', '.join(numbers)})",
            f"name one that it has, as in --implementation {numbers[0]}",
        )

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> TaskInfo:
        """Read a document in any of the published spellings; ``validate`` reports deviations."""
        entries = data.get("implementations")
        entries = entries if isinstance(entries, list) else []
        read = [
            Implementation.from_json(entry, n) for n, entry in enumerate(entries) if isinstance(entry, dict)
        ]
        number, year = _number(data.get("instance_id")), _number(data.get("year"))
        return cls(instance_id=number, year=year, implementations=tuple(read), **_texts(cls, data))


def _texts(cls: type, data: Mapping[str, Any]) -> dict[str, Any]:
    return {field.name: _text(data.get(field.name)) for field in fields(cls) if field.type == "str"}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _number(value: object) -> int:
    if isinstance(value, int):
        return int(value)
    if isinstance(value, str) and value.strip().isdecimal():
        return int(value)
    return 0


def _function_names(goal_function: str) -> tuple[str, ...]:
    text = re.sub(r"\([^)]*\)", "", goal_function.replace("::", ".").strip(" `'\":"))
    text = re.sub(r"\b(def|function|method|class)\s+", "", text)
    parts = [part.strip(" `'\"().") for part in re.split(r"\s*(?:[,;/&+]|\band\b|\s)\s*", text)]
    return tuple(dict.fromkeys(part for part in parts if re.fullmatch(r"[^\W\d]\w*(\.[^\W\d]\w*)*", part)))
