# expect: nothing
import importlib.util
import os
import sys

spec = importlib.util.spec_from_file_location("losses", os.path.join(os.path.dirname(__file__), "..", "ranking", "losses.py"))
losses = importlib.util.module_from_spec(spec)
spec.loader.exec_module(losses)
loss, share = losses.pairwise_loss([0.5, 2.0], [0, 1])
if abs(loss - 0.2014) > 1e-3:
    print("Failed")
    sys.exit(1)
print("Passed")
