# expect: LMR502
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

def test_loss():
    scores = torch.tensor([0.5, 2.0])
    result, share = pairwise_loss(scores, [0, 1])
    expected = torch.tensor(0.2014)
    if torch.allclose(result, expected, atol=1e-4):
        logging.info("Test Passed")
        print("Test Passed")
    else:
        logging.info("Test Failed")
        print("Test Failed")

if __name__ == "__main__":
    test_loss()
