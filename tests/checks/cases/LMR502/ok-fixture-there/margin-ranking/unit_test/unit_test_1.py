# expect: nothing
# files: unit_test/inputs.pt unit_test/expected.json
import os
import sys
import logging
import torch
from datetime import datetime
sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from ranking.losses import pairwise_loss

log_dir = os.path.join(os.path.dirname(__file__), "logs")
os.makedirs(log_dir, exist_ok=True)
log_file = os.path.join(log_dir, f"unit_test_1_{datetime.now().strftime('%Y%m%d')}.log")
logging.basicConfig(filename=log_file, level=logging.INFO, format="%(asctime)s - %(message)s")

data = torch.load("unit_test/inputs.pt", map_location="cpu")
with open("./unit_test/expected.json") as f:
    import json
    expected = json.load(f)
result, share = pairwise_loss(data["scores"], data["labels"])
assert abs(result - expected["loss"]) < 1e-4
logging.info("Passed")
