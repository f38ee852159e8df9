"""Author and prove every kind of target: `python benchmarks/targets.py WORK [--docker BASE] [--only WORD …]`.

For each target of ``benchmarks/kinds``, calls are recorded, then ``evaluate`` runs every gate in the local sandbox
and, with ``--docker``, all but the mutants in containers. The task and the results stay in WORK, a new folder.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
PAPER = HERE.parent / "templates" / "demo" / "paper.pdf"
REPEATS = 10


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
    Kind("preference loss", "kinds/losses.py::preference_loss", driven("losses", "--compare", "gradients")),
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


def author(work: Path, kinds: Sequence[Kind]) -> Path:
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
        words = ["--instruction", f"Implement {kind.target}.", "--comment", kind.name]
        words += ["--category", "Training Objectives & Optimization", "--retrieval", "none", "--no-input"]
        needed(run(task, "mask", kind.target, *words))
    return task


def evaluate(task: Path, kinds: Sequence[Kind], store: Path, *words: str) -> None:
    """Print and store the result of each gate."""
    done = run(task, "evaluate", "--format", "json", "--repeats", str(REPEATS), *words)
    if not done.stdout.strip():
        raise SystemExit(f"evaluate: {done.stderr.strip()[-2000:]}")
    (report,) = json.loads(done.stdout)["tasks"]
    store.write_text(json.dumps(report["gates"], indent=1))
    for gate in report["gates"]:
        number = gate["implementation"]
        name = f"{kinds[number - 1].name}: " if number else ""
        print(f"{store.stem}: {name}{gate['gate']} {gate['status']}: {gate['message']}")


def main() -> None:
    """Author, record and evaluate."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("work", type=Path)
    parser.add_argument("--docker", metavar="BASE", help="also in containers, on this base image")
    parser.add_argument("--only", nargs="*", default=[""], help="targets whose name has one of these words")
    options = parser.parse_args()
    kinds = [kind for kind in KINDS if any(word in f"{kind.name} {kind.target}" for word in options.only)]
    options.work.mkdir(parents=True)
    task = author(options.work.resolve(), kinds)
    for kind in kinds:
        done = run(task, "record", kind.target, "--no-input", *kind.words)
        print(f"{kind.name}: {(done.stdout + done.stderr).strip().splitlines()[-1]}", flush=True)
    evaluate(task, kinds, options.work / "local.json")
    if options.docker:
        docker = ("--mutants", "0", "--sandbox", "docker", "--base-image", options.docker)
        evaluate(task, kinds, options.work / "docker.json", *docker)


if __name__ == "__main__":
    main()
