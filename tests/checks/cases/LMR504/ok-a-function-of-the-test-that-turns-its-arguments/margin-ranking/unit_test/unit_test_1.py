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


def turned(scores, labels):
    return pairwise_loss(scores[::-1], labels[::-1])


scores = [0.5, 2.0]
expected = pairwise_loss(scores, [0, 1])
assert turned(scores, [0, 1]) == expected
logging.info('Passed')
