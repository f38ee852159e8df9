"""The connection to a Docker engine, its errors, and what of ours is in it."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from lmr_author.errors import SandboxError
from lmr_author.sandbox import owner

if TYPE_CHECKING:
    from docker import DockerClient

OWNER_LABEL = "org.lmr-author.owner"
"""On each container: who runs it. (A container also inherits its image's labels, so those say nothing.)"""
SESSION_LABEL = "org.lmr-author.session"
IMAGE_LABEL = "org.lmr-author"

GREETING_SECONDS = 30
"""So long an engine has to answer that it is there."""

ANSWER_SECONDS = 600
"""So long each call has to answer. The SDK's own 60 s are too short: an engine on a slow or busy disk takes minutes to
commit a layer, remove a large image or count what all take. (A build and a container's output have no such limit.)"""

GONE_HINT = "start it (its own log says why it ended), and run the command again: what is built is used"
_NO_ENGINE_HINT = "install or start Docker (on Debian: scripts/install-engine), or use --sandbox local"


def connect() -> DockerClient:
    """A connection to the engine that the docker command would use. Raises SandboxError when none answers."""
    from docker.errors import DockerException
    from requests.exceptions import RequestException

    try:
        address, tls = _address()
        if address.startswith("unix://"):
            # A plain attempt first: its error tells a missing right from a missing engine.
            with socket.socket(socket.AF_UNIX) as attempt:
                attempt.connect(address.removeprefix("unix://"))
        client = _client(address, tls)
        client.ping()
        client.api.timeout = ANSWER_SECONDS
    except PermissionError as error:
        raise SandboxError(
            "Docker is running, but you may not use it",
            "join the group 'docker' (sudo usermod -aG docker $USER), log in again",
        ) from error
    except (DockerException, RequestException, OSError) as error:
        if "timed out" in str(error):
            raise SandboxError(
                f"the Docker engine does not answer ({GREETING_SECONDS} s)",
                "it may be starting, or be overloaded: see 'docker info', and run the command again",
            ) from error
        raise SandboxError("Docker is not installed or not running", _NO_ENGINE_HINT) from error
    return client


def _client(address: str, tls: Any) -> DockerClient:
    import docker

    if tls or not os.environ.get("DOCKER_HOST"):
        return docker.DockerClient(base_url=address, tls=tls or False, timeout=GREETING_SECONDS)
    return docker.from_env(timeout=GREETING_SECONDS)


def _address() -> tuple[str, Any]:
    """Address and certificates of the engine: DOCKER_HOST, else that of docker's context."""
    from docker.context import ContextAPI

    if os.environ.get("DOCKER_HOST"):
        return os.environ["DOCKER_HOST"], None
    chosen = ContextAPI.get_current_context()
    if chosen is None or chosen.name == "default" or not chosen.Host:
        return "unix:///var/run/docker.sock", None
    return str(chosen.Host), chosen.TLSConfig


def remove_stale(client: DockerClient) -> None:
    """Remove the containers whose owner was killed."""
    for container in containers(client, OWNER_LABEL):
        if owner.is_gone(container["Labels"][OWNER_LABEL]):
            remove(client, container["Id"])


def containers(client: DockerClient, label: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.api.containers(all=True, filters={"label": label})
    return found


_REMOVALS = 6
"""So often the removal of a container is tried, for about three seconds more than it takes."""


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


@contextmanager
def engine_errors() -> Iterator[None]:
    """Errors of the engine as SandboxErrors: never the program's own failure."""
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
                "its disk or memory may be overloaded; when 'docker info' answers, run the command again: it goes on",
            ) from error
        raise SandboxError("the Docker engine went away meanwhile", GONE_HINT) from error
