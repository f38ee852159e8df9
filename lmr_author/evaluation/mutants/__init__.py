"""Deliberately wrong versions of a golden: what a test must notice to be worth anything."""

from __future__ import annotations

from lmr_author.evaluation.mutants.enumerate import Mutant, mutants

__all__ = ["Mutant", "mutants"]
