"""What proving and judging cost, each against its floor, in one run. `python benchmarks/evaluate.py --help`.

- `gate`: a gate's run of a test in Docker against a bare `docker run` of the same test (budget 1.2)
- `mutants`: mutants in one fork server against one sandbox run each (budget: 30 times faster)
- `peer`: the same by cosmic-ray (`pip install cosmic-ray`), on the same file and test, for a while
- `candidates`: throughput of candidates with one job and with two, and the memory of it all
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import psutil

from lmr_author.code import region_bytes
from lmr_author.evaluation import script
from lmr_author.evaluation.bench import Bench
from lmr_author.evaluation.candidates.run import score
from lmr_author.evaluation.candidates.scorer import CandidateOptions
from lmr_author.evaluation.judges import RecordingJudge
from lmr_author.evaluation.mutants import mutants
from lmr_author.evaluation.resolve import resolve
from lmr_author.sandbox import image_tag, open_sandbox
from lmr_author.sandbox.docker import DockerSandbox
from lmr_author.task import Task

TASK = Path(__file__).resolve().parent.parent / "tasks" / "1-rating-margin"


def nothing(*_: object) -> None:
    """No progress."""


def seconds(work: Callable[[], object]) -> float:
    """Wall-clock time of some work."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


@contextmanager
def bench(task: Task, kind: str, base_image: str | None) -> Iterator[Bench]:
    """The first implementation of a task, in a prepared sandbox."""
    info, (one, *_) = resolve(task)
    context = {"context": task.root, "name": task.name, "repo_folder": info.repo_folder_name}
    with (
        open_sandbox(kind, python=Path(sys.executable), base_image=base_image, **context) as sandbox,  # type: ignore[arg-type]
        Bench(task, info, one.implementation, sandbox, 60, qualnames=one.qualnames) as made,
    ):
        sandbox.prepare()
        yield made


def gate(task: Task, runs: int, base_image: str) -> None:
    """The unit test on the golden: by `docker run`, and by the gate's judge, in turn."""
    with bench(task, "docker", base_image) as made:
        assert isinstance(made.sandbox, DockerSandbox)
        tree = made.fresh_tree("bare", made.golden_overlay)
        command = [
            "docker",
            "run",
            "--rm",
            "--network",
            "none",
            "-v",
            f"{tree}:{made.inside}",
            "-w",
            made.inside,
        ]
        command += ["-e", f"PYTHONPATH={made.inside}", image_tag(task.name, task.root), "python"]
        command += [made.implementation.unit_test_file]
        times: dict[str, list[float]] = {"floor": [], "ours": []}
        for _ in range(runs):
            times["floor"].append(seconds(lambda: subprocess.run(command, check=True, capture_output=True)))
            times["ours"].append(seconds(lambda: script.run(made, "ours", made.golden_overlay, 0)))
    floor, ours = (statistics.median(times[name]) for name in ("floor", "ours"))
    print(
        f"gate        docker run {floor:6.2f} s   ours {ours:6.2f} s   ratio {ours / floor:.2f} (budget 1.2)"
    )


def killed(task: Task, most: int, single: int) -> None:
    """Mutants of the golden: all in one run of the sandbox, and some of them in a run each."""
    with bench(task, "local", None) as made:
        assert made.recording is not None and made.definitions is not None
        judge = RecordingJudge(made, made.recording)
        tried = {item.id: item.data for item in mutants(made.golden_module, made.definitions[0], most)}
        together = seconds(lambda: judge.versions(tried)) / len(tried)
        few = dict(list(tried.items())[:single])
        apart = seconds(lambda: [judge.versions({name: data}) for name, data in few.items()]) / len(few)
    faster = f"{apart / together:.1f} times faster (budget 30)"
    print(
        f"mutants     {1 / together:6.1f} a second in one server, {1 / apart:6.2f} in a process each: {faster}"
    )


_COSMIC_RAY = """[cosmic-ray]
module-path = {goal!r}
timeout = 60.0
excluded-modules = []
test-command = {command!r}
[cosmic-ray.distributor]
name = "local"
"""


def peer(task: Task, limit: float) -> None:
    """How many mutants of the goal file cosmic-ray tries with the shipped test, in ``limit`` seconds."""
    program = shutil.which("cosmic-ray") or shutil.which("cosmic-ray", path=str(Path(sys.executable).parent))
    if program is None:
        print("peer        cosmic-ray is not installed: pip install cosmic-ray")
        return
    with bench(task, "local", None) as made:
        tree = made.fresh_tree(
            "peer", made.golden_overlay
        )  # cosmic-ray writes its mutants into the file itself
        command = f"{sys.executable} {made.implementation.unit_test_file}"
        (tree / "config.toml").write_text(
            _COSMIC_RAY.format(goal=made.implementation.goal_file, command=command)
        )
        environment = os.environ | {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
        options: dict[str, object] = {"cwd": tree, "env": environment, "capture_output": True}
        subprocess.run([program, "init", "config.toml", "session.sqlite"], check=True, **options)  # type: ignore[call-overload]
        with suppress(subprocess.TimeoutExpired):
            subprocess.run(  # type: ignore[call-overload]
                [program, "exec", "config.toml", "session.sqlite"], check=True, timeout=limit, **options
            )
        with closing(sqlite3.connect(tree / "session.sqlite")) as session:
            (done,) = session.execute("select count(*) from work_results").fetchone()
    print(f"peer        cosmic-ray: {done} mutants in {limit:.0f} s, {done / limit:.2f} a second")


@contextmanager
def watched(peaks: list[int]) -> Iterator[None]:
    """Keep the largest memory, in bytes, of this process and of all that it started, while the block runs."""
    me, ended = psutil.Process(), threading.Event()

    def look() -> None:
        while not ended.wait(0.2):
            started = 0
            for child in me.children(recursive=True):
                with suppress(psutil.Error):
                    started += child.memory_info().rss
            peaks[:] = max(peaks[0], me.memory_info().rss), max(peaks[1], started)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def throughput(task: Task, count: int) -> None:
    """Right and wrong answers, by turns, with one job and with two."""
    with bench(task, "local", None) as made:
        assert made.definitions is not None
        index = made.implementation.index
        golden = made.golden_overlay[made.implementation.goal_file].decode()
        body = region_bytes(made.golden_module, made.definitions[0]).decode()
    wrong = golden.replace(body, body + "\n" + " " * 4 + "raise ValueError", 1)
    rates, peaks = [], [0, 0]
    for jobs in (1, 2):
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "predictions.jsonl"
            lines = [
                {
                    "task": task.name,
                    "index": index,
                    "model": f"m{n}",
                    "code": (golden, wrong)[n % 2],
                }
                for n in range(count)
            ]
            source.write_text("".join(json.dumps(line) + "\n" for line in lines))
            options = CandidateOptions(Path(folder) / "out", jobs, python=Path(sys.executable))
            with watched(peaks):
                rates.append(
                    count / seconds(lambda s=source, o=options: score([task], s, o, nothing, nothing))
                )
    print(
        f"candidates  {rates[0]:6.2f} a second with 1 job, {rates[1]:6.2f} with 2: {rates[1] / rates[0]:.2f} times"
    )
    own, others = (peak / 2**20 for peak in peaks)
    print(f"memory      {own:6.0f} MB at most of this process, {others:.0f} MB of all in sandboxes together")


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", help="gate, mutants, peer, candidates; all of them by default")
    parser.add_argument("--task", type=Path, default=TASK)
    parser.add_argument("--base-image", default="lmr-author/base:bookworm-torch")
    parser.add_argument("--runs", type=int, default=5, help="of the gate's test")
    parser.add_argument("--mutants", type=int, default=100)
    parser.add_argument("--peer-seconds", type=float, default=60)
    parser.add_argument("--candidates", type=int, default=100)
    given = parser.parse_args()
    task, parts = Task(given.task), given.parts or ["gate", "mutants", "peer", "candidates"]
    if "mutants" in parts:
        killed(task, given.mutants, max(1, given.mutants // 10))
    if "peer" in parts:
        peer(task, given.peer_seconds)
    if "candidates" in parts:
        throughput(task, given.candidates)
    if "gate" in parts:
        gate(task, given.runs, given.base_image)


if __name__ == "__main__":
    main()
