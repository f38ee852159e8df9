"""Values of replayed calls."""

from __future__ import annotations

from typing import Any

from tests.probe.harness import Repository


def value(repository: Repository, call: str) -> Any:
    """The recorded ``value`` node of a call."""
    return repository.load(call, "expected").tree["value"]
