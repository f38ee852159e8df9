"""``env prune``: remove what is ours and unused, in the Docker engine and in the cache of local environments."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from lmr_author import files
from lmr_author.environment import venvs
from lmr_author.errors import SandboxError
from lmr_author.sandbox import docker_engine
from lmr_author.sandbox.docker_engine import connect, engine_errors
from lmr_author.task import Progress

_STALE_PARTIAL_DAYS = 0.1


@dataclass(frozen=True)
class PruneOptions:
    """The options of ``env prune``: everything unused, or what was not used for so many days."""

    older_than: float = 30.0
    everything: bool = False


@dataclass(frozen=True)
class OldLocal:
    """A local environment that is not used any more."""

    path: Path
    bytes: int
    days: float


@dataclass(frozen=True)
class PrunePlan:
    """Everything that would be removed.

    Attributes:
        engine: in the Docker engine; None when there is none, for the reason ``no_engine``.
        locals: environments in the cache folder.
        used: bytes of all layers in the engine.
    """

    engine: docker_engine.Survey | None
    no_engine: str
    locals: tuple[OldLocal, ...]
    used: int

    @property
    def bytes(self) -> int:
        """Return the bytes that are freed at least; layers that removed images share come on top."""
        images = self.engine.remove if self.engine else ()
        return sum(item.bytes for item in images) + sum(item.bytes for item in self.locals)

    @property
    def empty(self) -> bool:
        """Return whether there is nothing to remove."""
        return not self.locals and not (self.engine and self.engine.remove)


@dataclass(frozen=True)
class Pruned:
    """The bytes that were freed, and what could not be removed."""

    bytes: int
    failed: tuple[str, ...]


def plan(options: PruneOptions) -> PrunePlan:
    """Find what is ours and unused. Without an engine, only local environments."""
    found = tuple(_old_locals(options))
    try:
        client = connect()
    except SandboxError as error:
        return PrunePlan(None, error.message, found, 0)
    try:
        with engine_errors():
            survey = docker_engine.survey(client, options.older_than, options.everything)
            return PrunePlan(survey, "", found, docker_engine.used_bytes(client))
    finally:
        client.close()


def prune(chosen: PrunePlan, say: Progress) -> Pruned:
    """Remove everything in a plan, except what came into use meanwhile, and report that."""
    failed: list[str] = []
    freed = 0
    for item in chosen.locals:
        say(f"removing {item.path.name}")
        if not venvs.is_free(item.path):
            failed.append(f"{item.path.name}: it is being made")
            continue
        # Renamed first: a name that is there is complete.
        aside = item.path.with_name(f".{item.path.name.lstrip('.')}.removed{venvs.PARTIAL}")
        shutil.rmtree(aside, ignore_errors=True)
        item.path.rename(aside)
        shutil.rmtree(aside, ignore_errors=True)
        freed += item.bytes
    if chosen.engine is not None and chosen.engine.remove:
        client = connect()
        try:
            with engine_errors():
                say(f"removing {len(chosen.engine.remove)} things from the Docker engine")
                left = docker_engine.remove_unused(client, chosen.engine.remove)
                failed += [f"{item.kind} {item.name}: {words}" for item, words in left]
                freed += max(0, chosen.used - docker_engine.used_bytes(client))
        finally:
            client.close()
    return Pruned(freed, tuple(failed))


def _old_locals(options: PruneOptions) -> list[OldLocal]:
    found = []
    for path in venvs.all_of_them():
        days = (time.time() - path.stat().st_mtime) / docker_engine.DAY
        abandoned = path.name.endswith(venvs.PARTIAL)
        limit = _STALE_PARTIAL_DAYS if abandoned else 0.0 if options.everything else options.older_than
        if days >= limit:
            size = sum(item.lstat().st_size for item in files.walk(path))
            found.append(OldLocal(path, size, days))
    return found
