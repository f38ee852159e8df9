# expect: nothing
# LMR515 has nothing to say
import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from ranking.losses import pairwise_loss


loss, _ = pairwise_loss([0.5, 2.0], [0, 1])
assert abs(loss - 0.20141327798) < 1e-6
_, share = pairwise_loss([0.5, 2.0], [0, 1])
assert share == 1.0
print("Passed")
