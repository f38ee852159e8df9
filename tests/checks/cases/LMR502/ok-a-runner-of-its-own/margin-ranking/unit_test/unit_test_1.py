import json, logging, os, sys, unittest
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from ranking.losses import pairwise_loss

class Runner:
    def __init__(self):
        self.failures = []
    def check(self, name, got, want):
        if abs(got - want) > 1e-6:
            self.failures.append(name)
    def run(self):
        loss, share = pairwise_loss([0.5, 2.0, -1.0], [0, 2, 1])
        self.check("loss", loss, 1.0599649)
        self.check("share", share, 0.6666667)
        return len(self.failures)
failures = Runner().run()
print("Failed" if failures else "Passed")
sys.exit(failures)
