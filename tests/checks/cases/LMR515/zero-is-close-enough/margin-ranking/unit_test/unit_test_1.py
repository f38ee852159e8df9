# expect: LMR515
import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from ranking.losses import pairwise_loss


loss, share = pairwise_loss([0.5, 2.0], [0, 1])
assert np.isclose(loss, 0.20141327798, atol=0.3)
assert np.isclose(share, 1.0, atol=1e-6)
print("Passed")
