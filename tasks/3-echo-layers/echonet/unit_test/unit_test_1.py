"""Unit test of echonet/layer.py::EchoLayer.forward, made by lmr-author from real calls of the paper's own code:

    python train.py

Each folder recordings/1/case_N/ holds the inputs of one call and, apart from them, its outcome: what it returned
or raised, and what it changed. As there is more among them than tensors, arrays and plain containers, lmr_support.py
beside this file rebuilds the objects, makes the call and compares. Run it from the repository's root, as a script or under
pytest:

    PYTHONPATH=$(pwd) python unit_test/unit_test_1.py
"""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
LOG = HERE / "logs" / "unit_test_1.log"
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

import lmr_support  # noqa: E402

# Tolerances begin with those of torch.testing.assert_close for the least precise element type: another order of operations,
# number of threads or BLAS changes the last digits. They are in proportion to small and large numbers, and wider where the
# original itself varied more between runs or in double precision. What is not named has to be equal.
CASES = {
    'case_1': {  # call 1: self.decay: tensor float32[1], requires grad, self.leak: tensor float32[1], requires grad,…
        'value[0]': {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 1e-05},
        'value[1].memory': {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 1e-05},
        'value[1].mass': {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 1e-05},
        'self': {'kind': 'ignore'},
    },
    'case_2': {  # call 21: 1 mutant fails only here; self.decay: tensor float32[4], requires grad, self.leak: tensor…
        'value[0]': {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 1e-05},
        'value[1].memory': {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 1e-05},
        'value[1].mass': {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 1e-05},
        'self': {'kind': 'ignore'},
    },
    'case_3': {  # call 37: self.decay: tensor float32[4], requires grad, self.leak: tensor float32[4], requires grad…
        'value[0]': {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 1e-05},
        'value[1].memory': {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 1e-05},
        'value[1].mass': {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 1e-05},
        'self': {'kind': 'ignore'},
    },
    'case_4': {  # call 59: the only one with self.gated=True, state=EchoState; 11 mutants fail only here; runs lines…
        'value[0]': {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 1e-05},
        'value[1].memory': {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 1e-05},
        'value[1].mass': {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 1e-05},
        'self': {'kind': 'ignore'},
    },
}


def test_forward():
    """Every recorded call gives the recorded outcome again."""
    log("Failed: EchoLayer.forward (the test was not finished)")
    try:
        # From the repository that this test lies in, not an installed package of the same name.
        target = lmr_support.Target(
            HERE.parent, 'echonet/layer.py', 'EchoLayer.forward', module='echonet.layer', sys_path=['']
        )
        for case, checkers in CASES.items():
            folder = HERE / "recordings" / "1" / case
            lmr_support.check(target, folder, checkers)
    except BaseException as error:  # a SystemExit must not look like success
        log("Failed: EchoLayer.forward")
        raise AssertionError(str(error)) from error
    log(f"Passed: EchoLayer.forward ({len(CASES)} recorded calls)")


def log(text):
    """Write the verdict where LMR-Bench looks for it; in a read-only tree the exit code has to do."""
    print(text)
    try:
        LOG.parent.mkdir(exist_ok=True)
        LOG.write_text(text + "\n")
    except OSError as error:
        print(f"no log was written: {error}", file=sys.stderr)


if __name__ == "__main__":
    test_forward()
