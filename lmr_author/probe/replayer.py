"""Replaying recorded inputs on versions of the goal file, each in a forked process of its own.

The parent imports the heavy libraries once and never runs the repository's code. What a child reports
is stamped with the variant's name by the parent, so one variant cannot speak for another. Results are
frames (:mod:`.frames`) on the original standard output; everything the code prints goes to standard error.

Request: ``{"tree", "goal_file", "qualname", "line", "module", "sys_path", "inputs", "cases",
"variants": [{"id", "source": path or null, "line"}], "case_seconds", "preload", "threads", "until_lost", "share"}``.

``share``: whether modules of installed packages that the first variants load are imported once, for all others.
``until_lost``: whether a variant that is lost in a case is not asked for the others, and nobody after the first when
that is lost.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import os
import select
import signal
import sys
import time
from typing import Any, Dict, List, NamedTuple, Tuple

from . import facts
from .calling import random_states, restore_random
from .child import DONE, START, run_cases, send_bytes
from .compare import changed
from .decoding import decode
from .encoding import encode
from .frames import Frame, read_frames, write_frame

LOAD_SECONDS = 120.0
"""Time limit of importing the goal file, unless a case may take longer."""

_DUMPABLE = 4
MOST_SHARED = 20000
"""So many modules that a variant loaded are loaded in the parent for the others, at most."""
SHARING = 2
"""So many variants are looked at for that: the first may have failed before it needed anything."""


class Ran(NamedTuple):
    """What a variant came to: the modules that it loaded, and whether it was lost in a case."""

    loaded: List[str]
    lost: bool


class Ended(NamedTuple):
    """How a child ended: frames of whole cases, the case it was in, and whether it was killed for time."""

    frames: List[Frame]
    timed_out: bool
    status: int
    loading: bool


def replay(request: Dict[str, Any]) -> int:
    """Serve a request. Returns 0 when every variant was run, whatever it did."""
    out = take_stdout()
    _guard_parent()
    _leave_tree(request["tree"])
    known = _preload(request.get("preload") or ())
    report = dict(facts.versions(), packages=facts.packages(), **facts.isolation(request["tree"]))
    send_bytes(out, write_frame(dict(report, kind="facts")))
    variants = request["variants"]
    for number, variant in enumerate(variants):
        share = request.get("share", True) and number < SHARING < len(variants)
        ran = _run_variant(request, dict(variant, share=share), out)
        if share:
            _share(ran.loaded, known)
        if ran.lost and number == 0 and request.get("until_lost"):
            break
    send_bytes(out, write_frame({"kind": "end", "variants": len(variants), "peak_rss": facts.peak_memory()}))
    return 0


def take_stdout() -> int:
    """Keep the real standard output for frames; from now on whatever is printed goes to standard error."""
    sys.stdout.flush()
    out = os.dup(1)
    os.dup2(2, 1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return out


def _guard_parent() -> None:
    """Keep children, which run as the same user, from looking into this process (Linux only)."""
    try:
        ctypes.CDLL(None).prctl(_DUMPABLE, 0, 0, 0, 0)
    except (OSError, AttributeError):
        pass


def _leave_tree(tree: str) -> None:
    """Make sure that nothing of the repository can be imported here by accident."""
    base = os.path.realpath(tree)
    outside = []
    for entry in sys.path:
        real = os.path.realpath(entry or os.getcwd())
        if entry and real != base and not real.startswith(base + os.sep):
            outside.append(entry)
    sys.path[:] = outside


def _preload(names: Any) -> Any:
    """Import the heavy libraries that are there, and use torch once: first uses are slow.

    With one thread and without a backward pass: a forked process waits for ever for threads that either has started.
    """
    for name in names:
        try:
            importlib.import_module(name)
        except Exception:  # a library that is absent or broken is the variants' business
            continue
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "set_num_threads"):
        torch.set_num_threads(1)
        weight = torch.ones(4, 4, requires_grad=True)
        torch.nn.functional.log_softmax(weight @ weight, dim=-1).sum()
    _warm_up()
    gc.collect()
    gc.freeze()  # what is there now stays shared with the children
    return set(sys.modules)


def _warm_up() -> None:
    """Use our own code once, so that no child has to load or compile anything for it."""
    value: Dict[str, Any] = {"x": [1.0, "text"], "random": random_states()}
    for library, make in (("numpy", "zeros"), ("torch", "zeros")):
        module = sys.modules.get(library)
        if module is not None and hasattr(module, make):
            value[library] = getattr(module, make)(2)
    document = encode(value)
    changed(document, encode(decode(document)))
    restore_random({})


def _share(loaded: List[str], before: Any) -> None:
    """Import here what a version had to import from installed packages, for the next ones."""
    for name in loaded[:MOST_SHARED]:
        if not isinstance(name, str) or name in before:
            continue
        try:
            importlib.import_module(name)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
    gc.collect()
    gc.freeze()


def _run_variant(request: Dict[str, Any], variant: Dict[str, Any], out: int) -> Ran:
    """Run all cases of a variant, in a new child after each one that was lost."""
    waiting = list(request["cases"])
    loaded: List[str] = []
    any_lost = False
    while waiting:
        ended = _run_child(request, variant, waiting, out)
        answered = set()
        for frame in ended.frames:
            case = frame.header.get("case")
            if frame.header.get("kind") == "used":
                names = frame.header.get("modules")
                loaded = names if isinstance(names, list) else []
            if frame.header.get("kind") == "case" and case in waiting and case not in answered:
                answered.add(case)
                send_bytes(out, write_frame(dict(frame.header, variant=variant["id"]), frame.payload))
        rest = [case for case in waiting if case not in answered]
        if not rest:
            break
        lost = rest if ended.loading else rest[:1]
        any_lost = True
        for case in lost:
            send_bytes(out, write_frame(_lost(variant["id"], case, ended)))
        waiting = [] if request.get("until_lost") else rest[len(lost) :]
    return Ran(loaded, any_lost)


def _lost(variant: str, case: str, ended: Ended) -> Dict[str, Any]:
    """The report of a case that did not answer."""
    if ended.timed_out:
        message = "the time limit was reached while %s" % ("importing" if ended.loading else "running")
    elif os.WIFSIGNALED(ended.status):
        message = "the process was ended by signal %d" % os.WTERMSIG(ended.status)
    else:
        message = "the process ended with exit code %d" % (os.WEXITSTATUS(ended.status))
    error = {"type": "Timeout" if ended.timed_out else "Crash", "message": message, "traceback": ""}
    return {
        "kind": "case",
        "variant": variant,
        "case": case,
        "status": "timeout" if ended.timed_out else "crashed",
        "entered": False,
        "file": "",
        "seconds": 0.0,
        "error": dict(error, raised_in_target=False),
    }


def _run_child(request: Dict[str, Any], variant: Dict[str, Any], cases: List[str], out: int) -> Ended:
    reader, writer = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        _be_child(request, variant, cases, reader, writer, out)
    os.close(writer)
    try:
        os.setpgid(child, child)
    except OSError:  # it did so itself already
        pass
    limit = float(request.get("case_seconds") or 60.0)
    try:
        data, timed_out = _collect(reader, limit, len(cases))
    finally:
        os.close(reader)
        _kill_group(child)
        _, status = os.waitpid(child, 0)
    frames = read_frames(data)
    started = any(frame.header.get("kind") == "loaded" for frame in frames)
    return Ended(list(frames), timed_out, status, not started)


def _be_child(
    request: Dict[str, Any], variant: Dict[str, Any], cases: List[str], reader: int, writer: int, out: int
) -> None:
    """The child's whole life."""
    code = 70
    try:
        os.setpgid(0, 0)
        for other in (reader, out):
            os.close(other)
        try:
            ctypes.CDLL(None).prctl(_DUMPABLE, 1, 0, 0, 0)
        except (OSError, AttributeError):
            pass
        run_cases(request, variant, cases, writer)
        code = 0
    except BaseException as error:
        print("replayer: %s: %s" % (type(error).__name__, error), file=sys.stderr)
    finally:
        try:
            sys.stderr.flush()
        finally:
            os._exit(code)


def _collect(reader: int, limit: float, cases: int) -> Tuple[bytes, bool]:
    """Everything the child sends, and whether its time ran out.

    The time starts anew when a case begins, but only so often as there are cases. What has come is read before it is
    called late: this process may be what stood still.
    """
    chunks: List[bytes] = []
    tail, begun = b"", 0
    deadline = time.monotonic() + max(LOAD_SECONDS, limit)
    while True:
        left = deadline - time.monotonic()
        if not select.select([reader], [], [], max(0.0, left))[0]:
            return b"".join(chunks), True
        chunk = os.read(reader, 1 << 20)
        if not chunk:
            return b"".join(chunks), False
        chunks.append(chunk)
        recent = tail + chunk
        if recent.endswith(DONE):  # a process that it left behind may hold the pipe open
            return b"".join(chunks), False
        starts = recent.count(START) - tail.count(START)  # what is in the tail has been counted
        tail = recent[-max(len(DONE), len(START)) + 1 :]
        if starts and begun < cases:
            begun += starts
            deadline = time.monotonic() + limit
        elif left <= 0:
            return b"".join(chunks), True


def _kill_group(child: int) -> None:
    for kill in (os.killpg, os.kill):
        try:
            kill(child, signal.SIGKILL)
        except OSError:
            continue
