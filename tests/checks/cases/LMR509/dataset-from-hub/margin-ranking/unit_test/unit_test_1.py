# expect: LMR509
import sys
sys.path.append(".")
import datasets
from ranking.losses import pairwise_loss
data = datasets.load_dataset("glue", "sst2", split="validation[:2]")
loss, _ = pairwise_loss([float(x) for x in data["label"]], [0, 1])
assert abs(loss - 0.2014) < 1e-3
print("Passed")
