"""The repository: cloned at a pinned commit, made safe to ship, and described."""

from __future__ import annotations

from lmr_author.core.repo.address import Address, public_address
from lmr_author.core.repo.clone import Clone, CloneOptions, Submodule, clone

__all__ = ["Address", "Clone", "CloneOptions", "Submodule", "clone", "public_address"]
