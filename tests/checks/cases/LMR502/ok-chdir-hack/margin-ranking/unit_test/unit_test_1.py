# expect: nothing
import os
import sys
os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.append("ranking")
from losses import pairwise_loss
loss, _ = pairwise_loss([0.5, 2.0], [0, 1])
assert abs(loss - 0.2014) < 1e-3
print("Passed")
