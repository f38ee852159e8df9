"""PyTorch in a local environment: locks leave it to the base image, which is not there."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from lmr_author.errors import LmrError

BESIDE = ("torchaudio", "torchvision")
"""What PyTorch's images have beside it."""


def with_torch(extra: Sequence[str], torch: str, needed: Collection[str] = ()) -> tuple[str, ...]:
    """The extra packages with PyTorch, as the base image has it, unless the annotator names one.

    Args:
        torch: the base image's version; "" for none.
        needed: names of packages; of those that come with PyTorch in the image, the ones that fit it are added.

    Raises LmrError for a PyTorch without a version: the newest one pulls gigabytes of CUDA libraries.
    """
    from packaging.requirements import InvalidRequirement, Requirement

    named = set()
    for text in extra:
        try:
            requirement = Requirement(text)
        except InvalidRequirement as error:
            raise LmrError(
                f"--with {text}: no requirement ({error})", "give one such as torch==2.6.0"
            ) from error
        name = requirement.name.lower()
        named.add(name)
        if name == "torch" and not any(part.operator == "==" for part in requirement.specifier):
            raise LmrError(
                f"--with {text} names no version of PyTorch: the newest one pulls gigabytes of CUDA libraries",
                f"pin it, as in --with torch=={torch or '2.6.0'}",
            )
    ours = [f"torch=={torch}"] if torch and "torch" not in named else []
    # Their versions need no number: each asks for the one PyTorch that it was built with.
    beside = [name for name in BESIDE if name in needed and name not in named]
    return (*extra, *ours, *(beside if ours or "torch" in named else ()))
