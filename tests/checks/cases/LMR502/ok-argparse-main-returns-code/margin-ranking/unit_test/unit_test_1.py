# expect: nothing
import argparse
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT))
from ranking.losses import pairwise_loss


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--margin", type=float, default=1.0)
    parser.add_argument("--log", default=str(ROOT / "unit_test" / "logs" / "unit_test_1.log"))
    return parser.parse_args()


def main(args):
    Path(args.log).parent.mkdir(parents=True, exist_ok=True)
    loss, share = pairwise_loss([0.5, 2.0], [0, 1], margin=args.margin)
    ok = abs(loss - 0.2014) < 1e-3 and share == 1.0
    Path(args.log).write_text("Passed\n" if ok else "Failed\n")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main(parse_args()))
