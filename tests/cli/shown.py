"""What commands are given, and what they show."""

from __future__ import annotations

GATES = (
    "build",
    "untampered",
    "golden-passes",
    "masked-fails",
    "target-entered",
    "trivial-fails",
    "mutants-die",
    "isolated",
)


CATEGORY = "Evaluation Metrics"
