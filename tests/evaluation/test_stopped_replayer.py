"""A candidate that stops what watches over its time holds its slot no longer than its limit, and is tried once."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from lmr_author.core.task import Task
from lmr_author.proof.evaluation.verdict import Outcome
from tests.evaluation.hostile import CORRECT, does
from tests.evaluation.test_hostile import GRACE_SECONDS, SECONDS, judged

SLEEP = "time.sleep(600)"
ALL_OTHERS = "[int(name) for name in os.listdir('/proc') if name.isdigit() and int(name) != os.getpid()]"
STALLING = {
    "stops its parent": does("os.kill(os.getppid(), signal.SIGSTOP)", SLEEP),
    "stops everything": does(
        f"for process in {ALL_OTHERS}:",
        "    try:",
        "        os.kill(process, signal.SIGSTOP)",
        "    except OSError:",
        "        pass",
        SLEEP,
    ),
    "leaves a process that stops its parent": does(
        "parent = os.getppid()",
        "if os.fork() == 0:",
        "    os.setsid()",
        "    if os.fork() == 0:",
        "        while True:",
        "            os.kill(parent, signal.SIGSTOP)",
        "    os._exit(0)",
        SLEEP,
    ),
    "starves its parent": does(
        "import resource",
        "resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (0, 0))",
        "os.kill(os.getppid(), signal.SIGSTOP)",
        SLEEP,
    ),
    "leaves a process with its output": does(
        "if os.fork() == 0:",
        "    os.setsid()",
        "    if os.fork() == 0:",
        f"        {SLEEP}",
        "    os._exit(0)",
    ),
    "closes its pipes and sleeps": does("os.closerange(0, 256)", SLEEP),
    "sleeps at its exit": does("import atexit", "atexit.register(time.sleep, 600)", "raise SystemExit"),
}
SLOT = SECONDS + GRACE_SECONDS + 15
"""The limit of a case, a few seconds, and the start of a sandbox on a busy machine. The run may take far longer."""


@pytest.mark.bwrap
@pytest.mark.timeout(600)
def test_stalling_candidates_hold_no_slot(recorded_hinge: Task, tmp_path: Path) -> None:
    started = time.monotonic()
    answers = [*STALLING.items(), ("correct", CORRECT)]
    found = judged(recorded_hinge, answers, tmp_path / "out", start_seconds=300.0, jobs=4)
    assert time.monotonic() - started < 300
    assert found["correct"].outcome is Outcome.PASSED
    for name in STALLING:
        assert found[name].seconds < SLOT, found[name]
        assert found[name].outcome in (Outcome.TIMEOUT, Outcome.CRASHED, Outcome.FAILED), found[name]
    assert found["stops its parent"].outcome is Outcome.TIMEOUT
