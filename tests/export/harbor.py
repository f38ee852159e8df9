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
    """What the verifier left.

    Attributes:
        reward: what Harbor and verifiers would read; None for none.
        said: what the grader printed.
        cases: the status of each, as in ctrf.json.
    """

    reward: float | None
    said: str
    cases: dict[str, str]


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
    """A running container without a network, with Harbor's open log folders; its user is root."""
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


def agent(task: Path) -> str:
    """The name of the user that the agent works as."""
    return str(tomllib.loads((task / "task.toml").read_text())["agent"]["user"])


def solution(task: Path, tag: str, folder: Path) -> Path:
    """Run ``solve.sh`` as the oracle agent does; returns the goal file that comes out."""
    with container(tag) as name:
        docker("cp", f"{task}/solution", f"{name}:/solution")
        docker("exec", "--user", agent(task), name, "sh", "/solution/solve.sh")
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
        done = subprocess.run(["docker", "exec", name, "/tests/test.sh"], capture_output=True, text=True)
        rewards, report = (
            docker("exec", "--user", "root", name, "sh", "-c", f"cat /logs/verifier/{files} || true")
            for files in ("reward.*", "ctrf.json")
        )
        reward = None
        if rewards:
            # One number: with a second one, Harbor computes no pass@k.
            [(key, reward)] = json.loads(rewards).items()
            assert key == "reward" and reward in (0.0, 1.0)
        return Verdict(reward, done.stdout + done.stderr, _cases(report))


def _cases(report: str) -> dict[str, str]:
    if not report:
        return {}
    results = json.loads(report)["results"]
    cases = {test["name"]: test["status"] for test in results["tests"]}
    counts = {status: list(cases.values()).count(status) for status in ("passed", "failed")}
    assert {name: results["summary"][name] for name in counts} == counts
    return cases
