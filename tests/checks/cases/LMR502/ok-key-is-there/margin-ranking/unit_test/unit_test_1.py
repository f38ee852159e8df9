# expect: nothing
import json
import sys
sys.path.append(".")
from ranking.losses import pairwise_loss

with open("paper.json") as f:
    data = json.load(f)
title = data.get("1", "")
assert abs(pairwise_loss([0.5, 2.0], [0, 1])[0] - 0.2014) < 1e-3, title
print("Passed")
