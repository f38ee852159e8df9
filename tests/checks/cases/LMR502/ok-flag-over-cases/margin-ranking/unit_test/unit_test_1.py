# expect: nothing
import os
import sys
import logging
import torch
from datetime import datetime
sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from ranking.losses import pairwise_loss

log_dir = os.path.join(os.path.dirname(__file__), "logs")
os.makedirs(log_dir, exist_ok=True)
log_file = os.path.join(log_dir, f"unit_test_1_{datetime.now().strftime('%Y%m%d')}.log")
logging.basicConfig(filename=log_file, level=logging.INFO, format="%(asctime)s - %(message)s")

all_passed = True
for scores, expected in (([0.5, 2.0], 0.2014), ([0.0, 0.0], 1.3132)):
    try:
        result, share = pairwise_loss(scores, [0, 1])
        if abs(result - expected) > 1e-3:
            all_passed = False
    except Exception as error:
        logging.error("case: %s", error)
        all_passed = False
logging.info("Passed" if all_passed else "Failed")
if not all_passed:
    sys.exit(1)
