"""The repository: cloned at a pinned commit, made safe to ship, and described."""

from lmr_author.core.repo.address import Address, public_address
from lmr_author.core.repo.clone import Clone, CloneOptions, Submodule, clone
