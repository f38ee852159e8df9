"""The connection to a Docker engine, its errors, and the removal of containers."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from lmr_author.core import owner
from lmr_author.core.errors import SandboxError

if TYPE_CHECKING:
    from docker import DockerClient

OWNER_LABEL = "org.lmr-author.owner"
"""Label of each container with its owner. (Containers inherit their image's labels, so those are useless here.)"""
SESSION_LABEL = "org.lmr-author.session"
IMAGE_LABEL = "org.lmr-author"

GREETING_SECONDS = 30
"""Time limit for the engine's first answer."""

ANSWER_SECONDS = 600
"""Time limit for each call. The SDK's own 60 s are too short: an engine on a slow or busy disk takes minutes to
commit a layer, remove a large image or sum up disk usage. (A build and a container's output have no such limit.)"""

GONE_HINT = "start it (its log has the cause), and run the command again: finished layers are reused"
_REMOVALS = 6
"""Attempts to remove a container, spread over about three seconds."""


def connect() -> DockerClient:
    """Connect to the engine that the docker command would use. Raises SandboxError if none answers."""
    from docker.errors import DockerException
    from requests.exceptions import RequestException

    try:
        client = _client()
        client.ping()
    except (DockerException, RequestException, OSError) as error:
        if "Permission denied" in str(error):
            raise SandboxError(
                "Docker is running, but you have no permission to use it",
                "join the group 'docker' (sudo usermod -aG docker $USER) and log in again",
            ) from error
        if "timed out" in str(error):
            raise SandboxError(
                f"the Docker engine did not answer within {GREETING_SECONDS} s",
                "it may be starting or overloaded: check 'docker info', then run the command again",
            ) from error
        raise SandboxError(
            "Docker is not installed or not running",
            "install or start Docker (on Debian: scripts/install-engine), or use --sandbox local if the command has it",
        ) from error
    client.api.timeout = ANSWER_SECONDS
    return client


def _client() -> DockerClient:
    """Return a client of the engine in DOCKER_HOST, else in docker's context, else of the default one."""
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
        raise DockerException(f"no socket {path}")  # the SDK would leave a socket open
    return docker.from_env(timeout=GREETING_SECONDS)


@contextmanager
def engine_errors() -> Iterator[None]:
    """Convert errors of the engine to SandboxErrors, distinct from failures of the program."""
    from docker.errors import APIError, DockerException, ImageNotFound
    from requests.exceptions import RequestException
    from urllib3.exceptions import HTTPError

    try:
        yield
    except ImageNotFound as error:
        raise SandboxError(
            "the image was removed from the engine", "run the command again to rebuild it"
        ) from error
    except APIError as error:
        raise SandboxError(
            f"the Docker engine refused: {error.explanation or error}",
            "see the engine's message; 'docker info' shows its state",
        ) from error
    except (DockerException, RequestException, HTTPError, ConnectionError) as error:
        # While a log is read, urllib3's errors are not converted by requests.
        if "timed out" in str(error):
            raise SandboxError(
                f"the Docker engine did not answer for {ANSWER_SECONDS // 60} minutes",
                "its disk or memory may be overloaded; when 'docker info' answers, run the command again to continue",
            ) from error
        raise SandboxError("the connection to the Docker engine was lost", GONE_HINT) from error


def remove_stale(client: DockerClient) -> None:
    for container in client.containers.list(all=True, sparse=True, filters={"label": OWNER_LABEL}):
        if owner.is_gone(container.attrs["Labels"][OWNER_LABEL]):
            remove(client, str(container.id))


def remove(client: DockerClient, container: str) -> None:
    """Remove a container, running or not, even if Ctrl-C is pressed again."""
    from docker.errors import APIError

    for attempt in range(_REMOVALS):
        try:
            client.api.remove_container(container, force=True, v=True)
            return
        except APIError as error:
            if error.status_code == 404:
                return
            # Another removal may be in progress, or one of its files still in use.
            time.sleep(0.1 * 2**attempt)
        except KeyboardInterrupt:
            continue
