"""Build a task's image, stream the log, and locate a failure.

The SDK can only use the legacy builder, which numbers the instructions and names each layer. A failure's cause is
explained by :mod:`lmr_author.runtime.environment.failures`, from the error's attributes.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmr_author.core import files
from lmr_author.core.errors import SandboxBuildError, SandboxError
from lmr_author.core.texts import printable
from lmr_author.runtime.sandbox.base import OnLine
from lmr_author.runtime.sandbox.docker_engine import GONE_HINT, IMAGE_LABEL

if TYPE_CHECKING:
    from docker import DockerClient

_KEPT_LINES = 200
"""Last lines of an instruction's output, kept to explain a failure."""
_SHOWN = 60
"""Characters of an instruction in a message; the log has all of it."""

_STEP = re.compile(r"Step (\d+)/(\d+) : (.*)")
_LAYER = re.compile(r" ---> ([0-9a-f]{12,64})\s*")
_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_SYMPTOM = re.compile(r"\berror\b|no matching|not found|cannot|failed|denied|no such", re.IGNORECASE)
_NOISE = re.compile(
    r"\[notice\]|^WARNING: Running pip as|^The command .* returned a non-zero|^ ?---> |^Removing "
)
_FROM = re.compile(
    # Not inside another instruction; up to the end of its last line.
    r"(?<!\\\n)(?<!\\\r\n)^[ \t]*FROM[ \t]+(?:--\S+[ \t]+)*(?P<image>[^\s\\]+)(?:[^\n\\]|\\(?:\r?\n)?)*",
    re.IGNORECASE | re.MULTILINE,
)
_DOCKERFILE = ".dockerfile.lmr-author"
"""Name of our copy in the context, sent to the engine instead of the folder's own."""
_LABEL = f"LABEL {IMAGE_LABEL}=1"


@dataclass(frozen=True)
class BuildStep:
    """The engine's current instruction, as in ``Step 3/14 : RUN …``."""

    number: int
    total: int
    text: str


def read_step(line: str) -> BuildStep | None:
    match = _STEP.match(line)
    return BuildStep(int(match[1]), int(match[2]), match[3]) if match else None


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
    """Build the Dockerfile of a folder as the image ``tag``; return the image's id.

    Layers of earlier builds are reused, unless ``no_cache``. Each finished layer is tagged ``partial`` until the image
    is complete, so that an interrupted build continues there and leaves no untagged image. Every layer has
    :data:`IMAGE_LABEL`.

    Raises SandboxBuildError with the failing instruction and its output.
    """
    from docker.errors import APIError, BuildError

    text = _with_name(_read(context), args.get("BASE_IMAGE", ""))
    sent = with_labels(text)
    partial = tag.rpartition(":")[0]
    replaced = list(client.api.images(partial, quiet=True))  # ids: a list of objects would inspect each
    progress = BuildProgress(text)
    target = log or Path(os.devnull)
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("w", encoding="utf-8") as file:
        try:
            with closing(_stream(client, context, sent, tag, args, no_cache, progress)) as lines:
                for line in lines:
                    if on_line is not None:
                        on_line(line)
                    print(line, file=file, flush=True)
                    if progress.add(line):
                        client.api.tag(progress.layer, partial, "partial", force=True)
        except BuildError as error:
            reason = _with_own_lines(str(error.msg), sent)
            print(reason, file=file)
            for image in replaced:
                remove_nameless(client, image)  # keeps an unfinished image that this build continued
            raise _failure(tag, progress, reason, log) from error
    if not progress.image:
        # The current image of the tag is an earlier build's.
        raise SandboxError("the connection to the Docker engine was lost during the build", GONE_HINT)
    with suppress(APIError):
        client.images.remove(f"{partial}:partial")
    for image in replaced:
        remove_nameless(client, image)
    return progress.image


def _read(context: Path) -> str:
    try:
        return (context / "Dockerfile").read_text("utf-8")
    except FileNotFoundError as error:
        raise SandboxBuildError(
            f"{context} has no Dockerfile", "generate one with `lmr-author env lock`"
        ) from error
    except UnicodeDecodeError as error:
        raise SandboxBuildError(f"{context / 'Dockerfile'} is not UTF-8 text", "save it as UTF-8") from error


def remove_nameless(client: DockerClient, image: str) -> None:
    """Remove an untagged image, unless a container or another image uses it."""
    from docker.errors import APIError

    with suppress(APIError):
        if not client.images.get(image).tags:
            client.images.remove(image)


def with_base(text: str, base: str) -> str:
    """Return a Dockerfile with another base image, if its only FROM names one directly, not by an ARG.

    Hand-written Dockerfiles lack the ``ARG BASE_IMAGE`` that a build argument would set.
    """
    stages = list(_FROM.finditer(text))
    if not base or len(stages) != 1 or "$" in stages[0]["image"]:
        return text
    start, end = stages[0].span("image")
    return text[:start] + base + text[end:]


def _with_name(text: str, base: str) -> str:
    """Replace ``${BASE_IMAGE}`` in a Dockerfile with the base image's name, so that the log shows it."""
    default = re.search(r"^[ \t]*ARG[ \t]+BASE_IMAGE=[\"']?([^\s\"']+)", text, re.IGNORECASE | re.MULTILINE)
    name = base or (default[1] if default else "${BASE_IMAGE}")
    variable = re.compile(r"^([ \t]*FROM[ \t].*?)\$(?:BASE_IMAGE\b|\{BASE_IMAGE(?::-[^}]*)?\})", re.I | re.M)
    return variable.sub(lambda match: match[1] + name, with_base(text, base))


def with_labels(text: str) -> str:
    """Return a Dockerfile with our label after each FROM.

    Labels passed as build options are only on the finished image. On every layer, they identify the remains of a build
    after the engine was killed, including containers, which inherit them.
    """
    return _FROM.sub(rf"\g<0>\n{_LABEL}", text)


class BuildProgress:
    """Tracks a build by its log.

    Attributes:
        step: the current instruction, None before the first.
        line: the line of the Dockerfile on which it begins, 0 before the first.
        layer: id of the last finished layer.
        output: the last lines of the current instruction.
        image: id of the finished image, "" before.
    """

    def __init__(self, dockerfile: str) -> None:
        self._lines = [_words(line.rstrip().rstrip("\\")) for line in dockerfile.split("\n")]
        self.step: BuildStep | None = None
        self.line = 0
        self.layer = ""
        self.output: list[str] = []
        self.image = ""

    def add(self, line: str) -> bool:
        """Process a line of the log; return whether it names a new layer."""
        if step := read_step(line):
            self.step, self.output = step, []
            # Steps follow the file's order. Our own labels are not in it and keep the line of their FROM.
            text = _words(step.text)
            for index in range(self.line, len(self._lines)):
                if self._lines[index] and text.startswith(self._lines[index]):
                    self.line = index + 1
                    break
        elif match := _LAYER.fullmatch(line):
            self.layer = match[1]
            return True
        elif line.strip():
            self.output = [*self.output[1 - _KEPT_LINES :], line.rstrip()]
        return False


def _words(text: str) -> str:
    return " ".join(text.split()).lower()


def _stream(
    client: DockerClient,
    context: Path,
    dockerfile: str,
    tag: str,
    args: Mapping[str, str],
    no_cache: bool,
    progress: BuildProgress,
) -> Generator[str, None, None]:
    """Yield the lines of the log; raise BuildError with the engine's message.

    ``client.images.build`` returns the log only at the end.
    """
    from docker.errors import APIError, BuildError
    from docker.utils.build import tar

    chunks: Iterator[dict[str, Any]] = iter(())
    rest = ""
    try:
        # An unnamed file: the SDK's own context is a named one, which a kill would leave behind.
        with tempfile.TemporaryFile() as archive:
            tar(context, exclude=_ignored(context), dockerfile=(_DOCKERFILE, dockerfile), fileobj=archive)
            chunks = client.api.build(
                fileobj=archive, custom_context=True, dockerfile=_DOCKERFILE, tag=tag, buildargs=dict(args),
                nocache=no_cache, rm=True, forcerm=True, decode=True,
                # The build needs the package index, which may be reachable only from the host's network.
                network_mode="host",
            )  # fmt: skip
        for chunk in chunks:
            if "error" in chunk:
                raise BuildError(_COLOUR.sub("", str(chunk["error"])).strip(), iter(()))
            if isinstance(chunk.get("aux"), dict):
                progress.image = str(chunk["aux"].get("ID", "")) or progress.image
            text = chunk.get("stream", "")
            if "status" in chunk and "progress" not in chunk:  # the download of a base image
                text = f"{chunk.get('id', '')} {chunk['status']}".strip() + "\n"
            *lines, rest = (rest + _COLOUR.sub("", text)).replace("\r", "\n").split("\n")
            yield from lines
        if rest:
            yield rest
    except APIError as error:
        raise BuildError(str(error.explanation or error), iter(())) from error
    finally:
        # Closing the connection stops the engine's build.
        if isinstance(chunks, Generator):
            chunks.close()


def _ignored(context: Path) -> list[str]:
    """Return the patterns of ``.dockerignore``, as the SDK reads them."""
    lines = (line.strip() for line in files.read_text_or_empty(context / ".dockerignore").splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def _with_own_lines(reason: str, sent: str) -> str:
    """Return the engine's message with the line numbers of the original file, without our labels."""
    labels = [number for number, line in enumerate(sent.split("\n"), 1) if line == _LABEL]

    def own(match: re.Match[str]) -> str:
        number = int(match[1])
        return f"line {number - sum(label <= number for label in labels)}"

    return re.sub(r"\bline (\d+)", own, reason)


def _failure(tag: str, progress: BuildProgress, reason: str, log: Path | None) -> SandboxBuildError:
    step = progress.step.text if progress.step else ""
    lines = [line.strip() for line in progress.output if not _NOISE.search(line)]
    symptoms = [line for line in lines if _SYMPTOM.search(line)]
    last = (symptoms or lines or [reason])[-1]
    where = f"at '{printable(step, _SHOWN)}' (line {progress.line})" if step else "at its Dockerfile"
    return SandboxBuildError(
        f"the build of the image {tag} failed {where}: {last}",
        "`lmr-author env build` explains the failure" + (f"; full log: {log}" if log is not None else ""),
        step=step,
        line=progress.line,
        said=(*progress.output, *reason.splitlines()),
        log=str(log or ""),
    )
