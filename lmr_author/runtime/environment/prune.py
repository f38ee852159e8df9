"""``env prune``: remove what is ours and unused, in the Docker engine and in the cache of local environments."""

from __future__ import annotations

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
class Unused:
    """Something of ours that nothing uses.

    Attributes:
        kind: ``container``, ``image`` or ``environment``.
        id: the engine's; the folder of an environment.
        name: for people.
        bytes: of an image, without layers that others share, or an environment; else 0.
        why: the reason why it is removed.
    """

    kind: str
    id: str
    name: str
    bytes: int
    why: str


@dataclass(frozen=True)
class PrunePlan:
    """Things to remove; ``no_engine`` says why the engine was not asked."""

    remove: tuple[Unused, ...]
    no_engine: str = ""

    @property
    def bytes(self) -> int:
        """Return the bytes that are freed at least; layers that removed images share come on top."""
        return sum(unused.bytes for unused in self.remove)


def plan(older_than: float, everything: bool) -> PrunePlan:
    """Find what is ours and unused. Without an engine, only local environments.

    Args:
        older_than: days after which an image or environment that was not used is removed.
        everything: remove all that nothing uses now.
    """
    seconds = 0.0 if everything else older_than * _DAY
    environments = tuple(_environments(seconds))
    try:
        client = connect()
    except SandboxError as error:
        return PrunePlan(environments, error.message)
    with closing(client), engine_errors():
        all_containers = client.api.containers(all=True)
        containers = tuple(_containers(client, all_containers, everything))
        gone = {container.id for container in containers}
        used = {container["ImageID"] for container in all_containers if container["Id"] not in gone}
        images = tuple(_images(client, used, seconds, everything))
    return PrunePlan((*environments, *containers, *images))


def _environments(seconds: float) -> Iterator[Unused]:
    for path in venvs.all_of_them():
        age = time.time() - path.stat().st_mtime
        if age >= (_FRESH_SECONDS if path.name.endswith(venvs.PARTIAL) else seconds):
            size = sum(file.lstat().st_size for file in files.walk(path))
            yield Unused("environment", str(path), path.name, size, _used(age))


def _used(age: float) -> str:
    return "used today" if age < _DAY else f"used {age / _DAY:.0f} days ago"


def _containers(client: DockerClient, containers: list[dict[str, Any]], everything: bool) -> Iterator[Unused]:
    named = {str(image.id) for image in client.images.list() if not _is_partial(image)}
    for container in containers:
        if container.get("State") not in ("created", "exited", "dead"):
            continue
        labels = container.get("Labels") or {}
        age = time.time() - container["Created"]
        if OWNER_LABEL in labels:
            unused, why = owner.is_gone(labels[OWNER_LABEL]) or age > _DAY, "its owner was killed"
        else:
            # A build's, or somebody's own `docker run` of a task's image, which has a name.
            of_a_build = IMAGE_LABEL in labels and SESSION_LABEL not in labels
            old = everything or age >= _FRESH_SECONDS
            unused, why = of_a_build and old and container.get("ImageID") not in named, "left by a build"
        if unused:
            name = (container.get("Names") or ["?"])[0].lstrip("/")
            yield Unused("container", container["Id"], name, 0, why)


def _images(client: DockerClient, used: set[str], seconds: float, everything: bool) -> Iterator[Unused]:
    sizes = {
        image["Id"]: int(image.get("Size") or 0) - max(0, int(image.get("SharedSize") or 0))
        for image in client.df().get("Images") or []
    }
    for image in client.images.list(filters={"label": IMAGE_LABEL}):
        if image.id in used or not all(tag.startswith("lmr-author/") for tag in image.tags):
            continue
        age = time.time() - _last_tagged(image)
        if _is_partial(image):
            unused, why = everything or age > _FRESH_SECONDS, "of a build that did not end or was replaced"
        else:
            unused, why = age >= seconds, _used(age)
        if unused:
            key = str(image.id)
            yield Unused("image", key, ", ".join(image.tags) or key[7:19], sizes.get(key, 0), why)


def _last_tagged(image: Image) -> float:
    """Return when an image was made, or tagged last: each build tags it anew, also when nothing changed."""
    times = [0.0]
    for text in (image.attrs.get("Created"), (image.attrs.get("Metadata") or {}).get("LastTagTime")):
        with suppress(ValueError, OverflowError):  # the year 1 stands for never
            times.append(datetime.fromisoformat(text or "").timestamp())
    return max(times)


def _is_partial(image: Image) -> bool:
    """Recognize an image without a name, or with that of a build that has not ended."""
    return all(tag.startswith("lmr-author/") and tag.endswith(":partial") for tag in image.tags)


def prune(chosen: PrunePlan, say: Progress) -> tuple[str, ...]:
    """Remove everything in a plan, except what came into use meanwhile; return what was not, with the reason."""
    failed: list[str] = []
    in_engine = [unused for unused in chosen.remove if unused.kind != "environment"]
    for unused in chosen.remove:
        if unused.kind == "environment":
            say(f"removing {unused.name}")
            if not venvs.remove(Path(unused.id)):
                failed.append(f"{unused.name}: it is being made")
    if in_engine:
        say(f"removing {len(in_engine)} things from the Docker engine")
        with closing(connect()) as client, engine_errors():
            failed += _remove_from_engine(client, in_engine)
    return tuple(failed)


def _remove_from_engine(client: DockerClient, chosen: list[Unused]) -> Iterator[str]:
    """Remove them, containers first. Yields those that could not be removed, with the engine's message."""
    from docker.errors import APIError

    for unused in sorted(chosen, key=lambda unused: unused.kind):
        try:
            if unused.kind == "container":
                # Not forced: one that was started meanwhile stays.
                client.api.remove_container(unused.id, v=True)
                continue
            *others, last = client.images.get(unused.id).tags or [unused.id]
            for tag in others:
                with suppress(APIError):
                    client.images.remove(tag)
            # The last of its names takes the image with it, and the nameless layers below that nothing else has.
            client.images.remove(last)
        except APIError as error:
            if error.status_code != 404:
                yield f"{unused.kind} {unused.name}: {error.explanation or error}"
