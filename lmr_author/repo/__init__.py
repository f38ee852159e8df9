"""The repository: cloned at a pinned commit, made safe to ship, and described."""

from __future__ import annotations

from lmr_author.repo.address import Address
from lmr_author.repo.clone import Clone, CloneOptions, Submodule, clone
from lmr_author.repo.public import public_address

__all__ = ["Address", "Clone", "CloneOptions", "Submodule", "clone", "public_address"]
