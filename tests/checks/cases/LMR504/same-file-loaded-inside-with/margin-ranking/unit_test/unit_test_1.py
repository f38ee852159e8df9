# expect: LMR504
# files: unit_test/out.json
import json
import os
import sys
sys.path.append(".")
from ranking.losses import pairwise_loss
pairwise_loss([0.5, 2.0], [0, 1])
base = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(base, "out.json")) as f:
    expected = json.load(f)
with open(os.path.join(base, "out.json")) as f:
    actual = json.load(f)
assert expected == actual
print("Passed")
