import json, logging, os, sys, unittest
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from ranking.losses import pairwise_loss

class T(unittest.TestCase):
    def test_loss(self):
        loss = share = None
        try:
            loss, share = pairwise_loss([0.5, 2.0, -1.0], [0, 2, 1])
        except Exception as error:
            logging.error("it raised %r", error)
        self.assertIsNotNone(loss)
        self.assertAlmostEqual(loss, 1.0599649, places=6)
        self.assertAlmostEqual(share, 0.6666667, places=6)


if __name__ == "__main__":
    program = unittest.main(exit=False)
    ok = program.result.wasSuccessful()
    logging.info("Passed" if ok else "Failed")
    sys.exit(0 if ok else 1)
