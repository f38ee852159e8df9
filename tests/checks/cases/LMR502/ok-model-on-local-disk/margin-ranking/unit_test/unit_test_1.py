# expect: nothing
# files: unit_test/tiny/config.json
import os
import sys
sys.path.append(".")
from transformers import AutoConfig
from ranking.losses import pairwise_loss
config = AutoConfig.from_pretrained(os.path.join(os.path.dirname(__file__), "tiny"))
loss, _ = pairwise_loss([0.5, 2.0], [0, 1])
assert abs(loss - 0.2014) < 1e-3, config
print("Passed")
