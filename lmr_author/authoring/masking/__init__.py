"""Mask functions of a task, and restore them: select, edit, write and return what was done."""

from lmr_author.authoring.masking.mask import MaskOptions, MaskResult, mask
from lmr_author.authoring.masking.unmask import UnmaskResult, masked_names, unmask
