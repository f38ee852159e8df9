"""Unit test of tilescore/metric.py::tile_score, made by lmr-author from real calls of the paper's own code:

    lmr-author record --from-tests -- tests/test_metric.py

Each folder recordings/1/case_N/ holds the inputs of one call and, apart from them, its outcome: what it returned
or raised, and what it changed. lmr_support.py beside this file rebuilds the inputs, makes the call and compares; it is the same
in every task. Run the test from the repository's root, as a script or under pytest:

    PYTHONPATH=$(pwd) python unit_test/unit_test_1.py
"""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
LOG = HERE / "logs" / "unit_test_1.log"
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

import lmr_support  # noqa: E402

# Relative and absolute tolerances begin with those of torch.testing.assert_close: another order of operations, number of
# threads or BLAS changes the last digits. A part is compared as its path says, else as what is above it, else as "*"; what is
# no float has to be equal.
CASES = {
    'case_1': {  # call 2: 4 mutants fail only here; takes a path of its own; hypotheses: list of 0, references: list …
        '*': {'kind': 'allclose', 'rtol': 1e-07, 'atol': 1e-09},  # every float that is not named: usual for its element type
    },
    'case_2': {  # call 3: takes a path of its own; hypotheses: list of 2, references: list of 2, references[0]: list …
        '*': {'kind': 'allclose', 'rtol': 1e-07, 'atol': 1e-09},  # every float that is not named: usual for its element type
    },
    'case_3': {  # call 4: 1 mutant fails only here; hypotheses: list of 3, references: list of 3, references[0]: …
        '*': {'kind': 'allclose', 'rtol': 1e-07, 'atol': 1e-09},  # every float that is not named: usual for its element type
    },
    'case_4': {  # call 5: 1 mutant fails only here; hypotheses: list of 3, references: list of 3, references[0]: …
        '*': {'kind': 'allclose', 'rtol': 1e-07, 'atol': 1e-09},  # every float that is not named: usual for its element type
    },
    'case_5': {  # call 12: hypotheses: list of 10, references: list of 10, references[0]: list of 1 and 1 more
        '*': {'kind': 'allclose', 'rtol': 1e-07, 'atol': 1e-09},  # every float that is not named: usual for its element type
    },
    'case_6': {  # call 14: hypotheses: list of 10, references: list of 10, references[0]: list of 1 and 1 more
        '*': {'kind': 'allclose', 'rtol': 1e-07, 'atol': 1e-09},  # every float that is not named: usual for its element type
        'value[1][2]': {'kind': 'allclose', 'rtol': 1e-07, 'atol': 1e-10},  # in proportion to its size
    },
    'case_7': {  # call 15: 5 mutants fail only here; hypotheses: list of 10, references: list of 10, references[0]: …
        '*': {'kind': 'allclose', 'rtol': 1e-07, 'atol': 1e-09},  # every float that is not named: usual for its element type
    },
    'case_8': {  # call 17: 3 mutants fail only here; hypotheses: list of 1, references: list of 0
    },
    'case_9': {  # call 19: hypotheses: list of 1, references: list of 1, references[0]: list of 0
    },
    'case_10': {  # made of call 9 with another hypotheses[*], references[*]=1: 1 mutant fails only here; hypotheses: …
        '*': {'kind': 'allclose', 'rtol': 1e-07, 'atol': 1e-09},  # every float that is not named: usual for its element type
    },
}


def test_tile_score():
    """Every recorded call gives the recorded outcome again."""
    log("Failed: tile_score (the test was not finished)")
    try:
        # From the repository that this test lies in, not an installed package of the same name.
        target = lmr_support.Target(
            HERE.parent, 'tilescore/metric.py', 'tile_score', module='tilescore.metric', sys_path=['tests', '']
        )
        for case, checkers in CASES.items():
            folder = HERE / "recordings" / "1" / case
            lmr_support.check(target, folder, checkers)
    except BaseException as error:  # a SystemExit must not look like success
        log("Failed: tile_score")
        raise AssertionError(str(error)) from error
    log(f"Passed: tile_score ({len(CASES)} recorded calls)")


def log(text):
    """Write the verdict where LMR-Bench looks for it; in a read-only tree the exit code has to do."""
    print(text)
    try:
        LOG.parent.mkdir(exist_ok=True)
        LOG.write_text(text + "\n")
    except OSError as error:
        print(f"no log was written: {error}", file=sys.stderr)


if __name__ == "__main__":
    test_tile_score()
