"""``lmr-author record`` as it is typed: what drives the target, and mistakes in that."""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import signal

import pytest

from lmr_author.task import Task
from tests.cli.conftest import HINGE
from tests.cli.program import TEMPORARY, finish, lmr, start, succeed, wait_for
from tests.evaluation.foreign import PLAIN_PYTHON

pytestmark = pytest.mark.bwrap


def test_a_large_call_says_how_much_to_cut(masked: Task) -> None:
    (masked.root / "small-repo/large.py").write_text(
        "from pkg.losses import hinge\ntry:\n    hinge(list(range(100_000)))\nexcept TypeError:\n    pass\n"
    )
    ended = lmr(
        "record", HINGE, "--max-mb", "0.1", "--python", PLAIN_PYTHON, "--", "python", "large.py", cwd=masked.root
    )  # fmt: skip
    assert ended.code == 3
    assert "larger than the limit: x: " in ended.err and "--max-mb" in ended.err


def test_a_golden_that_raises_in_every_case_is_told(masked: Task) -> None:
    driver = "from pkg.losses import hinge\ntry:\n    hinge('no number')\nexcept TypeError:\n    pass\n"
    (masked.root / "small-repo/wrong.py").write_text(driver)
    words = ("record", HINGE, "--python", PLAIN_PYTHON, "--", "python", "wrong.py")
    done = succeed(*words, cwd=masked.root)
    assert "the golden raises in every case" in done.err


FATAL = "from pkg.losses import hinge\n"


@pytest.mark.parametrize(
    ("driver", "code"),
    [
        ('hinge("text")\n', 3),
        ('for x in ("a", "b"):\n    try:\n        hinge(x)\n    except TypeError as error:\n        print(error)\n', 0),
        ('try:\n    hinge("a")\nexcept TypeError:\n    pass\nhinge(1.0, 0.5)\nhinge("a")\n', 0),
        ('try:\n    hinge("a")\nexcept TypeError:\n    pass\nraise KeyError("other")\n', 0),
    ],
    ids=["uncaught", "caught", "beside one that returns", "dead of something else"],
)  # fmt: skip
def test_a_command_that_dies_of_what_the_golden_raises(masked: Task, driver: str, code: int) -> None:
    (masked.root / "small-repo/fatal.py").write_text(FATAL + driver)
    ended = lmr("record", HINGE, "--python", PLAIN_PYTHON, "--", "python", "fatal.py", cwd=masked.root)
    assert ended.code == code, ended.err
    refused = "raised whenever it was called, and the command died of it: TypeError: " in ended.err
    assert refused == bool(code) and ("have the driver catch it" in ended.err) == refused
    assert (masked.root / "small-repo/unit_test/unit_test_1.py").exists() != refused


def test_what_the_command_and_its_python_were_is_said(masked: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LMR_AUTHOR_CACHE", str(masked.root.parent / "cache"))
    (masked.root / "small-repo/fail.py").write_text(
        "from pkg.losses import hinge\nfor x in (0.5, 2.0, -1.0): hinge(x, margin=1.5)\nrange(3).missing\n"
    )
    done = succeed("record", "--", "python", "fail.py", cwd=masked.root)
    first, *_, _ = done.err.splitlines()
    assert first.startswith(f"recording with lmr-author's own Python {platform.python_version()} (")
    assert "`lmr-author env local` makes one" in first
    assert "exit code 1: AttributeError: 'range' object has no attribute 'missing'" in done.err
    named = succeed("record", "--force", "--python", PLAIN_PYTHON, "--", "python", "fail.py", cwd=masked.root)
    assert "own Python" not in named.err


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT], ids=["kill -9", "Ctrl-C"])
def test_a_recording_that_is_killed_goes_on_with_what_was_complete(masked: Task, number: int) -> None:
    """lmr-author itself is killed, in the midst of a command that goes on for long."""
    driver = masked.root / "small-repo/slow.py"
    driver.write_text(
        "import time\nfrom pkg.losses import hinge\n"
        "for x in (0.5, 2.0, -1.0): hinge(x, margin=1.5)\ntime.sleep(300)\n"
    )
    command = ("--python", PLAIN_PYTHON, "--", "python", "slow.py")
    process = start("record", *command, cwd=masked.root)
    kept = masked.run_folder(1)
    wait_for(lambda: len(list(kept.glob("out/calls/*/meta.json"))) == 3)
    os.kill(process.pid, number)
    ended = finish(process)
    assert ended.code == (-9 if number == signal.SIGKILL else 130)
    assert ("--resume" in ended.err) == (number == signal.SIGINT)
    for path in TEMPORARY.glob("lmr-author-record-*"):
        shutil.rmtree(path)

    other = lmr("record", "--resume", *command[:-1], "run.py", cwd=masked.root)
    assert other.code == 3 and "no earlier run of this command" in other.err
    # The status of the task names the command that resumes it, from any folder.
    found = succeed("status", masked.root, "--format", "json", cwd=masked.root.parent).json()["tasks"][0]
    program, *resume = shlex.split(found["next"])
    assert program == "lmr-author" and "--resume" in resume
    done = succeed(*resume, cwd=masked.root.parent)
    assert "recorded 3 of 3 calls" in done.err
    assert not kept.exists()
