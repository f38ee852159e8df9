"""Unit test of prefopt/losses.py::rating_margin_loss, made by lmr-author from real calls of the paper's own code:

    python train.py --steps 5

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
EVERYWHERE = {
    '*.grad': {'kind': 'ignore'},  # not compared: .grad of every tensor: .grad is working memory: an implementation may clear or keep it
}
CASES = {
    'case_1': {  # call 1: 5 mutants fail only here; chosen_logps: tensor float32[16], requi…, rejected_logps: tensor …
        **EVERYWHERE,
        '*': {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 1e-05},  # every float that is not named: usual for its element type
        'value[0]': {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 1.6e-06},  # the golden is more exact than its element type
        "@gradients['chosen_logps']": {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 2.2e-06},  # the golden is more exact than its element type
        "@gradients['rejected_logps']": {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 4.2e-06},  # the golden is more exact than its element type
    },
    'case_2': {  # call 8: 1 mutant fails only here; chosen_logps: tensor float32[16], requi…, rejected_logps: tensor …
        **EVERYWHERE,
        '*': {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 1e-05},  # every float that is not named: usual for its element type
        'value[0]': {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 7.2e-07},  # the golden is more exact than its element type
        "@gradients['chosen_logps']": {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 1.4e-07},  # the golden is more exact than its element type
        "@gradients['rejected_logps']": {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 2.5e-07},  # the golden is more exact than its element type
    },
    'case_3': {  # call 14: chosen_logps: tensor float32[16], requi…, rejected_logps: tensor float32[16], req…, …
        **EVERYWHERE,
        '*': {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 1e-05},  # every float that is not named: usual for its element type
        'value[0]': {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 2.1e-06},  # the golden is more exact than its element type
        "@gradients['chosen_logps']": {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 2.6e-07},  # the golden is more exact than its element type
        "@gradients['rejected_logps']": {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 5.6e-07},  # the golden is more exact than its element type
    },
    'case_4': {  # call 18: chosen_logps: tensor float32[16], requi…, rejected_logps: tensor float32[16], req…, …
        **EVERYWHERE,
        '*': {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 1e-05},  # every float that is not named: usual for its element type
        'value[0]': {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 2.2e-06},  # the golden is more exact than its element type
        "@gradients['chosen_logps']": {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 1.4e-07},  # the golden is more exact than its element type
        "@gradients['rejected_logps']": {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 2.4e-07},  # the golden is more exact than its element type
    },
    'case_5': {  # call 23: chosen_logps: tensor float32[16], requi…, rejected_logps: tensor float32[16], req…, …
        **EVERYWHERE,
        '*': {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 1e-05},  # every float that is not named: usual for its element type
        'value[0]': {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 3.4e-06},  # the golden is more exact than its element type
        "@gradients['chosen_logps']": {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 1.7e-07},  # the golden is more exact than its element type
        "@gradients['rejected_logps']": {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 2.3e-07},  # the golden is more exact than its element type
    },
    'case_6': {  # call 27: 2 mutants fail only here; chosen_logps: tensor float32[16], requi…, rejected_logps: …
        **EVERYWHERE,
        '*': {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 1e-05},  # every float that is not named: usual for its element type
        'value[0]': {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 5e-06},  # the golden is more exact than its element type
        "@gradients['chosen_logps']": {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 9.6e-07},  # the golden is more exact than its element type
        "@gradients['rejected_logps']": {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 1e-06},  # the golden is more exact than its element type
    },
    'case_7': {  # call 28: 17 mutants fail only here; chosen_logps: tensor float32[16], requi…, rejected_logps: …
        **EVERYWHERE,
        '*': {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 1e-05},  # every float that is not named: usual for its element type
        'value[0]': {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 3.4e-06},  # the golden is more exact than its element type
        "@gradients['chosen_logps']": {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 1.5e-07},  # the golden is more exact than its element type
        "@gradients['rejected_logps']": {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 4.5e-07},  # the golden is more exact than its element type
    },
    'case_8': {  # call 31: 16 mutants fail only here; takes a path of its own; chosen_logps: tensor float32[16], …
        **EVERYWHERE,
        '*': {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 1e-05},  # every float that is not named: usual for its element type
        'value[0]': {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 5.1e-06},  # the golden is more exact than its element type
        "@gradients['chosen_logps']": {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 9.2e-07},  # the golden is more exact than its element type
        "@gradients['rejected_logps']": {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 1.7e-06},  # the golden is more exact than its element type
    },
    'case_9': {  # made of call 16 with beta=1.0, rating_gap.shape[0]=2: 1 mutant fails only here; chosen_logps: …
        **EVERYWHERE,
        '*': {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 3.5e-06},  # every float that is not named: the golden is more exact than its element type
        'value[1]': {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 4.6e-06},  # the golden is more exact than its element type
        'value[2]': {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 1e-05},  # usual for its element type
        "@gradients['chosen_logps']": {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 2.2e-07},  # the golden is more exact than its element type
        "@gradients['rejected_logps']": {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 1e-07},  # in proportion to its size
    },
    'case_10': {  # made of call 28 with another chosen_lengths, margin=10.0: 1 mutant fails only here; chosen_logps: …
        **EVERYWHERE,
        '*': {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 1e-05},  # every float that is not named: usual for its element type
        "@gradients['chosen_logps']": {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 8.7e-06},  # the golden is more exact than its element type
        "@gradients['rejected_logps']": {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 9.9e-06},  # the golden is more exact than its element type
    },
}


def test_rating_margin_loss():
    """Every recorded call gives the recorded outcome again."""
    log("Failed: rating_margin_loss (the test was not finished)")
    try:
        # From the repository that this test lies in, not an installed package of the same name.
        target = lmr_support.Target(
            HERE.parent, 'prefopt/losses.py', 'rating_margin_loss', module='prefopt.losses', sys_path=['']
        )
        for case, checkers in CASES.items():
            folder = HERE / "recordings" / "1" / case
            lmr_support.check(target, folder, checkers)
    except BaseException as error:  # a SystemExit must not look like success
        log("Failed: rating_margin_loss")
        raise AssertionError(str(error)) from error
    log(f"Passed: rating_margin_loss ({len(CASES)} recorded calls)")


def log(text):
    """Write the verdict where LMR-Bench looks for it; in a read-only tree the exit code has to do."""
    print(text)
    try:
        LOG.parent.mkdir(exist_ok=True)
        LOG.write_text(text + "\n")
    except OSError as error:
        print(f"no log was written: {error}", file=sys.stderr)


if __name__ == "__main__":
    test_rating_margin_loss()
