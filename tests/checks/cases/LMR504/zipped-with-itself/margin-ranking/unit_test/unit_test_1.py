import json, logging, os, sys, unittest
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from ranking.losses import pairwise_loss

result = pairwise_loss([0.5, 2.0, -1.0], [0, 2, 1])
for got, wanted in zip(result, result):
    assert abs(got - wanted) < 1e-6
print("Passed")
