"""``env prune``: remove what is ours and unused, in the Docker engine and in the cache of local environments."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmr_author.core import files, owner
from lmr_author.core.errors import SandboxError
from lmr_author.core.task import Progress
from lmr_author.runtime.environment import venvs
from lmr_author.runtime.sandbox.docker_engine import (
    IMAGE_LABEL,
    OWNER_LABEL,
    SESSION_LABEL,
    connect,
    engine_errors,
)

if TYPE_CHECKING:
    from docker import DockerClient
    from docker.models.images import Image

_DAY = 24 * 60 * 60
_FRESH_SECONDS = 2 * 60 * 60
"""Age up to which an unfinished build or environment is left alone: it may be going on."""


@dataclass(frozen=True)
class Item:
    """Something of ours.

    Attributes:
        kind: ``container``, ``image`` or ``environment``.
        id: the engine's; the folder of an environment.
        name: for people.
        bytes: of an image, without layers that others share, or an environment; else 0.
        why: the reason why it is removed or kept.
    """

    kind: str
    id: str
    name: str
    bytes: int
    why: str


@dataclass(frozen=True)
class PrunePlan:
    """Things to remove, and things that stay in the engine; ``no_engine`` says why there is none."""

    remove: tuple[Item, ...]
    keep: tuple[Item, ...] = ()
    no_engine: str = ""

    @property
    def bytes(self) -> int:
        """Return the bytes that are freed at least; layers that removed images share come on top."""
        return sum(item.bytes for item in self.remove)


def plan(older_than: float, everything: bool) -> PrunePlan:
    """Find what is ours and unused. Without an engine, only local environments.

    Args:
        older_than: days after which an image or environment that was not used is removed.
        everything: remove all that nothing uses now.
    """
    found = list(_environments(0.0 if everything else older_than))
    try:
        client = connect()
    except SandboxError as error:
        return PrunePlan(tuple(found), no_engine=error.message)
    keep: list[Item] = []
    with closing(client), engine_errors():
        containers = client.api.containers(all=True)
        for unused, item in _containers(client, containers, everything):
            (found if unused else keep).append(item)
        gone = {item.id for item in found}
        used = {container["ImageID"] for container in containers if container["Id"] not in gone}
        for unused, item in _images(client, used, older_than, everything):
            (found if unused else keep).append(item)
    return PrunePlan(tuple(found), tuple(keep))


def _environments(older_than: float) -> Iterator[Item]:
    for path in venvs.all_of_them():
        age = time.time() - path.stat().st_mtime
        if age >= (_FRESH_SECONDS if path.name.endswith(venvs.PARTIAL) else older_than * _DAY):
            size = sum(item.lstat().st_size for item in files.walk(path))
            yield Item("environment", str(path), path.name, size, _used(age))


def _used(age: float) -> str:
    return "used today" if age < _DAY else f"used {age / _DAY:.0f} days ago"


def _containers(
    client: DockerClient, containers: list[dict[str, Any]], everything: bool
) -> Iterator[tuple[bool, Item]]:
    """Yield our containers, each with whether it is unused."""
    named = {str(image.id) for image in client.images.list() if not all(map(_is_partial, image.tags))}
    for container in containers:
        labels = container.get("Labels") or {}
        if IMAGE_LABEL not in labels and OWNER_LABEL not in labels:
            continue
        age = time.time() - container["Created"]
        if container.get("State") not in ("created", "exited", "dead"):
            unused, why = False, "running"
        elif OWNER_LABEL in labels:
            unused = owner.is_gone(labels[OWNER_LABEL]) or age > _DAY
            why = "its owner was killed" if unused else "its owner runs"
        # Without an owner it is a build's, or somebody's own `docker run` of a task's image, which has a name.
        elif SESSION_LABEL in labels or container.get("ImageID") in named:
            unused, why = False, "not made by this program"
        else:
            unused = everything or age >= _FRESH_SECONDS
            why = "left by a build" if unused else "its build may be going on"
        name = (container.get("Names") or ["?"])[0].lstrip("/")
        yield unused, Item("container", container["Id"], name, 0, why)


def _images(
    client: DockerClient, used: set[str], older_than: float, everything: bool
) -> Iterator[tuple[bool, Item]]:
    """Yield our images, each with whether it is unused."""
    sizes = {
        image["Id"]: int(image.get("Size") or 0) - max(0, int(image.get("SharedSize") or 0))
        for image in client.df().get("Images") or []
    }
    for image in client.images.list(filters={"label": IMAGE_LABEL}):
        foreign = [tag for tag in image.tags if not tag.startswith("lmr-author/")]
        age = time.time() - _last_tagged(image)
        if image.id in used:
            unused, why = False, "a container uses it"
        elif foreign:
            unused, why = False, f"it has a name that is not ours: {foreign[0]}"
        elif not all(map(_is_partial, image.tags)):
            unused, why = everything or age >= older_than * _DAY, _used(age)
        else:
            unused = everything or age > _FRESH_SECONDS
            replaced = "an unfinished build" if image.tags else "replaced by a newer build"
            why = replaced if unused else "its build may be going on"
        key = str(image.id)
        yield unused, Item("image", key, ", ".join(image.tags) or key[7:19], sizes.get(key, 0), why)


def _last_tagged(image: Image) -> float:
    """Return when an image was made, or tagged last: each build tags it anew, also when nothing changed."""
    times = [0.0]
    for text in (image.attrs.get("Created"), (image.attrs.get("Metadata") or {}).get("LastTagTime")):
        with suppress(ValueError, OverflowError):  # the year 1 stands for never
            times.append(datetime.fromisoformat(text or "").timestamp())
    return max(times)


def _is_partial(tag: str) -> bool:
    """Recognize the name of a build that has not ended."""
    return tag.startswith("lmr-author/") and tag.endswith(":partial")


def prune(chosen: PrunePlan, say: Progress) -> tuple[int, tuple[str, ...]]:
    """Remove everything in a plan, except what came into use meanwhile.

    Returns the bytes that were freed, and what could not be removed, each with the reason.
    """
    failed: list[str] = []
    freed = 0
    for item in chosen.remove:
        if item.kind == "environment":
            say(f"removing {item.name}")
            if _remove_environment(Path(item.id)):
                freed += item.bytes
            else:
                failed.append(f"{item.name}: it is being made")
    rest = [item for item in chosen.remove if item.kind != "environment"]
    if rest:
        say(f"removing {len(rest)} things from the Docker engine")
        with closing(connect()) as client, engine_errors():
            before = int(client.df().get("LayersSize") or 0)
            failed += _remove_from_engine(client, rest)
            freed += max(0, before - int(client.df().get("LayersSize") or 0))
    return freed, tuple(failed)


def _remove_environment(path: Path) -> bool:
    if not venvs.is_free(path):
        return False
    # Renamed first: a name that is there is complete.
    aside = path.with_name(f".{path.name.lstrip('.')}.removed{venvs.PARTIAL}")
    shutil.rmtree(aside, ignore_errors=True)
    path.rename(aside)
    shutil.rmtree(aside, ignore_errors=True)
    return True


def _remove_from_engine(client: DockerClient, items: list[Item]) -> Iterator[str]:
    """Remove them, containers first. Yields those that could not be removed, with the engine's message."""
    from docker.errors import APIError

    for item in sorted(items, key=lambda item: item.kind):
        try:
            if item.kind == "container":
                # Not forced: one that was started meanwhile stays.
                client.api.remove_container(item.id, v=True)
                continue
            *others, last = client.images.get(item.id).tags or [item.id]
            for tag in others:
                with suppress(APIError):
                    client.images.remove(tag)
            # The last of its names takes the image with it, and the nameless layers below that nothing else has.
            client.images.remove(last)
        except APIError as error:
            if error.status_code != 404:
                yield f"{item.kind} {item.name}: {error.explanation or error}"
