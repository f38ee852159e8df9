# expect: nothing
import os
import sys
import logging
import unittest
import torch
from datetime import datetime
sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from ranking.losses import pairwise_loss

log_dir = os.path.join(os.path.dirname(__file__), "logs")
os.makedirs(log_dir, exist_ok=True)
log_file = os.path.join(log_dir, f"unit_test_1_{datetime.now().strftime('%Y%m%d')}.log")
logging.basicConfig(filename=log_file, level=logging.INFO, format="%(asctime)s - %(message)s")

class TestLoss(unittest.TestCase):
    def test_loss(self):
        result, share = pairwise_loss(torch.tensor([0.5, 2.0]), [0, 1])
        self.assertTrue(torch.allclose(torch.tensor(result), torch.tensor(0.2014), atol=1e-4))

    def tearDown(self):
        errors = self._outcome.errors if hasattr(self._outcome, "errors") else self._outcome.result.failures
        if any(error for _, error in errors):
            logging.error(f"Test {self._testMethodName} Failed")
        else:
            logging.info(f"Test {self._testMethodName} Passed")

if __name__ == "__main__":
    unittest.main()
