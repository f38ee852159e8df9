"""The public address of a repository that was cloned to this machine before."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

from lmr_author.errors import LmrError
from lmr_author.repo.address import Address
from lmr_author.repo.git import Git

SECONDS = 10.0


def public_address(address: Address, linked: Sequence[str]) -> str:
    """Where everybody finds a repository; "" when that is not known.

    Args:
        address: as it was named. One that is not on this machine is public itself.
        linked: repositories that the paper links: the one of the same name is taken when the clone names none.
    """
    if not address.local:
        return address.shown
    folder = Path(unquote(urlsplit(address.git).path))
    said = Git(folder, SECONDS).try_run("config", "--get", "remote.origin.url")
    origin = (said or b"").decode("utf-8", "replace").strip()
    scp = re.fullmatch(r"git@([\w.-]+):(.+)", origin)
    try:
        found = Address.parse(f"https://{scp[1]}/{scp[2]}" if scp else origin) if origin else None
    except LmrError:
        found = None
    if found is not None and not found.local:
        return found.shown
    same = [one for one in linked if one.rpartition("/")[2].lower() == address.folder_name.lower()]
    return same[0] if same else ""
