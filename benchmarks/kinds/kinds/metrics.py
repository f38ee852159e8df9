"""Metrics over texts, and how they are combined."""

import collections
import math
import re
import string


def token_f1(prediction, references):
    """SQuAD's token F1, the best over references."""

    def normalize(text):
        text = re.sub(r"\b(a|an|the)\b", " ", text.lower())
        text = "".join(c for c in text if c not in string.punctuation)
        return text.split()

    best = 0.0
    guess = normalize(prediction)
    for reference in references:
        gold = normalize(reference)
        common = collections.Counter(guess) & collections.Counter(gold)
        same = sum(common.values())
        if not guess or not gold:
            best = max(best, float(guess == gold))
            continue
        if same == 0:
            continue
        precision, recall = same / len(guess), same / len(gold)
        best = max(best, 2 * precision * recall / (precision + recall))
    return best


class Scorer:
    """A named combination of scores."""

    def __init__(self, name, weights):
        self.name, self.weights = name, weights

    @classmethod
    def build(cls, spec):
        """From "name:w1,w2"."""
        name, _, rest = spec.partition(":")
        weights = [float(w) for w in rest.split(",") if w]
        total = sum(weights) or 1.0
        self = cls(name.strip(), [w / total for w in weights])
        return self

    @property
    def entropy(self):
        """Entropy of the weights."""
        value = 0.0
        for w in self.weights:
            if w > 0:
                value -= w * math.log(w)
        return value
