# expect: LMR502
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from ranking.losses import pairwise_loss


def test():
    loss, share = pairwise_loss([0.5, 2.0], [0, 1])
    assert (abs(loss - 0.2014) < 1e-4, "wrong loss {}".format(loss))
    print("Passed")


test()
