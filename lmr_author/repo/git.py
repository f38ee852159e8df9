"""Run git on an untrusted repository: no hooks, no prompts, allowed transports only, a time limit."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from lmr_author import processes
from lmr_author.errors import LmrError
from lmr_author.repo.address import SCHEMES
from lmr_author.task import Progress
from lmr_author.texts import printable

CONFIG = (
    ("core.hooksPath", os.devnull),
    ("core.fsmonitor", "false"),
    ("core.autocrlf", "false"),
    ("core.symlinks", "true"),
    ("init.templateDir", ""),
    ("submodule.recurse", "false"),
    ("advice.detachedHead", "false"),
    ("gc.auto", "0"),
    # No filter of the user's own may run over foreign files; LFS files are fetched on their own.
    ("filter.lfs.smudge", ""),
    ("filter.lfs.process", ""),
    ("filter.lfs.required", "false"),
)
"""Settings that hold for every git command here, above the user's and the repository's own."""

NEARLY_NOTHING = 64 * 1024
"""Free bytes below which a failure of git is taken to be a full disk: its own message often hides that."""

_FULL = re.compile(r"No space left|[Oo]ut of disk ?space|[Dd]isk quota exceeded")
_KEPT = re.compile(r"^GIT_(SSL|SSH|PROXY|HTTP|CURL)")
_FAILURE = re.compile(r"^(?:fatal|error): (.*)$", re.M)
_HINTS = (
    (r"not our ref|from promisor remote|missing blob|repository corruption|unable to read (?:sha1|tree)",
     "the repository there is incomplete (a partial clone, or damaged): clone it again in full"),
    (r"could not read (?:Username|Password)|Authentication failed|Permission denied|access denied|\b403\b",
     "check the spelling; for a private repository set up a git credential helper or an ssh key"),
    (r"not found|does not exist|not appear to be a git repository|\b404\b", "check the address"),
    (r"Could not resolve host|Connection|unable to access|timed out|Network|early EOF|hung up|disconnect",
     "check the network, or clone it elsewhere and pass the local folder"),
    (r"dubious ownership", "`git config --global --add safe.directory <folder>`, if you trust it"),
)  # fmt: skip


@dataclass(frozen=True)
class Git:
    """git in one folder.

    Attributes:
        seconds: time limit of each command.
        secret: an address that may hold credentials, and what to show in its place.
    """

    folder: Path
    seconds: float
    secret: tuple[str, str] = ("", "")
    progress: Progress | None = None

    def run(self, *arguments: str, lfs: bool = False) -> bytes:
        """Run a git command and return its stdout. Raises LmrError with git's own reason when it fails."""
        config = [part for key, value in CONFIG for part in ("-c", f"{key}={value}")]
        done = processes.run(
            ["git", *config, *arguments],
            cwd=self.folder,
            env=environment(lfs=lfs),
            seconds=self.seconds,
            on_line=self.progress,
        )
        if done.timed_out:
            place = self.secret[1] or self.folder
            raise LmrError(
                f"git {arguments[0]} of {place} took longer than {self.seconds:.0f} s",
                "check the network, or clone it elsewhere and pass the local folder",
            )
        if done.exit_code != 0:
            raise self._failure(arguments[0], done.stderr)
        return done.stdout

    def try_run(self, *arguments: str) -> bytes | None:
        """Like :meth:`run`, but None when git says no."""
        try:
            return self.run(*arguments)
        except LmrError:
            return None

    def _failure(self, verb: str, stderr: str) -> LmrError:
        if _FULL.search(stderr) or shutil.disk_usage(self.folder).free < NEARLY_NOTHING:
            return LmrError(
                f"git {verb}: No space left on device", "free some space and run the command again"
            )
        if self.secret[0]:
            stderr = stderr.replace(self.secret[0], self.secret[1])
        stderr = re.sub(r"(\w+://)[^/@\s]*@", r"\1", stderr)
        reasons = _FAILURE.findall(stderr)
        reason = printable(reasons[-1] if reasons else stderr, 300) or "no reason given"
        if "early EOF" in reason and len(reasons) > 1:
            reason = printable(reasons[0], 300)
        hint = next((hint for pattern, hint in _HINTS if re.search(pattern, stderr)), "check the address")
        return LmrError(f"git {verb}: {reason}", hint)


def environment(*, lfs: bool = False) -> dict[str, str]:
    """The environment of every git command: ours, without what would redirect git, and without any prompt."""
    env = {key: value for key, value in os.environ.items() if not key.startswith("GIT_") or _KEPT.match(key)}
    env |= {
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "",
        "SSH_ASKPASS": "",
        "GCM_INTERACTIVE": "never",
        "GIT_ALLOW_PROTOCOL": ":".join(SCHEMES),
        "GIT_HTTP_LOW_SPEED_LIMIT": "1000",
        "GIT_HTTP_LOW_SPEED_TIME": "60",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "LC_ALL": "C",
    }
    env.setdefault("GIT_SSH_COMMAND", "ssh -oBatchMode=yes -oConnectTimeout=20")
    if not lfs:
        env["GIT_LFS_SKIP_SMUDGE"] = "1"
    return env
