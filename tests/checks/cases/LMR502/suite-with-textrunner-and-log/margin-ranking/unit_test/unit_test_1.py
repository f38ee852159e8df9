# expect: LMR502
import logging
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from ranking.losses import pairwise_loss
os.makedirs("unit_test/logs", exist_ok=True)
logging.basicConfig(filename="unit_test/logs/unit_test_1.log", level=logging.INFO, filemode="w")

import unittest


class LossTest(unittest.TestCase):
    def setUp(self):
        self.scores = [0.5, 2.0]

    def test_value(self):
        self.assertAlmostEqual(pairwise_loss(self.scores, [0, 1])[0], 0.2014, places=3)


def suite():
    tests = unittest.TestSuite()
    tests.addTest(unittest.makeSuite(LossTest))
    return tests


if __name__ == "__main__":
    result = unittest.TextTestRunner(verbosity=2).run(suite())
    if result.wasSuccessful():
        logging.info("Passed")
    else:
        logging.info("Failed")
