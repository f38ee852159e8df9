"""Images of exported tasks in a registry, for engines that pull an image and build none."""

from __future__ import annotations

import re
from pathlib import Path

from lmr_author.core.errors import SandboxError, UsageError
from lmr_author.core.texts import printable
from lmr_author.release.export.options import ExportOptions
from lmr_author.runtime.sandbox import docker_build
from lmr_author.runtime.sandbox.docker_engine import connect, engine_errors

MOST_LINE = 100
_PART = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_REGISTRY = re.compile(rf"[A-Za-z0-9.-]+(?::\d+)?(?:/{_PART})*")
_NOT_IN_TAG = re.compile(r"[^\w.-]+")


def require_registry(registry: str) -> None:
    """Raise UsageError for what is no host with an optional path."""
    if not _REGISTRY.fullmatch(registry):
        raise UsageError(
            f"--push {registry!r} is not a registry",
            "a host, and small letters after it, as in ghcr.io/my-lab",
        )


def push_image(context: Path, options: ExportOptions, name: str) -> str:
    """Build the Dockerfile of a folder, push the image, and return its name with the registry's digest.

    Credentials are those of ``docker login``. Raises SandboxError if the engine or the registry refuses.
    """
    repository = f"{options.push}/{name}"
    tag = _NOT_IN_TAG.sub("-", options.publication.release_version).lstrip(".-")[:128] or "latest"

    def say(line: str) -> None:
        options.say(f"{name}: {printable(line, MOST_LINE)}")

    client, digest = connect(), ""
    with engine_errors():
        docker_build.build(client, context, f"{repository}:{tag}", {}, say, None)
        for event in client.api.push(repository, tag, stream=True, decode=True):
            if "error" in event:
                raise _refused(repository, str(event["error"]))
            if status := event.get("status"):
                say(f"{event.get('id', '')} {status}")
            digest = event.get("aux", {}).get("Digest") or digest
    if not digest:
        raise _refused(repository, "the registry named no digest")
    return f"{repository}@{digest}"


def _refused(repository: str, reason: str) -> SandboxError:
    host = repository.split("/")[0]
    return SandboxError(
        f"the image {repository} could not be pushed: {printable(reason, 300)}",
        f"see that {host} answers and that you may write there (docker login {host}), and export again: "
        "finished layers are used",
    )
