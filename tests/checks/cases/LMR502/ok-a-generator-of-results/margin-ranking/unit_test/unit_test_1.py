import json, logging, os, sys, unittest
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from ranking.losses import pairwise_loss

def outcomes():
    yield pairwise_loss([0.5, 2.0, -1.0], [0, 2, 1]), (1.0599649, 0.6666667)
    yield pairwise_loss([1.0], [3]), (0.0, 1.0)
class T(unittest.TestCase):
    def test_all(self):
        for got, want in outcomes():
            with self.subTest(want=want):
                for a, b in zip(got, want):
                    self.assertAlmostEqual(a, b, places=6)


if __name__ == "__main__":
    program = unittest.main(exit=False)
    ok = program.result.wasSuccessful()
    logging.info("Passed" if ok else "Failed")
    sys.exit(0 if ok else 1)
