# expect: nothing
# files: unit_test/data/scores.pt unit_test/data/labels.pt
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

from pathlib import Path
DATA = Path(__file__).resolve().parent / "data"
scores = torch.load(DATA / "scores.pt")
labels = torch.load(str(DATA / "labels.pt"))
result, share = pairwise_loss(scores, labels)
assert abs(result - 0.2014) < 1e-4
logging.info("Passed")
