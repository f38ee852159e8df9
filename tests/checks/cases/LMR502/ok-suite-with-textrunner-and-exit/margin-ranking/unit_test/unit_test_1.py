# expect: nothing
import logging
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from ranking.losses import pairwise_loss
os.makedirs("unit_test/logs", exist_ok=True)
logging.basicConfig(filename="unit_test/logs/unit_test_1.log", level=logging.INFO, filemode="w")

import unittest


class LossTest(unittest.TestCase):
    def test_value(self):
        self.assertAlmostEqual(pairwise_loss([0.5, 2.0], [0, 1])[0], 0.2014, places=3)


if __name__ == "__main__":
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(LossTest)
    outcome = unittest.TextTestRunner(verbosity=2).run(suite)
    logging.info("Passed" if outcome.wasSuccessful() else "Failed")
    raise SystemExit(not outcome.wasSuccessful())
