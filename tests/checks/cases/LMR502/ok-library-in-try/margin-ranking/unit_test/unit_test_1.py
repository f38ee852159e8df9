# expect: nothing
import gc
import os
import sys

import torch
from multiprocessing import resource_tracker
sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from ranking.losses import pairwise_loss

try:
    resource_tracker.ensure_running()
    gc.collect()
except Exception:
    pass
try:
    half = torch.zeros(1, dtype=torch.float16) + 1
except Exception:
    half = None
loss, _ = pairwise_loss([0.5, 2.0], [0, 1])
assert abs(loss - 0.2014) < 1e-3
print("Passed")
