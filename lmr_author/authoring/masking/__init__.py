"""Mask functions of a task, and restore them: select, edit, write and return what was done."""

from __future__ import annotations

from lmr_author.authoring.masking.mask import MaskOptions, MaskResult, mask
from lmr_author.authoring.masking.unmask import UnmaskResult, masked_names, unmask

__all__ = ["MaskOptions", "MaskResult", "UnmaskResult", "mask", "masked_names", "unmask"]
