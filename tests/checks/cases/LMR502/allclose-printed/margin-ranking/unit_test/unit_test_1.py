# expect: LMR502
import logging
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from ranking.losses import pairwise_loss
os.makedirs("unit_test/logs", exist_ok=True)
logging.basicConfig(filename="unit_test/logs/unit_test_1.log", level=logging.INFO, filemode="w")

import torch
loss, share = pairwise_loss([0.5, 2.0], [0, 1])
print("loss equal:", torch.allclose(torch.tensor(loss), torch.tensor(0.2014), atol=1e-4))
print("Passed" if abs(share - 1.0) < 1e-6 else "Failed")
