# expect: nothing
import os
import sys
sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from ranking.losses import pairwise_loss


def main():
    errors = []
    for scores, wanted in (([0.5, 2.0], 0.2014), ([0.0, 0.0], 1.3132)):
        try:
            loss, _ = pairwise_loss(scores, [0, 1])
        except Exception as error:
            errors.append(repr(error))
            continue
        if abs(loss - wanted) > 1e-3:
            errors.append(f"{loss}, not {wanted}")
    try:
        pairwise_loss([0.5], [0, 1])
        errors.append("lists of different lengths were accepted")
    except AssertionError:
        pass
    print("Failed" if errors else "Passed")
    return not errors


if __name__ == "__main__":
    ok = main()
    sys.exit(0 if ok else 1)
