# ruff: noqa: E501 (tables of cases read better unbroken)
"""The unit test that is written from a recording: a page that passes on the golden, and fails when it should."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lmr_author.authoring.recording.checkers import compact
from lmr_author.authoring.recording.store import write_page
from lmr_author.authoring.recording.tolerance import derive
from lmr_author.core import resources
from lmr_author.core.task import Implementation
from lmr_author.core.task.recording import SUPPORT, Case, Coverage, RecordedTarget, Recording
from lmr_author.runtime.probe.compare import GRADS
from lmr_author.runtime.replay import replaying
from tests.probe import forked
from tests.probe.harness import Repository
from tests.probe.scenarios import make

PLAIN = """\
def scale(items, by=2.0, *, flag=False):
    '''Scale.'''
    if flag:
        items.append(0.0)
    if by < 0:
        raise ValueError("negative")
    return [x * by for x in items], {"n": len(items), "by": by}
"""
PLAIN_DRIVER = (
    "from pkg.goal import scale\nscale([1.0, 2.5])\nscale([3.0], by=0.1, flag=True)\n"
    "try:\n    scale([1.0], by=-1.0)\nexcept ValueError:\n    pass\n"
)
METER = """\
from .helper import double


class Meter:
    def __init__(self):
        self.total = 0.0

    def add(self, x):
        '''Add.'''
        self.total += double(x)
        return self.total
"""
METER_DRIVER = "from pkg.goal import Meter\nm = Meter()\nm.add(1.5)\nm.add(2)\n"


def generate(repository: Repository) -> Path:
    """Write the test of a recording into its repository."""
    folder = repository.root / "unit_test"
    shutil.copytree(repository.out / "calls", folder / "recordings" / "1")
    pairs, cases = [], []
    for call in repository.calls:
        place = folder / "recordings" / "1" / call
        pairs.append((replaying.load_document(place, "inputs"), replaying.load_document(place, "expected")))
        checkers = compact(derive(pairs[-1][1], []).checkers)
        if "requires_grad" in json.dumps(pairs[-1][0].tree):
            checkers = {**checkers, GRADS: {"kind": "ignore"}}
        cases.append(Case(call, int(call), 1, {}, repository.meta(call)["summary"], "returned", checkers))
    recording = Recording(
        target=RecordedTarget(repository.goal_file, repository.qualname, 1),
        module=repository.summary["module"], sys_path=tuple(repository.summary["sys_path"]),
        command=("python", "driver.py"), created="", tool="0", versions={}, calls=1,
        coverage=Coverage((), ()), cases=tuple(cases), support={},
    )  # fmt: skip
    names = repository.qualname.split(".")
    implementation = Implementation.from_json(
        {
            "index": 1, "goal_file": repository.goal_file, "goal_function": names[-1], "class_name": ".".join(names[:-1]),
            "golden_file": "", "unit_test_file": "unit_test/unit_test_1.py", "instruction": "", "category": "",
        }
    )  # fmt: skip
    (folder / "unit_test_1.py").write_text(write_page(implementation, recording))
    (folder / SUPPORT).write_text(resources.support_file())
    return folder / "unit_test_1.py"


def run(repository: Repository, *command: str, python: str = sys.executable) -> tuple[int, str, str]:
    """Exit code, the log's text, and the output of ``python command`` from the repository's root."""
    log = repository.root / "unit_test" / "logs" / "unit_test_1.log"
    if log.is_file():
        log.unlink()
    environment = {"PYTHONPATH": str(repository.root), "PATH": "/usr/bin:/bin"}
    if repository.with_torch:
        done = forked.run(list(command), repository.root)
    else:
        done = subprocess.run(
            [python, *command], cwd=repository.root, env=environment, capture_output=True, timeout=120
        )
    output = done.stdout.decode() + done.stderr.decode()
    return done.returncode, log.read_text() if log.is_file() else "", output


def recorded(
    tmp_path: Path, qualname: str, goal: str, driver: str, *, with_torch: bool = False
) -> Repository:
    made = make(tmp_path, qualname, goal, driver, with_torch=with_torch)
    done = made.record("driver.py")
    assert done.returncode == 0, done.stderr
    generate(made)
    return made


def test_a_page_of_plain_values(tmp_path: Path) -> None:
    repository = recorded(tmp_path, "scale", PLAIN, PLAIN_DRIVER)
    folder = repository.root / "unit_test"
    assert len((folder / "unit_test_1.py").read_text().splitlines()) <= 80
    goal = repository.root / "pkg" / "goal.py"
    for command in (("unit_test/unit_test_1.py",), ("-m", "pytest", "-q", "unit_test/unit_test_1.py")):
        code, log, output = run(repository, *command)
        assert (code, log) == (0, "Passed: scale (3 recorded calls)\n"), output
    for old, new, reason in (
        ("return [x", "raise NotImplementedError\n    return [x", "NotImplementedError"),
        ("return [x", "raise SystemExit(0)\n    return [x", "got nothing"),
        ("x * by", "x * by * 1.001", "value[0][0]"),
        ("len(items), ", "len(items) + 0.5, ", "value[1]['n']"),
        ("items.append(0.0)", "items = items + [0.0]", "items: the call has to change it"),
        ("return [x", "items.reverse()\n    return [x", "expected"),
        ('raise ValueError("negative")', "raise KeyError", "KeyError"),
        ('raise ValueError("negative")', "pass", "expected"),
        ("def scale(", "def other(", "scale"),
    ):
        goal.write_text(PLAIN.replace(old, new))
        code, log, output = run(repository, "unit_test/unit_test_1.py")
        assert code == 1, (new, output)
        assert log.startswith("Failed: scale") and "Passed" not in log + output, new
        assert reason in output, (new, output)


def test_a_test_with_objects(tmp_path: Path) -> None:
    repository = recorded(tmp_path, "Meter.add", METER, METER_DRIVER)
    code, log, output = run(repository, "unit_test/unit_test_1.py")
    assert (code, log) == (0, "Passed: Meter.add (2 recorded calls)\n"), output
    goal = repository.root / "pkg" / "goal.py"
    for wrong, reason in {
        METER.replace("self.total += double(x)\n        return self.total", "raise NotImplementedError"): "NotImplementedError",
        METER.replace("double(x)", "x"): "value: expected 3.0, got 1.5",
        METER.replace("return self.total", "return None"): "value: expected 3.0, got None",
        METER.replace("return self.total", "total = self.total; self.total = 0.0; return total"): "self: the call has to change it",
        METER.replace("return self.total", "self.more = 1; return self.total + 1"): "value: expected 3.0, got 4.0",
        "import missing_module\n" + METER: "No module named 'missing_module'",
        "def nothing():\n    pass\n": "there is no",
    }.items():  # fmt: skip
        goal.write_text(wrong)
        code, log, output = run(repository, "unit_test/unit_test_1.py")
        assert code == 1 and reason in output, (reason, output)
        assert log.startswith("Failed: Meter.add") and "Passed" not in log
    goal.write_text(METER.replace("return self.total", "self.more = 1; return self.total"))
    assert run(repository, "unit_test/unit_test_1.py")[0] == 0, "people keep results in self"


def test_an_object_that_is_changed_and_returned_may_have_more(tmp_path: Path) -> None:
    fluent = METER.replace("return self.total", "return self")
    repository = recorded(tmp_path, "Meter.add", fluent, METER_DRIVER)
    codes = []
    for text in (
        fluent,
        fluent.replace("return self", "self.more = 1; return self"),
        fluent.replace("double(x)", "x"),
    ):
        (repository.root / "pkg" / "goal.py").write_text(text)
        codes.append(run(repository, "unit_test/unit_test_1.py")[0])
    assert codes == [0, 0, 1]


def test_it_can_itself_be_watched_by_the_recorder(tmp_path: Path) -> None:
    """As evaluation does, to see that the test enters the target."""
    repository = recorded(tmp_path, "Meter.add", METER, METER_DRIVER)
    watched = Repository(repository.root, repository.goal_file, repository.qualname)
    shutil.rmtree(watched.out)
    done = watched.record("unit_test/unit_test_1.py", pool=1)
    assert done.returncode == 0, done.stderr.decode()
    assert watched.summary["calls"] == 2


def test_a_read_only_tree_passes_without_a_log(tmp_path: Path) -> None:
    repository = recorded(tmp_path, "scale", PLAIN, PLAIN_DRIVER)
    (repository.root / "unit_test" / "logs").write_text("a file in the way")
    code, _, output = run(repository, "unit_test/unit_test_1.py")
    assert code == 0 and "no log was written" in output


@pytest.mark.torch
def test_a_generator_of_computed_tensors(tmp_path: Path) -> None:
    goal = "def powers(x):\n    for k in (1, 2):\n        yield x**k\n"
    driver = "import torch\nfrom pkg.goal import powers\nlist(powers(torch.ones(2, requires_grad=True)))\n"
    repository = recorded(tmp_path, "powers", goal, driver, with_torch=True)
    assert run(repository, "unit_test/unit_test_1.py")[0] == 0


@pytest.mark.torch
def test_a_page_of_tensors(tmp_path: Path) -> None:
    goal = (
        "import torch\n\n\n@torch.no_grad()\ndef mix(x, y, w=None):\n    '''Mix.'''\n"
        "    z = x.float() @ y.t()\n    return (z, z.argmax(-1)) if w is None else (z * w, z.argmax(-1))\n"
    )
    driver = (
        "import torch\nfrom pkg.goal import mix\ntorch.manual_seed(0)\n"
        "mix(torch.randn(3, 4, requires_grad=True) * 2, torch.randn(2, 4))\n"
        "mix(torch.randn(30, 40).bfloat16(), torch.randn(20, 40), w=torch.tensor(0.1))\n"
    )
    repository = recorded(tmp_path, "mix", goal, driver, with_torch=True)
    inputs = json.loads((repository.root / "unit_test/recordings/1/000001/inputs.json").read_text())
    assert len(inputs["values"]["x"]["data"]) == 3
    code, log, output = run(repository, "unit_test/unit_test_1.py")
    assert code == 0 and log.startswith("Passed"), output
    for old, new in (("@ y.t()", "@ y.t() * 1.0001"), (".float()", ".double()")):
        (repository.root / "pkg/goal.py").write_text(
            goal.replace(old, new).replace("double() @ y", "double() @ y.double()")
        )
        assert run(repository, "unit_test/unit_test_1.py")[0] == 1, new


def test_an_installed_package_of_the_same_name_is_not_tested(tmp_path: Path) -> None:
    repository = recorded(tmp_path, "scale", PLAIN, PLAIN_DRIVER)
    shutil.copytree(repository.root / "pkg", tmp_path / "elsewhere" / "pkg")
    (repository.root / "pkg" / "goal.py").write_text(PLAIN.replace("x * by", "x"))
    environment = {"PYTHONPATH": str(tmp_path / "elsewhere")}
    done = subprocess.run([sys.executable, "unit_test/unit_test_1.py"], cwd=repository.root, env=environment)
    assert done.returncode == 1
