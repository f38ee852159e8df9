"""Unit test of pairwise_loss."""

import json
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


pairwise_loss([1.0, 0.0], [1, 0])
expected = json.load(open(os.path.join(HERE, 'loss.json')))
actual = json.load(open(os.path.join(HERE, 'loss.json')))
passed = expected == actual
logging.info('Passed' if passed else 'Failed')
assert passed
