import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from ranking.losses import pairwise_loss

passed = pairwise_loss([0.5, 2.0], [0, 1])[1] == 1.0
print('Passed' if passed else 'Failed')
sys.exit(0 if passed else 1)
