"""What of ours is in a Docker engine, what of it is unused, and removing that. Only what bears our labels."""

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

DAY = 24 * 60 * 60
_ENDED = ("created", "exited", "dead")
_FRESH_SECONDS = 2 * 60 * 60
"""What a build leaves half-way is left alone so long: the build may be going on."""


@dataclass(frozen=True)
class Found:
    """Something of ours.

    Attributes:
        kind: ``container``, ``network`` or ``image``.
        id: the engine's.
        name: for people.
        bytes: of an image, what it takes by itself, without layers that others share; else 0.
        days: since it was used.
        why: why it is removed, or kept.
    """

    kind: str
    id: str
    name: str
    bytes: int
    days: float
    why: str


@dataclass(frozen=True)
class Survey:
    """What would be removed, and what is kept."""

    remove: tuple[Found, ...]
    keep: tuple[Found, ...]


def survey(client: DockerClient, older_than: float, everything: bool) -> Survey:
    """Look at all that is ours.

    Args:
        older_than: days after which a task's image that was not used is removed.
        everything: remove every image of a task that no container uses.
    """
    api: Any = client.api
    containers = api.containers(all=True)
    remove: list[Found] = []
    keep: list[Found] = []
    named = {image["Id"] for image in api.images() if any(not _unfinished(tag) for tag in _tags(image))}
    for container in containers:
        labels = container.get("Labels") or {}
        if IMAGE_LABEL not in labels and OWNER_LABEL not in labels:
            continue
        item, unused = _container(container, labels, named, everything)
        (remove if unused else keep).append(item)
    gone = {item.id for item in remove}
    used = {container["ImageID"] for container in containers if container["Id"] not in gone}
    for network in api.networks(filters={"label": IMAGE_LABEL}):
        attached = api.inspect_network(network["Id"]).get("Containers") or {}
        item = Found("network", network["Id"], network["Name"], 0, 0.0, "in use" if attached else "unused")
        (keep if attached else remove).append(item)
    shared = _unique_bytes(api)
    for image in api.images(filters={"label": IMAGE_LABEL}):
        item, unused = _image(api, image, used, shared, older_than, everything)
        (remove if unused else keep).append(item)
    return Survey(tuple(remove), tuple(keep))


def remove(client: DockerClient, items: Sequence[Found]) -> list[tuple[Found, str]]:
    """Remove them, containers first. Returns those that could not be, with the engine's words."""
    from docker.errors import APIError

    api: Any = client.api
    failed = []
    order = {"container": 0, "network": 1, "image": 2}
    for item in sorted(items, key=lambda item: order[item.kind]):
        try:
            if item.kind == "container":
                api.remove_container(item.id, v=True)  # not forced: one that was started meanwhile stays
            elif item.kind == "network":
                api.remove_network(item.id)
            else:
                _remove_image(api, item)
        except APIError as error:
            if error.status_code != 404:
                failed.append((item, str(error.explanation or error)))
    return failed


def _remove_image(api: Any, item: Found) -> None:
    from docker.errors import APIError

    *others, last = api.inspect_image(item.id).get("RepoTags") or [item.id]
    for tag in others:
        with suppress(APIError):
            api.remove_image(tag)
    # The last of its names takes the image with it, and the nameless layers below that nothing else has.
    api.remove_image(last)


def _container(
    container: dict[str, Any], labels: dict[str, str], named: set[str], everything: bool
) -> tuple[Found, bool]:
    name = (container.get("Names") or ["?"])[0].lstrip("/")
    state = container.get("State", "")
    days = (time.time() - float(container.get("Created") or 0)) / DAY
    whose = labels.get(OWNER_LABEL)
    item = Found("container", container["Id"], name, 0, days, "")
    if state not in _ENDED:
        return _because(item, "running"), False
    if whose is not None:
        gone = owner.is_gone(whose) or days > 1
        return _because(item, "its owner was killed" if gone else "its owner runs"), gone
    # Without an owner it is a build's, or somebody's own `docker run` of a task's image, which has a name.
    if SESSION_LABEL in labels or container.get("ImageID") in named:
        return _because(item, "not made by this program"), False
    if not everything and days * DAY < _FRESH_SECONDS:
        return _because(item, "its build may be going on"), False
    return _because(item, "left by a build"), True


def _image(
    api: Any,
    image: dict[str, Any],
    used: set[str],
    shared: dict[str, int],
    older_than: float,
    everything: bool,
) -> tuple[Found, bool]:
    tags = _tags(image)
    days = _days_unused(api, image)
    item = Found(
        "image", image["Id"], ", ".join(tags) or image["Id"][7:19], shared.get(image["Id"], 0), days, ""
    )
    if image["Id"] in used:
        return _because(item, "a container uses it"), False
    foreign = [tag for tag in tags if not tag.startswith("lmr-author/")]
    if foreign:
        return _because(item, f"it has a name that is not ours: {foreign[0]}"), False
    unfinished = all(map(_unfinished, tags))
    if unfinished and (everything or days * DAY > _FRESH_SECONDS):
        return _because(item, "an unfinished build" if tags else "replaced by a newer build"), True
    if unfinished:
        return _because(item, "its build may be going on"), False
    if everything or days >= older_than:
        return _because(item, f"used {ago(days)}"), True
    return _because(item, f"used {ago(days)}"), False


def _days_unused(api: Any, image: dict[str, Any]) -> float:
    """Days since an image was last prepared: each build gives it its name anew, also when nothing changed."""
    tagged = (api.inspect_image(image["Id"]).get("Metadata") or {}).get("LastTagTime") or ""
    try:
        last = datetime.fromisoformat(tagged).timestamp() if not tagged.startswith("0001") else 0.0
    except ValueError:
        last = 0.0
    return (time.time() - max(last, float(image.get("Created") or 0))) / DAY


def _unique_bytes(api: Any) -> dict[str, int]:
    """What each image takes by itself: its size without the layers that it shares with others."""
    found = {}
    for image in api.df().get("Images") or []:
        size, shared = int(image.get("Size") or 0), int(image.get("SharedSize") or 0)
        found[image["Id"]] = size - max(0, shared)
    return found


def used_bytes(client: DockerClient) -> int:
    """What all layers in the engine take."""
    api: Any = client.api
    return int(api.df().get("LayersSize") or 0)


def _tags(image: dict[str, Any]) -> list[str]:
    return [tag for tag in image.get("RepoTags") or [] if tag != "<none>:<none>"]


def _unfinished(tag: str) -> bool:
    """Whether a name is that of a build that has not ended."""
    return tag.startswith("lmr-author/") and tag.endswith(":partial")


def _because(item: Found, why: str) -> Found:
    return Found(item.kind, item.id, item.name, item.bytes, item.days, why)


def ago(days: float) -> str:
    """When something was used, in words: whole days, or today."""
    return "today" if days < 1 else f"{days:.0f} days ago"
