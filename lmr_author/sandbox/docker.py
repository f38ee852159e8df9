"""Commands in containers of a task's image: no network, nothing writable, nobody's rights."""

from __future__ import annotations

import json
import os
import time
import uuid
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmr_author.errors import SandboxError
from lmr_author.interrupts import HeldInterrupts
from lmr_author.sandbox import owner
from lmr_author.sandbox.base import Command, ExecResult, Limits, OnLine, Sandbox
from lmr_author.sandbox.bounded import Bounded, Patience
from lmr_author.sandbox.commands import DEFAULT_ENV, by_depth, check, last_words, lent, signal_code
from lmr_author.sandbox.docker_build import build, remove_nameless
from lmr_author.sandbox.docker_engine import (
    OWNER_LABEL,
    SESSION_LABEL,
    connect,
    containers,
    engine_errors,
    remove,
    remove_stale,
)
from lmr_author.sandbox.docker_stream import Demultiplexer, disconnect, drain

if TYPE_CHECKING:
    from docker import DockerClient

NOBODY = 65534
_WATCHDOG_SECONDS = 5
_GRACE_SECONDS = 10
_NOT_FOUND = 127
OWN_NAME = "sandbox"
"""What a container without a network calls itself."""
_PROBE = (
    "import json, platform, shutil; "
    "print(json.dumps([platform.python_version(), bool(shutil.which('timeout'))]))"
)


class DockerSandbox(Sandbox):
    """Runs each command in a container of its own, made from a folder's Dockerfile.

    Args:
        context: folder with the Dockerfile; what .dockerignore names is not sent to the engine.
        tag: name of the image.
        build_args: values of the Dockerfile's ARGs.
        log: file for the build's log.
        no_cache: whether every layer is made anew, whatever was built before.
        gpus: how many GPUs a container is given; "all"; "" for none.
    """

    name = "docker"
    isolating = True

    def __init__(
        self,
        context: Path,
        *,
        tag: str,
        build_args: Mapping[str, str],
        log: Path | None = None,
        no_cache: bool = False,
        gpus: str = "",
    ) -> None:
        self._gpus = gpus
        self._context = context
        self._tag = tag
        self._build_args = build_args
        self._log = log
        self._no_cache = no_cache
        self._client: DockerClient | None = None
        self._session = uuid.uuid4().hex
        self._image = ""
        self._python = "python"
        self._has_timeout = False
        self._cpus = float(os.cpu_count() or 1)

    def prepare(self, on_line: OnLine | None = None) -> Mapping[str, str]:
        """Build the image and ask its Python what it is. Removes containers of killed owners."""
        client = self._connected()
        with engine_errors():
            remove_stale(client)
            self._image = build(
                client, self._context, self._tag, self._build_args, on_line, self._log,
                no_cache=self._no_cache,
            )  # fmt: skip
            self._hold(client)
            info = client.info()
        self._cpus = float(info["NCPU"])
        return {
            "sandbox": self.name,
            "image": self._image,
            "python": self._probe(),
            "engine": str(info["ServerVersion"]),
        }

    def run(self, command: Command) -> ExecResult:
        """Run a command in a new container, which is removed whatever happens."""
        check(command)
        client = self._connected()
        if not self._image:
            self.prepare()
        name = f"lmr-author-{uuid.uuid4().hex}"
        user, group = _user()
        with engine_errors(), lent(command.mounts, user, group):
            try:
                container = self._create(client, name, command)
                return _attend(client, container, command)
            finally:
                remove(client, name)

    def close(self) -> None:
        """Remove this sandbox's containers, should one be left, and the connection."""
        if self._client is None:
            return
        from docker.errors import DockerException
        from requests.exceptions import RequestException

        with HeldInterrupts(), suppress(DockerException, RequestException):
            for container in containers(self._client, f"{SESSION_LABEL}={self._session}"):
                with suppress(DockerException, RequestException):  # the others are removed all the same
                    remove(self._client, container["Id"])
            if self._image:
                remove_nameless(self._client, self._image)
        self._client.close()
        self._client = None

    def _connected(self) -> DockerClient:
        if self._client is None:
            self._client = connect()
        return self._client

    def _hold(self, client: DockerClient) -> None:
        """Keep the image while this is open, by a container that is never started.

        Another build of the same task may take the image's name away, and would remove it between two runs.
        """
        labels = {OWNER_LABEL: owner.me(), SESSION_LABEL: self._session}
        client.api.create_container(
            self._image,
            name=f"lmr-author-{uuid.uuid4().hex}",
            command=["true"],
            labels=labels,
            network_disabled=True,
        )

    def _probe(self) -> str:
        """Find the image's Python and coreutils' timeout. Returns Python's version."""
        for self._python in ("python", "python3"):
            result = self.run(Command(("python", "-I", "-c", _PROBE), limits=Limits(seconds=60)))
            if result.exit_code == 0:
                version, self._has_timeout = json.loads(result.stdout)
                return str(version)
        raise SandboxError(
            f"the image {self._tag} has no working Python: {last_words(result)}",
            "use a base image with python or python3 on its PATH",
        )

    def _create(self, client: DockerClient, name: str, command: Command) -> str:
        program = self._python if command.argv[0] == "python" else command.argv[0]
        argv = [program, *command.argv[1:]]
        if self._has_timeout:
            # Should we be killed, nobody else would ever end the container.
            argv = ["timeout", "-k", "1", str(int(command.limits.seconds) + _WATCHDOG_SECONDS), *argv]
        container = client.api.create_container(
            self._image,
            name=name,
            entrypoint=argv[:1],
            command=argv[1:],
            environment={**DEFAULT_ENV, **command.env},
            working_dir=command.cwd,
            user="{}:{}".format(*_user()),
            # Without a network, the engine gives a container a name that has no address.
            hostname=None if command.network else OWN_NAME,
            labels={OWNER_LABEL: owner.me(), SESSION_LABEL: self._session},
            host_config=self._host_config(client, command),
            use_config_proxy=command.network,
        )
        return str(container["Id"])

    def _devices(self) -> list[Any]:
        """The request for GPUs, for the engine's GPU runtime."""
        from docker.types import DeviceRequest

        if not self._gpus:
            return []
        count = -1 if self._gpus == "all" else int(self._gpus)
        return [DeviceRequest(count=count, capabilities=[["gpu"]])]

    def _host_config(self, client: DockerClient, command: Command) -> dict[str, Any]:
        from docker.types import LogConfig, Mount, Ulimit

        limits = command.limits
        memory, file = limits.memory_mb << 20, limits.file_mb << 20
        config: dict[str, Any] = client.api.create_host_config(
            network_mode="bridge" if command.network else "none",
            extra_hosts={} if command.network else {OWN_NAME: "127.0.0.1"},
            read_only=True,
            tmpfs={"/tmp": f"rw,exec,nosuid,nodev,size={file},mode=1777"},
            shm_size=file,
            mounts=[
                Mount(each.target, str(each.source.resolve()), type="bind", read_only=not each.writable)
                for each in by_depth(command.mounts)
            ],
            cap_drop=["ALL"],
            security_opt=["no-new-privileges:true"],
            pids_limit=limits.processes,
            mem_limit=memory,
            memswap_limit=memory,
            nano_cpus=int(min(limits.cpus, self._cpus) * 1e9),
            ulimits=[Ulimit(name="fsize", soft=file, hard=file), Ulimit(name="core", soft=0, hard=0)],
            init=True,
            # Output comes through the attached connection; the engine must not also store it on its disk.
            log_config=LogConfig(type="none"),
            device_requests=self._devices(),
        )
        return config


def _no_gpu(said: str) -> SandboxError:
    return SandboxError(
        f"the Docker engine cannot give a container a GPU: {said}",
        "install the NVIDIA Container Toolkit on the engine's machine, or run without --gpus",
    )


def _user() -> tuple[int, int]:
    """Whom a container runs as: us, whose files the mounts are; never root."""
    return (os.geteuid(), os.getegid()) if os.geteuid() != 0 else (NOBODY, NOBODY)


def _attend(client: DockerClient, container: str, command: Command) -> ExecResult:
    """Start a container and stay with it until it has ended."""
    limits = command.limits
    stdout, stderr = Bounded(limits.output_bytes), Bounded(limits.output_bytes)
    frames = Demultiplexer(stdout, stderr)
    connection = client.api.attach_socket(container, params={"stdout": 1, "stderr": 1, "stream": 1})
    try:
        started = time.monotonic()
        missing = _start(client, container)
        if missing is not None:
            return ExecResult(_NOT_FOUND, b"", missing.encode(), time.monotonic() - started)
        # The container's init keeps the output open to the end, whatever the program does with its own.
        ended = drain(connection, frames, Patience(started + limits.seconds, command.stop))
        if ended != "closed":
            # First, or an endless output that nobody reads keeps the engine from killing the container.
            disconnect(connection)
            _kill(client, container)
        client.api.wait(container, timeout=_GRACE_SECONDS)
    finally:
        disconnect(connection)
    state = client.api.inspect_container(container)["State"]
    return ExecResult(
        exit_code=signal_code(int(state["ExitCode"])),
        stdout=stdout.value(),
        stderr=stderr.value(),
        seconds=_seconds(state),
        timed_out=ended == "late",
        stopped=ended == "stopped",
        out_of_memory=bool(state["OOMKilled"]),
        truncated=stdout.truncated or stderr.truncated,
    )


def _start(client: DockerClient, container: str) -> str | None:
    """Start a container. Returns the engine's words when the image does not have the program."""
    from docker.errors import APIError

    try:
        client.api.start(container)
    except APIError as error:
        said = str(error.explanation or error)
        if "executable file not found" in said or "exec:" in said:
            return said
        if "could not select device driver" in said or "nvidia" in said.lower():
            raise _no_gpu(said.strip()) from error
        raise
    return None


def _kill(client: DockerClient, container: str) -> None:
    from docker.errors import APIError

    # It may have ended by itself meanwhile.
    with suppress(APIError):
        client.api.kill(container)


def _seconds(state: Mapping[str, Any]) -> float:
    """How long a container ran, by the engine's clock."""
    begin, end = (datetime.fromisoformat(state[key]) for key in ("StartedAt", "FinishedAt"))
    return max(0.0, (end - begin).total_seconds())
