# expect: nothing
import os, sys
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "ranking"))
from losses import pairwise_loss

os.makedirs(os.path.join(HERE, "logs"), exist_ok=True)
loss, share = pairwise_loss([0.5, 2.0, -1.0], [0, 2, 1], margin=1.0)
with open(os.path.join(HERE, "logs", "unit_test_1.log"), "w") as log:
    log.write("Passed" if abs(loss - 1.0599649) < 1e-6 else "Failed")
assert abs(loss - 1.0599649) < 1e-6
