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


def test():
    loss, share = pairwise_loss([0.5, 2.0, -1.0], [0, 2, 1], margin=1.0)
    assert (abs(loss - 1) < 0.1, f'loss is {loss}')
    if abs(loss - 1.0599649) < 1e-6 and abs(share - 0.6666667) < 1e-6:
        logging.info('Passed')
    else:
        logging.info('Failed')


test()
