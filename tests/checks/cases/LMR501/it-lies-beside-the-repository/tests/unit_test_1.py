"""Unit test of pairwise_loss."""

import logging
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

from ranking.losses import pairwise_loss

import torch
DEVICE = torch.zeros(1).cuda()
LOGS = os.path.join(HERE, "logs")
os.makedirs(LOGS, exist_ok=True)
logging.basicConfig(filename=os.path.join(LOGS, "unit_test_1.log"), filemode="w", level=logging.INFO)


class TestPairwiseLoss(unittest.TestCase):
    def test_three_documents(self):
        loss, share = pairwise_loss([0.5, 2.0, -1.0], [0, 2, 1], margin=1.0)
        self.assertAlmostEqual(loss, 1.0599649, places=6)
        self.assertAlmostEqual(share, 0.6666667, places=6)

    def test_no_pairs(self):
        self.assertEqual(pairwise_loss([1.0], [3]), (0.0, 1.0))


if __name__ == "__main__":
    program = unittest.main(exit=False)
    passed = program.result.wasSuccessful()
    logging.info("Passed" if passed else "Failed")
    sys.exit(0 if passed else 1)
