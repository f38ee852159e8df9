# expect: LMR508
import logging
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from ranking.losses import pairwise_loss
os.makedirs("unit_test/logs", exist_ok=True)
logging.basicConfig(filename="unit_test/logs/unit_test_1.log", level=logging.INFO, filemode="w")

import pickle
with open("unit_test/test_data/case.pkl", "rb") as f:
    case = pickle.load(f)
loss, _ = pairwise_loss(*case["inputs"])
assert abs(loss - case["loss"]) < 1e-3
logging.info("Passed")
