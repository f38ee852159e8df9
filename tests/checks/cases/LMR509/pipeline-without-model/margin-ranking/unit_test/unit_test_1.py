# expect: LMR509
import json
import logging
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from ranking.losses import pairwise_loss

os.makedirs("unit_test/logs", exist_ok=True)
logging.basicConfig(filename="unit_test/logs/unit_test_1.log", level=logging.INFO, filemode="w")
from transformers import pipeline

classify = pipeline("sentiment-analysis")
loss, share = pairwise_loss([0.5, 2.0, -1.0], [0, 2, 1], margin=1.0)
assert abs(loss - 1.0599649) < 1e-4
logging.info("Passed")
