# expect: LMR509
import sys
import torch
sys.path.append(".")
from ranking.losses import pairwise_loss
device = torch.device("cuda:0")
scores = torch.tensor([0.5, 2.0], device=device)
loss, _ = pairwise_loss(scores.tolist(), [0, 1])
assert abs(loss - 0.2014) < 1e-3
print("Passed")
