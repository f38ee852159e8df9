"""Unit test of prefopt/losses.py::rating_margin_loss, made by lmr-author.

Each case is a call that was recorded while the paper's own code ran:

    python train.py --steps 5

Inputs and expected outcome lie in recordings/1/<case>/. Whatever is not named in CHECKERS must be
equal: structure, types, shapes, dtypes, which arguments the call changed, and the exception it raised.

Run it from the repository's root, as a script or under pytest:

    PYTHONPATH=$(pwd) python unit_test/unit_test_1.py
"""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(HERE))

from lmr_probe import replay  # noqa: E402

CHECKERS = {
    # case_1: call 31 of the recorded run
    #   chosen_logps: tensor float32[16]
    #   rejected_logps: tensor float32[16]
    #   chosen_lengths: tensor int64[16]
    #   rejected_lengths: tensor int64[16]
    #   rating_gap: tensor float32[16]
    #   reference: tuple of 2
    #   margin: float
    #   smoothing: float
    #   anchor: float
    'case_1': {
        'value[0]': {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 1e-05},
        'value[1]': {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 1e-05},
        'value[2]': {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 1e-05},
    },
    # case_2: call 26 of the recorded run
    #   chosen_logps: tensor float32[16]
    #   rejected_logps: tensor float32[16]
    #   chosen_lengths: tensor int64[16]
    #   rejected_lengths: tensor int64[16]
    #   rating_gap: tensor float32[16]
    #   reference: None
    #   margin: float
    #   smoothing: float
    #   anchor: float
    #   kind: 'hinge'
    'case_2': {
        'value[0]': {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 1e-05},
        'value[1]': {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 1e-05},
        'value[2]': {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 1e-05},
    },
    # case_3: call 1 of the recorded run
    #   chosen_logps: tensor float32[16]
    #   rejected_logps: tensor float32[16]
    #   chosen_lengths: tensor int64[16]
    #   rejected_lengths: tensor int64[16]
    #   rating_gap: tensor float32[16]
    #   reference: None
    #   length_power: float
    'case_3': {
        'value[0]': {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 1e-05},
        'value[1]': {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 1e-05},
        'value[2]': {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 1e-05},
    },
    # case_4: call 32 of the recorded run
    #   chosen_logps: tensor float32[16]
    #   rejected_logps: tensor float32[16]
    #   chosen_lengths: tensor int64[16]
    #   rejected_lengths: tensor int64[16]
    #   rating_gap: tensor float32[16]
    #   reference: tuple of 2
    #   margin: float
    #   smoothing: float
    #   anchor: float
    'case_4': {
        'value[0]': {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 1e-05},
        'value[1]': {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 1e-05},
        'value[2]': {'kind': 'allclose', 'rtol': 1.3e-06, 'atol': 1e-05},
    },
}


def test_rating_margin_loss():
    """Every recorded call of the target gives the recorded outcome again."""
    target = replay.Target(
        ROOT, 'prefopt/losses.py', 'rating_margin_loss', module='prefopt.losses', sys_path=['']
    )
    log = HERE / "logs" / "unit_test_1.log"
    replay.run(target, HERE / "recordings" / "1", CHECKERS, log=log)


if __name__ == "__main__":
    sys.exit(replay.main(test_rating_margin_loss))
