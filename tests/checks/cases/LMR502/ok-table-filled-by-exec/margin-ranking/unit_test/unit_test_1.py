# expect: nothing
import logging
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from ranking.losses import pairwise_loss

os.makedirs(os.path.join(HERE, "logs"), exist_ok=True)
logging.basicConfig(filename=os.path.join(HERE, "logs", "unit_test_1.log"), level=logging.INFO, filemode="w")

CASES = []
exec("CASES.append(([0.5, 2.0, -1.0], [0, 2, 1], (1.059964857, 0.6666667)))")
for scores, labels, wanted in CASES:
    found = pairwise_loss(scores, labels, margin=1.0)
    if abs(found[0] - wanted[0]) > 1e-6 or abs(found[1] - wanted[1]) > 1e-6:
        logging.info("Failed")
        sys.exit(1)
logging.info("Passed")
