"""Train a linear scorer with the pairwise loss."""

from ranking.data import read_lists
from ranking.losses import pairwise_loss


def score(weights, features):
    """Inner product of weights and features."""
    return sum(weight * value for weight, value in zip(weights, features))


def epoch(weights, path, margin):
    """Mean loss over every list of a file."""
    losses = []
    for entry in read_lists(path):
        scores = [score(weights, features) for features in entry["features"]]
        loss, _ = pairwise_loss(scores, entry["labels"], margin)
        losses.append(loss)
    return sum(losses) / max(1, len(losses))
