# expect: LMR509
import sys
sys.path.append(".")
from transformers import AutoTokenizer
from ranking.losses import pairwise_loss
tokenizer = AutoTokenizer.from_pretrained(pretrained_model_name_or_path="bert-base-uncased")
loss, _ = pairwise_loss([float(i) for i in tokenizer("a b")["input_ids"][:2]], [0, 1])
assert abs(loss - 0.2014) < 1e-3
print("Passed")
