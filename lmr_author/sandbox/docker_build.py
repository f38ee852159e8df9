"""Building a task's image: its log while it is made, and where it failed.

Why it failed is told by :mod:`lmr_author.environment.failures`, from what the error carries.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from lmr_author import files
from lmr_author.errors import SandboxBuildError, SandboxError
from lmr_author.sandbox.base import OnLine
from lmr_author.sandbox.build_log import BuildLog, Labelled, labelled, named_base, rebased
from lmr_author.sandbox.docker_engine import GONE_HINT, IMAGE_LABEL
from lmr_author.texts import printable

if TYPE_CHECKING:
    from docker import DockerClient

_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_SHOWN = 60
"""Characters of an instruction that a message shows; the log has all of it."""
_TELLING = re.compile(r"\berror\b|no matching|not found|cannot|failed|denied|no such", re.IGNORECASE)
_NOISE = re.compile(
    r"\[notice\]|^WARNING: Running pip as|^The command .* returned a non-zero|^ ?---> |^Removing "
)


def build(
    client: DockerClient,
    context: Path,
    tag: str,
    args: Mapping[str, str],
    on_line: OnLine | None,
    log: Path | None,
    *,
    no_cache: bool = False,
) -> str:
    """Build the Dockerfile of a folder as the image ``tag``. Returns the image's id.

    What was built before is used again, unless ``no_cache``. Each finished layer is kept under the tag
    ``partial`` until the image is complete, so that a build that stops half-way goes on there and leaves
    no nameless image. Every layer bears :data:`IMAGE_LABEL`.

    Raises SandboxBuildError that carries the failing instruction and what it said.
    """
    from docker.errors import APIError

    seen = BuildLog()
    partial = tag.rpartition(":")[0]
    sent = _dockerfile(context, args.get("BASE_IMAGE", ""))
    before, unfinished = _image_named(client, tag), _image_named(client, f"{partial}:partial")
    stream = _Stream(client, context, sent.text, tag, args, no_cache)
    try:
        _follow(
            stream, seen, on_line, log, lambda layer: client.api.tag(layer, partial, "partial", force=True)
        )
    except _Failed as error:
        reason = sent.in_the_file(str(error))
        if log is not None:
            with log.open("a", encoding="utf-8") as file:
                print(reason, file=file)
        if unfinished:
            remove_nameless(client, unfinished)  # it stays where this build went on there
        raise _explained(tag, seen, sent, reason, log, args) from error
    if not stream.image:
        # Whatever has the tag now is an earlier build's.
        raise SandboxError("the Docker engine went away during the build", GONE_HINT)
    with suppress(APIError):
        client.api.remove_image(f"{partial}:partial")
    for image in filter(None, (before, unfinished)):
        remove_nameless(client, image)
    return stream.image


def _follow(
    stream: _Stream, seen: BuildLog, on_line: OnLine | None, log: Path | None, keep: Callable[[str], object]
) -> None:
    """Read a build to its end: each line is told and logged, each finished layer is kept. Raises _Failed."""
    with ExitStack() as stack:
        file = stack.enter_context(_opened(log)) if log else None
        for line in stack.enter_context(closing(stream.lines())):
            if on_line is not None:
                on_line(line)
            if file is not None:
                print(line, file=file, flush=True)
            if seen.see(line):
                keep(seen.layer)


def _image_named(client: DockerClient, tag: str) -> str:
    """The id of the image that has a name; "" when there is none."""
    from docker.errors import ImageNotFound

    try:
        return str(client.images.get(tag).id)
    except ImageNotFound:
        return ""


def remove_nameless(client: DockerClient, image: str) -> None:
    """Remove an image that has no name any more; one that a container or another image is made of stays."""
    from docker.errors import APIError

    with suppress(APIError):
        if not client.images.get(image).tags:
            client.api.remove_image(image)


def _dockerfile(context: Path, base: str) -> Labelled:
    try:
        text = (context / "Dockerfile").read_text("utf-8")
    except FileNotFoundError as error:
        raise SandboxBuildError(
            f"there is no Dockerfile in {context}", "write one: lmr-author env dockerfile"
        ) from error
    except UnicodeDecodeError as error:
        raise SandboxBuildError(f"{context / 'Dockerfile'} is not UTF-8 text", "save it as UTF-8") from error
    return labelled(rebased(text, base) if base else text, f"{IMAGE_LABEL}=1")


class _Failed(Exception):
    """The engine's own message about a build."""


class _Stream:
    """A build's log as it comes, and at its end the image's id; "" when there is none."""

    def __init__(
        self,
        client: DockerClient,
        context: Path,
        dockerfile: str,
        tag: str,
        args: Mapping[str, str],
        no_cache: bool,
    ) -> None:
        self._client = client
        self._dockerfile = dockerfile
        self._settings: dict[str, Any] = {
            "path": str(context),
            "tag": tag,
            "buildargs": dict(args),
            "nocache": no_cache,
            "rm": True,
            "forcerm": True,
            # The build needs the package index, which may be reachable only the way the host reaches it.
            "network_mode": "host",
            "decode": True,
        }
        self.image = ""

    def lines(self) -> Generator[str, None, None]:
        """The log. Raises _Failed with the engine's message."""
        from docker.errors import APIError

        chunks: Iterator[dict[str, Any]] = iter(())
        rest = ""
        try:
            with _beside(self._dockerfile) as path:
                chunks = self._client.api.build(dockerfile=path, **self._settings)
            for chunk in chunks:
                if "error" in chunk:
                    raise _Failed(_COLOUR.sub("", str(chunk["error"])).strip())
                self.image = _image(chunk) or self.image
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


def _image(chunk: Mapping[str, Any]) -> str:
    """The finished image's id, which the engine sends beside the log."""
    aux = chunk.get("aux")
    return str(aux.get("ID", "")) if isinstance(aux, dict) else ""


@contextmanager
def _beside(text: str) -> Iterator[str]:
    """The path of a file with this text, outside of the context: the SDK sends it in the Dockerfile's place."""
    with files.temporary_folder("lmr-author-build-") as folder:
        path = folder / "Dockerfile"
        path.write_text(text, "utf-8")
        yield str(path)


def _status(chunk: Mapping[str, Any]) -> str:
    """A line about the download of a base image, without the progress bars."""
    if "status" not in chunk or "progress" in chunk:
        return ""
    return f"{chunk.get('id', '')} {chunk['status']}".strip() + "\n"


def _opened(log: Path) -> TextIO:
    log.parent.mkdir(parents=True, exist_ok=True)
    return log.open("w", encoding="utf-8")


def _explained(
    tag: str, seen: BuildLog, sent: Labelled, reason: str, log: Path | None, args: Mapping[str, str]
) -> SandboxBuildError:
    step = named_base(seen.step.text, sent.text, args) if seen.step else ""
    line = sent.line_of(seen.step)
    lines = [text.strip() for text in seen.said if not _NOISE.search(text)]
    telling = [text for text in lines if _TELLING.search(text)]
    last = (telling or lines or [reason])[-1]
    where = f"at '{printable(step, _SHOWN)}' (line {line})" if step else "at its Dockerfile"
    hint = "`lmr-author env build` says why"
    if log is not None:
        hint += f"; the whole log is {log}"
    return SandboxBuildError(
        f"the image {tag} could not be built, {where}: {last}",
        hint,
        step=step,
        line=line,
        said=(*seen.said, *reason.splitlines()),
    )
