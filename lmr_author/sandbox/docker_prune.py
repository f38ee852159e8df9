"""Finding and removing our unused containers and images in a Docker engine. Only what bears our labels."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from lmr_author.sandbox import owner
from lmr_author.sandbox.docker_engine import IMAGE_LABEL, OWNER_LABEL, SESSION_LABEL

if TYPE_CHECKING:
    from docker import DockerClient
    from docker.models.images import Image

DAY = 24 * 60 * 60
_ENDED = ("created", "exited", "dead")
_FRESH_SECONDS = 2 * 60 * 60
"""Age up to which an unfinished build is left alone: it may be going on."""


@dataclass(frozen=True)
class Found:
    """A container or image of ours.

    Attributes:
        kind: ``container`` or ``image``.
        id: the engine's.
        name: for people.
        bytes: of an image, without layers that others share; else 0.
        days: since it was used.
        why: the reason why it is removed or kept.
    """

    kind: str
    id: str
    name: str
    bytes: int
    days: float
    why: str


@dataclass(frozen=True)
class Survey:
    """Everything of ours: unused, and in use."""

    remove: tuple[Found, ...]
    keep: tuple[Found, ...]


def survey(client: DockerClient, older_than: float, everything: bool) -> Survey:
    """Find everything of ours.

    Args:
        older_than: days after which a task's image that was not used is removed.
        everything: remove every image of a task that no container uses.
    """
    remove: list[Found] = []
    keep: list[Found] = []
    containers = client.api.containers(all=True)
    named = {image.id for image in client.images.list() if not all(map(_is_partial, image.tags))}
    for container in containers:
        labels = container.get("Labels") or {}
        if IMAGE_LABEL in labels or OWNER_LABEL in labels:
            days = (time.time() - container["Created"]) / DAY
            unused, why = _judge_container(container, labels, days, named, everything)
            name = (container.get("Names") or ["?"])[0].lstrip("/")
            (remove if unused else keep).append(Found("container", container["Id"], name, 0, days, why))
    gone = {item.id for item in remove}
    used = {container["ImageID"] for container in containers if container["Id"] not in gone}
    sizes = {
        image["Id"]: int(image.get("Size") or 0) - max(0, int(image.get("SharedSize") or 0))
        for image in client.df().get("Images") or []
    }
    for image in client.images.list(filters={"label": IMAGE_LABEL}):
        days = _days_unused(image)
        unused, why = _judge_image(image, days, used, older_than, everything)
        name = ", ".join(image.tags) or str(image.id)[7:19]
        item = Found("image", str(image.id), name, sizes.get(str(image.id), 0), days, why)
        (remove if unused else keep).append(item)
    return Survey(tuple(remove), tuple(keep))


def remove(client: DockerClient, items: Sequence[Found]) -> list[tuple[Found, str]]:
    """Remove them, containers first. Returns those that could not be removed, with the engine's message."""
    from docker.errors import APIError

    failed = []
    for item in sorted(items, key=lambda item: item.kind):
        try:
            if item.kind == "container":
                client.api.remove_container(
                    item.id, v=True
                )  # not forced: one that was started meanwhile stays
                continue
            *others, last = client.images.get(item.id).tags or [item.id]
            for tag in others:
                with suppress(APIError):
                    client.images.remove(tag)
            # The last of its names takes the image with it, and the nameless layers below that nothing else has.
            client.images.remove(last)
        except APIError as error:
            if error.status_code != 404:
                failed.append((item, str(error.explanation or error)))
    return failed


def _judge_container(
    container: dict[str, Any], labels: dict[str, str], days: float, named: set[str | None], everything: bool
) -> tuple[bool, str]:
    """Return whether a container is unused, and why."""
    if container.get("State") not in _ENDED:
        return False, "running"
    if OWNER_LABEL in labels:
        gone = owner.is_gone(labels[OWNER_LABEL]) or days > 1
        return gone, "its owner was killed" if gone else "its owner runs"
    # Without an owner it is a build's, or somebody's own `docker run` of a task's image, which has a name.
    if SESSION_LABEL in labels or container.get("ImageID") in named:
        return False, "not made by this program"
    if not everything and days * DAY < _FRESH_SECONDS:
        return False, "its build may be going on"
    return True, "left by a build"


def _judge_image(
    image: Image, days: float, used: set[str], older_than: float, everything: bool
) -> tuple[bool, str]:
    """Return whether an image is unused, and why."""
    foreign = [tag for tag in image.tags if not tag.startswith("lmr-author/")]
    if image.id in used:
        return False, "a container uses it"
    if foreign:
        return False, f"it has a name that is not ours: {foreign[0]}"
    if not all(map(_is_partial, image.tags)):
        return everything or days >= older_than, f"used {ago(days)}"
    if everything or days * DAY > _FRESH_SECONDS:
        return True, "an unfinished build" if image.tags else "replaced by a newer build"
    return False, "its build may be going on"


def _days_unused(image: Image) -> float:
    """Return the days since an image was last prepared: each build tags it anew, also when nothing changed."""
    times = (image.attrs.get("Created"), (image.attrs.get("Metadata") or {}).get("LastTagTime"))
    used = 0.0
    for text in times:
        with suppress(ValueError, OverflowError):  # the year 1 stands for never
            used = max(used, datetime.fromisoformat(text or "").timestamp())
    return (time.time() - used) / DAY


def used_bytes(client: DockerClient) -> int:
    """Return the size of all layers in the engine."""
    return int(client.df().get("LayersSize") or 0)


def _is_partial(tag: str) -> bool:
    """Return whether a name is that of a build that has not ended."""
    return tag.startswith("lmr-author/") and tag.endswith(":partial")


def ago(days: float) -> str:
    """Return the time since something was used in words: whole days, or today."""
    return "today" if days < 1 else f"{days:.0f} days ago"
