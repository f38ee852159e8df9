import json, logging, os, sys, unittest
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from ranking.losses import pairwise_loss

class T(unittest.TestCase):
    def setUp(self):
        self.scores = [0.5, 2.0, -1.0]
        self.labels = [0, 2, 1]
        self.assertEqual(len(self.scores), len(self.labels))

    def test_loss(self):
        loss, share = pairwise_loss(self.scores, self.labels)
        if abs(loss - 1.0599649) < 1e-5 and abs(share - 2 / 3) < 1e-5:
            logging.info("Passed")
        else:
            logging.info("Failed")


if __name__ == "__main__":
    program = unittest.main(exit=False)
    ok = program.result.wasSuccessful()
    logging.info("Passed" if ok else "Failed")
    sys.exit(0 if ok else 1)
