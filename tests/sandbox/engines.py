"""Docker engines of a test's own: nothing of anybody else's is in them, and they may be killed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Engine:
    """A private engine; its data stay when it is killed, so it can be started again."""

    folder: Path
    process: subprocess.Popen[bytes] | None = None

    @property
    def host(self) -> str:
        """Its address, for DOCKER_HOST."""
        return f"unix://{self.folder}/docker.sock"

    def start(self) -> None:
        """Start it, and wait until it answers.

        It has network interfaces of its own: an engine without a bridge removes docker0, also another engine's.
        """
        options = {
            "host": self.host, "data-root": self.folder / "data", "exec-root": self.folder / "exec",
            "pidfile": self.folder / "pid", "bridge": "none", "iptables": "false",
        }  # fmt: skip
        for left in ("pid", "exec/containerd/containerd.pid"):
            (self.folder / left).unlink(missing_ok=True)  # of one that was killed
        with (self.folder / "log").open("ab") as log:
            command = ["unshare", "--net", "dockerd", *(f"--{key}={value}" for key, value in options.items())]
            self.process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
        deadline = time.monotonic() + 60
        while subprocess.run(self.command("version"), capture_output=True).returncode != 0:
            assert self.process.poll() is None and time.monotonic() < deadline, (
                self.folder / "log"
            ).read_text()
            time.sleep(0.2)

    def stop(self, number: int = signal.SIGTERM) -> None:
        """End it."""
        if self.process is not None:
            self.process.send_signal(number)
            self.process.wait(60)
            self.process = None

    def end_containers(self) -> None:
        """Kill what runs in its containers: a killed engine leaves it running."""
        for folder in Path("/proc").iterdir():
            try:
                line = (folder / "cmdline").read_bytes() if folder.name.isdigit() else b""
            except OSError:
                continue
            if str(self.folder).encode() in line and b"containerd-shim" in line:
                children = (folder / "task" / folder.name / "children").read_text().split()
                for pid in (*children, folder.name):
                    os.kill(int(pid), signal.SIGKILL)

    def unmount(self) -> None:
        """Undo its mounts: an engine, a killed one above all, leaves some."""
        lines = Path("/proc/self/mounts").read_text().splitlines()
        mounts = [line.split(" ")[1] for line in lines if f" {self.folder}/" in line]
        for path in sorted(mounts, reverse=True):
            subprocess.run(["umount", "--lazy", path], check=False, capture_output=True)

    def command(self, *arguments: str) -> list[str]:
        """A docker command for it."""
        return ["docker", "--host", self.host, *arguments]

    def docker(self, *arguments: str) -> str:
        """Run a docker command; it must succeed."""
        return subprocess.check_output(self.command(*arguments), text=True).strip()

    def load(self, image: str) -> None:
        """Copy an image of the usual engine."""
        with subprocess.Popen(["docker", "save", image], stdout=subprocess.PIPE) as saved:
            subprocess.run(
                self.command("load", "--quiet"), stdin=saved.stdout, check=True, stdout=subprocess.DEVNULL
            )


@contextmanager
def engine(folder: Path) -> Iterator[Engine]:
    """A private engine, running."""
    made = Engine(folder)
    made.start()
    try:
        yield made
    finally:
        made.stop()
        made.end_containers()
        made.unmount()
        shutil.rmtree(folder, ignore_errors=True)
