# expect: nothing
# of LMR515, too
import logging
import os
import sys

import numpy as np
import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from ranking.losses import pairwise_loss

os.makedirs(os.path.join(HERE, "logs"), exist_ok=True)
logging.basicConfig(filename=os.path.join(HERE, "logs", "unit_test_1.log"), level=logging.INFO)


def check(out, margin):
    loss, share = out
    if abs(loss - {0.5: 0.7399, 1.0: 1.06}[margin]) > 0.01 or abs(share - 0.667) > 0.01:
        raise ValueError(out)


@pytest.mark.parametrize("margin", [0.5, 1.0])
def test_loss(margin):
    out = np.array(pairwise_loss([0.5, 2.0, -1.0], [0, 2, 1], margin=margin))
    assert out.shape == (2,)
    assert out.dtype == np.float64
    assert not np.isnan(out).any()
    check(out, margin)


if __name__ == "__main__":
    code = pytest.main([__file__])
    logging.info("Passed" if code == 0 else "Failed")
    sys.exit(code)
