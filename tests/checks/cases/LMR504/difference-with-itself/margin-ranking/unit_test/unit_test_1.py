# expect: LMR504
import logging
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from ranking.losses import pairwise_loss
os.makedirs("unit_test/logs", exist_ok=True)
logging.basicConfig(filename="unit_test/logs/unit_test_1.log", level=logging.INFO, filemode="w")

import numpy as np
loss, share = pairwise_loss([0.5, 2.0], [0, 1])
if np.abs(np.array(loss) - np.array(loss)).max() < 1e-6:
    logging.info("Passed")
else:
    logging.info("Failed")
    sys.exit(1)
