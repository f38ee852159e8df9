"""Harbor's part, played by the engine: the agent's container, the artifact, a fresh container for the verifier."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

CHEATS = Path(__file__).parent / "cheats"


@dataclass(frozen=True)
class Verdict:
    """What the verifier left: the reward Harbor would read (None for none), and what the grader printed."""

    reward: float | None
    said: str


def docker(*arguments: str, check: bool = True) -> str:
    done = subprocess.run(["docker", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0 or not check, done.stdout + done.stderr
    return done.stdout


@contextmanager
def image(task: Path) -> Iterator[str]:
    """The image of a Harbor task's environment."""
    tag = f"lmr-tests-harbor-{uuid.uuid4().hex[:12]}"
    try:
        docker("build", "--quiet", "--tag", tag, str(task / "environment"))
        yield tag
    finally:
        docker("rmi", "--force", tag, check=False)


@contextmanager
def container(tag: str) -> Iterator[str]:
    """A running container without a network, with Harbor's open log folders."""
    name = f"lmr-tests-harbor-{uuid.uuid4().hex[:12]}"
    try:
        docker("run", "--detach", "--network", "none", "--name", name, tag, "sleep", "600")
        docker("exec", "--user", "root", name, "sh", "-c", "mkdir -p /logs/verifier && chmod -R 777 /logs")
        yield name
    finally:
        docker("rm", "--force", "--volumes", name, check=False)


def artifact(task: Path) -> str:
    """The one file that Harbor carries from the agent's container to the verifier's."""
    [path] = tomllib.loads((task / "task.toml").read_text())["artifacts"]
    return str(path)


def solution(task: Path, tag: str, folder: Path) -> Path:
    """Run ``solve.sh`` as the oracle agent does; returns the goal file that comes out."""
    with container(tag) as name:
        docker("cp", f"{task}/solution", f"{name}:/solution")
        docker("exec", name, "sh", "/solution/solve.sh")
        return collected(task, name, folder / "solved.py")


def untouched(task: Path, tag: str, folder: Path) -> Path:
    """The goal file as the nop agent leaves it."""
    with container(tag) as name:
        return collected(task, name, folder / "untouched.py")


def collected(task: Path, name: str, target: Path) -> Path:
    docker("cp", f"{name}:{artifact(task)}", str(target))
    return target


def cheating(masked: Path, cheat: Path) -> str:
    """A masked goal file in which the cheat takes the place of what is missing."""
    text = re.sub("raise NotImplementedError.*", "return _cheat(locals())", masked.read_text())
    return text + cheat.read_text()


def verify(task: Path, tag: str, answer: Path | None, *before: str) -> Verdict:
    """Grade a goal file as Harbor's separate verifier does.

    Args:
        answer: None: the agent removed the goal file.
        before: shell commands that root runs first, to break the environment.
    """
    with container(tag) as name:
        docker("exec", "--user", "root", name, "rm", "-f", artifact(task))
        if answer is not None:
            docker("cp", str(answer), f"{name}:{artifact(task)}")
        docker("cp", f"{task}/tests", f"{name}:/tests")
        for command in before:
            docker("exec", "--user", "root", name, "sh", "-c", command)
        done = subprocess.run(
            ["docker", "exec", "--user", "root", name, "/tests/test.sh"], capture_output=True, text=True
        )
        left = docker("exec", "--user", "root", name, "sh", "-c", "cd /logs/verifier && cat reward.* || true")
        return Verdict(json.loads(left)["reward"] if left else None, done.stdout + done.stderr)
