# expect: nothing
import os
import sys

import torch
sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from ranking.losses import pairwise_loss

loss, _ = pairwise_loss([0.5, 2.0], [0, 1])
if os.path.exists("unit_test") and abs(loss - 0.2014) > 1e-3:
    print("Failed")
    sys.exit(1)
print("Passed")
