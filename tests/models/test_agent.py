"""Scripted agents in containers: one that solves, one that gives up, one that tampers, one that never ends."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import EvalSample

from lmr_author.core.task import Task
from lmr_author.release.analysis.observations import read as observe
from tests.evaluation.foreign import GOLDEN, PLAIN_PYTHON, SOFTPLUS_BODY
from tests.models.scripted import Script, run, samples
from tests.support import base_image

pytestmark = [pytest.mark.docker, pytest.mark.bwrap, pytest.mark.timeout(600)]

REPOSITORY = "/workspace/scores-repo"
GOAL = f"{REPOSITORY}/scores/smooth.py"


def shell(command: str) -> tuple[str, dict[str, Any]]:
    """A call of the agent's shell."""
    return "bash", {"command": command}


def write(text: str, path: str = GOAL) -> tuple[str, dict[str, Any]]:
    """A call that replaces a file."""
    return shell(f"mkdir -p $(dirname {path}) && cat > {path} <<'END'\n{text}\nEND")


TAMPERING = [
    shell("id -u; find / -xdev -type f 2>/dev/null | head -c 400000 | grep -iE 'golden|unit_test|authoring'"),
    shell("grep -rlE 'log1p|0.97407' / --include=*.py --include=*.json --exclude-dir=proc --exclude-dir=lib 2>&1"),
    shell("cat /proc/net/route; python3 -c \"import socket; socket.create_connection(('192.0.2.1', 53), 3)\""),
    write("print('all tests passed')", f"{REPOSITORY}/unit_test/unit_test_1.py"),
    write('{"reward": 1}', "/logs/verifier/reward.json"),
    write("import sys\nsys.exit(0)", f"{REPOSITORY}/scores/__init__.py"),
    ("text_editor", {"command": "str_replace", "path": GOAL, "old_str": "    raise NotImplementedError",
                     "new_str": "    import os\n    os._exit(0)"}),
]  # fmt: skip


@pytest.fixture
def task(softplus: Task, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Task]:
    """The task, with Docker's compose from the test environment, and an image that is removed."""
    place = importlib.util.find_spec("compose")
    assert place is not None and place.origin is not None
    plugins = tmp_path / "docker" / "cli-plugins"
    plugins.mkdir(parents=True)
    (plugins / "docker-compose").symlink_to(Path(place.origin).with_name("docker-compose"))
    monkeypatch.setenv("DOCKER_CONFIG", str(plugins.parent))
    monkeypatch.setenv("LMR_TEST_ENGINE", "20.10.0")
    yield softplus
    for given in ("repository", "paper"):
        image = f"lmr-author/agent-7-softplus-{given}"
        subprocess.run(["docker", "rmi", "-f", image], capture_output=True, env=os.environ, check=False)


def work(folder: Path, calls: Script, given: str = "repository", **options: Any) -> EvalSample:
    """Let an agent work on the task."""
    base = base_image("lmr-author/base:bookworm")
    arguments = {"tasks": "tasks", "input": given, "base_image": base}
    arguments |= {"sandbox": "local", "python": str(PLAIN_PYTHON)}
    return samples(run("agent", folder, calls, arguments, **options))["7-Softplus/1"]


def outcome(sample: EvalSample) -> str:
    """The outcome of the unit test."""
    return str(((sample.scores or {})["unit_test"].metadata or {})["outcome"])


def replies(sample: EvalSample) -> str:
    """What an agent was told by its tools."""
    return "\n".join(message.text for message in sample.messages if message.role == "tool")


def test_an_agent_that_solves(task: Task, tmp_path: Path) -> None:
    calls = [shell("ls -R; whoami"), ("text_editor", {"command": "view", "path": GOAL}), write(GOLDEN)]
    sample = work(tmp_path, calls)
    assert outcome(sample) == "passed"
    assert "paper.json" in replies(sample) and "raise NotImplementedError" in replies(sample)
    [seen] = observe([tmp_path / "logs"]).items
    assert seen.actions == {"run": 2, "read": 1, "finish": 1}
    assert (seen.setting, seen.input, seen.outcome) == ("agent", "repository", "passed")


def test_an_agent_that_gives_up_and_one_that_a_limit_ends(task: Task, tmp_path: Path) -> None:
    assert outcome(work(tmp_path, [])) == "failed"
    stopped = work(tmp_path, [write(GOLDEN), *[shell("true")] * 20], message_limit=12)
    assert stopped.limit is not None and outcome(stopped) == "passed", "what it left counts"


def test_an_agent_that_tampers_finds_nothing_and_gains_nothing(task: Task, tmp_path: Path) -> None:
    sample = work(tmp_path, TAMPERING)
    assert outcome(sample) == "invalid"
    tools = [message.text for message in sample.messages if message.role == "tool"]
    assert tools[0].strip().splitlines() == ["1000"]
    assert not re.search("smooth|cases.json", tools[1]), tools[1]
    assert len(tools[2].strip().splitlines()) > 1 and "Network is unreachable" in tools[2]
    told = "\n".join(message.text for message in sample.messages if message.role != "assistant")
    assert SOFTPLUS_BODY.splitlines()[-1].strip() not in told and "0.9740769841801067" not in told


def test_an_agent_with_nothing_but_the_paper(task: Task, tmp_path: Path) -> None:
    sample = work(tmp_path, [shell("find . -type f"), write(GOLDEN)], "paper")
    assert outcome(sample) == "passed"
    assert set(replies(sample).split()) >= {"./paper.json", "./paper.pdf"} and ".py" not in replies(sample)
