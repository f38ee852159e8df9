"""Why an environment could not be built, or why the repository cannot be imported in it, and what to try."""

from __future__ import annotations

from lmr_author.environment.failures.base import Explainer, Explanation, Failure
from lmr_author.environment.failures.changes import Change
from lmr_author.environment.failures.registry import EXPLAINERS, explain, explain_traceback

__all__ = ["EXPLAINERS", "Change", "Explainer", "Explanation", "Failure", "explain", "explain_traceback"]
