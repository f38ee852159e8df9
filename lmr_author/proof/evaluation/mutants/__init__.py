"""Mutants: wrong versions of a function that a test must detect."""

from __future__ import annotations

from lmr_author.proof.evaluation.mutants.generate import Mutant, mutants

__all__ = ["Mutant", "mutants"]
