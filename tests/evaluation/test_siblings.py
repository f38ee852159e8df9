"""An answer neither helps nor harms the ones after it, and sees nothing of them: each has a sandbox run of its own."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from pathlib import Path

import pytest

from lmr_author.core.task import Task
from lmr_author.proof.evaluation.verdict import Outcome
from lmr_author.runtime.environment.where import Where
from tests.evaluation.foreign import PLAIN
from tests.evaluation.hostile import CORRECT
from tests.evaluation.test_hostile import BASE_IMAGE, judged
from tests.support import remove_image

RIGHT = "max(margin - x, 0.0)"
IMPORTS = "import ctypes, glob, os, resource, signal, socket, struct, sys, time\n"
QUEUE = """\
libc = ctypes.CDLL(None)
queue = libc.msgget(0x4C4D52, 0o1666)
buffer = ctypes.create_string_buffer(64)
"""


def answer(steps: str, result: str) -> str:
    """A function that tries something, errors aside, and returns a number."""
    tried = textwrap.indent(textwrap.dedent(steps).strip("\n"), " " * 8)
    return (
        f"{IMPORTS}\n\ndef hinge(x, margin=1.0):\n    found = False\n    try:\n{tried}\n"
        f"    except Exception:\n        pass\n    return {result}\n"
    )


def gives(steps: str) -> str:
    """A correct answer that leaves something for others."""
    return answer(steps, RIGHT)


def takes(steps: str) -> str:
    """An answer that is correct if it finds what another one left, and that sets ``found``."""
    return answer(steps, f"{RIGHT} if found else -1.0")


def as_daemon(steps: str) -> str:
    """Steps in a process that nobody waits for."""
    body = textwrap.indent(textwrap.dedent(steps).strip("\n"), " " * 12)
    return (
        "if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        try:\n"
        f"{body}\n        finally:\n            os._exit(0)\n    os._exit(0)\ntime.sleep(0.3)\n"
    )


PLACES = "places = ('/tmp', '/dev/shm', '/dev/mqueue', '/lmr', '/lmr/job', '.', 'pkg', *sys.path)\n"
LEAVES_FILES = """\
for place in places:
    try:
        open(os.path.join(place, 'gift'), 'w').close()
    except OSError:
        pass
"""
SERVES = """\
server = socket.socket(socket.AF_UNIX)
server.bind('\\0gift')
server.listen()
time.sleep(60)
"""
LIMITS = """\
for name, value in (('NOFILE', 99), ('FSIZE', 0)):
    resource.prlimit(os.getppid(), getattr(resource, 'RLIMIT_' + name), (value, value))
"""
GIFTS: Mapping[str, tuple[str, str]] = {
    "file": (
        PLACES + LEAVES_FILES,
        PLACES + "found = any(os.path.exists(os.path.join(place, 'gift')) for place in places)\n",
    ),
    "process": (as_daemon(SERVES), "socket.socket(socket.AF_UNIX).connect('\\0gift')\nfound = True\n"),
    "queue": (
        QUEUE + "ctypes.memmove(buffer, struct.pack('l', 1), 8)\nlibc.msgsnd(queue, buffer, 8, 0o4000)\n",
        QUEUE + "found = libc.msgrcv(queue, buffer, 8, 0, 0o4000) >= 0\n",
    ),
    "limits of the parent": (LIMITS, "found = resource.getrlimit(resource.RLIMIT_NOFILE)[1] == 99\n"),
}
"""Name → steps that leave something, and steps that look for it."""

FRAMES = """
from lmr_probe.checking import to_bytes, write_frame
from lmr_probe.encoding import encode
data = b"".join(
    write_frame({"kind": "case", "case": "case_%d" % case, "variant": name, "status": "returned", "entered": True,
                 "file": "pkg/losses.py", "seconds": 0.0, "error": {}}, to_bytes(encode({"value": 0.0})))
    for case in range(1, 10) for name in ("candidate", "victim")
)
"""
DAEMONS: Mapping[str, str] = {
    "kills": (
        "end = time.monotonic() + 30\n"
        "while time.monotonic() < end:\n"
        "    for name in os.listdir('/proc'):\n"
        "        if name.isdigit() and int(name) not in (1, os.getpid()):\n"
        "            try:\n"
        "                os.kill(int(name), signal.SIGKILL)\n"
        "            except OSError:\n"
        "                pass\n"
    ),
    "traces": (
        "libc, seen = ctypes.CDLL(None), {1, os.getpid()}\n"
        "end = time.monotonic() + 30\n"
        "while time.monotonic() < end:\n"
        "    for name in os.listdir('/proc'):\n"
        "        if name.isdigit() and int(name) not in seen and libc.ptrace(16, int(name), 0, 0) == 0:\n"
        "            seen.add(int(name))\n"  # attached: it stands still
    ),
    "writes to every open file": (
        "end = time.monotonic() + 30\n"
        "while time.monotonic() < end:\n"
        "    for number in range(3, 64):\n"
        "        try:\n"
        "            os.write(number, data)\n"
        "        except OSError:\n"
        "            pass\n"
    ),
}
"""Name → steps of a process that harms whatever it sees."""

PLANTED = "import os\n_exit = os._exit\n_exit(3)\n"
PLANTS = gives(
    f"""
version = 'python%d.%d' % sys.version_info[:2]
site = '/tmp/.local/lib/%s/site-packages' % version
os.makedirs(site, exist_ok=True)
places = [os.path.join(site, 'usercustomize.py'), os.path.join(site, 'sitecustomize.py'), '/tmp/math.py', 'math.py']
places += [os.path.join(folder, name) for folder in sys.path for name in ('sitecustomize.py', 'numpy.py')]
places += glob.glob('pkg/*.py') + glob.glob('/lmr/*/*.py') + [os.__file__, glob.__file__]
for place in places:
    try:
        open(place, 'w').write({PLANTED!r})
    except OSError:
        pass
"""
)

MARK = "what-only-the-other-answer-has"
MARKED = f'def hinge(x, margin=1.0):\n    return "{MARK}"\n'
READS = takes(
    f"""
mark = {MARK[::-1]!r}[::-1].encode()
paths = [os.path.join(folder, name) for top in ('/lmr', '/tmp', '/dev/shm', '.')
         for folder, _, names in os.walk(top) for name in names]
paths += [path for name in ('fd/*', 'mem', 'cmdline', 'environ') for path in glob.glob('/proc/[0-9]*/' + name)]
for path in (path for path in paths if not path.startswith('/proc/%d/' % os.getpid())):
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), 'rb') as file:
            found = found or mark in file.read(1 << 24)
    except OSError:
        pass
with open('/proc/self/mem', 'rb', 0) as memory:
    for line in open('/proc/self/maps').read().splitlines():
        start, end = (int(number, 16) for number in line.split()[0].split('-'))
        if 'rw' in line and end - start < 1 << 28:
            try:
                memory.seek(start)
                data = memory.read(end - start)
            except (OSError, OverflowError, ValueError):
                continue
            found = found or data.count(b'return "' + mark) > 0 or data.count(b'"' + mark) > 0
            del data
"""
)
"""Looks for the other answer's text, or what it returned, in files and in what its own memory was a copy of."""


@pytest.fixture(
    params=[pytest.param("local", marks=pytest.mark.bwrap), pytest.param("docker", marks=pytest.mark.docker)]
)
def place(request: pytest.FixtureRequest, hinge: Task, tmp_path: Path) -> tuple[Task, Where]:
    """The task and a sandbox for it."""
    if request.param == "local":
        return hinge, PLAIN
    copied = Task(hinge.root.rename(tmp_path / "1-Copied"))
    copied.dockerfile.write_text(f"FROM {BASE_IMAGE}\nWORKDIR /workspace\n")
    request.addfinalizer(lambda: remove_image(copied))
    return copied, Where("docker")


@pytest.mark.timeout(600)
def test_an_answer_leaves_nothing_for_the_next(place: tuple[Task, Where], tmp_path: Path) -> None:
    answers = []
    for name, (left, looks) in GIFTS.items():
        answers += [(f"gives {name}", gives(left)), (f"takes {name}", takes(looks))]
    own = [name for name in GIFTS if name != "limits of the parent"]
    answers += [(f"finds its own {name}", takes("".join(GIFTS[name]))) for name in own]
    found = judged(place[0], [*answers, ("correct", CORRECT)], tmp_path / "out", jobs=1, where=place[1])
    for name, result in found.items():
        wanted = Outcome.FAILED if name.startswith("takes") else Outcome.PASSED
        assert result.outcome is wanted, result


@pytest.mark.bwrap
@pytest.mark.timeout(600)
def test_an_answer_harms_no_other(recorded_hinge: Task, tmp_path: Path) -> None:
    answers = [("plants files", PLANTS), ("correct after that", CORRECT)]
    for name, steps in DAEMONS.items():
        answers += [(name, gives(FRAMES + as_daemon(steps))), (f"correct after one that {name}", CORRECT)]
    answers += [("wrong", "def hinge(x, margin=1.0):\n    return -1.0\n")]
    found = judged(recorded_hinge, answers, tmp_path / "out", jobs=1)
    for name, result in found.items():
        if name.startswith("correct"):
            assert result.outcome is Outcome.PASSED, result
    assert found["plants files"].outcome is Outcome.PASSED
    assert found["wrong"].outcome is Outcome.FAILED


@pytest.mark.bwrap
@pytest.mark.timeout(600)
def test_an_answer_reads_nothing_of_another(recorded_hinge: Task, tmp_path: Path) -> None:
    own = READS.replace("try:", f"try:\n        kept = ['return \"{MARK}']", 1)
    answers = [("marked 1", MARKED), ("reads", READS), ("marked 2", MARKED), ("reads its own", own)]
    found = judged(recorded_hinge, answers, tmp_path / "out", jobs=1, seconds=20.0)
    assert found["reads"].outcome is Outcome.FAILED, found["reads"]
    assert found["reads its own"].outcome is Outcome.PASSED, found["reads its own"]
