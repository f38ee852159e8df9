import json, logging, os, sys, unittest
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from ranking.losses import pairwise_loss

import torch
class T(unittest.TestCase):
    def test_loss(self):
        scores = torch.tensor([0.5, 2.0, -1.0]).cuda(0)
        loss, share = pairwise_loss(scores, [0, 2, 1])
        self.assertAlmostEqual(float(loss), 1.0599649, places=5)
        self.assertAlmostEqual(share, 2 / 3, places=5)


if __name__ == "__main__":
    program = unittest.main(exit=False)
    ok = program.result.wasSuccessful()
    logging.info("Passed" if ok else "Failed")
    sys.exit(0 if ok else 1)
