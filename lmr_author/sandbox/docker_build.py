"""Building a task's image: its log while it is made, and why it failed."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Mapping
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from lmr_author.errors import SandboxBuildError
from lmr_author.sandbox.base import OnLine
from lmr_author.sandbox.docker_engine import IMAGE_LABEL, TASK_LABEL

if TYPE_CHECKING:
    from docker import DockerClient

_STEP = re.compile(r"Step \d+/\d+ : (.*)")
_LAYER = re.compile(r" ---> ([0-9a-f]{12,64})")
_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_TELLING = re.compile(r"\berror\b|no matching|not found|cannot|failed|denied|no such", re.IGNORECASE)
_NOISE = re.compile(
    r"\[notice\]|^WARNING: Running pip as|^The command .* returned a non-zero|^---> |^Removing "
)

_CAUSES = (
    (
        r"externally-managed-environment",
        "the base image's Python refuses pip: put ENV PIP_BREAK_SYSTEM_PACKAGES=1 before it",
    ),
    (
        r"No matching distribution|Could not find a version|requires a different Python|ResolutionImpossible",
        "a pin does not exist for the image's Python, or pins contradict: correct them or change the base",
    ),
    (
        r"name resolution|Max retries|CERTIFICATE_VERIFY|Connection (refused|reset)|timed out|not resolve",
        "the build could not reach the network: check the connection, the proxy and the certificates",
    ),
    (r"no space left", "the disk is full: 'docker system df' shows what uses it"),
    (
        r"pull access denied|manifest (unknown|for)|repository does not exist|registry|invalid reference",
        "the base image is not available: check its name, or give another with --base-image",
    ),
    (
        r"COPY failed|ADD failed|failed to compute cache|no such file or directory|forbidden path",
        "a file is missing from the task folder, or .dockerignore excludes it",
    ),
    (r"unknown instruction|parse error|Cannot locate|cannot be empty", "correct the Dockerfile at this line"),
    (
        r"gcc|cc1plus|Python\.h|command not found",
        "a package is compiled, and the base image lacks a tool for that",
    ),
)


@dataclass
class _Progress:
    """Where a build is, from its log."""

    step: str = "Dockerfile"
    layer: str = ""
    lines: list[str] = field(default_factory=list)

    def see(self, line: str) -> bool:
        """Take a line in. True when it names a new layer."""
        if match := _STEP.match(line):
            self.step, self.lines = match[1], []
        elif match := _LAYER.fullmatch(line.rstrip()):
            self.layer = match[1]
            return True
        if line.strip():
            self.lines = [*self.lines[-49:], line.strip()]
        return False


def build(
    client: DockerClient,
    context: Path,
    tag: str,
    args: Mapping[str, str],
    on_line: OnLine | None,
    log: Path | None,
) -> str:
    """Build the Dockerfile of a folder as the image ``tag``. Returns the image's id.

    What was built before is used again. Each finished layer is kept under the tag ``partial`` until
    the image is complete, so that a build that stops half-way goes on there and leaves no nameless
    image. Raises SandboxBuildError that names the failing instruction and the cause.
    """
    progress = _Progress()
    partial = tag.rpartition(":")[0]
    try:
        with ExitStack() as stack:
            file = stack.enter_context(_opened(log)) if log else None
            stream = stack.enter_context(closing(_stream(client, context, tag, args)))
            for line in stream:
                if on_line is not None:
                    on_line(line)
                if file is not None:
                    print(line, file=file, flush=True)
                if progress.see(line):
                    client.api.tag(progress.layer, partial, "partial", force=True)
    except _Failed as error:
        raise _explained(tag, progress, str(error), log) from error
    image = client.images.get(tag)
    _remove_superseded(client, partial, tag)
    return str(image.id)


class _Failed(Exception):
    """The engine's own message about a build."""


def _stream(
    client: DockerClient, context: Path, tag: str, args: Mapping[str, str]
) -> Generator[str, None, None]:
    from docker.errors import APIError

    chunks: Iterator[dict[str, Any]] = iter(())
    rest = ""
    try:
        # The build needs the package index, which may be reachable only the way the host reaches it.
        chunks = client.api.build(
            path=str(context), tag=tag, buildargs=dict(args), rm=True, forcerm=True, decode=True,
            network_mode="host", labels={IMAGE_LABEL: "1", TASK_LABEL: tag},
        )  # fmt: skip
        for chunk in chunks:
            if "error" in chunk:
                raise _Failed(_COLOUR.sub("", str(chunk["error"])).strip())
            text = chunk.get("stream") or _status(chunk)
            *lines, rest = (rest + _COLOUR.sub("", text)).replace("\r", "\n").split("\n")
            yield from lines
        if rest:
            yield rest
    except APIError as error:
        raise _Failed(str(error.explanation or error)) from error
    finally:
        # Closing the connection is what makes the engine stop.
        close = getattr(chunks, "close", None)
        if close is not None:
            close()


def _status(chunk: Mapping[str, Any]) -> str:
    """A line about the download of a base image, without the progress bars."""
    if "status" not in chunk or "progress" in chunk:
        return ""
    return f"{chunk.get('id', '')} {chunk['status']}".strip() + "\n"


def _opened(log: Path) -> TextIO:
    log.parent.mkdir(parents=True, exist_ok=True)
    return log.open("w", encoding="utf-8")


def _explained(tag: str, progress: _Progress, reason: str, log: Path | None) -> SandboxBuildError:
    lines = [line for line in progress.lines if not _NOISE.search(line) and not _STEP.match(line)]
    telling = [line for line in lines if _TELLING.search(line)]
    last = (telling or lines or [reason])[-1]
    everything = "\n".join([*lines, reason])
    causes = [hint for pattern, hint in _CAUSES if re.search(pattern, everything, re.IGNORECASE)]
    hint = causes[0] if causes else "correct the Dockerfile or what it installs"
    if log is not None:
        hint += f"; the whole log is {log}"
    return SandboxBuildError(f"the image {tag} could not be built, at '{progress.step}': {last}", hint)


def _remove_superseded(client: DockerClient, partial: str, tag: str) -> None:
    """Remove the name of the unfinished image, and the images that this one replaces."""
    from docker.errors import APIError

    with suppress(APIError):
        client.api.remove_image(f"{partial}:partial")
    for image in client.images.list(filters={"dangling": True, "label": f"{TASK_LABEL}={tag}"}):
        # One that a container of another run still uses stays until the next build.
        with suppress(APIError):
            client.api.remove_image(str(image.id))
