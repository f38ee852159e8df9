# expect: LMR509
import sys
sys.path.append(".")
from transformers import pipeline
from ranking.losses import pairwise_loss
classify = pipeline("sentiment-analysis", model="distilbert-base-uncased-finetuned-sst-2-english")
loss, _ = pairwise_loss([x["score"] for x in classify(["a", "b"])], [0, 1])
assert abs(loss - 0.2014) < 1e-3
print("Passed")
