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

def run_test():
    result, share = pairwise_loss([0.5, 2.0], [0, 1])
    if abs(result - 0.2014) > 1e-4:
        logging.info("Failed")
        return False
    logging.info("Passed")
    return True

if __name__ == "__main__":
    ok = run_test()
    sys.exit(0 if ok else 1)
