"""Replaying recorded inputs on versions of the goal file, each in a forked process of its own.

The parent imports the heavy libraries once and never runs the repository's code. It stamps a child's reports with the
variant's name, so one variant cannot speak for another. Results are messages (:mod:`.checking`) on the original
standard output; everything the code prints goes to standard error.

Request: ``{"tree", "goal_file", "qualname", "line", "module", "sys_path", "inputs", "cases",
"variants": [{"id", "source": path or null, "line"}], "case_seconds", "preload", "threads", "until_lost", "share",
"cuda_as_cpu"}``.

``share``: whether modules of installed packages that the first variants load are imported once, for all others.
``until_lost``: whether a variant that is lost in a case skips the others, and so do all variants after the first when
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
from typing import Any, Dict, Iterable, List, NamedTuple, Tuple

from . import facts
from .calling import restore_random
from .checking import Frame, read_frames
from .cuda_as_cpu import use_cpu_for_cuda
from .target import DONE, START, problem, run_cases, send

LOAD_SECONDS = 120.0
"""Time limit of importing the goal file, unless a case may take longer."""

LOADING, RUNNING, LEAVING = b'"kind":"loading"', b'"kind":"running"', b'"kind":"leaving"'
"""Parts of the messages that say what comes next: imports, a case, the end. All of one length."""

_DUMPABLE = 4
MOST_SHARED = 20000
"""Modules that a variant loaded and that the parent loads for the others, at most."""
SHARING = 2
"""Variants that are looked at for that: the first may have failed before it needed anything."""


class ChildEnd(NamedTuple):
    """The end of a child: its messages, whether its time ran out, and whether it was still importing."""

    frames: List[Frame]
    timed_out: bool
    status: int
    loading: bool


def replay(request: Dict[str, Any]) -> int:
    """Serve a request. Returns 0 when every variant was run, whatever it did."""
    out = take_stdout()
    _set_dumpable(False)  # children run as the same user, and must not look into this process
    _leave_tree(request["tree"])
    if request.get("cuda_as_cpu"):
        use_cpu_for_cuda()
    _preload(request.get("preload") or ())
    send(out, dict(facts.versions(), kind="facts", **facts.isolation(request["tree"])))
    variants = request["variants"]
    for number, variant in enumerate(variants):
        share = request.get("share", True) and number < SHARING < len(variants)
        loaded, lost = _run_variant(request, variant, out, share)
        if share:
            send(out, {"kind": "loading"})
            _import(loaded[:MOST_SHARED])
        if lost and number == 0 and request.get("until_lost"):
            break
    send(out, {"kind": "leaving"})
    send(out, {"kind": "end", "variants": len(variants), "peak_rss": facts.peak_memory()})
    return 0


def take_stdout() -> int:
    """Keep the real standard output for messages; from now on whatever is printed goes to standard error."""
    sys.stdout.flush()
    out = os.dup(1)
    os.dup2(2, 1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return out


def _set_dumpable(allowed: bool) -> None:
    """Say whether processes of the same user may look into this one (Linux only)."""
    try:
        ctypes.CDLL(None).prctl(_DUMPABLE, int(allowed), 0, 0, 0)
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


def _preload(names: Iterable[str]) -> None:
    """Import the heavy libraries that are there, and use PyTorch once: first uses are slow.

    With one thread and without a backward pass: a forked process waits for ever for threads that either has started.
    """
    _import(names)
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "set_num_threads"):
        torch.set_num_threads(1)
        weight = torch.ones(4, 4, requires_grad=True)
        torch.nn.functional.log_softmax(weight @ weight, dim=-1).sum()
    restore_random({})


def _import(names: Iterable[Any]) -> None:
    """Import modules for all versions that follow; the memory in use then stays shared with their processes."""
    for name in names:
        try:
            importlib.import_module(name)
        except KeyboardInterrupt:
            raise
        except BaseException:  # a library that is absent or broken is the versions' business
            continue
    gc.collect()
    gc.freeze()


def _run_variant(
    request: Dict[str, Any], variant: Dict[str, Any], out: int, share: bool
) -> Tuple[List[str], bool]:
    """Run all cases of a variant, in a new child after each one that was lost.

    Returns the modules that it loaded, and whether it was lost in a case.
    """
    waiting = list(request["cases"])
    modules: List[str] = []
    any_lost = False
    while waiting:
        ended = _run_child(request, variant, waiting, out, share)
        answers, used = _answers(ended.frames, waiting)
        modules = used or modules
        for answer in answers.values():
            send(out, dict(answer.header, variant=variant["id"]), answer.payload)
        unanswered = [case for case in waiting if case not in answers]
        if not unanswered:
            break
        any_lost = True
        lost = unanswered if ended.loading else unanswered[:1]
        for case in lost:
            send(out, _lost(variant["id"], case, ended))
        waiting = [] if request.get("until_lost") else unanswered[len(lost) :]
    return modules, any_lost


def _answers(frames: List[Frame], cases: List[str]) -> Tuple[Dict[str, Frame], List[str]]:
    answers: Dict[str, Frame] = {}
    modules: List[str] = []
    for frame in frames:
        kind, case = frame.header.get("kind"), frame.header.get("case")
        if kind == "case" and case in cases:
            answers.setdefault(case, frame)
        elif kind == "used" and isinstance(frame.header.get("modules"), list):
            modules = frame.header["modules"]
    return answers, modules


def _lost(variant: str, case: str, ended: ChildEnd) -> Dict[str, Any]:
    if ended.timed_out:
        message = "the time limit was reached while %s" % ("importing" if ended.loading else "running")
    elif os.WIFSIGNALED(ended.status):
        message = "the process was ended by signal %d" % os.WTERMSIG(ended.status)
    else:
        message = "the process ended with exit code %d" % (os.WEXITSTATUS(ended.status))
    return {
        "kind": "case",
        "variant": variant,
        "case": case,
        "status": "timeout" if ended.timed_out else "crashed",
        "error": problem("Timeout" if ended.timed_out else "Crash", message),
    }


def _run_child(
    request: Dict[str, Any], variant: Dict[str, Any], cases: List[str], out: int, share: bool
) -> ChildEnd:
    send(out, {"kind": "loading"})
    reader, writer = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        code = 70
        try:
            os.setpgid(0, 0)
            os.close(reader)
            os.close(out)
            _set_dumpable(True)
            run_cases(request, variant, cases, writer, share)
            code = 0
        except BaseException as error:
            print("replayer: %s: %s" % (type(error).__name__, error), file=sys.stderr)
        finally:
            try:
                sys.stderr.flush()
            finally:
                os._exit(code)
    os.close(writer)
    try:
        os.setpgid(child, child)
    except OSError:  # it did so itself already
        pass
    try:
        data, timed_out = _collect(reader, float(request.get("case_seconds") or 60.0), len(cases), out)
    finally:
        os.close(reader)
        for kill in (os.killpg, os.kill):
            try:
                kill(child, signal.SIGKILL)
            except OSError:
                continue
        _, status = os.waitpid(child, 0)
    frames = read_frames(data)
    started = any(frame.header.get("kind") == "loaded" for frame in frames)
    return ChildEnd(frames, timed_out, status, not started)


def _collect(reader: int, limit: float, cases: int, out: int) -> Tuple[bytes, bool]:
    """Return everything the child sends, and whether its time ran out.

    The time starts anew when a case begins, but only so often as there are cases. Data that has come is read before the
    child is called late: this process may be what stood still.
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
        starts = recent.count(START) - tail.count(START)  # those in the tail have been counted
        tail = recent[-max(len(DONE), len(START)) + 1 :]
        if starts and begun < cases:
            begun += starts
            send(out, {"kind": "running"})
            deadline = time.monotonic() + limit
        elif left <= 0:
            return b"".join(chunks), True
