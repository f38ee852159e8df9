"""An evaluation in another environment than the lock's says so, in its record, its gate and in `status`."""

from __future__ import annotations

import pytest

from lmr_author.core.task import Task
from lmr_author.core.task.evaluation import load
from lmr_author.release.reporting.status import status_with
from lmr_author.runtime.environment.lock_file import off_lock
from tests.pipeline import run_gates

LOCK = "# for Python 3.11; made by hand\nnumpy==1.23.5\nsix==1.16.0 ; python_version < '3'\nscikit-learn==1.1.0\n"


@pytest.mark.parametrize(
    ("installed", "differing"),
    [
        ({"numpy": "1.23.5", "scikit_learn": "1.1.0"}, ()),
        ({"numpy": "1.23.5+mkl", "Scikit-Learn": "1.1.0", "torch": "2.1"}, ()),
        ({"numpy": "2.1.0", "scikit-learn": "1.1.0"}, ("numpy 2.1.0 instead of 1.23.5",)),
        ({"numpy": "1.23.5", "scikit-learn": "our own"}, ("scikit-learn our own instead of 1.1.0",)),
        ({}, ("numpy is missing", "scikit-learn is missing")),
    ],
)
def test_what_differs_from_a_lock(installed: dict[str, str], differing: tuple[str, ...]) -> None:
    assert off_lock(LOCK, installed) == differing
    assert off_lock("numpy>=1.2\n", installed) == (), "a lock without versions promises nothing"


@pytest.mark.bwrap
def test_a_proof_with_other_packages_says_so(hinge: Task) -> None:
    hinge.lock.write_text("a-package-of-the-lock==1.0\n")
    run = run_gates(hinge)
    assert run.gates[0].message.endswith("not as in requirements.lock: a-package-of-the-lock is missing")
    kept = load(hinge)
    assert kept is not None and kept.sandbox.off_lock == ("a-package-of-the-lock is missing",)
    assert "not proven with the lock's packages: a-package-of-the-lock is missing" in kept.doubts
    assert kept.passed and kept.doubts in status_with(hinge, ()).note
