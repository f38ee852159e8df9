"""The contents of a task's image, asked of the image itself: ``authoring/environment.json``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import msgspec

from lmr_author.core.task.record import Digest, Record, Seconds, Text, Time

FORMAT = "lmr-environment/1"


@dataclass(frozen=True)
class ImportedFile:
    """The result of importing one file of the repository.

    Attributes:
        file: path in the repository.
        ok: true if it can be imported.
        module: the name by which it was imported last.
        said: the last lines of the traceback.
        missing: modules that it needs and the image lacks.
        seconds: duration of the import.
        cause: what is likely wrong; "" when it was imported, or nobody knows.
        advice: what to try; "" likewise.
    """

    file: Text
    ok: bool
    module: str = ""
    said: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    seconds: Seconds = 0.0
    cause: str = ""
    advice: str = ""


@dataclass(frozen=True)
class BuiltEnvironment(Record):
    """The contents of a task's image, written by ``env build``.

    Attributes:
        format: name and version of this format.
        tool: version of lmr-author.
        built: time at which the image was built or found complete (RFC 3339).
        seconds: duration of that.
        image: the engine's identifier of the image.
        tag: the image's name.
        base_image: the image that it was built on; "" when the Dockerfile does not say.
        engine: version of the Docker engine.
        dockerfile_sha256: digest of the Dockerfile.
        lock_sha256: digest of requirements.lock; "" when there was none.
        python: version of the image's Python.
        platform: kernel, processor and C library.
        torch: its version; "" when it is not installed.
        cuda: the CUDA version that PyTorch was built for; "" when it was built without.
        numpy: its version; "" when it is not installed.
        packages: every installed distribution and its version.
        imports: files imported in the image without network, not as root, on a read-only root.
    """

    tool: str
    built: Time
    seconds: Seconds
    image: Annotated[str, msgspec.Meta(pattern="^sha256:[0-9a-f]{64}$")]
    tag: Text
    engine: str
    dockerfile_sha256: Digest
    python: Text
    lock_sha256: Annotated[str, msgspec.Meta(pattern="^([0-9a-f]{64})?$")] = ""
    base_image: str = ""
    platform: str = ""
    torch: str = ""
    cuda: str = ""
    numpy: str = ""
    packages: dict[str, str] = field(default_factory=dict)
    imports: tuple[ImportedFile, ...] = ()
    format: str = FORMAT
