"""Which gate notices which fault."""

from __future__ import annotations

from pathlib import Path

import pytest

from lmr_author.authoring.masking import MaskOptions, mask
from lmr_author.core.errors import LmrError
from lmr_author.core.task import GateStatus, Task
from lmr_author.proof.evaluation.evaluate import Evaluation
from lmr_author.runtime.environment.where import Where
from tests.pipeline import ADD, HINGE, only_hinge, recorded, run_gates
from tests.support import make_task

pytestmark = pytest.mark.bwrap


def statuses(result: Evaluation) -> dict[str, GateStatus]:
    return {gate.gate: gate.status for gate in result.gates}


def test_a_changed_expected_value_is_tampering(task: Task) -> None:
    recorded(task, HINGE)
    recorded(task, ADD)
    path = next((task.root / "small-repo/unit_test/recordings/1/case_1").glob("expected.json"))
    path.write_text(path.read_text() + " ")
    result = run_gates(task)
    first = [gate for gate in result.gates if gate.implementation == 1]
    assert [gate.status for gate in first] == [GateStatus.FAILED] + [GateStatus.SKIPPED] * 6
    assert "expected.json was changed" in first[0].message
    assert all(gate.status is GateStatus.PASSED for gate in result.gates if gate.implementation == 2)
    assert not result.passed


def test_a_golden_that_does_not_pass(hinge: Task) -> None:
    golden = hinge.golden_folder / "losses_golden.py"
    golden.write_bytes(golden.read_bytes().replace(b"return gap", b"return gap + 1"))
    result = run_gates(hinge)
    assert statuses(result)["golden-passes"] is GateStatus.FAILED
    assert "value" in next(gate.message for gate in result.gates if gate.gate == "golden-passes")
    assert statuses(result)["trivial-fails"] is GateStatus.SKIPPED


def test_a_golden_that_lacks_a_package_is_told_which(hinge: Task) -> None:
    for path in (hinge.root / "small-repo/pkg/losses.py", hinge.golden_folder / "losses_golden.py"):
        path.write_bytes(b"import sklearn.no_such_part\n" + path.read_bytes())
    (gate,) = [gate for gate in run_gates(hinge).gates if gate.gate == "golden-passes"]
    assert gate.status is GateStatus.FAILED and "lmr-author env lock --with scikit-learn" in gate.hint


def test_a_masked_file_that_cannot_be_imported(hinge: Task) -> None:
    goal = hinge.root / "small-repo/pkg/losses.py"
    goal.write_bytes(b"import no_such_module\n" + goal.read_bytes())
    result = run_gates(hinge)
    assert statuses(result)["masked-fails"] is GateStatus.FAILED
    assert "not because of the mask" in next(g.message for g in result.gates if g.gate == "masked-fails")


def test_a_test_that_a_trivial_implementation_passes(tmp_path: Path) -> None:
    task = only_hinge(tmp_path)
    driver = task.root / "small-repo" / "zeros.py"
    driver.write_text("from pkg.losses import hinge\nfor x in (3.0, 4.0, 5.0):\n    hinge(x)\n")
    recorded(task, HINGE, "python", "zeros.py")
    result = run_gates(task)
    assert statuses(result)["trivial-fails"] is GateStatus.FAILED
    failed = next(gate for gate in result.gates if gate.gate == "trivial-fails")
    assert "zeros in the golden's shape" in failed.message


def test_without_isolation_the_gate_is_unproven(hinge: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lmr_author.runtime.sandbox.bubblewrap.tools", lambda: None)
    result = run_gates(hinge)
    found = statuses(result)
    assert found.pop("isolated") is GateStatus.UNPROVEN
    assert "runs as you" in result.gates[0].message, "said before anything of the task is run"
    assert set(found.values()) == {GateStatus.PASSED}
    assert not result.passed


def test_nothing_masked_and_no_interpreter(tmp_path: Path) -> None:
    task = make_task(tmp_path)
    with pytest.raises(LmrError, match="nothing is masked"):
        run_gates(task)
    mask(task, MaskOptions((HINGE,)), task.root)
    with pytest.raises(LmrError, match="no Python interpreter"):
        run_gates(task, where=Where(python=Path("/nowhere/python")))
