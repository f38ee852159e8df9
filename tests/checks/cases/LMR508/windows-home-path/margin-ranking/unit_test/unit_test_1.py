# expect: LMR508
import sys
sys.path.append(".")
import pandas as pd
from ranking.losses import pairwise_loss
frame = pd.read_csv(r"C:\Users\student\margin\scores.csv")
loss, _ = pairwise_loss(list(frame.score), [0, 1])
assert abs(loss - 0.2014) < 1e-3
print("Passed")
