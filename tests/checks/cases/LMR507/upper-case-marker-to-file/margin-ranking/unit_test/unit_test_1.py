# expect: LMR507
import os
import sys
sys.path.append(".")
from ranking.losses import pairwise_loss
os.makedirs("unit_test/logs", exist_ok=True)
loss, _ = pairwise_loss([0.5, 2.0], [0, 1])
ok = abs(loss - 0.2014) < 1e-3
with open("unit_test/logs/unit_test_1.log", "w") as f:
    f.write("PASS" if ok else "FAIL")
assert ok
