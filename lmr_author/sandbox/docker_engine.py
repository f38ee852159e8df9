"""The connection to a Docker engine, its errors, questions to it, and the removal of what is ours and unused."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmr_author.errors import SandboxError
from lmr_author.sandbox import owner

if TYPE_CHECKING:
    from docker import DockerClient
    from docker.models.images import Image

OWNER_LABEL = "org.lmr-author.owner"
"""On each container: who runs it. (A container also inherits its image's labels, so those say nothing.)"""
SESSION_LABEL = "org.lmr-author.session"
IMAGE_LABEL = "org.lmr-author"

GREETING_SECONDS = 30
"""Time limit for the engine's first answer."""

ANSWER_SECONDS = 600
"""Time limit for each call. The SDK's own 60 s are too short: an engine on a slow or busy disk takes minutes to
commit a layer, remove a large image or sum up disk usage. (A build and a container's output have no such limit.)"""

GONE_HINT = "start it (its own log tells why it ended), and run the command again: finished layers are used"
_REMOVALS = 6
"""Attempts to remove a container, spread over about three seconds."""


def connect() -> DockerClient:
    """Connect to the engine that the docker command would use. Raises SandboxError when none answers."""
    from docker.errors import DockerException
    from requests.exceptions import RequestException

    try:
        client = _client()
        client.ping()
    except (DockerException, RequestException, OSError) as error:
        if "Permission denied" in str(error):
            raise SandboxError(
                "Docker is running, but you may not use it",
                "join the group 'docker' (sudo usermod -aG docker $USER) and log in again",
            ) from error
        if "timed out" in str(error):
            raise SandboxError(
                f"the Docker engine does not answer ({GREETING_SECONDS} s)",
                "it may be starting or overloaded: check 'docker info', then run the command again",
            ) from error
        raise SandboxError(
            "Docker is not installed or not running",
            "install or start Docker (on Debian: scripts/install-engine), or use --sandbox local",
        ) from error
    client.api.timeout = ANSWER_SECONDS
    return client


def _client() -> DockerClient:
    """Return a client of the engine that DOCKER_HOST names, else docker's context, else the default one."""
    import docker
    from docker.constants import DEFAULT_UNIX_SOCKET
    from docker.context import ContextAPI
    from docker.errors import DockerException

    host = os.environ.get("DOCKER_HOST", "")
    chosen = None if host else ContextAPI.get_current_context()
    if chosen is not None and chosen.name != "default" and chosen.Host:
        tls = chosen.TLSConfig or False
        return docker.DockerClient(base_url=str(chosen.Host), tls=tls, timeout=GREETING_SECONDS)
    scheme, _, path = (host or DEFAULT_UNIX_SOCKET).partition("://")
    if "unix" in scheme and not Path("/", path).exists():
        raise DockerException(f"there is no socket {path}")  # the SDK would leave one of its own open
    return docker.from_env(timeout=GREETING_SECONDS)


@contextmanager
def engine_errors() -> Iterator[None]:
    """Raise errors of the engine as SandboxErrors: never the program's own failure."""
    from docker.errors import APIError, DockerException, ImageNotFound
    from requests.exceptions import RequestException
    from urllib3.exceptions import HTTPError

    try:
        yield
    except ImageNotFound as error:
        raise SandboxError(
            "the image is gone from the engine", "run the command again to build it"
        ) from error
    except APIError as error:
        raise SandboxError(
            f"the Docker engine refused: {error.explanation or error}",
            "see the engine's message; 'docker info' shows its state",
        ) from error
    except (DockerException, RequestException, HTTPError, ConnectionError) as error:
        # A log that is being read breaks off with an error of the library below requests.
        if "timed out" in str(error):
            raise SandboxError(
                f"the Docker engine did not answer for {ANSWER_SECONDS // 60} minutes",
                "its disk or memory may be overloaded; when 'docker info' answers, run the command again to continue",
            ) from error
        raise SandboxError("the Docker engine went away meanwhile", GONE_HINT) from error


def remove_stale(client: DockerClient) -> None:
    """Remove the containers whose owner was killed."""
    for container in client.containers.list(all=True, sparse=True, filters={"label": OWNER_LABEL}):
        if owner.is_gone(container.attrs["Labels"][OWNER_LABEL]):
            remove(client, str(container.id))


def remove(client: DockerClient, container: str) -> None:
    """Remove a container, running or not, also while Ctrl-C is pressed again."""
    from docker.errors import APIError

    for attempt in range(_REMOVALS):
        try:
            client.api.remove_container(container, force=True, v=True)
            return
        except APIError as error:
            if error.status_code == 404:
                return
            # Another removal of it may be under way, or a file of it still be in use.
            time.sleep(0.1 * 2**attempt)
        except KeyboardInterrupt:
            continue


# What is ours and unused

DAY = 24 * 60 * 60
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
        why: the reason why it is removed or kept.
    """

    kind: str
    id: str
    name: str
    bytes: int
    why: str


@dataclass(frozen=True)
class Survey:
    """Everything that bears our labels: unused, and in use."""

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
    named = {str(image.id) for image in client.images.list() if not all(map(_is_partial, image.tags))}
    for container in containers:
        labels = container.get("Labels") or {}
        if IMAGE_LABEL in labels or OWNER_LABEL in labels:
            unused, why = _judge_container(container, labels, named, everything)
            name = (container.get("Names") or ["?"])[0].lstrip("/")
            (remove if unused else keep).append(Found("container", container["Id"], name, 0, why))
    gone = {item.id for item in remove}
    used = {container["ImageID"] for container in containers if container["Id"] not in gone}
    sizes = {
        image["Id"]: int(image.get("Size") or 0) - max(0, int(image.get("SharedSize") or 0))
        for image in client.df().get("Images") or []
    }
    for image in client.images.list(filters={"label": IMAGE_LABEL}):
        key = str(image.id)
        unused, why = _judge_image(image, used, older_than, everything)
        item = Found("image", key, ", ".join(image.tags) or key[7:19], sizes.get(key, 0), why)
        (remove if unused else keep).append(item)
    return Survey(tuple(remove), tuple(keep))


def _judge_container(
    container: dict[str, Any], labels: dict[str, str], named: set[str], everything: bool
) -> tuple[bool, str]:
    """Return whether a container is unused, and why."""
    age = time.time() - container["Created"]
    if container.get("State") not in ("created", "exited", "dead"):
        return False, "running"
    if OWNER_LABEL in labels:
        gone = owner.is_gone(labels[OWNER_LABEL]) or age > DAY
        return gone, "its owner was killed" if gone else "its owner runs"
    # Without an owner it is a build's, or somebody's own `docker run` of a task's image, which has a name.
    if SESSION_LABEL in labels or container.get("ImageID") in named:
        return False, "not made by this program"
    if not everything and age < _FRESH_SECONDS:
        return False, "its build may be going on"
    return True, "left by a build"


def _judge_image(image: Image, used: set[str], older_than: float, everything: bool) -> tuple[bool, str]:
    """Return whether an image is unused, and why."""
    foreign = [tag for tag in image.tags if not tag.startswith("lmr-author/")]
    if image.id in used:
        return False, "a container uses it"
    if foreign:
        return False, f"it has a name that is not ours: {foreign[0]}"
    # Each build tags its image anew, also when nothing changed.
    times = (image.attrs.get("Created"), (image.attrs.get("Metadata") or {}).get("LastTagTime"))
    last = 0.0
    for text in times:
        with suppress(ValueError, OverflowError):  # the year 1 stands for never
            last = max(last, datetime.fromisoformat(text or "").timestamp())
    age = time.time() - last
    if not all(map(_is_partial, image.tags)):
        return everything or age >= older_than * DAY, f"used {ago(age / DAY)}"
    if everything or age > _FRESH_SECONDS:
        return True, "an unfinished build" if image.tags else "replaced by a newer build"
    return False, "its build may be going on"


def _is_partial(tag: str) -> bool:
    """Recognize the name of a build that has not ended."""
    return tag.startswith("lmr-author/") and tag.endswith(":partial")


def remove_unused(client: DockerClient, items: Sequence[Found]) -> list[tuple[Found, str]]:
    """Remove them, containers first. Returns those that could not be removed, with the engine's message."""
    from docker.errors import APIError

    failed = []
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
                failed.append((item, str(error.explanation or error)))
    return failed


def used_bytes(client: DockerClient) -> int:
    """Return the size of all layers in the engine."""
    return int(client.df().get("LayersSize") or 0)


def ago(days: float) -> str:
    """Return the time since something was used in words: whole days, or today."""
    return "today" if days < 1 else f"{days:.0f} days ago"
