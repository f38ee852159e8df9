# expect: nothing
import os
import sys

import torch
sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from ranking.losses import pairwise_loss

result = pairwise_loss([0.5, 2.0], [0, 1])
other = result
result = pairwise_loss([2.0, 0.5], [1, 0])
assert result == other
print("Passed")
