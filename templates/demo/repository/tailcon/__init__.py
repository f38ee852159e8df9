"""Contrastive representation learning on long-tailed data, in numpy."""

from .data import CLASS_SIZES, sample
from .losses import margin_focal_contrast
from .train import Settings, fit

__all__ = ["CLASS_SIZES", "Settings", "fit", "margin_focal_contrast", "sample"]
