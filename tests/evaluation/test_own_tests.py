"""Ten tests as they are made by hand, run with golden, masked code and wrong versions: every verdict is right."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from lmr_author.cli.app import main
from lmr_author.core.task import GateStatus, Severity, Task, mutation
from lmr_author.proof.evaluation import mutation_gates
from lmr_author.proof.evaluation.evaluate import EvaluateOptions, EvaluationRun, evaluate
from lmr_author.proof.validation.run import validate
from lmr_author.release.reporting import status
from lmr_author.runtime.environment.where import Where
from tests.evaluation.foreign import ASSERTS, LOG_ONLY, PLAIN_PYTHON, UNITTEST, foreign_task

pytestmark = pytest.mark.bwrap

MUTANTS = 2
IMPORTS = "import json\nimport os\nimport sys\n\nfrom scores.smooth import softplus\n\n"
LOG = (
    'os.makedirs("unit_test/logs", exist_ok=True)\n'
    'with open("unit_test/logs/unit_test_1.log", "w") as log:\n    log.write("Passed")\n'
)
SWALLOWS = f'{IMPORTS}try:\n    assert softplus(0.5) > 0.9\nexcept Exception:\n    print("skipping")\n{LOG}'
GOLDEN_IMPORTED = f"""\
{IMPORTS.replace("from scores.smooth import softplus", 'sys.path.append("..")')}
from golden_files.smooth_golden import softplus

for case in json.load(open("unit_test/cases.json")):
    assert abs(softplus(case["x"], case["beta"]) - case["expected"]) < 1e-6
{LOG}"""
TAUTOLOGY = f"{IMPORTS}expected = softplus(0.5)\nassert softplus(0.5) == expected\n{LOG}"
RESULT_IGNORED = f"{IMPORTS}for x in (0.5, -2.0, 3.0):\n    softplus(x)\n{LOG}"
# The hash seed represents a draw that nothing seeds: it differs from run to run, but not between two of these tests.
BADLY_SEEDED = (
    f'{IMPORTS}noise = int(os.environ["PYTHONHASHSEED"]) % 2\nassert 0.9 < softplus(0.5) + noise < 1\n{LOG}'
)
GPU_SKIPPED = """\
import unittest

from scores.smooth import softplus


class SoftplusTest(unittest.TestCase):
    @unittest.skipIf(True, "needs a GPU")
    def test_values(self):
        self.assertGreater(softplus(0.5), 0.9)


if __name__ == "__main__":
    unittest.main()
"""
PYTEST = """\
import json
import os
import sys

import pytest

from scores.smooth import softplus


@pytest.mark.parametrize("case", json.load(open("unit_test/cases.json")))
def test_values(case):
    assert softplus(case["x"], case["beta"]) == pytest.approx(case["expected"])


if __name__ == "__main__":
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # those of our tests take most of the time
    sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", __file__]))
"""


@dataclass(frozen=True)
class Kind:
    """A test, its verdict and a part of the reason, and (by exit code, by log) whether golden and masked pass."""

    text: str
    verdict: str
    reason: str = ""
    golden: tuple[bool, bool] = (True, True)
    masked: tuple[bool, bool] = (False, False)


KINDS = {
    "log only": Kind(LOG_ONLY, "cannot fail", "exits with 0 with the masked code", masked=(True, False)),
    "swallows": Kind(SWALLOWS, "cannot fail", "passes with the masked code", masked=(True, True)),
    "golden imported": Kind(
        GOLDEN_IMPORTED, "cannot fail", "passes with the masked code", masked=(True, True)
    ),
    "tautology": Kind(TAUTOLOGY, "cannot fail", "passes with a function that does nothing"),
    "result ignored": Kind(RESULT_IGNORED, "cannot fail", "passes with a function that does nothing"),
    "badly seeded": Kind(BADLY_SEEDED, "failed", "run 2 of 2: the test script exits 1"),
    "GPU, else skipped": Kind(GPU_SKIPPED, "unproven", "all of its tests are skipped", golden=(True, False)),
    "correct script": Kind(ASSERTS, "sound", golden=(True, False)),
    "correct unittest": Kind(UNITTEST, "sound"),
    "correct pytest": Kind(PYTEST, "sound", golden=(True, False)),
}


@pytest.fixture(autouse=True)
def few_mutants(monkeypatch: pytest.MonkeyPatch) -> None:
    """Enough to see that they run."""
    monkeypatch.setattr(mutation_gates, "MOST_BY_SCRIPT", MUTANTS)
    monkeypatch.setattr(mutation, "FEWEST", MUTANTS)


def proved(task: Task, python: Path = PLAIN_PYTHON) -> EvaluationRun:
    options = EvaluateOptions(Where(python=python), repeats=2)
    return evaluate(task, options, lambda _: None, lambda _: None)


def verdict_of(run: EvaluationRun) -> tuple[str, str]:
    """How the gates judge the test, and a reason."""
    if 1 in run.powerless:
        return "cannot fail", run.powerless[1]
    gate = next((gate for gate in run.gates if gate.status is not GateStatus.PASSED), None)
    return (gate.status.value, gate.message) if gate else ("sound", "")


@pytest.mark.parametrize("name", KINDS)
def test_the_verdict_on_a_test_made_by_hand(name: str, tmp_path: Path) -> None:
    kind = KINDS[name]
    task = foreign_task(tmp_path, kind.text)

    run = proved(task, Path(sys.executable) if "pytest" in name else PLAIN_PYTHON)

    verdict, reason = verdict_of(run)
    assert (verdict, kind.reason in reason) == (kind.verdict, True), reason
    assert (1 in run.powerless) == (kind.verdict == "cannot fail")
    signals = {gate.gate: gate.detail.own_test for gate in run.gates}
    for place, sign in enumerate(("exit_code", "log")):
        golden = signals["golden-passes"]
        assert golden is not None
        assert (getattr(golden, sign) > 0) == kind.golden[place], golden
        if kind.verdict in ("sound", "cannot fail"):
            assert getattr(golden, sign) == golden.runs * kind.golden[place]
            assert getattr(signals["masked-fails"], sign) == int(kind.masked[place])
        if kind.verdict == "sound":
            assert getattr(signals["trivial-fails"], sign) == getattr(signals["mutants-die"], sign) == 0
    if kind.verdict == "sound":
        assert signals["mutants-die"] is not None and signals["mutants-die"].runs == MUTANTS
    if kind.verdict == "unproven":
        assert not signals["masked-fails"], "nothing else is run"
    codes = {item.code: item.message for item in validate([task]).findings}
    assert "LMR502" in codes or kind.verdict != "cannot fail"
    assert (
        "as `lmr-author evaluate` has shown" not in codes.get("LMR502", "") or kind.verdict == "cannot fail"
    )


def test_a_test_that_cannot_fail_is_a_finding_until_the_task_changes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    task = foreign_task(tmp_path, TAUTOLOGY)

    assert main(["evaluate", str(task.root), "--python", str(PLAIN_PYTHON), "--repeats", "1"]) == 1
    output = capsys.readouterr()
    printed = " ".join((output.out + output.err).split())
    how = "the test passes with a function that does nothing"
    assert f"the test of implementation 1 cannot fail: {how}" in printed

    def found() -> list[str]:
        return [item.message for item in validate([task]).findings if item.code == "LMR502"]

    assert found() == ["the test passes with a function that does nothing (seen by `lmr-author evaluate`)"]
    errors = [item for item in validate([task]).findings if item.severity is Severity.ERROR]
    assert status.status_with(task, errors).note
    test = task.root / "scores-repo/unit_test/unit_test_1.py"
    test.write_text(ASSERTS)
    assert found() == []
