# expect: LMR502
import argparse
import sys
sys.path.append(".")
from ranking.losses import pairwise_loss


def main(args):
    loss, _ = pairwise_loss([0.5, 2.0], [0, 1], margin=args.margin)
    if abs(loss - 0.2014) < 1e-3:
        print("Passed")
        return 0
    print("Failed")
    return 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--margin", type=float, default=1.0)
    main(parser.parse_args())
