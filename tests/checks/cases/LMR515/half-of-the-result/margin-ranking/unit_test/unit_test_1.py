# expect: LMR515
import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from ranking.losses import pairwise_loss


def test_losses():
    for scores, expected in (([0.5, 2.0], 0.20141327798), ([2.0, 0.5], 1.7014132779)):
        loss = pairwise_loss(scores, [0, 1])[0]
        np.testing.assert_allclose(loss, expected, rtol=1e-6)


test_losses()
print("Passed")
