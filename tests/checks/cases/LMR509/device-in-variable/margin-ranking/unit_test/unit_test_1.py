# expect: LMR509
import sys
import torch
sys.path.append(".")
from ranking.losses import pairwise_loss
device = "cuda"
scores = torch.tensor([0.5, 2.0]).to(device)
loss, _ = pairwise_loss(scores.tolist(), [0, 1])
assert abs(loss - 0.2014) < 1e-3
print("Passed")
