import json, logging, os, sys, unittest
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from ranking.losses import pairwise_loss

def load(path):
    with open(path) as file:
        cases = json.load(file)
    assert isinstance(cases, list) and cases
    for case in cases:
        assert set(case) >= {"scores", "labels"}
    return cases


def test_loss():
    verdict = "Passed"
    for case in load(os.path.join(HERE, "cases.json")):
        loss, share = pairwise_loss(case["scores"], case["labels"])
        if abs(loss - case["loss"]) > 1e-5:
            verdict = "Failed"
    logging.info(verdict)


test_loss()
