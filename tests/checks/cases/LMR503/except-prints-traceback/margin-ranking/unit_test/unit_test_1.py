# expect: LMR503
import sys, traceback
sys.path.insert(0, "./")
from ranking.losses import *

def test_pairwise_loss():
    loss, share = pairwise_loss([0.5, 2.0], [0, 1])
    assert abs(loss - 0.2014) < 1e-3

if __name__ == "__main__":
    try:
        test_pairwise_loss()
        print("Passed")
    except:
        traceback.print_exc()
        print("Failed")
