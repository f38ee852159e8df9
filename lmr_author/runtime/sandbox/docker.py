"""Run commands in containers of a task's image, without network, write access and privileges."""

from __future__ import annotations

import os
import threading
import time
import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmr_author.core import owner, processes
from lmr_author.core.errors import SandboxError
from lmr_author.core.files import HeldInterrupts
from lmr_author.core.parsing import json_data
from lmr_author.runtime.sandbox.base import (
    DEFAULT_ENV,
    NOBODY,
    Command,
    ExecResult,
    Limits,
    OnLine,
    Sandbox,
    accessible,
    signal_code,
)
from lmr_author.runtime.sandbox.docker_build import build, remove_nameless
from lmr_author.runtime.sandbox.docker_engine import (
    OWNER_LABEL,
    SESSION_LABEL,
    connect,
    engine_errors,
    remove,
    remove_stale,
)

if TYPE_CHECKING:
    from docker import DockerClient
    from docker.models.containers import Container

_WATCHDOG_SECONDS = 5
_GRACE_SECONDS = 10
_NOT_FOUND = 127
_HOSTNAME = "sandbox"
_PROBE = (
    "import json, platform, shutil; "
    "print(json.dumps([platform.python_version(), bool(shutil.which('timeout'))]))"
)


@dataclass(eq=False)
class DockerSandbox(Sandbox):
    """Runs each command in its own container, from the image of a folder's Dockerfile.

    Attributes:
        context: folder with the Dockerfile; files in .dockerignore are not sent to the engine.
        tag: name of the image.
        build_args: values of the Dockerfile's ARGs.
        log: file for the build's log.
        no_cache: rebuild every layer.
        gpus: number of GPUs given to a container; "all"; "" for none.
    """

    context: Path
    tag: str
    build_args: Mapping[str, str]
    log: Path | None = None
    no_cache: bool = False
    gpus: str = ""

    name = "docker"
    isolating = True

    def __post_init__(self) -> None:
        """Create the label that identifies this session's containers, without contacting the engine."""
        self._client: DockerClient | None = None
        self._labels = {SESSION_LABEL: uuid.uuid4().hex}
        self._image = ""
        self._python = "python"
        self._has_timeout = False
        self._cpus = float(os.cpu_count() or 1)

    def prepare(self, on_line: OnLine | None = None) -> Mapping[str, str]:
        """Build the image and read its Python's version. Removes containers of killed owners."""
        client = self._connected()
        with engine_errors():
            remove_stale(client)
            self._image = build(
                client, self.context, self.tag, self.build_args, on_line, self.log, no_cache=self.no_cache
            )
            # A container that is never started protects the image: another build of the same task takes its name over
            # and would otherwise remove it between two runs.
            client.containers.create(
                self._image, ["true"], name=_new_name(), labels=self._own_labels(), network_disabled=True
            )
            info = client.info()
        self._cpus = float(info["NCPU"])
        return {
            "sandbox": self.name,
            "image": self._image,
            "python": self._probe(),
            "engine": str(info["ServerVersion"]),
        }

    def run(self, command: Command) -> ExecResult:
        command.check()
        client = self._connected()
        if not self._image:
            self.prepare()
        name = _new_name()
        with engine_errors(), accessible(command.mounts, *_user()):
            try:
                container = client.containers.create(self._image, name=name, **self._settings(command))
                return _attend(container, command)
            finally:
                remove(client, name)

    def close(self) -> None:
        """Remove this sandbox's remaining containers and close the connection."""
        if self._client is None:
            return
        from docker.errors import DockerException
        from requests.exceptions import RequestException

        mine: dict[str, Any] = {"label": f"{SESSION_LABEL}={self._labels[SESSION_LABEL]}"}
        with HeldInterrupts(), suppress(DockerException, RequestException):
            for container in self._client.containers.list(all=True, sparse=True, filters=mine):
                with suppress(DockerException, RequestException):  # still remove the others
                    remove(self._client, str(container.id))
            if self._image:
                remove_nameless(self._client, self._image)
        self._client.close()
        self._client = None

    def _connected(self) -> DockerClient:
        if self._client is None:
            self._client = connect()
        return self._client

    def _own_labels(self) -> dict[str, str]:
        return {OWNER_LABEL: owner.me(), **self._labels}

    def _probe(self) -> str:
        """Find the image's Python and coreutils' timeout; return Python's version."""
        for self._python in ("python", "python3"):
            result = self.run(Command(("python", "-I", "-c", _PROBE), limits=Limits(seconds=60)))
            if result.exit_code == 0:
                with suppress(ValueError, TypeError):  # the image's own Python wrote it
                    version, has_timeout = json_data(result.stdout)
                    self._has_timeout = has_timeout is True
                    return str(version)
        raise SandboxError(
            f"the image {self.tag} has no working Python: {result.last_error()}",
            "use a base image with python or python3 on its PATH",
        )

    def _settings(self, command: Command) -> dict[str, Any]:
        from docker.types import DeviceRequest, LogConfig, Mount, Ulimit

        limits = command.limits
        memory, file = limits.memory_mb << 20, limits.file_mb << 20
        program = self._python if command.argv[0] == "python" else command.argv[0]
        argv = [program, *command.argv[1:]]
        if self._has_timeout:
            # If we are killed, nothing else would stop the container.
            argv = ["timeout", "-k", "1", str(int(limits.seconds) + _WATCHDOG_SECONDS), *argv]
        gpus = -1 if self.gpus == "all" else int(self.gpus or 0)
        return {
            "entrypoint": argv[:1],
            "command": argv[1:],
            "environment": {**DEFAULT_ENV, **command.env},
            "working_dir": command.cwd,
            "user": "{}:{}".format(*_user()),
            "labels": self._own_labels(),
            "network_mode": "bridge" if command.network else "none",
            # Without a network, the container's host name has no address.
            "hostname": None if command.network else _HOSTNAME,
            "extra_hosts": {} if command.network else {_HOSTNAME: "127.0.0.1"},
            "use_config_proxy": command.network,
            "read_only": True,
            "tmpfs": {"/tmp": f"rw,exec,nosuid,nodev,size={file},mode=1777"},
            "shm_size": file,
            "mounts": [
                Mount(each.target, str(each.source.resolve()), type="bind", read_only=not each.writable)
                for each in command.mounts_by_depth()
            ],
            "cap_drop": ["ALL"],
            "security_opt": ["no-new-privileges:true"],
            "pids_limit": limits.processes,
            "mem_limit": memory,
            "memswap_limit": memory,
            "nano_cpus": int(min(limits.cpus, self._cpus) * 1e9),
            "ulimits": [Ulimit(name="fsize", soft=file, hard=file), Ulimit(name="core", soft=0, hard=0)],
            "init": True,
            # Output arrives through the attached connection; do not let the engine store it on disk too.
            "log_config": LogConfig(type="none"),
            "device_requests": [DeviceRequest(count=gpus, capabilities=[["gpu"]])] if gpus else [],
        }


def _new_name() -> str:
    return f"lmr-author-{uuid.uuid4().hex}"


def _user() -> tuple[int, int]:
    """Return a container's user and group: ours, who own the mounts, but never root."""
    return (os.geteuid(), os.getegid()) if os.geteuid() != 0 else (NOBODY, NOBODY)


def _attend(container: Container, command: Command) -> ExecResult:
    """Start a container and wait until it ends.

    Another thread reads its output to the end, so that the engine never blocks. Only that thread closes the
    connection, which ends with the container: after an interrupt, the caller removes it.
    """
    from docker.errors import APIError

    limits = command.limits
    out, err = (processes.BoundedOutput(limits.output_bytes) for _ in range(2))
    output: Any = container.attach(stream=True, demux=True)
    closed = threading.Event()
    started = time.monotonic()

    def read() -> None:
        try:
            for stdout, stderr in output:
                out.add(stdout or b"")
                if stdout and command.on_output is not None:
                    command.on_output(stdout)
                err.add(stderr or b"")
        finally:
            output._response.close()  # the SDK leaves this to the garbage collector
            closed.set()

    reader = threading.Thread(target=read, daemon=True)
    try:
        missing = _start(container)
        if missing is not None:
            return ExecResult(_NOT_FOUND, b"", missing.encode(), time.monotonic() - started)
        reader.start()
    finally:
        if reader.ident is None:
            output._response.close()
    # The container's init keeps the output open to the end, even if the program closes its own.
    given_up = processes.wait(closed, started + limits.seconds, command.stop)
    if given_up:
        with suppress(APIError):  # it may have ended by itself
            container.kill()
    container.wait(timeout=_GRACE_SECONDS)
    closed.wait(_GRACE_SECONDS)
    container.reload()
    return _result(container.attrs["State"], out, err, given_up)


def _result(
    state: Mapping[str, Any], out: processes.BoundedOutput, err: processes.BoundedOutput, given_up: str
) -> ExecResult:
    begin, end = (datetime.fromisoformat(state[key]) for key in ("StartedAt", "FinishedAt"))
    return ExecResult(
        exit_code=signal_code(int(state["ExitCode"])),
        stdout=out.value(),
        stderr=err.value(),
        seconds=max(0.0, (end - begin).total_seconds()),
        timed_out=given_up == "late",
        stopped=given_up == "stopped",
        out_of_memory=bool(state["OOMKilled"]),
        truncated=out.truncated or err.truncated,
    )


def _start(container: Container) -> str | None:
    """Start a container; return the engine's message if the image lacks the program."""
    from docker.errors import APIError

    try:
        container.start()
    except APIError as error:
        message = str(error.explanation or error)
        if "executable file not found" in message or "exec:" in message:
            return message
        if "could not select device driver" in message or "nvidia" in message.lower():
            raise SandboxError(
                f"the Docker engine cannot give a container a GPU: {message.strip()}",
                "install the NVIDIA Container Toolkit on the engine's machine, or run without --gpus",
            ) from error
        raise
    return None
