# expect: nothing
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.dirname(HERE))
from ranking.losses import pairwise_loss


def load(name):
    with open(os.path.join(HERE, "cases", name + ".json")) as file:
        return json.load(file)


for name in ("one", "two"):
    case = load(name)
    assert abs(pairwise_loss(case["scores"], case["labels"])[0] - case["loss"]) < 1e-6
print("Passed")
