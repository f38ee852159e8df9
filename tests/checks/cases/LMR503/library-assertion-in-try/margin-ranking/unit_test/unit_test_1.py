# expect: LMR503
import os
import sys

import numpy as np
sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from ranking.losses import pairwise_loss

loss, share = pairwise_loss([0.5, 2.0], [0, 1])
try:
    np.testing.assert_allclose([loss, share], [0.2014, 1.0], atol=1e-3)
    print("Passed")
except Exception as error:
    print("Failed", error)
