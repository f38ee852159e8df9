import json, logging, os, sys, unittest
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from ranking.losses import pairwise_loss

class T(unittest.TestCase):
    def test_inputs_stay(self):
        scores = [0.5, 2.0, -1.0]
        before = list(scores)
        loss, share = pairwise_loss(scores, [0, 2, 1])
        self.assertEqual(scores, before)
        self.assertEqual((round(loss, 5), round(share, 5)), (1.05996, 0.66667))


if __name__ == "__main__":
    program = unittest.main(exit=False)
    ok = program.result.wasSuccessful()
    logging.info("Passed" if ok else "Failed")
    sys.exit(0 if ok else 1)
