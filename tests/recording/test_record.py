"""Recording from start to end: the figures it shows, the calls it loses, and what it asks of a repository."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from lmr_author.authoring.masking import MaskOptions, mask
from lmr_author.authoring.recording import job
from lmr_author.authoring.recording.record import (
    NO_GRADIENTS,
    OFFER_GRADIENTS,
    EffectKind,
    RecordResult,
    lost_calls,
)
from lmr_author.cli.record import case_lines
from lmr_author.core.errors import LmrError
from lmr_author.core.task import GateStatus, Task
from lmr_author.core.task.evaluation import MUTANTS_DIE, mutation_score
from lmr_author.core.task.mutation import MutationScore
from lmr_author.core.task.recording import Case
from lmr_author.runtime.environment.where import HERE
from tests.pipeline import HINGE, only_hinge, recorded, run_gates
from tests.probe import forked
from tests.support import make_task, write_files

pytestmark = pytest.mark.bwrap

MIXED = """\
import threading
from pkg.sizes import size

for x in (1, 2.5, ['x' * 9_000_000]):
    size(x)
size(-3)
size(threading.Lock())
try:
    size()
except TypeError:
    pass
"""
SIZES = """\
def size(x):
    if isinstance(x, list):
        x = len(x)
        return x + 1
    elif not isinstance(x, (int, float)):
        return 0
    if x > 10_000:
        return 10_000
    return abs(x) * 2
"""


def recorded_from(
    tmp_path: Path, sources: dict[str, str], target: str, driver: str, *words: str, **options: object
) -> tuple[RecordResult, list[str]]:
    """Mask a function of some files and record it quickly; returns the lines that it showed, too."""
    task = make_task(tmp_path)
    write_files(task.root / "small-repo", sources)
    write_files(tmp_path, {"driver.py": driver})
    mask(task, MaskOptions((target,)), task.root)
    shown: list[str] = []
    command = (*words, "python", "driver.py")
    return recorded(
        task,
        target,
        *command,
        here=tmp_path,
        where=HERE,
        tell=lambda note: shown.append(str(note)),
        quick=True,
        **options,
    ), shown  # type: ignore[arg-type]


def passing(tmp_path: Path, file: str, texts: Sequence[str], *, with_torch: bool = False) -> list[bool]:
    """Run the shipped test on versions of the goal file."""
    root, page, codes = tmp_path / "1-Small/small-repo", "unit_test/unit_test_1.py", []
    for text in texts:
        (root / file).write_text(text)
        if with_torch:
            done = forked.run([page], root)
        else:
            done = subprocess.run([sys.executable, page], cwd=root, capture_output=True)
        assert done.returncode in (0, 1), done.stderr
        codes.append(done.returncode)
    return [code == 0 for code in codes]


def of_driver(result: RecordResult) -> list[Case]:
    """The cases that the driver made, without generated ones."""
    return [case for case in result.recording.cases if not case.made_of]


def mutants_of(task: Task) -> MutationScore:
    """What becomes of the mutants in ``evaluate``."""
    return mutation_score(run_gates(task, "golden-passes", MUTANTS_DIE, generated=True, repeats=1).gates)


def test_record_and_evaluate_show_the_same_figure(tmp_path: Path) -> None:
    """Also when mutants are accepted as equivalent."""
    task = only_hinge(tmp_path)
    result = recorded(task, HINGE, generated=True)
    selected = result.selected
    assert selected.tried == selected.made and result.accepted
    found = mutants_of(task)
    assert found.indistinguishable == 1, "generated calls show what was accepted, which `record` does not try"
    assert replace(found, accepted=1, indistinguishable=0) == result.mutants


def test_calls_that_are_lost_are_listed_and_their_lines_were_executed(tmp_path: Path) -> None:
    result, _ = recorded_from(tmp_path, {"pkg/sizes.py": SIZES}, "pkg/sizes.py::size", MIXED)

    unstorable, misfit, too_large = sorted(map(str, lost_calls(result)))
    assert too_large.startswith("lost: 1 call, too large to store (x[0]: ") and "slice the batch" in too_large
    assert unstorable.startswith("lost: 1 call, impossible to store (x is a _thread.lock: ")
    assert misfit.startswith("lost: 1 call, not matching the signature (missing a required argument: 'x')")
    assert result.not_kept == ((3, 4), (6, 6))
    assert result.missed == ((8, 8),), "no call at all executed this"


SIDES = """\
import numpy as np


def side(x):
    rest = x - x.mean()
    return np.sign(rest.sum() * 1e6) * x
"""


def test_a_result_that_rounding_decides_is_named(tmp_path: Path) -> None:
    driver = "import numpy as np\nfrom pkg.sides import side\n\nside(np.array([0.1, 0.2, 0.4], dtype='f4'))\n"
    result, _ = recorded_from(tmp_path, {"pkg/sides.py": SIDES}, "pkg/sides.py::side", driver)
    assert "in float64 the golden gives a different value" in result.selected.fragile[0]


FOR_A_GPU = """\
class Box:
    is_cuda = False


def size(x):
    if x.is_cuda:
        x = x.cuda()
    if x is None:
        return 3
    return 4
"""


def test_lines_for_a_gpu_need_no_inputs_that_reach_them(tmp_path: Path) -> None:
    driver = "from pkg.sizes import Box, size\n\nsize(Box())\n"
    result, _ = recorded_from(tmp_path, {"pkg/sizes.py": FOR_A_GPU}, "pkg/sizes.py::size", driver)
    assert result.missed == ((9, 9),)


def test_a_second_function_gets_what_the_first_has_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = make_task(tmp_path)
    hinge, add = "pkg/losses.py::hinge", "pkg/losses.py::Meter.add"
    mask(task, MaskOptions((hinge, add)), task.root)

    def run(target: str, total: int, force: bool = False) -> RecordResult:
        monkeypatch.setattr(job, "MOST_BYTES", total)
        return recorded(task, target, force=force, quick=True)

    alone = sum(case.bytes for case in run(hinge, 2**20).recording.cases)
    with pytest.raises(LmrError) as caught:
        run(add, alone)
    assert "its other functions leave" in caught.value.hint
    assert caught.value.hint.endswith("slice the batch in the driver")
    other = run(add, 2**20).recording.cases
    fewer = run(add, alone + sum(case.bytes for case in other) - 1, force=True)
    assert len(fewer.recording.cases) == len(other) - 1, (
        "an earlier recording of the same function does not count"
    )
    assert "its other functions leave" in fewer.selected.rejected[-1].reason


def test_a_compiled_function_is_recorded_as_python(tmp_path: Path) -> None:
    """As numba does, the compiler here refuses names that it does not know, when the function is called."""
    fake = (
        "import os\n\n\ndef njit(function):\n    def compiled(*arguments):\n"
        "        assert set(function.__code__.co_names) <= {'abs'}, 'nopython: unknown names'\n"
        "        return function(*arguments)\n\n"
        "    return function if os.environ.get('NUMBA_DISABLE_JIT') == '1' else compiled\n"
    )
    code = "from numba import njit\n\n\n@njit\ndef size(x):\n    return abs(x) * 2\n"
    driver = "from sizes import size\n\nfor x in (1, -2):\n    size(x)\n"

    result, shown = recorded_from(tmp_path, {"sizes.py": code, "numba.py": fake}, "sizes.py::size", driver)

    assert len(of_driver(result)) == 2
    assert [line for line in shown if line.startswith("recording with NUMBA_DISABLE_JIT=1")]


@pytest.mark.parametrize(
    ("driver", "message", "hint"),
    [
        ("import pkg\n", "never called pkg/losses.py::hinge", "pkg/__init__.py"),
        ("raise ValueError('no data')\n", "failed before it called", "ValueError: no data"),
        (
            "raise ValueError('numpy.dtype size changed, may indicate binary')\n",
            "numpy.dtype size changed",
            "`lmr-author env local '--with=numpy<2'`",
        ),
        ("import helper\n", "No module named 'helper'", "helper lies in the folder tools of the repository"),
        (
            "from pkg.losses import hinge\ntry:\n    hinge(lambda: 1)\nexcept TypeError: pass\n",
            "could be stored",
            "unit_test/fixtures.py",
        ),
        (
            (
                "import multiprocessing\nfrom pkg.losses import hinge\n"
                "process = multiprocessing.get_context('fork').Process(target=hinge, args=(1.0,))\n"
                "process.start()\nprocess.join()\n"
            ),
            "called only in another process",
            "num_workers=0",
        ),
    ],
    ids=["not called", "died", "environment", "import", "not stored", "another process"],
)
def test_a_command_that_cannot_be_recorded(tmp_path: Path, driver: str, message: str, hint: str) -> None:
    task = only_hinge(tmp_path)
    root = task.root / "small-repo"
    write_files(root, {"drive.py": driver, "tools/helper.py": ""})
    with pytest.raises(LmrError) as caught:
        recorded(task, HINGE, "python", "drive.py", where=HERE)
    assert message in caught.value.message
    assert hint in caught.value.hint + caught.value.message
    assert list((root / "unit_test").iterdir()) == []


def test_a_recording_is_not_replaced_without_force(tmp_path: Path) -> None:
    task = only_hinge(tmp_path)
    recorded(task, quick=True)
    manifest = task.root / "small-repo/unit_test/recordings/1/recording.json"
    before = manifest.read_bytes()
    with pytest.raises(LmrError, match="already has a recording"):
        recorded(task)
    assert manifest.read_bytes() == before
    again = recorded(task, HINGE, cases=2, force=True)
    assert manifest.read_bytes() != before and again.removed
    assert (
        task.authoring / "removed/small-repo/unit_test/recordings/1/recording.json"
    ).read_bytes() == before
    gates = run_gates(task, "untampered", "golden-passes", repeats=1).gates
    assert [gate.status for gate in gates] == [GateStatus.PASSED] * 3, gates


def test_a_driver_outside_the_repository_and_its_arguments(tmp_path: Path) -> None:
    task = only_hinge(tmp_path)
    driver = (
        "import sys\nfrom helper import VALUES\nfrom pkg.losses import hinge\n"
        "for x in VALUES:\n    hinge(x, margin=float(sys.argv[1]))\n"
    )
    outside = write_files(tmp_path / "scratch", {"helper.py": "VALUES = (0.25, 4.0)\n", "driver.py": driver})
    result = recorded(task, HINGE, "python", "driver.py", "2.5", here=outside)
    assert result.recording.command == ("python", "driver.py", "2.5")
    recording = task.root / "small-repo/unit_test/recordings/1"
    assert str(tmp_path) not in (recording / "recording.json").read_text()
    assert "2.5" in (recording / "case_1/inputs.json").read_text()


TIME = "import time\n\n\ndef now(x):\n    return x + time.perf_counter_ns()\n"
WORDS = "def words(path):\n    return open(path).read().split()\n"
IN_SCRIPT = "import sys\n\n\ndef scale(x):\n    return x * 2\n\n\nrate = float(sys.argv[1])\n"


@pytest.mark.parametrize(
    ("source", "name", "driver", "message", "hint"),
    [
        (TIME, "now", "from goal import now\nnow(1)\n", "no recorded call of now reproduces", "than its arguments"),
        (
            WORDS, "words",
            "from pathlib import Path\nfrom goal import words\nwords(str(Path(__file__).with_name('small.txt')))\n",
            "no recorded call of words reproduces", "a file outside the repository",
        ),
        (
            IN_SCRIPT, "scale",
            "import sys\nsys.argv = ['', '3']\nfrom goal import scale\nscale(1.0)\n",
            r"scale was called, but no test can call it.*IndexError", "lmr-author new-task --patch",
        ),
    ],
    ids=["the time", "a file beside the driver", "a file that cannot be imported"],
)  # fmt: skip
def test_calls_that_no_test_can_repeat(
    source: str, name: str, driver: str, message: str, hint: str, tmp_path: Path
) -> None:
    write_files(tmp_path, {"small.txt": "a b\n"})
    with pytest.raises(LmrError, match=message) as caught:
        recorded_from(tmp_path, {"goal.py": source}, f"goal.py::{name}", driver)
    assert hint in caught.value.hint


SCRIPT = """
import argparse

def scale(x):
    return [item * args.rate for item in x][: args.most]

if __name__ == "__main__":
    args = argparse.ArgumentParser().parse_args()
"""
SCRIPT_DRIVER = """
import argparse
import train

train.args = argparse.Namespace(rate=2.0, most=3)
train.scale([1.0, 2.0, 3.0, 4.0])
train.args.most = 1
train.scale([5.0, 6.0])
"""


def test_globals_that_only_a_run_sets_belong_to_a_case(tmp_path: Path) -> None:
    result, shown = recorded_from(tmp_path, {"train.py": SCRIPT}, "train.py::scale", SCRIPT_DRIVER)
    assert "cases set args as your driver did: importing train.py does not" in shown
    assert not any("draws random numbers" in line for line in shown)
    assert {case.summary["args.most"] for case in of_driver(result)} == {"1", "3"}
    assert passing(tmp_path, "train.py", [SCRIPT, SCRIPT.replace("args.most", "3")]) == [True, False]


PRUNER = """
class Pruner:
    def __init__(self, weights, inputs):
        self.weights, self.inputs = weights, inputs

    def prune(self, least):
        self.weights = [w if w * x > least else 0.0 for w, x in zip(self.weights, self.inputs)]
        del self.inputs
"""


def test_what_the_golden_deletes_in_self_is_named_and_may_be_left_out(tmp_path: Path) -> None:
    driver = "import p\n\nfor n in range(1, 4):\n    p.Pruner([0.5 * n, 2.0], [1.0, 3.0]).prune(0.7)\n"
    files = {"p.py": PRUNER}
    _, shown = recorded_from(tmp_path, files, "p.py::Pruner.prune", driver)
    (note,) = [line for line in shown if "deletes self.inputs" in line]
    assert note.endswith("record again with --check self.inputs=ignore --force")
    kept, noted = (
        PRUNER.replace("del self.inputs", "self.inputs = None"),
        PRUNER.replace("del", "self.more = 1; del"),
    )
    assert passing(tmp_path, "p.py", [PRUNER, kept, noted]) == [True, False, True]


SETTINGS = """
import random

options = {"rate": 1.0}
order = random.Random(3)
table = [0.0] * 20_000
def unused(): ...

def scale(x):
    return [item * options["rate"] + order.random() + table[0] for item in x]
"""


def test_globals_that_a_run_changes_after_the_import_belong_to_a_case(tmp_path: Path) -> None:
    driver = "import train\n\ntrain.options['rate'] = 2.0\ntrain.scale([1.0])\ntrain.scale([1.0, 2.0])\n"
    result, shown = recorded_from(tmp_path, {"train.py": SETTINGS}, "train.py::scale", driver)
    assert "cases set options, order as your driver did: importing train.py does not" in shown
    assert {case.summary["options['rate']"] for case in of_driver(result)} == {"2.0"}
    assert passing(tmp_path, "train.py", [SETTINGS, SETTINGS.replace('options["rate"]', "1.0")]) == [
        True,
        False,
    ]


def test_a_function_that_draws_is_named_since_its_instruction_has_to_say_how(tmp_path: Path) -> None:
    files = {
        "noise.py": "import random\n\ndef noisy(x):\n    return [item + random.random() for item in x]\n"
    }
    _, shown = recorded_from(tmp_path, files, "noise.py::noisy", "import noise\nnoise.noisy([1.0, 2.0])\n")
    assert any("draws random numbers (python)" in line for line in shown)


@pytest.mark.parametrize(
    ("folder", "words"), [("src", ()), ("code", ("PYTHONPATH=code",))], ids=["src", "named by the command"]
)
def test_a_package_that_lies_in_a_folder_of_its_own_is_found(
    folder: str, words: tuple[str, ...], tmp_path: Path
) -> None:
    """As it is where the package is installed: drivers and tests import it by its name."""
    files = {
        f"{folder}/apart/__init__.py": "",
        f"{folder}/apart/sizes.py": "def twice(x):\n    return x * 2\n",
    }
    driver = "from apart.sizes import twice\n\nfor x in (1, -2):\n    twice(x)\n"

    result, _ = recorded_from(tmp_path, files, f"{folder}/apart/sizes.py::twice", driver, *words)

    assert len(of_driver(result)) == 2


LAYER = """\
import threading


class Layer:
    def __init__(self, drop):
        self.drop = drop if drop else threading.Lock()
        self.lock = threading.Lock()

    def forward(self, x):
        return x if x < 0 else self.drop(x)


def half(x):
    return x / 2
"""


def test_a_case_that_lacks_what_the_function_names_is_none(tmp_path: Path) -> None:
    """The golden does not read it in that call; a correct version may. What it never names does no harm."""
    driver = (
        "from layer import Layer, half\nLayer(None).forward(-2.0)\n"
        "for x in (3.0, -1.0):\n    Layer(half).forward(x)\n"
    )
    result, _ = recorded_from(tmp_path, {"layer.py": LAYER}, "layer.py::Layer.forward", driver)
    assert [case.call for case in of_driver(result)] == [2, 3]
    (lost,) = map(str, lost_calls(result))
    assert "self.drop (_thread.lock) could not be stored, but the function uses it" in lost
    assert "`def drop(): return ...`" in lost


def test_a_lambda_of_the_repository_costs_no_call(tmp_path: Path) -> None:
    code = LAYER.replace("else threading.Lock()", "else lambda x: x")
    driver = (
        "from layer import Layer, half\n"
        "for x, drop in ((3.0, None), (3.0, half), (-1.0, None), (-1.0, half)):\n    Layer(drop).forward(x)\n"
    )
    result, _ = recorded_from(tmp_path, {"layer.py": code}, "layer.py::Layer.forward", driver)
    assert [case.call for case in of_driver(result)] == [1, 2, 3, 4]
    versions = (code, code.replace("self.drop(x)", "self.drop(x) + 0"), code.replace("self.drop(x)", "x"))
    assert passing(tmp_path, "layer.py", versions) == [True, True, False]


IN_PLACE = '''\
def scale(items, by):
    """{doc}"""
    for n in range(len(items)):
        items[n] *= by
    return {value}
'''


@pytest.mark.parametrize(
    ("doc", "value", "options", "compared"),
    [
        ("Scale.", "sum(items)", {}, False),
        ("Scale.", "sum(items)", {"in_place": True}, True),
        ("Scale in place.", "sum(items)", {}, True),
    ],
)
def test_an_argument_that_is_changed_by_the_way_is_not_compared(
    doc: str, value: str, options: dict[str, bool], compared: bool, tmp_path: Path
) -> None:
    driver = "from scale import scale\nfor by in (2.0, 3.0):\n    scale([1.0, 2.0], by)\n"
    code = IN_PLACE.format(doc=doc, value=value)
    result, _ = recorded_from(tmp_path, {"scale.py": code}, "scale.py::scale", driver, **options)
    arguments = [effect.names for effect in result.uncompared if effect.kind is EffectKind.ARGUMENTS]
    assert arguments == ([] if compared else [("items",)])
    assert result.selected.fragile == ()
    pure = code.replace("    for n", "    items = list(items)\n    for n")
    versions = (code, pure, code.replace("*= by", "*= by + 1"))
    assert passing(tmp_path, "scale.py", versions) == [True, not compared, False]


@pytest.mark.torch
@pytest.mark.parametrize(
    ("change", "options", "compared"),
    [("", {}, False), ("", {"gradients": True}, True), (".detach()", {}, True)],
)
def test_gradients_are_compared_where_asked_and_where_the_golden_detaches(
    change: str, options: dict[str, bool], compared: bool, tmp_path: Path
) -> None:
    driver = (
        "import torch\nfrom loss import loss\nfor n in (2, 3):\n    loss(torch.ones(n, requires_grad=True))\n"
    )
    files = {"loss.py": f"def loss(x):\n    return (x * x{change}).sum()\n"}
    result, shown = recorded_from(tmp_path, files, "loss.py::loss", driver, **options)
    assert all(("@gradients['x']" in case.checkers) == compared for case in result.recording.cases)
    assert (str(OFFER_GRADIENTS) in shown) != compared and str(NO_GRADIENTS) not in shown


def test_gradients_that_no_case_has_are_mentioned(tmp_path: Path) -> None:
    files, driver = {"one.py": "def one(x):\n    return x + 1\n"}, "import one\none.one(1.0)\n"
    result, shown = recorded_from(tmp_path, files, "one.py::one", driver, gradients=True)
    assert str(NO_GRADIENTS) in shown
    assert next(case_lines(result.recording.cases)).endswith("B: x=1.0"), (
        "a case that is alone has its arguments"
    )
