"""Unit test of pairwise_loss."""

import logging
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

from ranking.losses import pairwise_loss

LOGS = os.path.join(HERE, "logs")
os.makedirs(LOGS, exist_ok=True)
logging.basicConfig(filename=os.path.join(LOGS, "unit_test_1.log"), filemode="w", level=logging.INFO)


before, labels = pairwise_loss([0.5, 2.0], [0, 1]), [1, 0]
assert pairwise_loss([0.5, 2.0], labels) != before
labels = [0, 1]
assert pairwise_loss([0.5, 2.0], labels)[0] == 2.7014132779827524
logging.info('Passed')
