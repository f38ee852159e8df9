"""A model's input: the value of ``input`` in tasks, logs and tables (the paper's Table 3, and more)."""

from __future__ import annotations

from dataclasses import dataclass

from lmr_author.core.errors import UsageError

PARTS = ("paper", "goal", "context", "whole")
"""Text of the paper, the goal file, the retrieval context, all Python files."""
NAMED = {
    "signature": (),
    "paper": ("paper",),
    "paper+goal": ("paper", "goal"),
    "repository": ("paper", "goal", "context"),
}
"""The paper's own names; ``repository`` means the whole repository where an agent works in it."""


@dataclass(frozen=True)
class ModelInput:
    """Parts that a model is given besides the signature; ``name`` is the paper's, else the parts joined by "+"."""

    name: str
    parts: frozenset[str]

    @classmethod
    def parse(cls, text: str) -> ModelInput:
        """Read ``repository`` or ``goal+context``, in any order. Raises UsageError for an unknown input."""
        parts = frozenset(NAMED.get(text, text.split("+")))
        unknown = sorted(parts - set(PARTS))
        if unknown:
            raise UsageError(
                f"input {text!r} is unknown",
                f"one of: {', '.join(NAMED)}; or parts of {'+'.join(PARTS)}, as in goal+context",
            )
        if {"context", "whole"} <= parts:
            raise UsageError(f"input {text!r}: whole is in place of context", "leave context out")
        if parts & {"context", "whole"}:
            parts |= {"goal"}
        ordered = tuple(part for part in PARTS if part in parts)
        name = next((name for name, named in NAMED.items() if named == ordered), "+".join(ordered))
        return cls(name, parts)

    @property
    def has_paper(self) -> bool:
        return "paper" in self.parts

    @property
    def has_tree(self) -> bool:
        """True if the model sees more of the repository than the goal file."""
        return bool(self.parts & {"context", "whole"})

    def __contains__(self, part: str) -> bool:
        return part in self.parts
