# expect: LMR502
import sys
sys.path.append(".")
from ranking.losses import pairwise_loss


def main():
    loss, _ = pairwise_loss([0.5, 2.0], [0, 1])
    assert abs(loss - 0.2014) < 1e-3
    print("Passed")  # or Failed


if __name__ == "main":
    main()
