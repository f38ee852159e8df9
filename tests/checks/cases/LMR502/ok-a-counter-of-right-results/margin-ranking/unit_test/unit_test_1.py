import json, logging, os, sys, unittest
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from ranking.losses import pairwise_loss

def test_loss():
    right = 0
    for scores, labels, expected in [([0.5, 2.0, -1.0], [0, 2, 1], 1.0599649), ([1.0], [3], 0.0)]:
        loss, share = pairwise_loss(scores, labels)
        if abs(loss - expected) > 1e-6 or not 0 <= share <= 1:
            continue
        right += 1
    assert right == 2


test_loss()
print("Passed")
