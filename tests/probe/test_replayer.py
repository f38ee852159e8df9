# ruff: noqa: E501 (samples of source code and tables of cases read better unbroken)
"""The replayer against code that fails, hangs, dies, lies and shouts."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from lmr_author.runtime.probe import checking as frames
from lmr_author.runtime.probe import replayer
from tests.probe.harness import PROBE, Replayed, Repository
from tests.probe.scenarios import make

GOAL = "def f(x):\n    return x + 1\n"


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = make(tmp_path, "f", GOAL, "from pkg.goal import f\nf(1)\nf(2)\nf(3)\n")
    assert made.record("driver.py").returncode == 0
    return made


def statuses(repository: Repository, body: str, **request: object) -> list[str]:
    """Status of each case for a goal file with this text."""
    replayed = repository.replay({"variant": body, "golden": None}, **request)
    replayed.assert_same("golden")
    return [header["status"] for _, header in sorted(replayed.headers("variant").items())]


DIES = "import os\ndef f(x):\n    if x == 2:\n        %s\n    return x + 1\n"
FAILURES = {
    "no module": ("import nothing_like_this\n" + GOAL, ["import-error"] * 3),
    "ends": ("raise SystemExit(0)\n" + GOAL, ["import-error"] * 3),
    "no python": ("def f(:\n", ["import-error"] * 3),
    "no function": ("x = 1\n", ["import-error"] * 3),
    "dies": ("import os\nos._exit(3)\n" + GOAL, ["crashed"] * 3),
    "hangs": (DIES % "__import__('time').sleep(60)", ["returned", "timeout", "returned"]),
    "exits": (DIES % "os._exit(0)", ["returned", "crashed", "returned"]),
    "is killed": (DIES % "os.kill(os.getpid(), 9)", ["returned", "crashed", "returned"]),
    "aborts": (DIES % "os.abort()", ["returned", "crashed", "returned"]),
    "cannot be stored": ("def f(x):\n    return lambda: 1\n", ["unstorable"] * 3),
    "other parameters": ("def f(y):\n    return 1\n", ["bad-inputs"] * 3),
}
"""Name of a version → its text, and the status of each case."""


def test_failures(repository: Repository) -> None:
    replayed = repository.replay(
        {**{name: text for name, (text, _) in FAILURES.items()}, "golden": None}, case_seconds=3
    )
    replayed.assert_same("golden")
    for name, (_, expected) in FAILURES.items():
        assert [header["status"] for _, header in sorted(replayed.headers(name).items())] == expected, name
    error = replayed.headers("no module")["000001"]["error"]
    assert (
        error["type"] == "ModuleNotFoundError" and error["message"] == "No module named 'nothing_like_this'"
    )
    assert error["raised_in_target"] is False


def test_damaged_inputs(repository: Repository) -> None:
    (repository.out / "calls" / "000002" / "inputs.json").write_text("{}")
    replayed = repository.replay()
    assert [item["status"] for item in replayed.headers().values()] == ["returned", "bad-inputs", "returned"]


@pytest.mark.timeout(60)
def test_a_process_left_behind_does_not_hold_the_replay_up(repository: Repository, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    body = (
        "import os, time\ndef f(x):\n    if os.fork() == 0:\n        os.setsid()\n        os.close(1)\n        os.close(2)\n"
        f"        with open({str(pids)!r}, 'a') as file:\n            file.write('%d\\n' % os.getpid())\n"
        "        time.sleep(600)\n        os._exit(0)\n    return x + 1\n"
    )
    try:
        assert statuses(repository, body, case_seconds=500) == ["returned"] * 3
    finally:
        for pid in pids.read_text().split():
            os.kill(int(pid), signal.SIGKILL)


def test_noise_on_standard_output_stays_out_of_the_frames(repository: Repository) -> None:
    body = (
        "import os, sys, subprocess\nprint('Passed')\ndef f(x):\n    print('noise', flush=True)\n    os.write(1, b'more')\n"
        "    sys.__stdout__.write('even more')\n    subprocess.run(['echo', 'outside'])\n    assert sys.stdin.read() == ''\n"
        "    return x + 1\n"
    )
    replayed = repository.replay({"golden": body})
    replayed.assert_same()
    assert b"noise" in replayed.process.stderr and b"outside" in replayed.process.stderr


def test_a_variant_cannot_speak_for_another(repository: Repository) -> None:
    forged = frames.write_frame(
        {"kind": "case", "variant": "golden", "case": "000001", "status": "returned", "entered": True},
        b"forged",
    )
    body = (
        f"import os\nFORGED = {forged!r}\ndef f(x):\n    for fd in range(3, 60):\n        try:\n            os.write(fd, FORGED)\n"
        "        except OSError:\n            pass\n    return 'wrong'\n"
    )
    replayed = repository.replay({"hostile": body, "golden": None})
    assert replayed.frames[-1].header["kind"] == "end"
    assert [item["status"] for item in replayed.headers("golden").values()] == ["returned"] * 3
    assert replayed.differences("golden") == []
    assert replayed.headers("hostile")["000001"]["variant"] == "hostile"


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="looks into /proc")
def test_the_parent_cannot_be_looked_into() -> None:
    """As root everything can be; so the replayer runs as nobody, in a folder that nobody can read."""
    python = shutil.which("python3", path="/usr/bin:/usr/local/bin")
    if os.getuid() != 0 or not shutil.which("setpriv") or python is None:
        pytest.skip("needs root, setpriv and a python that everyone can run")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        made = make(Path(folder), "f", GOAL, "from pkg.goal import f\nf(1)\n")
        made.python = python
        made.record("driver.py")
        body = (
            "import os\ndef f(x):\n    parent = os.getppid()\n    try:\n        os.listdir('/proc/%d/fd' % parent)\n"
            "    except PermissionError:\n        return x + 1\n"
        )
        assert made.replay({"golden": body}).differences(), "root can look"
        shutil.copytree(PROBE, Path(folder) / "probe")
        nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", python, f"{folder}/probe"]
        done = subprocess.run(
            [*nobody, "replay", str(made.out / "request.json")], capture_output=True, timeout=60
        )
        replayed = Replayed(made, frames.read_frames(done.stdout), done)
        replayed.assert_same()
        assert replayed.frames[0].header["uid"] == 65534


def test_a_module_of_the_same_name_elsewhere_is_not_the_target(tmp_path: Path) -> None:
    repository = make(tmp_path, "f", GOAL, "from pkg.goal import f\nf(1)\n")
    repository.record("driver.py")
    other = tmp_path / "other"
    (other / "pkg").mkdir(parents=True)
    (other / "pkg" / "__init__.py").write_text("")
    (other / "pkg" / "goal.py").write_text(GOAL)
    replayed = repository.replay(sys_path=["../other"])
    (header,) = replayed.headers().values()
    assert header["status"] == "import-error"
    assert "which is not the goal file" in header["error"]["message"]


def test_facts(repository: Repository) -> None:
    replayed = repository.replay(preload=["numpy"])
    (facts,) = [item.header for item in replayed.frames if item.header["kind"] == "facts"]
    assert facts["python"] == ".".join(str(part) for part in sys.version_info[:3])
    assert facts["numpy"] and "torch" not in facts
    assert isinstance(facts["network"], bool) and facts["tree_writable"] is True
    assert replayed.frames[-1].header["peak_rss"] > 1_000_000
    shown = subprocess.run([sys.executable, str(PROBE), "facts"], capture_output=True, check=True)
    assert "pytest" in json.loads(shown.stdout)["packages"]


def test_the_repository_is_never_imported_in_the_parent(repository: Repository) -> None:
    """Its own file of a library's name is the variants' business; the folder is the current one, as in a sandbox."""
    (repository.root / "numpy.py").write_text("raise SystemExit(9)\n")
    repository.replay(preload=["numpy"])  # writes the request
    package = repository.out / "package" / "lmr_probe"
    shutil.copytree(PROBE, package)
    done = subprocess.run(
        [sys.executable, "-m", "lmr_probe", "replay", str(repository.out / "request.json")],
        cwd=repository.root,
        env={"PYTHONPATH": str(package.parent)},
        capture_output=True,
        timeout=60,
    )
    replayed = Replayed(repository, frames.read_frames(done.stdout), done)
    replayed.assert_same()
    assert replayed.frames[0].header["numpy"] != ""


def test_many_variants_share_what_the_first_one_had_to_import(tmp_path: Path) -> None:
    """Later variants do not import again what is installed, but do import the repository again."""
    goal = "import wave, sys\nfrom .helper import double\n\ndef f(x):\n    return double(x)\n"
    repository = make(tmp_path, "f", goal, "from pkg.goal import f\nf(1)\n")
    repository.record("driver.py")
    tells = goal + "\nBEFORE = None\n"
    spy = "import sys\nBEFORE = 'wave' in sys.modules, 'pkg.helper' in sys.modules\n" + goal.replace(
        "double(x)", "BEFORE"
    )
    replayed = repository.replay({"first": tells, "second": spy, "third": spy})
    for name in ("second", "third"):
        root = replayed.document("000001", name).tree
        assert root["value"]["v"] == [True, False]


def test_children_do_not_outlive_their_variant(repository: Repository, tmp_path: Path) -> None:
    marker = tmp_path / "alive"
    body = (
        "import subprocess, sys\ndef f(x):\n"
        f"    code = 'import time; time.sleep(0.8); open(%r, chr(119))' % {str(marker)!r}\n"
        "    subprocess.Popen([sys.executable, '-c', code])\n"
        "    return x + 1\n"
    )
    assert statuses(repository, body) == ["returned"] * 3
    time.sleep(1.2)
    assert not marker.exists()


@pytest.mark.timeout(60)
def test_the_time_of_a_case_begins_with_its_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not with what it sends next: an endless loop sends nothing more."""
    monkeypatch.setattr(replayer, "LOAD_SECONDS", 1e6)
    sent = frames.write_frame({"kind": "loaded"}) + frames.write_frame({"kind": "start", "case": "7"})
    reader, writer = os.pipe()
    os.write(writer, sent[:30])
    rest = threading.Timer(0.2, os.write, (writer, sent[30:]))
    rest.start()
    reports, out = os.pipe()
    assert replayer._collect(reader, 0.5, 1, out) == (sent, True)
    rest.join()
    assert replayer.RUNNING in os.read(reports, 1000)
    os.close(reports)
    os.close(out)
    os.close(reader)
    os.close(writer)
