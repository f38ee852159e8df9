# expect: nothing
import logging
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from ranking.losses import pairwise_loss
os.makedirs("unit_test/logs", exist_ok=True)
logging.basicConfig(filename="unit_test/logs/unit_test_1.log", level=logging.INFO, filemode="w")

loss, _ = pairwise_loss([0.5, 2.0], [0, 1])
if abs(loss - 0.2014) > 1e-3:
    sys.exit("Failed")
logging.info("Passed")
