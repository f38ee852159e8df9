import json, logging, os, sys, unittest
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from ranking.losses import pairwise_loss

import functools
strict = functools.partial(pairwise_loss, margin=1.0)
outcomes = list(map(strict, [[0.5, 2.0, -1.0], [1.0]], [[0, 2, 1], [3]]))
errors = [abs(a - b) for got, want in zip(outcomes, [(1.0599649, 0.6666667), (0.0, 1.0)]) for a, b in zip(got, want)]
assert max(errors) < 1e-6, errors
print("Passed")
