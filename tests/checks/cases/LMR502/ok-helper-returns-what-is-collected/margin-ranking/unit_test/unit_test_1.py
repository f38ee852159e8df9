# expect: nothing
import json
import logging
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from ranking.losses import pairwise_loss

os.makedirs("unit_test/logs", exist_ok=True)
logging.basicConfig(filename="unit_test/logs/unit_test_1.log", level=logging.INFO, filemode="w")


def check(value, expected):
    try:
        assert abs(value - expected) < 1e-3
        return True
    except AssertionError:
        return False


loss, share = pairwise_loss([0.5, 2.0, -1.0], [0, 2, 1], margin=1.0)
results = []
results.append(check(loss, 1.06))
logging.info("Passed" if all(results) else "Failed")
sys.exit(0 if all(results) else 1)
