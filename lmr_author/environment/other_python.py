"""What an annotator is told where the lock is for another Python than the repository asks for."""

from __future__ import annotations

from lmr_author.environment.base_images import BaseImage, image_with
from lmr_author.environment.python_version import asking, unmet
from lmr_author.environment.recipe import Recipe


def short(recipe: Recipe, python: str) -> str:
    """The fact alone, for a lock's comments; "" where the Python fits."""
    facts = unmet(recipe, python)
    return f"{asking(facts)}, and this is for {python}" if facts else ""


def note(recipe: Recipe, base: BaseImage) -> str:
    """The fact, and what to do about it; "" where the image's Python fits."""
    facts = unmet(recipe, base.python)
    if not facts:
        return ""
    other = image_with([fact.text for fact in facts], base)
    if other is None:
        advice = "no PyTorch image of the table has it: --base-image names one of yours"
    else:
        holds = f"PyTorch {other.torch}, Python {other.python}"
        advice = (
            f"another: `lmr-author env dockerfile --base-image {other.reference}` ({holds}), then `env lock`"
        )
    if not base.python_certain:
        advice += "; or `env lock --python-version X.Y`, if this image has another"
    known = "" if base.python_certain else " as far as known"
    return (
        f"{asking(facts)}, and the lock is for {base.python}, the Python of {base.reference}{known}: "
        f"the code may not run there; {advice}"
    )
