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

from tests.cli.program import wait_for

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
        begin = "mkdir -p /logs/verifier && chmod -R 777 /logs && echo ready && exec sleep 600"
        docker("run", "--detach", "--network", "none", "--name", name, tag, "sh", "-c", begin)
        wait_for(lambda: docker("logs", name))
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


def answers(task: Path, tag: str, folder: Path) -> tuple[Path, Path]:
    """The goal file as the oracle agent leaves it, which runs ``solve.sh``, and as the nop agent does."""
    with container(tag) as name:
        untouched = collected(task, name, folder / "untouched.py")
        docker("cp", f"{task}/solution", f"{name}:/solution")
        docker("exec", "--user", agent(task), name, "sh", "/solution/solve.sh")
        return collected(task, name, folder / "solved.py"), untouched


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
        docker("cp", f"{task}/tests", f"{name}:/tests")
        commands = (f"rm -f {artifact(task)}", *before)
        docker("exec", "--user", "root", name, "sh", "-c", " && ".join(commands))
        if answer is not None:
            docker("cp", str(answer), f"{name}:{artifact(task)}")
        done = subprocess.run(["docker", "exec", name, "/tests/test.sh"], capture_output=True, text=True)
        files = "cat /logs/verifier/reward.*; echo; echo ---; cat /logs/verifier/ctrf.json; true"
        shown = docker("exec", "--user", "root", name, "sh", "-c", files)
        rewards, report = (text.strip() for text in shown.split("\n---\n"))
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
