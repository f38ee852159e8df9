# expect: nothing
import sys
from pathlib import Path
sys.path.append(str(Path(__file__).parents[1]))
from ranking.losses import pairwise_loss

CASES = {"easy": ([0.5, 2.0], 0.2014), "tie": ([0.0, 0.0], 1.3132)}


def accuracy():
    right = 0
    for scores, wanted in CASES.values():
        right += abs(pairwise_loss(scores, [0, 1])[0] - wanted) < 1e-3
    return right / len(CASES)


if __name__ == "__main__":
    ok = accuracy() >= 0.99
    print("Passed" if ok else "Failed")
    exit(0 if ok else 1)
