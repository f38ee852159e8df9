"""Time what a user notices, each beside its floor and its budget: `python benchmarks/timings.py [PART …]`.

- `startup`: `--help` and `--version` against `python -c "import typer"`
- `mask`: one function of a large file against libcst parsing that file
- `index`: the standard library against `ast.parse` of its files
- `validate`: 29 tasks with 10,000 files together
- `recording`: processor time of functions that are not the target, with and without the recorder
- `mutants`: a second in one fork server against one sandbox run for each (needs PyTorch)
- `gate`: a gate's run of a test in Docker against a bare `docker run` of the same test
"""

from __future__ import annotations

import argparse
import ast
import json
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from lmr_author.authoring.masking.body import mask_source
from lmr_author.core import code, resources
from lmr_author.core.indexing import build
from lmr_author.core.task import Target, Task
from lmr_author.proof.evaluation import script
from lmr_author.proof.evaluation.evaluate import resolve
from lmr_author.proof.evaluation.judges import RecordingJudge
from lmr_author.proof.evaluation.mutants import mutants
from lmr_author.proof.evaluation.trees import TargetTrees
from lmr_author.proof.validation.run import processors, validate
from lmr_author.runtime.environment.where import Where
from lmr_author.runtime.sandbox import image_tag

ROOT = Path(__file__).resolve().parent.parent
TASK = Task(ROOT / "tasks" / "1-rating-margin")
BASE_IMAGE = "lmr-author/base:bookworm-torch"
RUNS = 9
GOAL = "def target(x):\n    return x + 1\n\n\ndef other(x):\n    return x + 2\n"
DRIVER = """\
import time
from goal import other, target
target(1)
start = time.process_time()
for number in range(2_000_000):
    other(number)
print(time.process_time() - start)
"""


def seconds(work: Callable[[], object]) -> float:
    """Wall-clock time of some work."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def compare(name: str, floor: Callable[[], object], ours: Callable[[], object], budget: float) -> None:
    """Print the medians of both and their ratio; they take turns, so that a slow moment meets both alike."""
    times = [(seconds(floor), seconds(ours)) for _ in range(RUNS)]
    below, own = (statistics.median(column) for column in zip(*times, strict=True))
    print(f"{name:<22} floor {below:7.3f} s   ours {own:7.3f} s   ratio {own / below:5.2f} (budget {budget})")


def run(*command: object) -> Callable[[], object]:
    """Return the work of running a program."""
    return lambda: subprocess.run([str(word) for word in command], check=True, capture_output=True)


def startup() -> None:
    """Time the start of the program."""
    for option in ("--version", "--help"):
        ours = run(sys.executable, "-m", "lmr_author", option)
        compare(f"startup {option}", run(sys.executable, "-c", "import typer"), ours, 1.3)


def mask() -> None:
    """Time the masking of a function of argparse."""
    import libcst

    target = Target.parse(f"{argparse.__file__}::ArgumentParser.parse_known_args")
    data = Path(target.path).read_bytes()

    def ours() -> None:
        module = code.Module.parse(data, target.path)
        mask_source(module, [code.find(module, target)])

    compare("mask", lambda: libcst.parse_module(data), ours, 3)


def index() -> None:
    """Time the index of the standard library."""
    folder = Path(sysconfig.get_path("stdlib"))
    started = time.perf_counter()
    files = build(folder).files
    built = time.perf_counter() - started
    warnings.simplefilter("ignore")
    started = time.perf_counter()
    for path in files:
        with suppress(SyntaxError, ValueError):
            ast.parse((folder / path).read_bytes())
    parsed = time.perf_counter() - started
    print(
        f"index of {len(files)} files: {built:.1f} s, ast.parse {parsed:.1f} s: {built / parsed:.2f} (budget 3)"
    )


def validation() -> None:
    """Time the validation of 29 copies of a task, with files of the installed packages dealt out to them."""
    count, source = 29, Path(sysconfig.get_path("purelib"))
    with tempfile.TemporaryDirectory() as name:
        tasks = [Task(Path(name) / f"{number}-copy") for number in range(1, count + 1)]
        for task in tasks:
            shutil.copytree(TASK.root, task.root)
        for number, path in zip(range(10_000), sorted(source.rglob("*.py")), strict=False):
            task = tasks[number % count]
            target = task.repository(task.load()) / "filler" / path.relative_to(source)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
        took = seconds(lambda: validate(tasks, jobs=processors()))
    print(f"validate {count} tasks: {took:.1f} s, {took / count:.2f} s each (budget 0.5)")


def recording() -> None:
    """Time a loop over another function, inside the driver, so that start-up does not count."""
    with tempfile.TemporaryDirectory() as name:
        tree = Path(name)
        (tree / "goal.py").write_text(GOAL)
        (tree / "driver.py").write_text(DRIVER)
        (tree / "out").mkdir()
        config = {"tree": ".", "goal_file": "goal.py", "qualname": "target", "line": 1, "out": "out"}
        (tree / "config.json").write_text(json.dumps(config))
        bare = [sys.executable, "driver.py"]
        recorded = [sys.executable, str(resources.probe_folder()), "record", "config.json", "--", "driver.py"]
        ratios = []
        for _ in range(RUNS):
            done = [
                subprocess.run(one, cwd=tree, capture_output=True, check=True) for one in (bare, recorded)
            ]
            floor, ours = (float(one.stdout.split()[0]) for one in done)
            ratios.append(ours / floor)
    print(f"recording: other functions take {statistics.median(ratios):.3f} times as long (budget 1.05)")


@contextmanager
def trees(kind: str, base_image: str | None = None) -> Iterator[TargetTrees]:
    """Yield the first implementation of the example task in a prepared sandbox."""
    info, (one, *_) = resolve(TASK)
    with (
        Where(kind, Path(sys.executable), base_image or "").sandbox(TASK, info) as sandbox,
        TargetTrees(TASK, info, one.implementation, sandbox, 60, qualnames=one.qualnames) as made,
    ):
        sandbox.prepare()
        yield made


def mutation() -> None:
    """Time mutants of the golden: a hundred in one run of the sandbox, and ten in a run each."""
    with trees("local") as made:
        assert made.recording is not None and made.definitions is not None
        judge = RecordingJudge(made, made.recording)
        tried = {item.id: item.data for item in mutants(made.golden_module, made.definitions[0], 100)}
        together = seconds(lambda: judge.versions(tried)) / len(tried)
        few = dict(list(tried.items())[:10])
        apart = seconds(lambda: [judge.versions({name: data}) for name, data in few.items()]) / len(few)
    print(f"mutants: {1 / together:.1f} a second, {apart / together:.1f} times as many as alone (budget 30)")


def gate() -> None:
    """Time the unit test on the golden in Docker."""
    with trees("docker", BASE_IMAGE) as made:
        tree = made.fresh_tree("bare", made.golden_overlay)
        floor = run(
            "docker", "run", "--rm", "--network", "none", "-v", f"{tree}:{made.inside}", "-w", made.inside,
            "-e", f"PYTHONPATH={made.inside}", image_tag(TASK.name, TASK.root), "python",
            made.implementation.unit_test_file,
        )  # fmt: skip
        compare("gate", floor, lambda: script.run(made, "ours", made.golden_overlay, 0), 1.2)


PARTS = {
    "startup": startup,
    "mask": mask,
    "index": index,
    "validate": validation,
    "recording": recording,
    "mutants": mutation,
    "gate": gate,
}


def main() -> None:
    """Run the parts that were named, or all."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)}; all by default")
    for name in parser.parse_args().parts or PARTS:
        PARTS[name]()


if __name__ == "__main__":
    main()
