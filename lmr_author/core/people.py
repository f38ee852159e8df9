"""Who works here, by git's configuration."""

from __future__ import annotations

from lmr_author.core import processes
from lmr_author.core.errors import LmrError


def git_name() -> str:
    """Return the name that git signs this person's commits with; "" where none is set."""
    try:
        done = processes.run(["git", "config", "--get", "user.name"], cwd=None, seconds=10)
    except (LmrError, OSError):
        return ""
    return done.stdout.decode("utf-8", "replace").strip() if done.exit_code == 0 else ""
