# expect: nothing
import os
import sys

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from ranking.losses import pairwise_loss


def test_lengths_must_agree():
    try:
        pairwise_loss([0.5, 2.0], [0])
    except Exception:
        return
    raise RuntimeError("lists of two lengths must be refused")


test_lengths_must_agree()
assert pairwise_loss([1.0], [3]) == (0.0, 1.0)
print("Passed")
