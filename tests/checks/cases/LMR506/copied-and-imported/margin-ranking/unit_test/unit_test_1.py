# expect: LMR506
import math
import sys
sys.path.append(".")
from ranking import losses


def pairwise_loss(scores, labels, margin=1.0):
    return math.log1p(math.exp(margin - scores[1] + scores[0])), 1.0


loss, _ = pairwise_loss([0.5, 2.0], [0, 1])
assert abs(loss - 0.4741) < 1e-3
print("Passed")
