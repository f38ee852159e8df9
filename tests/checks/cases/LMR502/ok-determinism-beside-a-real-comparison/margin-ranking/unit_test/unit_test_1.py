# expect: nothing
import logging
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from ranking.losses import pairwise_loss
os.makedirs("unit_test/logs", exist_ok=True)
logging.basicConfig(filename="unit_test/logs/unit_test_1.log", level=logging.INFO, filemode="w")

first = pairwise_loss([0.5, 2.0], [0, 1])
second = pairwise_loss([0.5, 2.0], [0, 1])
assert first == second, "random"
assert abs(first[0] - 0.2014) < 1e-3
logging.info("Passed")
