"""The data that flows between stages: frozen dataclasses, no behaviour beyond their own shape."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any

from lmr_author.errors import TargetError

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


Progress = Callable[[str], None]
"""Told what is being done, a line each time."""


class Severity(StrEnum):
    """How bad a finding is: an ERROR must not ship, a WARNING should not, a NOTE is for information."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


TORCH_FAMILY = frozenset({"torch", "torchvision", "torchaudio", "triton", "pytorch-triton"})
"""Packages that the base image brings; they are never installed over it, and a lock leaves them out."""

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
        """Read a node id. Raises TargetError when it is not one."""
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
        """The last part of the qualified name."""
        return self.qualname.rpartition(".")[2]

    def __str__(self) -> str:
        suffix = f"#{self.nth}" if self.nth else f":{self.line}" if self.line else ""
        dash = "./" if self.path.startswith("-") else ""  # on a command line it would be an option
        return f"{dash}{self.path}::{self.qualname}{suffix}"


@dataclass(frozen=True)
class Implementation:
    """One masked function of a task: an entry of ``implementations`` in ``info.json``."""

    index: int
    instruction: str
    category: str
    goal_file: str
    goal_function: str
    class_name: str
    golden_file: str
    retrieval_context: tuple[str, ...]
    unit_test_file: str
    nth: int | None = None
    """Which definition of that name in the file, from 1; None where the name alone tells it."""

    @property
    def qualname(self) -> str:
        """``Class.method`` or ``function``: the target's qualified name inside the goal file."""
        return f"{self.class_name}.{self.goal_function}" if self.class_name else self.goal_function

    @property
    def target(self) -> Target:
        """The node id of the masked function."""
        return Target(self.goal_file, self.qualname, self.nth)

    def to_json(self) -> dict[str, Any]:
        """The entry as it stands in ``info.json``, keys in the published order."""
        data: dict[str, Any] = {
            "instruction": self.instruction,
            "index": self.index,
            "category": self.category,
            "goal_file": self.goal_file,
            "goal_function": self.goal_function,
            "class_name": self.class_name,
        }
        if self.nth is not None:
            data["goal_nth"] = self.nth
        return {
            **data,
            "golden_file": self.golden_file,
            "retrieval_context": list(self.retrieval_context),
            "unit_test_file": self.unit_test_file,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any], position: int = 0) -> Implementation:
        """Read an entry leniently: known aliases are accepted, what is missing becomes empty."""
        context = data.get("retrieval_context", data.get("retrieval_content")) or []
        index, nth = data.get("index"), data.get("goal_nth")
        return cls(
            index=index if isinstance(index, int) else position + 1,
            instruction=_text(data.get("instruction")),
            category=_text(data.get("category")),
            goal_file=_text(data.get("goal_file")),
            goal_function=_text(data.get("goal_function")),
            class_name=_text(data.get("class_name")),
            golden_file=_text(data.get("golden_file")),
            retrieval_context=tuple(_text(item) for item in context) if isinstance(context, list) else (),
            unit_test_file=_text(data.get("unit_test_file")),
            nth=nth if isinstance(nth, int) and nth > 0 else None,
        )


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
    implementations: tuple[Implementation, ...] = ()
    repo_commit: str = ""
    license: str = ""

    def to_json(self) -> dict[str, Any]:
        """The document as written: canonical spelling, optional keys only when known."""
        data: dict[str, Any] = {
            "instance_id": self.instance_id,
            "paper_name": self.paper_name,
            "folder_name": self.folder_name,
            "paper_url": self.paper_url,
            "year": self.year,
            "repo_url": self.repo_url,
            "repo_folder_name": self.repo_folder_name,
        }
        if self.repo_commit:
            data["repo_commit"] = self.repo_commit
        if self.license:
            data["license"] = self.license
        data["implementations"] = [item.to_json() for item in self.implementations]
        return data

    def with_implementation(self, new: Implementation) -> TaskInfo:
        """A copy with an implementation, in place of the one of the same index if there is one."""
        kept = [item for item in self.implementations if item.index != new.index]
        return replace(self, implementations=tuple(sorted([*kept, new], key=lambda item: item.index)))

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> TaskInfo:
        """Read a document leniently; `validate` is where deviations are reported."""
        entries = data.get("implementations")
        entries = entries if isinstance(entries, list) else []
        return cls(
            instance_id=_number(data.get("instance_id")),
            paper_name=_text(data.get("paper_name")),
            folder_name=_text(data.get("folder_name")),
            paper_url=_text(data.get("paper_url")),
            year=_number(data.get("year")),
            repo_url=_text(data.get("repo_url")),
            repo_folder_name=_text(data.get("repo_folder_name")),
            implementations=tuple(
                Implementation.from_json(entry, position)
                for position, entry in enumerate(entries)
                if isinstance(entry, dict)
            ),
            repo_commit=_text(data.get("repo_commit")),
            license=_text(data.get("license")),
        )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _number(value: object) -> int:
    if isinstance(value, int):
        return int(value)
    if isinstance(value, str) and value.strip().isdecimal():
        return int(value)
    return 0


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong with a task.

    Attributes:
        code: the check's code, ``LMR301``.
        task: name of the task folder.
        implementation: index of the implementation (1…), None when the whole task is meant.
        path: file meant, relative to the task folder, with ``/``; "" for the folder itself.
        pointer: JSON pointer into a JSON file, or ``L12`` / ``L12-L20`` for lines; "" otherwise.
        hint: what to do.
        fixable: whether ``validate --fix`` can repair it.
    """

    code: str
    severity: Severity
    task: str
    message: str
    hint: str = ""
    implementation: int | None = None
    path: str = ""
    pointer: str = ""
    fixable: bool = False

    def to_json(self) -> dict[str, Any]:
        """The finding with exactly the published keys, severity as text."""
        data = asdict(self)
        order = (
            "code",
            "severity",
            "task",
            "implementation",
            "path",
            "pointer",
            "message",
            "hint",
            "fixable",
        )
        data["severity"] = self.severity.value
        return {key: data[key] for key in order}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Finding:
        """The finding that :meth:`to_json` wrote. Raises KeyError, TypeError or ValueError for anything else."""
        texts = {key: data[key] for key in ("code", "task", "message", "hint", "path", "pointer")}
        index, fixable = data["implementation"], data["fixable"]
        if not all(isinstance(text, str) for text in texts.values()) or not isinstance(fixable, bool):
            raise TypeError("not a finding")
        if index is not None and not isinstance(index, int):
            raise TypeError("not an index")
        return cls(**texts, severity=Severity(data["severity"]), implementation=index, fixable=fixable)


class GateStatus(StrEnum):
    """Outcome of a gate. UNPROVEN: this sandbox cannot show it; SKIPPED: an earlier gate failed."""

    PASSED = "passed"
    FAILED = "failed"
    UNPROVEN = "unproven"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class GateResult:
    """What one gate found for one implementation (None: for the task's environment)."""

    gate: str
    status: GateStatus
    message: str
    hint: str = ""
    implementation: int | None = None
    seconds: float = 0.0
    detail: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> GateResult:
        """A stored result. Raises KeyError, TypeError or ValueError for what is none."""
        return cls(
            str(data["gate"]),
            GateStatus(data["status"]),
            str(data["message"]),
            str(data["hint"]),
            data["implementation"],
            float(data["seconds"]),
            dict(data["detail"]),
        )

    def to_json(self) -> dict[str, Any]:
        """The result as stored in ``authoring/evaluation.json``."""
        return {
            "gate": self.gate,
            "status": self.status.value,
            "implementation": self.implementation,
            "message": self.message,
            "hint": self.hint,
            "seconds": round(self.seconds, 3),
            "detail": dict(self.detail),
        }
