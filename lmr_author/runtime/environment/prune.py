"""``env prune``: remove what is ours and unused, in the Docker engine and in the cache of local environments."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from lmr_author.core import owner
from lmr_author.core.errors import SandboxError
from lmr_author.core.task import Progress
from lmr_author.runtime.environment import venvs
from lmr_author.runtime.sandbox import docker_engine
from lmr_author.runtime.sandbox.docker_engine import IMAGE_LABEL, OWNER_LABEL, connect, engine_errors

if TYPE_CHECKING:
    from docker import DockerClient
    from docker.models.images import Image

_DAY = 24 * 60 * 60


@dataclass(frozen=True)
class Unused:
    """Something of ours that nothing uses.

    Attributes:
        kind: ``container``, ``image`` or ``environment``.
        id: the engine's; the folder of an environment.
        name: for people.
        days: since it was used last.
    """

    kind: str
    id: str
    name: str
    days: float


@dataclass(frozen=True)
class PrunePlan:
    """Things to remove; ``no_engine`` says why the engine was not asked."""

    remove: tuple[Unused, ...]
    no_engine: str = ""


def plan(older_than: float) -> PrunePlan:
    """Find what was not used for some days. Without an engine, only local environments."""
    environments = []
    for path in venvs.all_environments():
        environments.append(Unused("environment", str(path), path.name, _days_since(path.stat().st_mtime)))
    unused = [environment for environment in environments if environment.days >= older_than]
    try:
        client = connect()
    except SandboxError as error:
        return PrunePlan(tuple(unused), error.message)
    with closing(client), engine_errors():
        unused += [entry for entry in _in_engine(client) if entry.days >= older_than]
    return PrunePlan(tuple(unused))


def _days_since(moment: float) -> float:
    return (time.time() - moment) / _DAY


def _in_engine(client: DockerClient) -> Iterator[Unused]:
    """Yield the containers that a build left, then our images that no other container is made of."""
    used = set()
    for container in client.api.containers(all=True):
        labels = container.get("Labels") or {}
        if OWNER_LABEL in labels and owner.is_gone(labels[OWNER_LABEL]):
            continue  # removed before the images
        is_ours = IMAGE_LABEL in labels and OWNER_LABEL not in labels and container["State"] != "running"
        if is_ours and _is_nameless(client, container["ImageID"]):
            name = container["Names"][0].lstrip("/")
            yield Unused("container", container["Id"], name, _days_since(container["Created"]))
        else:
            used.add(container["ImageID"])
    for image in client.images.list(filters={"label": IMAGE_LABEL}):
        is_ours = all(tag.startswith("lmr-author/") for tag in image.tags)
        if is_ours and image.id not in used:
            name = ", ".join(image.tags) or str(image.id)[7:19]
            yield Unused("image", str(image.id), name, _days_since(_last_tagged(image)))


def _is_nameless(client: DockerClient, image: str) -> bool:
    """Recognize an image without a name, or with that of a build that has not ended."""
    from docker.errors import ImageNotFound

    try:
        return all(tag.endswith(":partial") for tag in client.images.get(image).tags)
    except ImageNotFound:
        return True


def _last_tagged(image: Image) -> float:
    """Return when an image was made, or tagged last: each build tags it anew, also when nothing changed."""
    times = [0.0]
    for text in (image.attrs.get("Created"), (image.attrs.get("Metadata") or {}).get("LastTagTime")):
        with suppress(ValueError, OverflowError):  # the year 1 stands for never
            times.append(datetime.fromisoformat(text or "").timestamp())
    return max(times)


def prune(chosen: PrunePlan, say: Progress) -> tuple[str, ...]:
    """Remove everything in a plan, except what came into use meanwhile; return what was not, with the reason."""
    in_engine = []
    for unused in chosen.remove:
        say(f"removing {unused.name}")
        if unused.kind == "environment":
            venvs.remove(Path(unused.id))
        else:
            in_engine.append(unused)
    if not in_engine:
        return ()
    with closing(connect()) as client, engine_errors():
        docker_engine.remove_stale(client)
        return tuple(_remove_from_engine(client, in_engine))


def _remove_from_engine(client: DockerClient, chosen: list[Unused]) -> Iterator[str]:
    """Remove containers, then images. Yields those that could not be removed, with the engine's message."""
    from docker.errors import APIError

    for unused in chosen:
        try:
            if unused.kind == "container":
                client.api.remove_container(
                    unused.id, v=True
                )  # not forced: one that was started meanwhile stays
                continue
            # The last of its names takes the image with it, and the nameless layers below that nothing else has.
            for name in client.images.get(unused.id).tags or [unused.id]:
                client.images.remove(name)
        except APIError as error:
            if error.status_code != 404:
                yield f"{unused.kind} {unused.name}: {error.explanation or error}"
