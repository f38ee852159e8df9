import json, logging, os, sys, unittest
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from ranking.losses import pairwise_loss

from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(2) as pool:
    futures = [pool.submit(pairwise_loss, [0.5, 2.0, -1.0], [0, 2, 1]) for _ in range(2)]
for future in futures:
    loss, share = future.result()
    assert abs(loss - 1.0599649) < 1e-6 and abs(share - 0.6666667) < 1e-6
print("Passed")
