"""Every kind of target, authored and proven: `python benchmarks/targets.py WORK [--docker BASE] [--only WORD …]`.

For each target of ``benchmarks/kinds``: its calls are recorded, the golden is replayed ten times in the local sandbox
and, with ``--docker``, in a container, the masked version has to fail, and the share of the golden's mutants that fail
is counted. The table goes to standard output; the task stays in WORK, a new folder.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PAPER = HERE.parent / "templates" / "demo" / "paper.pdf"
REPEATS = 10
HEAD = (
    "kind",
    "target",
    "cases of calls",
    "golden, local",
    "Docker",
    "masked, local",
    "Docker",
    "mutants that fail",
)


@dataclass(frozen=True)
class Kind:
    """One target.

    Attributes:
        name: what is special about it.
        target: its node id.
        words: what ``record`` is told beside it; the command that drives it comes last.
    """

    name: str
    target: str
    words: tuple[str, ...]


def driven(part: str, *options: str) -> tuple[str, ...]:
    """Options, and the driver that runs one part."""
    return (*options, "--", "python", "driver.py", part)


KINDS = (
    Kind("preference loss", "kinds/losses.py::preference_loss", driven("losses", "--gradients")),
    Kind("optimizer step", "kinds/optim.py::Lion.step", driven("optim")),
    Kind("attention with weights", "kinds/attention.py::SelfAttention.forward", driven("attention")),
    Kind("decoding loop", "kinds/decoding.py::beam_search", driven("decoding")),
    Kind("sampling, own generator", "kinds/decoding.py::sample_top_p", driven("decoding")),
    Kind("metric over strings", "kinds/metrics.py::token_f1", driven("metrics")),
    Kind("class method", "kinds/metrics.py::Scorer.build", driven("metrics")),
    Kind("property", "kinds/metrics.py::Scorer.entropy", driven("metrics")),
    Kind("DataFrame transform", "kinds/frames.py::pivot_scores", driven("frames")),
    Kind("random augmentation", "kinds/augment.py::augment", driven("augment")),
    Kind("in place", "kinds/augment.py::mask_spans_", driven("augment")),
    Kind("generator", "kinds/augment.py::windows", driven("augment")),
    Kind("async", "kinds/serve.py::gather_votes", driven("serve")),
    Kind("nested function", "kinds/serve.py::make_schedule.factor", driven("serve")),
    Kind("__main__ script", "finetune.py::anneal", ("--", "python", "finetune.py")),
    Kind("DataLoader worker", "kinds/data.py::Pairs.__getitem__", driven("loader")),
    Kind("subprocess", "kinds/jobs.py::shard", driven("jobs")),
)


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """lmr-author as a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(HERE.parent)}
    command = [sys.executable, "-m", "lmr_author", *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def needed(done: subprocess.CompletedProcess[str]) -> subprocess.CompletedProcess[str]:
    """What has to succeed, or the benchmark ends."""
    if done.returncode:
        raise SystemExit(f"{' '.join(done.args[2:6])}: {done.stderr.strip()[-2000:]}")
    return done


def repository(work: Path) -> Path:
    """``benchmarks/kinds`` as a repository of its own."""
    folder = work / "repository"
    shutil.copytree(HERE / "kinds", folder, ignore=shutil.ignore_patterns("__pycache__"))
    who = ("-c", "user.name=lmr-author", "-c", "user.email=nobody@example.org")
    for words in (("init", "-q"), ("add", "."), (*who, "commit", "-q", "-m", "Targets of every kind")):
        subprocess.run(["git", *words], cwd=folder, check=True)
    return folder


def author(work: Path, kinds: tuple[Kind, ...]) -> Path:
    """A task with all targets masked."""
    words = [
        "--name",
        "kinds",
        "--title",
        "Kinds",
        "--year",
        "2026",
        "--paper-url",
        "https://example.org/paper",
    ]
    words += ["--repo-url", "https://example.org/kinds", "--tasks-dir", str(work), "--offline", "--no-input"]
    needed(run(work, "new-task", str(PAPER), "--repo", str(repository(work)), *words))
    (task,) = work.glob("*-kinds")
    for kind in kinds:
        words = [
            "--instruction",
            f"Implement {kind.target}.",
            "--category",
            "Training Objectives & Optimization",
        ]
        words += [
            "--retrieval",
            "none",
            "--objective",
            kind.name,
            "--no-input",
        ]
        needed(run(task, "mask", kind.target, *words))
    return task


def record(task: Path, kind: Kind) -> str:
    """How many cases of how many calls were kept, or why it failed."""
    done = run(task, "record", kind.target, "--yes", *kind.words)
    if done.returncode:
        return f"failed: {done.stderr.strip()[-300:]}"
    found = re.search(r"recorded (\d+) of (\d+) calls[^,\n]*(?:, and (\d+))?", done.stdout + done.stderr)
    return f"{int(found[1]) + int(found[3] or 0)} of {found[2]}" if found else "?"


def gates(task: Path, *words: str) -> dict[tuple[int | None, str], dict[str, Any]]:
    """(number of the implementation, gate) → result."""
    done = run(task, "evaluate", "--format", "json", "--repeats", str(REPEATS), *words)
    if not done.stdout.strip():
        raise SystemExit(f"evaluate: {done.stderr.strip()[-2000:]}")
    (report,) = json.loads(done.stdout)["tasks"]
    return {(item["implementation"], item["gate"]): item for item in report["gates"]}


def column(found: dict[tuple[int | None, str], dict[str, Any]], index: int, gate: str) -> str:
    """What a gate says, in short."""
    result = found.get((index, gate))
    if result is None:
        return "-"
    shares = re.search(r"(\d+) of (\d+)", result["message"])
    if gate == "masked-fails" or shares is None:
        return "fails" if result["status"] == "passed" else f"{result['status']}: {result['message'][:60]}"
    share = f" ({int(shares[1]) / int(shares[2]):.0%})" if gate == "mutants-die" else ""
    return f"{shares[1]} of {shares[2]}{share}"


def main() -> None:
    """Author, record, evaluate, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("work", type=Path)
    parser.add_argument("--docker", metavar="BASE", help="also in containers, on this base image")
    parser.add_argument("--only", nargs="*", default=[""], help="targets whose name has one of these words")
    options = parser.parse_args()
    kinds = tuple(
        kind for kind in KINDS if any(word in f"{kind.name} {kind.target}" for word in options.only)
    )
    options.work.mkdir(parents=True)
    task = author(options.work.resolve(), kinds)
    recorded = []
    for kind in kinds:
        recorded.append(record(task, kind))
        print(f"{kind.name}: {recorded[-1]}", file=sys.stderr, flush=True)
    local = gates(task)
    (options.work / "local.json").write_text(json.dumps(list(local.values()), indent=1))
    docker = (
        gates(task, "--mutants", "0", "--sandbox", "docker", "--base-image", options.docker)
        if options.docker
        else {}
    )
    (options.work / "docker.json").write_text(json.dumps(list(docker.values()), indent=1))
    print(f"| {' | '.join(HEAD)} |")
    print("|---" * len(HEAD) + "|")
    for index, (kind, cases) in enumerate(zip(kinds, recorded, strict=True), 1):
        cells = [kind.name, f"`{kind.target}`", cases]
        cells += [
            column(found, index, gate)
            for gate in ("golden-passes", "masked-fails")
            for found in (local, docker)
        ]
        print(f"| {' | '.join([*cells, column(local, index, 'mutants-die')])} |")


if __name__ == "__main__":
    main()
